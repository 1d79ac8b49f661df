import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, call, message, result, rollout, thought
from scans import chat_call, chat_row, flat_row

from blade.rollouts import formats
from blade.rollouts.conform import BadRow
from blade.rollouts.meaning import meaning_of
from blade.rollouts.trajectory import read_items, read_record, read_row
from blade.rollouts.values import Item

GYM, TAU = formats.FORMATS["gym"], formats.FORMATS["tau-bench"]


def shown(items: list[Item]) -> list[tuple[Any, ...]]:
    return [(item.kind, item.role, item.name, item.text) for item in items]


def test_a_gym_row_is_its_prompt_and_what_followed() -> None:
    row = rollout(0, 0, output=[thought("Hm."), call("look", '{"n": 1}', "c1"), result("fine", "c1"), message("Done.")])
    assert read_items(row, GYM) == [
        Item(position=0, kind="message", role="user", text="question 0", prompt=True),
        Item(position=1, kind="reasoning", text="Hm."),
        Item(position=2, kind="tool_call", name="look", text='{"n": 1}', call_id="c1"),
        Item(position=3, kind="tool_result", name="look", text="fine", call_id="c1"),
        Item(position=4, kind="message", role="assistant", text="Done."),
    ]


def test_a_chat_message_with_tool_calls_is_several_items() -> None:
    calls = [chat_call("look", "{}", "a"), chat_call("book", '{"n": 1}', "b")]
    turns: list[Row] = [
        {"role": "assistant", "content": "One moment.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "booked"},
        {"role": "assistant", "content": None, "tool_calls": calls[:1]},
        {"role": "user", "content": "Thanks"},
    ]
    assert shown(read_items(chat_row(turns=turns), TAU)) == [
        ("message", "system", None, "Be kind."),
        ("message", "user", None, "Hello"),
        ("message", "assistant", None, "One moment."),
        ("tool_call", None, "look", "{}"),
        ("tool_call", None, "book", '{"n": 1}'),
        ("tool_result", None, "book", "booked"),
        ("tool_call", None, "look", "{}"),
        ("environment", "user", None, "Thanks"),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("plain", "plain", id="text"),
        pytest.param([{"type": "output_text", "text": "a"}, {"text": "b"}], "a\nb", id="parts"),
        pytest.param(["a", "b"], "a\nb", id="texts"),
        pytest.param({"text": "a"}, "a", id="one_part"),
        pytest.param([{"type": "input_image", "image_url": "x"}], "", id="image"),
        pytest.param(None, "", id="null"),
        pytest.param([], "", id="nothing"),
        pytest.param(3, "3", id="number"),
        pytest.param([3], "[3]", id="list_of_numbers"),
        pytest.param("ü\u2028\x00", "ü\u2028\x00", id="odd_characters"),
    ],
)
def test_contents_of_any_shape_have_a_text(content: Any, text: str) -> None:
    row = rollout(0, 0, output=[{"type": "message", "role": "assistant", "content": content}])
    assert read_items(row, GYM)[-1].text == text


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param("just text", [("message", "assistant", None, "just text")], id="text"),
        pytest.param([[message("a")], [message("b")]], [("message", "assistant", None, t) for t in "ab"], id="nested"),
        pytest.param(["a"], [("message", "assistant", None, "a")], id="list_of_texts"),
        pytest.param(message("a"), [("message", "assistant", None, "a")], id="one_item"),
        pytest.param([{"type": 3, "content": "a"}], [("environment", None, None, "a")], id="odd_type"),
        pytest.param([{"type": "reasoning", "content": "a"}], [("reasoning", None, None, "a")], id="open_reasoning"),
        pytest.param([{"type": "mcp_call", "arguments": "{}"}], [("tool_call", None, "mcp_call", "{}")], id="built_in"),
        pytest.param([3], [], id="no_items"),
        pytest.param(None, [], id="null"),
    ],
)
def test_outputs_of_any_shape_are_items(output: Any, expected: list[tuple[Any, ...]]) -> None:
    row = rollout(0, 0)
    row["response"]["output"] = output
    assert shown(read_items(row, GYM)[1:]) == expected


