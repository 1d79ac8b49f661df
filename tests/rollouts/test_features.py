from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, call, message, result, rollout, thought
from scans import BUILDERS, chat_call, chat_row, facts, items_of, jsonl, read, some_rows, write_bytes

from blade.rollouts.features import KINDS, OPENING, TOOL_ERROR, split_thinking
from blade.rollouts.reader import FileScan
from blade.rollouts.values import Item

REFUSAL = "I'm sorry, but I can't help with that."

texts = st.sampled_from(
    [
        "",
        "fine",
        "Error: gone",
        '\n"Error',
        '{"error": 1}',
        "Connection timed out",
        "<think>a</think>b",
        REFUSAL,
        "ü" * 9,
    ]
)
names = st.sampled_from(["look", "book", None])
roles = st.sampled_from(["assistant", "user", "system", "tool", None])
contents = texts | st.none() | texts.map(lambda text: [{"type": "output_text", "text": text}])
responses_items = st.one_of(
    st.builds(lambda content, role: {"type": "message", "role": role, "content": content}, contents, roles),
    st.builds(lambda name, text: {"type": "function_call", "name": name, "arguments": text}, names, texts),
    st.builds(lambda text: {"type": "function_call_output", "output": text, "call_id": "c"}, texts),
    st.builds(lambda text: {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}, texts),
    st.builds(
        lambda kind, text: {"type": kind, "content": text}, st.sampled_from(["web_call", "x_output", "y"]), texts
    ),
)
chat_items = st.builds(
    lambda role, content, calls: {"role": role, "content": content, **calls},
    roles,
    contents,
    st.sampled_from(
        [{}, {"tool_calls": None}, {"tool_calls": [chat_call("look"), chat_call("book")]}, {"tool_calls": 3}]
    ),
)
trajectories = st.lists(responses_items | chat_items, max_size=6)


def answer(items: list[Row], **fields: Any) -> Row:
    return rollout(0, 0, output=items, **fields)


def read_rows(folder: Path, rows: list[Row]) -> FileScan:
    return read(write_bytes(folder / "run.jsonl", jsonl(rows)))


def only(folder: Path, items: list[Row]) -> dict[str, int]:
    return facts(read_rows(folder, [answer(items)]).scan)[0]


def agree(found: dict[str, int], items: list[Item]) -> None:
    """Every fact is what the full items say."""
    output = [item for item in items if not item.prompt]
    kinds = [item.kind for item in output]
    assert (found["items"], found["prompt_items"]) == (len(items), len(items) - len(output))
    names = ("messages", "reasoning", "tool_calls", "tool_results", "environment_turns")
    assert [found[name] for name in names] == [kinds.count(kind) for kind in KINDS]
    failed = [i.position for i in output if i.kind == "tool_result" and failed_text(i.text)]
    assert (found["tool_errors"], found["error_at"]) == (len(failed), failed[0] if failed else -1)
    calls = [(item.name, item.text) for item in output if item.kind == "tool_call"]
    assert found["repeated_calls"] == max((calls.count(call) for call in calls), default=0)
    last = output[-1] if output else None
    assert (found["final_at"], found["final_kind"]) == ((last.position, KINDS.index(last.kind)) if last else (-1, -1))
    said = [item.text for item in output if item.kind == "message"][-1:]
    shown = split_thinking(said[0])[1].strip() if said else ""
    assert found["answer_bytes"] == len(shown.encode())


def failed_text(text: str) -> bool:
    return TOOL_ERROR.match(text[:OPENING].encode()) is not None


@settings(max_examples=150, deadline=None)
@given(prompt=trajectories, output=trajectories)
def test_facts_agree_with_the_full_items(tmp_path_factory: Any, prompt: list[Row], output: list[Row]) -> None:
    rows = [rollout(0, 0), rollout(1, 0, output=output, params={"input": prompt}), rollout(2, 0)]
    file = read_rows(tmp_path_factory.mktemp("facts"), rows)
    for found, items in zip(facts(file.scan), items_of(file), strict=True):
        agree(found, items)


@settings(max_examples=100, deadline=None)
@given(turns=trajectories)
def test_facts_of_whole_conversations_agree_with_their_items(tmp_path_factory: Any, turns: list[Row]) -> None:
    file = read_rows(tmp_path_factory.mktemp("facts"), [chat_row(0, 0), chat_row(0, 1, turns=turns)])
    for found, items in zip(facts(file.scan), items_of(file), strict=True):
        agree(found, items)


