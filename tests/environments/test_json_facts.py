"""How JSON is found in what a model says, and how schema and facts are judged apart."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from test_benchmark_tasks import tasks_of

from blade.environments.json_facts.verifier import facts_of, judge, read_json, written

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}, "likes": {"type": "array"}},
    "required": ["name"],
    "additionalProperties": False,
}
TASK = {"schema": SCHEMA, "expected": {"name": "Ada Berg", "age": None, "likes": ["tea", "cake"]}}


@pytest.mark.parametrize(
    ("text", "value", "alone"),
    [
        pytest.param(' {"a": 1}\n', {"a": 1}, True, id="alone"),
        pytest.param('```json\n{"a": 1}\n```', {"a": 1}, True, id="fenced"),
        pytest.param('Here:\n```\n{"a": 1}\n```\nDone.', {"a": 1}, False, id="fenced_among_words"),
        pytest.param('Sure! {"a": {"b": 2}} That is all {x}.', {"a": {"b": 2}}, False, id="among_words"),
        pytest.param('The {form}: {"a": 1}', {"a": 1}, False, id="braces_before_it"),
        pytest.param('{"a": 1}\n\nText: {"b": 2}', {"a": 1}, False, id="the_first_object_counts"),
        pytest.param("null", None, True, id="null_is_json"),
    ],
)
def test_json_is_found_where_it_stands(text: str, value: Any, alone: bool) -> None:
    assert read_json(text) == (value, alone, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{'a': 1}", id="single_quotes"),
        pytest.param('{"a": NaN}', id="not_a_number"),
        pytest.param("[" * 100_000, id="endless_nesting"),
        pytest.param('{"a": 1', id="cut_off"),
        pytest.param('{"a": ' + "9" * 5000 + "}", id="endless_digits"),
    ],
)
def test_what_is_no_json_is_not_read(text: str) -> None:
    verdict = judge(TASK, text)

    assert (verdict.reward, verdict.fields["parse_failed"], verdict.fields["schema_valid"]) == (0.0, True, False)


@pytest.mark.parametrize(
    ("text", "schema_valid", "wrong"),
    [
        pytest.param('{"name": "ADA  berg.", "age": null, "likes": ["cake", "tea"]}', True, [], id="right"),
        pytest.param('{"name": "Ada Berg", "age": 7, "likes": ["tea", "cake"]}', True, ["age"], id="made_up_fact"),
        pytest.param('{"name": "Ada Berg", "likes": ["tea", "cake"]}', True, ["age"], id="left_out_fact"),
        pytest.param('{"name": "Ada Berg", "age": null, "likes": ["tea"]}', True, ["likes"], id="shorter_list"),
        pytest.param('{"name": "Ada Berg", "age": "", "likes": ["tea", "cake"]}', False, ["age"], id="wrong_type"),
        pytest.param('{"name":"Ada Berg","age":null,"likes":["tea","cake"],"x":1}', False, [], id="field_too_many"),
        pytest.param('["Ada Berg"]', False, ["name", "age", "likes"], id="a_list_instead"),
    ],
)
def test_schema_and_facts_are_judged_apart(text: str, schema_valid: bool, wrong: list[str]) -> None:
    verdict = judge(TASK, text)

    assert (verdict.fields["schema_valid"], verdict.fields["wrong_facts"]) == (schema_valid, wrong)
    assert verdict.reward == float(schema_valid and not wrong)


def test_how_many_objects_a_list_has_is_a_fact() -> None:
    task = {"schema": {}, "expected": {"people": [{"name": "Ada"}]}}
    verdict = judge(task, '{"people": [{"name": "Ada"}, {"name": "Bo"}]}')

    assert [(written(fact.path), fact.value) for fact in facts_of(task["expected"])] == [
        *(("people.length", 1), ("people[0].name", "Ada"))
    ]
    assert verdict.fields["wrong_facts"] == ["people.length"]


def test_numbers_are_compared_as_such_and_true_is_no_number() -> None:
    task = {"schema": {}, "expected": {"n": 1, "yes": True}}

    assert judge(task, '{"n": 1.0, "yes": true}').reward == 1.0
    assert judge(task, '{"n": true, "yes": 1}').fields["wrong_facts"] == ["n", "yes"]


def test_schema_errors_say_where_and_which_rule_but_not_what_the_model_wrote() -> None:
    assert judge(TASK, '{"name": 5, "x": "<script>"}').fields["schema_errors"] == [
        *("$: additionalProperties", "name: type")
    ]


def test_every_schema_is_one_and_the_expected_object_satisfies_it() -> None:
    for task in tasks_of("fact_forms"):
        Draft202012Validator.check_schema(task["schema"])
        Draft202012Validator(task["schema"]).validate(task["expected"])


def test_every_plain_fact_stands_in_its_text() -> None:
    # What is written otherwise in the text than in the form: dates, times, totals and flags are worked out.
    for task in tasks_of("fact_forms"):
        texts = [fact.value for fact in facts_of(task["expected"]) if isinstance(fact.value, str)]
        plain = [text.removesuffix("s") for text in texts if not text[:1].isdigit() or text.startswith("555")]
        assert [text for text in plain if text not in task["text"]] == []


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists, max_leaves=5))
def test_no_value_stops_the_judging(value: Any) -> None:
    assert judge(TASK, json.dumps(value)).reward == 0.0


@given(st.text())
def test_no_text_stops_the_judging(text: str) -> None:
    assert judge(TASK, text).reward == 0.0


def test_two_values_for_one_name_leave_open_which_is_meant() -> None:
    task = {"schema": {"type": "object"}, "expected": {"name": "Ada", "pets": [{"kind": "cat"}]}}
    said = '{"name": "Bo", "name": "Ada", "pets": [{"kind": "cat"}]}', '{"name": "Ada", "pets": [{"kind": "cat"}]}'
    deep = '{"name": "Ada", "pets": [{"kind": "cat", "kind": "cat"}]}'
    verdicts = [judge(task, text) for text in (*said, deep)]

    assert [verdict.reward for verdict in verdicts] == [0.0, 1.0, 0.0]
    assert [verdict.fields["schema_errors"] for verdict in verdicts] == [["$: uniqueNames"], [], ["$: uniqueNames"]]
