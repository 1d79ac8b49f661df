"""Calls against the schemas of the tools that were offered."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollout_rows import Row, analyze_rows, call, message, result, rollout

from blade.diagnosis.arguments import OFTEN, Call, Offered, fault_of

SCHEMA = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "label": {"type": ["string", "null"]},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "share": {"type": "number"},
    },
    "required": ["x"],
    "additionalProperties": False,
}
CLICK = {"type": "function", "name": "click", "parameters": SCHEMA}


ODD = [
    {"parameters": {"required": [[]], "properties": {"x": {"type": [["integer"]]}}}},
    {"parameters": {"required": {"x": 1}, "properties": [1]}},
    {"parameters": ["x"]},
    {"parameters": {"properties": {"x": {"enum": {"a": 1}, "type": 5}}}},
]
"""What schemas of tools look like that nobody checked."""


def made(*arguments: Any, name: str = "click") -> list[Call]:
    texts = [given if isinstance(given, str) else json.dumps(given) for given in arguments]
    return [Call(name, text, position) for position, text in enumerate(texts)]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"x": [1]}, id="wrong_type"),
        pytest.param({"x": True}, id="a_flag_is_no_number"),
        pytest.param({"x": 1.5}, id="no_integer"),
        pytest.param({"label": "a"}, id="missing"),
        pytest.param({"x": 1, "y": 2}, id="unknown"),
        pytest.param({"x": 1, "mode": "medium"}, id="no_choice"),
        pytest.param("[1]", id="no_object"),
        pytest.param("{x: 1}", id="no_json"),
    ],
)
def test_a_call_its_schema_does_not_allow_is_found(arguments: Any) -> None:
    assert Offered([CLICK]).invalid_call(made(arguments)) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"x": 2.0, "label": None, "share": 1}, id="numbers"),
        pytest.param({"x": 1, "label": None, "mode": None}, id="null_is_left_out"),
    ],
)
def test_a_call_its_schema_allows_is_not(arguments: Any) -> None:
    assert Offered([CLICK]).invalid_call(made(arguments)) is None


def test_an_open_schema_allows_what_it_does_not_name() -> None:
    tool = {"type": "function", "function": {"name": "click", "parameters": {"type": "object"}}}
    assert Offered([tool]).invalid_call(made({"whatever": 1})) is None


def test_a_tool_nobody_offered_is_found() -> None:
    assert Offered([CLICK]).invalid_call(made({"x": 1}, name="klick")) == 0


def test_without_schemas_nothing_is_invalid() -> None:
    assert Offered([]).invalid_call(made({"y": 1})) is None
    assert Offered([{"type": "web_search"}]).invalid_call(made({"y": 1})) is None


def test_what_was_made_right_later_was_a_slip() -> None:
    assert Offered([CLICK]).invalid_call(made({"x": "1"}, {"x": 1})) is None
    assert Offered([CLICK]).invalid_call(made({"x": 1}, {"x": "1"})) == 1


TYPES_OF_X = st.sampled_from(
    ("string", "integer", "number", "boolean", "array", "object", "null", "odd", ["integer"], 5)
)
KINDS = ("string", "integer", "number", "boolean", "array", "object", "null", "odd", ["integer"], 5)
GIVEN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=2), st.lists(st.integers()),
    st.dictionaries(st.text(max_size=1), st.integers()),
)  # fmt: skip
CALLS = st.dictionaries(st.sampled_from(("x", "y", "", "z")), GIVEN, max_size=3)


@given(
    kind=st.sampled_from(KINDS),
    required=st.sampled_from(([], ["x"], ["x", "y"], [[]], None)),
    is_closed=st.booleans(),
    calls=st.lists(st.one_of(CALLS.map(json.dumps), st.sampled_from(("", "[1]", "{", "null"))), max_size=4),
)
def test_a_tool_that_is_often_called_is_judged_as_at_first(
    kind: Any, required: Any, is_closed: bool, calls: list[str]
) -> None:
    properties = {"x": {"type": kind}, "y": {"type": "string"}}
    schema = {"properties": properties, "required": required, "additionalProperties": not is_closed}
    tools = Offered([{"type": "function", "name": "click", "parameters": schema}])
    for _ in range(OFTEN):
        tools.allow("click", "{}")

    assert [tools.allow("click", text) for text in calls] == [
        fault_of("click", text, {"click": schema}) is None for text in calls
    ]


def clicked(task: int, reward: float, x: Any) -> Row:
    output = [call("click", json.dumps({"x": x})), result("ok"), message(f"clicked {task}")]
    return rollout(task, 0, reward, output=output, params={"tools": [CLICK]})


def test_invalid_calls_that_go_with_failing_explain_it(tmp_path: Path) -> None:
    good = [clicked(task, 1.0, task) for task in range(9)]
    analysis = analyze_rows(tmp_path, [*good, *(clicked(task, 0.0, [4, 5]) for task in range(10, 14))])
    assert {cause.label for cause in analysis.causes} == {"BI"}
    assert analysis.causes[0].evidence[0].citation == "10:0#1"
    once = analyze_rows(tmp_path / "once", [*good, clicked(10, 0.0, [4, 5])])
    assert [cause.label for cause in once.causes] == ["?"]