@settings(max_examples=100, deadline=None)
@given(rows=st.sampled_from(sorted(BUILDERS)).flatmap(some_rows))
def test_every_row_has_as_many_items_as_its_facts_say(tmp_path_factory: Any, rows: list[Row]) -> None:
    file = read_rows(tmp_path_factory.mktemp("items"), [BUILDERS["gym"](0), *rows])
    assert [found["items"] for found in facts(file.scan)] == [len(items) for items in items_of(file)]


def test_all_facts_of_one_trajectory(tmp_path: Path) -> None:
    items = [
        thought("Let me look."), call("look", '{"n": 1}'), result("Error: gone"), call("look", '{"n": 1}'),
        result("fine"), message("And now?", "user"), message("Done."),
    ]  # fmt: skip
    assert only(tmp_path, items) == {
        "items": 8, "prompt_items": 1, "messages": 1, "reasoning": 1, "tool_calls": 2, "tool_results": 2,
        "environment_turns": 1,
        # [{"type": "summary_text", "text": "Let me look."}] and [{"type": "output_text", "text": "Done."}]
        "text_bytes": 50 + 42,
        "repeated_calls": 2, "repeated_at": 4, "tool_errors": 1, "error_at": 3, "ended_on_error": 0,
        "final_kind": KINDS.index("message"), "final_at": 7, "answer_bytes": 5,
        "looped_calls": 2, "looped_at": 4,
    }  # fmt: skip


def test_no_output_has_no_places(tmp_path: Path) -> None:
    found = only(tmp_path, [])
    assert {name: found[name] for name in ("repeated_at", "error_at", "final_kind", "final_at", "answer_bytes")} == {
        "repeated_at": -1, "error_at": -1, "final_kind": -1, "final_at": -1, "answer_bytes": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("items", "ended"),
    [
        pytest.param([call(), result("Error: x")], 1, id="last_result_failed"),
        pytest.param([call(), result("Error: x"), message("Done.")], 1, id="then_it_spoke"),
        pytest.param([call(), result("Error: x"), call()], 0, id="then_it_tried_again"),
        pytest.param([call(), result("Error: x"), call(), result("fine")], 0, id="and_then_it_worked"),
        pytest.param([call(), result("fine")], 0, id="never_failed"),
    ],
)
def test_ending_on_an_error_means_no_call_followed_it(tmp_path: Path, items: list[Row], ended: int) -> None:
    assert only(tmp_path, items)["ended_on_error"] == ended


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        pytest.param("Error: gone", True, id="error"),
        pytest.param("\n\tError: gone", True, id="after_a_line_break"),
        pytest.param('"Error: gone"', True, id="quoted"),
        pytest.param('{\n  "error": "gone"\n}', True, id="pretty_error_field"),
        pytest.param([{"type": "text", "text": "Error: gone"}], True, id="in_parts"),
        pytest.param([{"type": "text", "text": "fine"}], False, id="fine_in_parts"),
        pytest.param("  Traceback (most recent call last):", True, id="traceback"),
        pytest.param('{"error": "gone"}', True, id="error_field"),
        pytest.param('{"error": null, "rows": 3}', False, id="null_error_field"),
        pytest.param('{"error":    false}', False, id="false_error_field"),
        pytest.param('{"error": ""}', False, id="empty_error_field"),
        pytest.param("exit code: 1", True, id="exit_code"),
        pytest.param("Exit code 0", False, id="exit_code_of_success"),
        pytest.param("[ERROR] disk full", True, id="bracketed"),
        pytest.param("<tool_use_error>no</tool_use_error>", True, id="tag"),
        pytest.param("0 errors found", False, id="word_further_in"),
        pytest.param("errors: 0", False, id="plural"),
        pytest.param("x" * 200 + " error", False, id="far_in"),
    ],
)
def test_a_tool_failed_when_its_answer_opens_like_it(tmp_path: Path, text: Any, failed: bool) -> None:
    assert only(tmp_path, [call(), result(text)])["tool_errors"] == failed


@pytest.mark.parametrize(
    ("text", "thought_and_answer"),
    [
        ("<think>a</think>b", ("a", "b")),
        ("a</think>b", ("a", "b")),
        ("<think>a", ("a", "")),
        ("b", ("", "b")),
        ("<think>a</think>b</think>c", ("a</think>b", "c")),
    ],
)
def test_thinking_is_told_from_the_answer(text: str, thought_and_answer: tuple[str, str]) -> None:
    assert split_thinking(text) == thought_and_answer


def test_the_first_tool_is_the_first_that_was_called(tmp_path: Path) -> None:
    rows = [answer([message("x")]), answer([call("book"), call("look")]), answer([{"type": "web_search_call"}])]
    column = read_rows(tmp_path, rows).scan.columns["first_tool"]
    assert [column.at(row) for row in range(3)] == [None, "book", "web_search_call"]
