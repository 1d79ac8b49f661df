"""Trajectories cut to a size somebody can read: which items, and how much of each."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from blade.errors import UsageError
from blade.rollouts import Item

MOST_ITEMS = 40
"""Items shown of a longer trajectory: half from its beginning and half from its end."""
NEIGHBOURS = 1
RANGE = re.compile(r"(?P<first>[0-9]*)(?P<dash>-?)(?P<last>[0-9]*)")


class Excerpt(NamedTuple):
    """Head and tail of a text, and how many characters between them are left out."""

    head: str
    cut: int
    tail: str

    def __str__(self) -> str:
        return self.head if not self.cut else f"{self.head} […{self.cut:,} characters cut…] {self.tail}"


def excerpt(text: str, most: int | None) -> Excerpt:
    """The text when it is short enough, else two thirds of the space for its head and one for its tail."""
    if most is None or len(text) <= most:
        return Excerpt(text, 0, "")
    head = most * 2 // 3
    tail = most - head
    return Excerpt(text[:head], len(text) - most, text[len(text) - tail :])


class ShownItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item as `--json` prints it."""

    position: int
    """The `#item` of a citation."""
    kind: str
    """What the item is."""
    role: str | None
    """Role of a message."""
    name: str | None
    """Name of the tool."""
    prompt: bool
    """Whether it was given to the agent before it acted."""
    text: str
    """The text, or its head and tail."""
    cut: int
    """Characters left out between them."""


def shown_item(item: Item, most: int | None) -> ShownItem:
    """An item with its text cut to size."""
    part = excerpt(item.text, most)
    return ShownItem(
        position=item.position,
        kind=item.kind,
        role=item.role,
        name=item.name,
        prompt=item.prompt,
        text=str(part),
        cut=part.cut,
    )


def bounded_fields(fields: dict[str, Any], most: int | None) -> dict[str, Any]:
    """What else a row says; values whose JSON is too long become the head and tail of that JSON."""
    out: dict[str, Any] = {}
    for name, value in fields.items():
        part = excerpt(field_text(value), most)
        out[name] = str(part) if part.cut else value
    return out


def field_text(value: Any) -> str:
    """A value of a row in one line."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def choose_items(items: Sequence[Item], wanted: str | None, *, near: int | None, full: bool) -> list[Item]:
    """The items to show: those asked for, those around one, or all of a trajectory that is not too long.

    Raises:
        UsageError: the range is malformed, or nothing is in it.
    """
    if wanted is not None:
        return items_in(items, wanted)
    if near is not None:
        check_position(items, near)
        return list(items[max(0, near - NEIGHBOURS) : near + NEIGHBOURS + 1])
    if full or len(items) <= MOST_ITEMS:
        return list(items)
    return [*items[: MOST_ITEMS // 2], *items[-MOST_ITEMS // 2 :]]


def items_in(items: Sequence[Item], wanted: str) -> list[Item]:
    """The items of `4`, `4-9`, `4-` or `-9`, the last one included."""
    match = RANGE.fullmatch(wanted.strip())
    if match is None or not (match["first"] or match["last"]):
        raise UsageError(f"--items {wanted!r} is not a range of items; expected for example 4, 4-9, 4- or -9.")
    first = int(match["first"] or 0)
    last = int(match["last"]) if match["last"] else first if not match["dash"] else len(items) - 1
    check_position(items, first)
    if last < first:
        raise UsageError(f"--items {wanted!r} ends before it begins.")
    return list(items[first : last + 1])


def check_position(items: Sequence[Item], position: int) -> None:
    """Raises unless there is an item at this position."""
    if not items:
        raise UsageError("the rollout has no items: its row holds no trajectory.")
    if position >= len(items):
        raise UsageError(f"there is no item #{position}; the rollout has items #0 to #{len(items) - 1}.")
