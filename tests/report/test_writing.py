"""The language of prose: values print with their addresses, and nothing else can be said."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.report.addresses import addressed, evaluate
from blade.report.claims import Rendered, extract
from blade.report.marks import recording
from blade.report.narrative import mark_constants
from blade.report.numbers import count, percent
from blade.report.text import Markdown, code, md
from blade.report.values import every_value, search_values
from blade.report.writing import FORMS, Sources, WritingError, render_text

RUN: dict[str, Any] = {
    "headline": "pass_at_1",
    "coverage": {"tasks": 4, "rollouts": 16},
    "metrics": {
        "pass_at_1": {"value": 0.42, "ci95": [0.3, 0.5]},
        "retry_value": {"value": 0.15},
        "pass_at_k": {"4": {"value": 0.7}},
    },
    "buckets": {"never": ["a", "b|c"], "always": []},
    "causes": [{"task": "a", "label": "KG"}, {"task": "b|c", "label": "BI"}],
    "signals": [{"code": "cut_off", "title": "ran out of tokens", "failed": 3}],
    "modes": [{"name": "agent_timeout", "tasks": 2}],
    "tasks": [{"task": "a", "c": 0, "n": 4, "bucket": "never"}, {"task": "12", "c": 3, "n": 4}],
    "slices": [{"field": "difficulty", "levels": [{"level": "hard", "headline": {"value": 0.1}}]}],
}


def render(source: str) -> Rendered:
    with recording() as found:
        return extract(render_text(source, Sources(documents={"analysis": RUN}), where="f.md"), found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("{{ pass_at_1 | pct }} ({{ headline | ci }})", "42.0 % (30.0 % to 50.0 %)", id="metric"),
        pytest.param("{{ rollouts }} of {{ tasks | count }}, {{ failing }}", "16 of 2, 13", id="counts"),
        pytest.param("{{ buckets.never | count }}: {{ buckets.never | tasks }}", "2: `a`, `b|c`", id="list"),
        pytest.param("{{ buckets.always }}", "none", id="empty_list"),
        pytest.param("{{ metrics.retry_value | pp }}", "+15.0 pp", id="points"),
        pytest.param("{{ buckets.never | share(coverage.tasks) | pct }}", "50.0 %", id="share"),
        pytest.param("{{ (1 - pass_at_1.value) | pct }}", "58.0 %", id="the_rest"),
        pytest.param('{{ (pass_at_k["4"] - pass_at_1) | pp }}', "+28.0 pp", id="difference_of_metrics"),
        pytest.param("{{ (-retry_value) | pp }}, {{ (1 - pass_at_1) | pct }}", "-15.0 pp, 58.0 %", id="minus_a_metric"),
        pytest.param("{{ slices.difficulty.hard.headline | pct }}", "10.0 %", id="slice_by_name"),
        pytest.param("{{ mode('agent_timeout').tasks | words | capital }} tasks", "Two tasks", id="mode_in_words"),
        pytest.param("{{ task('12') }}: {{ task('12').c }} of {{ task('12').n }}", "`12`: 3 of 4", id="task"),
        pytest.param("{{ labels.KG | plural('task') }}, {{ label('a') }}", "1 task, KG", id="label"),
        pytest.param("{{ causes | where('label', 'BI') | count }}", "1", id="where"),
        pytest.param("{{ tasks | total('c') | count }}", "3", id="total"),
        pytest.param("{% for t in buckets.never %}{{ t | code }};{% endfor %}", "`a`;`b|c`;", id="loop"),
    ],
)
def test_a_value_prints_as_it_is_asked_to_and_its_address_gives_it_again(source: str, expected: str) -> None:
    rendered = render(source)

    assert rendered.text == expected
    for claim in rendered.claims:
        value = evaluate(claim.address, {"analysis": RUN})
        assert FORMS[claim.form[0]](value, *claim.form[1:]).lower() == claim.text.lower()
        assert rendered.text[claim.column - 1 :].startswith(claim.text)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("a\n {{ pas_at_1 | pct }}", "f.md:2:5: there is no 'pas_at_1'; did you mean pass_at_1", id="name"),
        pytest.param(
            "{{ pass_at_4 | pct }}", "there is no 'pass_at_4'; did you mean pass_at_k[\"4\"]?", id="pass_at_4"
        ),
        pytest.param("{{ (buckets - pass_at_1) | pct }}", "unsupported operand", id="no_value"),
        pytest.param("{{ buckets.nver | count }}", "f.md:1:12: there is no 'nver' here; did you mean never?", id="key"),
        pytest.param("{{ slices.difficulty.hrd }}", "did you mean hard?", id="level"),
        pytest.param("{{ task('13') }}", "there is no task '13'; did you mean 12", id="task"),
        pytest.param("{{ mode('agent_timeot').tasks }}", "did you mean agent_timeout", id="mode"),
        pytest.param("{{ 43 | pct }}", "43 is not a value of the run", id="number"),
        pytest.param("{{ (pass_at_1.value * 1.02) | pct }}", "computes with 1.02", id="arithmetic"),
        pytest.param("{{ pass_at_1 }}", "give it a filter", id="no_filter"),
        pytest.param("{{ pass_at_1 | percents }}", "No filter named 'percents'", id="filter"),
        pytest.param("{{ cite('a:0') }}", "needs the rollouts", id="no_rollouts"),
        pytest.param("{{ ''.__class__.__mro__ }}", "unsafe", id="escape"),
        pytest.param("{% if headline %}", "Unexpected end of template", id="syntax"),
        pytest.param("{{ buckets.never / coverage.tasks | pct }}", "brackets", id="no_brackets"),
    ],
)
def test_what_is_no_value_of_the_run_is_told_with_its_place_and_what_is_near(source: str, message: str) -> None:
    with pytest.raises(WritingError) as caught:
        render(source)

    assert message in str(caught.value) and str(caught.value).startswith("f.md:")


@given(st.text())
def test_what_a_run_says_can_never_pass_for_a_claim(text: str) -> None:
    with recording() as found:
        rendered = extract(f"{md(text)} {code(text)}", found)

    assert rendered.claims == []


def test_nothing_is_marked_outside_of_a_recording() -> None:
    value = addressed({"n": 3, "x": 0.5}, "analysis:")

    assert (count(value["n"]), percent(value["x"])) == ("3", "50.0 %")


def test_a_declared_constant_is_marked_and_a_number_in_a_value_is_not() -> None:
    with recording() as found:
        value = percent(addressed({"x": 0.42}, "analysis:")["x"])
        rendered = extract(mark_constants(Markdown(f"42 of {value}"), {"42": "the answer"}), found)

    assert [(claim.text, claim.form[0]) for claim in rendered.claims] == [("42", "constant"), ("42.0 %", "percent")]


def test_values_that_go_by_most_words_are_found_numbers_of_the_words_themselves_first() -> None:
    document = {
        "metrics": {"pass_at_1": {"value": 0.4, "definition": "mean success rate"}},
        "coverage": {"rollouts": 3},
        "tasks": [{"task": "a", "c": 1, "bucket": "never"}],
        "buckets": {"never": ["a"]},
        "causes": [
            {"task": "a", "reason": "it was never going to be any good, whatever anybody might have done to it"}
        ],
    }

    def first(query: str) -> str:
        return next((value.written for value in search_values(every_value(document, "analysis"), query)), "")

    assert [first(query) for query in ("never", "pass rate", "failing rollouts", "never zebra", "zebra")] == [
        "buckets.never",
        "metrics.pass_at_1",
        "failing",
        "buckets.never",
        "",
    ]


def test_values_are_found_by_their_words() -> None:
    found = [value.written for value in search_values(every_value(RUN, "analysis"), "hard headline")]

    assert found == ["slices.difficulty.levels.hard.headline"]
