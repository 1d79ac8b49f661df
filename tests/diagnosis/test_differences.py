"""Expected against made: calls, outputs, answers, schemas and tests."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.diagnosis.answers import concludes
from blade.diagnosis.differences import (
    Conventions,
    Difference,
    compare_rollout,
    conventions_of,
    differences_of,
    habit_of,
    in_words,
    made_calls,
)
from blade.rollouts import Item, Rollout
from blade.rollouts.values import Ending, Expected, ExpectedCall

Call = tuple[str, dict[str, Any]]


def agent(*calls: Call, expected: list[Call], refused: tuple[int, ...] = (), **parts: Any) -> Rollout:
    """A rollout that made some calls of which tools refused a few, and what its task lists."""
    items: list[Item] = []
    for number, (name, arguments) in enumerate(calls):
        text, key = json.dumps(arguments), str(number)
        error = "no" if number in refused else None
        items.append(Item(position=2 * number, kind="tool_call", name=name, text=text, call_id=key))
        items.append(Item(position=2 * number + 1, kind="tool_result", name=name, text="", call_id=key, error=error))
    listed = [ExpectedCall(name=name, arguments=arguments) for name, arguments in expected]
    passed = parts.pop("passed", False)
    return Rollout(task="a", repeat=0, success=passed, items=items, expected=Expected(calls=listed, **parts))


def said(text: str, *, answers: list[str], answer: str | None = None, **parts: Any) -> Rollout:
    """A rollout that ended with a text."""
    item = Item(position=1, kind="message", role="assistant", text=text)
    expected = Expected(answers=answers, **parts)
    return Rollout(task="a", repeat=0, success=False, items=[item], answer=answer, expected=expected)


def keys(rollout: Rollout) -> list[str]:
    return [difference.key for difference in compare_rollout(rollout)]


def test_calls_are_compared_in_any_order_and_by_how_little_they_differ() -> None:
    made = agent(
        ("pay", {"to": "b", "sum": 3}),
        ("pay", {"to": "a", "sum": 2.0}),
        ("drop", {"id": 9}),
        expected=[("pay", {"sum": 2, "to": "a"}), ("pay", {"to": "b", "sum": 4}), ("ship", {"id": 1})],
    )

    assert compare_rollout(made) == [
        Difference(key="argument:pay.sum", kind="argument", expected="4", given="3", item=0),
        Difference(key="call_extra:drop", kind="call_extra", given='{"id":9}', item=4),
        Difference(key="call_missing:ship", kind="call_missing", expected='{"id":1}'),
    ]


def test_calls_of_one_tool_that_share_nothing_are_another_call_unless_there_is_no_choice() -> None:
    swapped = agent(("drop", {"id": 2}), expected=[("drop", {"id": 1})])
    several = agent(("drop", {"id": 2}), expected=[("drop", {"id": 1}), ("drop", {"id": 3})])

    assert keys(swapped) == ["argument:drop.id"]
    assert keys(several) == ["call_extra:drop", "call_missing:drop", "call_missing:drop"]


def test_a_call_its_tool_refused_was_not_made() -> None:
    made = agent(("drop", {"id": 1}), ("drop", {"id": 2}), expected=[("drop", {"id": 2})], refused=(0,))

    assert compare_rollout(made) == []


def test_an_expected_call_that_its_tool_refused_was_not_left_out() -> None:
    made = agent(("drop", {"id": 1}), ("drop", {"id": 2}), expected=[("drop", {"id": 2})], refused=(0, 1))

    (difference,) = compare_rollout(made)
    assert (difference.key, difference.item) == ("call_refused:drop", 2)
    assert in_words(difference) == "`drop` was expected, called and refused"


def test_a_call_with_the_id_of_a_refused_one_was_made() -> None:
    items = [
        Item(position=0, kind="tool_call", name="drop", text="{}", call_id="a"),
        Item(position=1, kind="tool_result", name="drop", text="", call_id="a", error="no"),
        Item(position=2, kind="tool_call", name="drop", text="{}", call_id="a"),
        Item(position=3, kind="tool_result", name="drop", text="", call_id="a"),
    ]

    assert [call.position for call in made_calls(items)] == [2]


def test_what_a_user_was_told_to_ask_for_and_the_task_does_not_expect_is_the_agents_doing() -> None:
    made = [("cancelOrder", {"id": 1}), ("cancelOrder", {"id": 2})]
    script = "You want to cancel both orders."

    def owned(*expected: Call, script: str | None = script) -> list[str | None]:
        return [d.own for d in compare_rollout(agent(*made, expected=list(expected), script=script))]

    refusal = "the user was told to ask for it and the task expects a refusal"
    assert owned(made[0]) == [refusal]
    assert owned(made[0], script="You want to return one.") == owned(made[0], script=None) == [None]
    assert owned(made[0], ("cancelOrder", {"id": 3})) == [None]  # it may be the one that was meant


def test_a_call_left_out_is_the_agents_doing_when_it_ended_the_conversation_itself() -> None:
    ending = agent(("hand_over", {}), expected=[("pay", {})], script="Pay.")
    others = [agent(("look", {}), ("hand_over", {}), expected=[], passed=True) for _ in range(3)]

    owned = {one.key: one.own for one in differences_of(ending, conventions_of([ending, *others]))}
    assert owned["call_missing:pay"] == "the agent ended the conversation with `hand_over` instead"


def test_a_user_that_names_what_its_script_does_not_may_be_to_blame() -> None:
    made = agent(("drop", {"id": "R-7788"}), expected=[], script="Have your order dropped.")
    asked = Item(position=9, kind="environment", role="user", text="Drop R-7788, please.")
    strayed = msgspec.structs.replace(made, items=[*made.items, asked])

    assert [one.own is None for one in compare_rollout(made)] == [False]
    assert [one.own is None for one in compare_rollout(strayed)] == [True]


def test_a_rollout_that_breaks_off_at_any_tool_was_not_ended_by_the_agent() -> None:
    broken = agent(("look", {}), expected=[("pay", {})], script="Pay.")
    others = [agent(("look", {}), ("hand_over", {}), expected=[], passed=True) for _ in range(3)]
    run = conventions_of([broken, *others])

    assert [one.own for one in differences_of(broken, run) if one.kind == "call_missing"] == [None]
    assert run.breaks_off(habit_of(broken, [])) and not run.breaks_off(habit_of(others[0], []))


def test_only_the_arguments_that_count_are_compared() -> None:
    made = agent(("hand_over", {"summary": "mine"}), expected=[])
    listed = ExpectedCall(name="hand_over", arguments={"summary": "theirs"}, compared=[])
    rollout = Rollout(task="a", repeat=0, items=made.items, expected=Expected(calls=[listed]))

    assert compare_rollout(rollout) == []


def test_what_passing_rollouts_call_unasked_only_reads_and_what_they_fill_freely_is_free() -> None:
    lists: list[Call] = [("look", {"id": 1}), ("mail", {"to": "x", "body": "hello"})]
    mine: list[Call] = [("look", {"id": 7}), ("look", {"id": 8}), ("mail", {"to": "x", "body": "hi"})]
    run = conventions_of([agent(*mine, expected=lists, passed=True) for _ in range(5)])
    failing = agent(("look", {"id": 3}), ("mail", {"to": "y", "body": "hi"}), ("mail", {}), ("dig", {}), expected=lists)

    assert run == Conventions(
        reading=frozenset({"look"}),
        listed=frozenset({"look", "mail"}),
        free=frozenset({"mail.body"}),
        closing=frozenset({"mail"}),
    )
    assert [d.key for d in differences_of(failing, run)] == ["call_extra:mail", "call_extra:mail", "call_missing:mail"]


def test_failing_rollouts_say_nothing_about_tools() -> None:
    run = conventions_of([agent(("drop", {"id": 2}), expected=[]) for _ in range(5)])

    assert run == Conventions(closing=frozenset({"drop"}))


def test_a_row_that_lists_nothing_differs_in_nothing() -> None:
    item = Item(position=0, kind="tool_call", name="drop", text="{}")

    assert compare_rollout(Rollout(task="a", repeat=0, success=False, items=[item])) == []


def test_outputs_must_be_said_to_the_user() -> None:
    rollout = said("It is 1,250 dollars.", answers=[], outputs=["1250", "327"])

    assert compare_rollout(rollout) == [Difference(key="output_missing", kind="output_missing", expected="327")]


@pytest.mark.parametrize(
    ("text", "answer", "key"),
    [
        pytest.param(r"so \boxed{1/2}", "0.50", "answer:equal", id="the_same_number"),
        pytest.param(r"so \boxed{\frac{1}{2}}", "2", "answer:extraction_missed", id="taken_from_elsewhere"),
        pytest.param("It may be 1/2 or 3.\nThe answer is 3.", "3", "answer:other", id="right_on_the_way_only"),
        pytest.param("It may be 1/2.\nI give up on it", None, None, id="nothing_taken_and_nobody_says_so"),
    ],
)
def test_the_judged_answer_is_held_against_the_expected_one(text: str, answer: str | None, key: str | None) -> None:
    assert keys(said(text, answers=["1/2"], answer=answer)) == ([] if key is None else [key])


def test_an_answer_that_was_looked_for_and_not_found_is_none() -> None:
    row = said("I do not know", answers=["1"])
    looked = Rollout(
        task="a", repeat=0, success=False, items=row.items, expected=row.expected, fields={"extracted_answer": None}
    )

    typed = msgspec.structs.replace(row, ending=Ending(origin="verifier", name="no_answer_extracted"))

    assert keys(looked) == keys(typed) == ["answer:none"]
    assert keys(msgspec.structs.replace(looked, success=None)) == []


@pytest.mark.parametrize(
    ("text", "answers", "right"),
    [
        pytest.param("Therefore (B) is correct.", ["B"], True, id="option_in_brackets"),
        pytest.param("A cat sat down", ["A"], False, id="an_article_is_no_option"),
        pytest.param("either (A) or (B)", ["B"], False, id="two_options"),
        pytest.param("Answer: Oslo", ["Oslo"], True, id="after_a_colon"),
        pytest.param("The total comes to $1,250.00", ["1250"], True, id="number_with_a_sign"),
        pytest.param(r"\boxed{4} and \boxed{5}", ["4"], False, id="an_earlier_box"),
        pytest.param("", ["5"], False, id="nothing_said"),
    ],
)
def test_a_text_concludes_with_what_it_ends_on(text: str, answers: list[str], right: bool) -> None:
    assert concludes(text, answers) is right


def test_schema_violations_name_the_rule_and_the_place() -> None:
    schema = {
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    rollout = said('```json\n{"ids": [1, "2", "3"], "age": 4}\n```', answers=[], answer_schema=schema)

    assert keys(rollout) == ["schema:additionalProperties:age", "schema:required:name", "schema:type:ids.*"]
    assert keys(said("Sure!", answers=[], answer_schema=schema)) == ["schema:not_json"]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": 7}, id="number_for_a_type"),
        pytest.param({"type": {"a": 1}}, id="unknown_type"),
        pytest.param({"pattern": "("}, id="broken_pattern"),
        pytest.param({"$ref": "#/nowhere"}, id="lost_reference"),
        pytest.param({"required": [[]]}, id="unhashable_name"),
    ],
)
def test_a_schema_that_is_none_finds_no_differences(schema: dict[str, Any]) -> None:
    assert keys(said('"word"', answers=[], answer_schema=schema)) == []


def test_failing_tests_are_named_and_skipped_ones_are_not() -> None:
    rollout = Rollout(task="a", repeat=0, tests={"t[b]": "failed", "a": "error", "c": "skipped", "d": "passed"})

    assert keys(rollout) == ["test_failed:a", "test_failed:t[b]"]
    assert in_words(compare_rollout(rollout)[1]) == "`t[b]` failed"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.dictionaries(st.text(max_size=3), JSON, max_size=3)), max_size=4))
def test_the_expected_calls_in_any_order_differ_in_nothing(calls: list[Call]) -> None:
    assert compare_rollout(agent(*reversed(calls), expected=calls)) == []


def test_an_expected_solution_that_marks_its_answer_expects_that_answer() -> None:
    solution = "Natalia sold 48 / 2 = 24 clips in May.\n#### 1,072"
    row = said("48 and 24, so the result is 1072.", answers=[solution])
    looked = msgspec.structs.replace(row, ending=Ending(origin="verifier", name="no_answer_extracted"))

    assert keys(looked) == ["answer:extraction_missed"]
    assert keys(msgspec.structs.replace(row, answer="1072")) == ["answer:equal"]
    assert keys(msgspec.structs.replace(row, answer="1073")) == ["answer:extraction_missed"]


def test_a_box_may_hold_braces_in_braces() -> None:
    assert concludes(r"so \boxed{\frac{1}{\sqrt{2^{2}}}}", [r"\frac{1}{\sqrt{2^{2}}}"])
