"""Where two trajectories part, and how two texts differ."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.diagnosis.divergence import CONTEXT_WORDS, MAX_WORDS, Change, Divergence, Fork, diverge, word_changes
from blade.rollouts.values import Item


def trajectory(*steps: tuple[str, str] | tuple[str, str, str], prompt: str = "Book a flight.") -> list[Item]:
    """A prompt and then steps of (kind, text) or (kind, text, tool name)."""
    items = [Item(position=0, kind="message", role="user", text=prompt, prompt=True)]
    for position, (kind, text, *name) in enumerate(steps, start=1):
        items.append(item(position, kind, text, name=name[0] if name else None))
    return items


def item(position: int, kind: Any, text: str, *, name: str | None = None, call_id: str | None = None) -> Item:
    return Item(position=position, kind=kind, text=text, name=name, call_id=call_id)


def test_the_first_item_and_the_first_call_that_differ_are_told_apart() -> None:
    left = trajectory(("message", "Let me look."), ("tool_call", '{"q": 1}', "search"), ("tool_call", "{}", "book"))
    right = trajectory(("message", "I'll look."), ("tool_call", '{"q": 1}', "search"), ("tool_call", "{}", "cancel"))

    assert diverge(left, right) == Divergence(
        prompt=None, common=0, item=Fork(left=1, right=1), common_calls=1, call=Fork(left=3, right=3)
    )


def test_a_call_keeps_its_place_when_the_other_side_thinks_in_between() -> None:
    left = trajectory(("tool_call", "{}", "search"), ("tool_call", "{}", "book"))
    right = trajectory(("tool_call", "{}", "search"), ("reasoning", "Hm."), ("tool_call", "{}", "cancel"))

    found = diverge(left, right)

    assert (found.item, found.call) == (Fork(left=2, right=2), Fork(left=2, right=3))


def test_a_side_that_ends_early_has_no_position_there() -> None:
    left = trajectory(("message", "Done."))
    right = trajectory(("message", "Done."), ("tool_call", "{}", "book"))

    assert diverge(left, right) == Divergence(
        prompt=None, common=1, item=Fork(left=None, right=2), common_calls=0, call=Fork(left=None, right=2)
    )


def test_different_prompts_are_reported_beside_the_divergence() -> None:
    found = diverge(trajectory(("message", "Hi")), trajectory(("message", "Hi"), prompt="Cancel it."))

    assert (found.prompt, found.item) == (Fork(left=0, right=0), None)


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        pytest.param("message", "a  b\n", "a b", id="whitespace"),
        pytest.param("tool_call", '{"a":1, "b":2}', '{"b": 2,"a": 1}', id="order_of_arguments"),
        pytest.param("tool_call", "not json  at all", "not json at all", id="arguments_that_are_not_json"),
    ],
)
def test_differences_that_mean_nothing_are_none(kind: Any, left: str, right: str) -> None:
    a, b = item(0, kind, left, call_id="call_1"), item(0, kind, right, call_id="call_2")

    assert diverge([a], [b]).item is None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(item(0, "message", "x"), id="kind"),
        pytest.param(item(0, "tool_call", "x", name="book"), id="tool"),
        pytest.param(item(0, "tool_call", "y", name="search"), id="arguments"),
    ],
)
def test_another_kind_tool_or_text_is_a_difference(other: Item) -> None:
    assert diverge([item(0, "tool_call", "x", name="search")], [other]).item == Fork(left=0, right=0)


def test_deeply_nested_arguments_are_compared_as_text() -> None:
    deep = "[" * 100_000

    assert diverge([item(0, "tool_call", deep)], [item(0, "tool_call", deep)]).item is None


def test_changed_words_stand_between_the_words_both_have() -> None:
    assert word_changes("book flight 12 today", "book flight 13 today") == [
        Change(side="both", text="book flight "),
        Change(side="left", text="12 "),
        Change(side="right", text="13 "),
        Change(side="both", text="today "),
    ]


def test_only_the_value_is_marked_in_the_arguments_of_a_call() -> None:
    assert word_changes('{"flight": "SK2"}', '{"flight": "LH1"}') == [
        Change(side="both", text='{"flight": "'),
        Change(side="left", text="SK2"),
        Change(side="right", text="LH1"),
        Change(side="both", text='"} '),
    ]


def test_long_common_text_around_a_change_is_cut_to_a_few_words() -> None:
    same = "w " * (CONTEXT_WORDS + 8)

    changes = word_changes(f"{same}a {same}", f"{same}b {same}")

    assert [change.side for change in changes] == ["cut", "both", "left", "right", "both", "cut"]
    assert changes[0].text == changes[-1].text == "8 more words"


def test_words_beyond_the_limit_are_counted_and_not_compared() -> None:
    left, right = "a " * (MAX_WORDS + 5), "b " * (MAX_WORDS + 70)

    assert word_changes(left, right) == [
        Change(side="left", text="a " * MAX_WORDS),
        Change(side="right", text="b " * MAX_WORDS),
        Change(side="cut", text="70 more words"),
    ]


words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=CONTEXT_WORDS).map(" ".join)


@given(left=words, right=words)
def test_each_text_can_be_read_off_the_changes(left: str, right: str) -> None:
    changes = word_changes(left, right)

    for side, text in (("left", left), ("right", right)):
        assert "".join(change.text for change in changes if change.side in ("both", side)).split() == text.split()


@given(texts=st.lists(st.sampled_from(["x", "y"]), max_size=5))
def test_a_trajectory_never_diverges_from_itself(texts: list[str]) -> None:
    items = [item(position, "message", text) for position, text in enumerate(texts)]

    assert diverge(items, items) == Divergence(prompt=None, common=len(texts), item=None, common_calls=0, call=None)
