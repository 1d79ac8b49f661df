"""Where two rollouts of one task part ways.

Sampled wording differs from the first sentence on, so two places are told apart: the first item that is not the same,
and the first tool call that is not the same. Whitespace, call ids and the order of keys in a call's arguments are not
a difference.
"""

import difflib
import json
import re
from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import Literal

import msgspec

from blade.rollouts.values import Item

MAX_WORDS = 800
"""Words of a text that are compared one by one once its common beginning and end are set aside."""
CONTEXT_WORDS = 24
"""Words of the common beginning and end that are shown around a difference."""
WORD = re.compile(r"(?:\w+|[^\w\s])\s*")
"""A word or a sign, so that in a call's arguments the value is marked and not its quotes."""


class Fork(msgspec.Struct, frozen=True, kw_only=True):
    """A place where two trajectories differ."""

    left: int | None
    """Position of the item on the left; `None` when that side has ended."""
    right: int | None
    """Position of the item on the right; `None` when that side has ended."""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """How two trajectories relate."""

    prompt: Fork | None
    """First difference between what the two were given; `None` when the prompts are the same."""
    common: int
    """Items that both produced alike before the first difference."""
    item: Fork | None
    """First item produced that differs; `None` when they never diverge."""
    common_calls: int
    """Tool calls that both made alike before the first difference."""
    call: Fork | None
    """First tool call that differs; `None` when the calls are the same."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of text and which of two texts it is in."""

    side: Literal["both", "left", "right", "cut"]
    """`cut` stands for text left out, which both may have."""
    text: str
    """The stretch; for `cut` what was left out, in words."""


def diverge(left: Sequence[Item], right: Sequence[Item]) -> Divergence:
    """Compares two trajectories item by item."""
    common, item = first_fork(produced(left), produced(right))
    common_calls, call = first_fork(calls(left), calls(right))
    return Divergence(
        prompt=first_fork(given(left), given(right))[1],
        common=common,
        item=item,
        common_calls=common_calls,
        call=call,
    )


def given(items: Sequence[Item]) -> list[Item]:
    """What the agent was given."""
    return [item for item in items if item.prompt]


def produced(items: Sequence[Item]) -> list[Item]:
    """What happened after."""
    return [item for item in items if not item.prompt]


def calls(items: Sequence[Item]) -> list[Item]:
    """The tool calls among what happened."""
    return [item for item in produced(items) if item.kind == "tool_call"]


def first_fork(left: Sequence[Item], right: Sequence[Item]) -> tuple[int, Fork | None]:
    """How many items agree from the start, and where they stop doing so."""
    for index, (a, b) in enumerate(zip_longest(left, right)):
        if a is None or b is None or item_key(a) != item_key(b):
            return index, Fork(left=a.position if a else None, right=b.position if b else None)
    return len(left), None


def item_key(item: Item) -> Hashable:
    """What makes two items the same."""
    return item.kind, item.role, item.name, normalized(item)


def normalized(item: Item) -> str:
    """The item's text without differences that mean nothing."""
    if item.kind == "tool_call":
        try:
            return json.dumps(json.loads(item.text), sort_keys=True)
        except (ValueError, RecursionError):
            pass
    return " ".join(item.text.split())


def word_changes(left: str, right: str) -> list[Change]:
    """The difference of two texts by words, with what is common before and after it cut to a few words."""
    a, b = words_of(left), words_of(right)
    start = common_length(a, b)
    end = common_length(a[start:][::-1], b[start:][::-1])
    before, after = a[:start], a[len(a) - end :]
    changes = [
        *cut_before(before),
        *middle_changes(a[start : len(a) - end], b[start : len(b) - end]),
        *cut_after(after),
    ]
    return [change for change in changes if change.text]


def words_of(text: str) -> list[str]:
    """The words with the blanks after them; the last one gets a blank too, so that any two can stand side by side."""
    return WORD.findall(f"{text.rstrip()} ")


def common_length(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words two texts share from the start; a word's trailing blanks do not count."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x.rstrip() != y.rstrip()), min(len(a), len(b)))


def cut_before(words: list[str]) -> list[Change]:
    hidden = max(0, len(words) - CONTEXT_WORDS)
    return [left_out(hidden), Change(side="both", text="".join(words[hidden:]))]


def cut_after(words: list[str]) -> list[Change]:
    hidden = max(0, len(words) - CONTEXT_WORDS)
    return [Change(side="both", text="".join(words[:CONTEXT_WORDS])), left_out(hidden)]


def left_out(words: int) -> Change:
    return Change(side="cut", text=f"{words} more words" if words else "")


def middle_changes(a: list[str], b: list[str]) -> list[Change]:
    """The stretches in which two texts differ; beyond `MAX_WORDS` the rest is counted only."""
    rest = max(len(a), len(b)) - MAX_WORDS
    a, b = a[:MAX_WORDS], b[:MAX_WORDS]
    changes: list[Change] = []
    matcher = difflib.SequenceMatcher(None, [w.rstrip() for w in a], [w.rstrip() for w in b], autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            changes.append(Change(side="both", text="".join(a[a0:a1])))
        else:
            changes.append(Change(side="left", text="".join(a[a0:a1])))
            changes.append(Change(side="right", text="".join(b[b0:b1])))
    return [*changes, left_out(max(0, rest))]