def test_a_text_prompt_is_what_the_user_said() -> None:
    row = rollout(0, 0, params={"input": "How many?"})
    assert shown(read_items(row, GYM))[0] == ("message", "user", None, "How many?")


def test_a_record_of_no_known_format_has_its_guessed_output() -> None:
    assert shown(read_items(flat_row(), formats.detect([flat_row()]))) == [("message", "assistant", None, "So.")]


def test_a_row_with_lone_surrogates_is_still_read() -> None:
    assert read_record(b'{"a": "\\ud800"}') == {"a": "?"}


def test_a_row_that_is_no_object_any_more_is_bad() -> None:
    with pytest.raises(BadRow, match="is not an object any more; run diagnose again"):
        read_record(b"[]")


def test_the_names_of_messages_are_agents_and_one_that_runs_code_is_none() -> None:
    said = [("ann", "assistant", "plan"), ("run", "user", "nothing to run"), ("bob", "user", "print(x)")]
    failed = ("run", "user", "exitcode: 1 (execution failed)\nCode output:\nNameError: name 'x' is not defined\n")
    turns = [{"name": name, "role": role, "content": text} for name, role, text in [*said, failed]]

    assert [(i.kind, i.agent, i.error) for i in read_items({"traj": turns}, TAU)] == [
        ("message", "ann", None),
        ("tool_result", None, None),
        ("message", "bob", None),
        ("tool_result", None, "NameError: name 'x' is not defined"),
    ]


def test_one_name_alone_makes_no_conversation_of_agents() -> None:
    turns = [{"name": "ann", "role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]

    assert [(i.kind, i.agent) for i in read_items({"traj": turns}, TAU)] == [("message", None), ("environment", None)]


TEXTS = st.sampled_from(("", "fine", 'Error: "no"\n', "naïve 🙂", '{"error": "gone"}', "exitcode: 1 (bad)\nno"))
CONTENTS = st.one_of(
    TEXTS,
    st.none(),
    st.lists(st.one_of(TEXTS, st.builds(lambda text: {"type": "output_text", "text": text}, TEXTS)), max_size=3),
    st.just({"text": "inner"}),
    st.just({"a": [1, 2]}),
)
CALLS = st.one_of(
    st.none(),
    st.just([]),
    st.just([chat_call("look", "{}", "a")]),
    st.just("odd"),
    st.just([{"id": 1}]),
    st.just([{"id": "a", "function": {"name": 3, "arguments": {"n": 1}}}]),
)
STEPS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(("message", "function_call", "function_call_output", "reasoning", "web_search_call")),
        "role": st.sampled_from(("assistant", "user", "tool", "system")),
        "name": st.one_of(st.sampled_from(("look", "book")), st.none(), st.just(3)),
        "call_id": st.sampled_from(("a", "b")),
        "content": CONTENTS,
        "output": CONTENTS,
        "arguments": st.one_of(TEXTS, st.just({"n": 1})),
        "summary": CONTENTS,
        "tool_calls": CALLS,
        "error": st.one_of(st.none(), TEXTS, st.just({"message": "x"})),
    },
)


@settings(max_examples=150, deadline=None)
@given(prompt=st.one_of(TEXTS, st.lists(STEPS, max_size=2)), output=st.lists(STEPS, max_size=5))
def test_a_row_reads_the_same_half_decoded_and_whole(prompt: Any, output: list[Row]) -> None:
    row = {**rollout(0, 0), "extra": {"error": [1]}, "responses_create_params": {"input": prompt, "tools": [{"a": 1}]}}
    row["response"] = {"output": output, "error": {"code": "x"}, "usage": {"output_tokens": 3}}
    chat = {"task_id": 0, "traj": output * 9, "reward": 0.0, "info": {}}
    for record, form in ((row, GYM), (chat, TAU)):
        light, items = read_row(json.dumps(record).encode(), form)

        assert items == read_items(record, form)
        assert meaning_of(light, form) == meaning_of(record, form)
