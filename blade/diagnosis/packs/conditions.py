"""Conditions of a pack as values: what `when` may say.

Combinators are `all`, `any` and `not`. A leaf asks about a field of the row, a fact of its trajectory, its status, a
text of an item, or whether it passed. The shapes are checked by the schema before they come
here; only regular expressions can still be wrong.
"""

from typing import Any

import msgspec

from blade.diagnosis.packs.expressions import Expression
from blade.diagnosis.packs.values import HOLDS, Path, Question, Questions


class All(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Every part holds."""

    parts: tuple["Condition", ...]


class AnyOf(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """At least one part holds."""

    parts: tuple["Condition", ...]


class Not(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The part does not hold."""

    part: "Condition"


class FieldIs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A field of the row passes every question."""

    path: Path
    """Where the value is."""
    asked: Questions
    """What is asked of it."""
    over: Path | None = None
    """A number the value is divided by first."""
    beside: Path | None = None
    """A second list of the same length."""
    beside_asked: Questions = ()
    """What is asked of the element's neighbour in it."""


class FactIs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A fact about the trajectory passes every question."""

    name: str
    """One of `FACT_NAMES`."""
    asked: Questions
    """What is asked of it."""


class StatusIs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The rollout ended in one of these ways."""

    words: tuple[str, ...]


class ItemIs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The trajectory holds an item like this."""

    kind: str | None = None
    """Kind of the item."""
    position: str = "any"
    """Which of the items that are like this must match: any, the first or the last."""
    name: Expression | None = None
    """Matches the name of the tool."""
    matches: Expression | None = None
    """Matches the text of the item."""


class Succeeded(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The rollout is known to have passed, or known not to have."""

    passed: bool


Leaf = FieldIs | FactIs | StatusIs | ItemIs | Succeeded
Condition = All | AnyOf | Not | Leaf


def parse_condition(said: dict[str, Any]) -> Condition:
    """The condition some checked mapping states."""
    if "all" in said:
        return All(parts=tuple(parse_condition(part) for part in said["all"]))
    if "any" in said:
        return AnyOf(parts=tuple(parse_condition(part) for part in said["any"]))
    if "not" in said:
        return Not(part=parse_condition(said["not"]))
    return parse_leaf(said)


def parse_leaf(said: dict[str, Any]) -> Leaf:
    if "field" in said:
        return parse_field(said)
    if "fact" in said:
        return FactIs(name=said["fact"], asked=parse_questions(said))
    if "status" in said:
        words = said["status"]
        return StatusIs(words=(words,) if isinstance(words, str) else tuple(words))
    if "item" in said:
        return parse_item(said["item"])
    return Succeeded(passed=said["success"])


def parse_field(said: dict[str, Any]) -> FieldIs:
    beside = said.get("beside")
    return FieldIs(
        path=Path(said["field"]),
        asked=parse_questions(said),
        over=Path(said["over"]) if "over" in said else None,
        beside=None if beside is None else Path(beside["field"]),
        beside_asked=() if beside is None else parse_questions(beside),
    )


def parse_item(said: dict[str, Any]) -> ItemIs:
    return ItemIs(
        kind=said.get("kind"),
        position=said.get("position", "any"),
        name=Expression(said["name"]) if "name" in said else None,
        matches=Expression(said["matches"]) if "matches" in said else None,
    )


def parse_questions(said: dict[str, Any]) -> Questions:
    return tuple(
        Question(word, Expression(wanted) if word == "matches" else wanted)
        for word, wanted in said.items()
        if word in HOLDS
    )


def leaves(condition: Condition) -> list[Leaf]:
    """Every leaf of a condition, from left to right."""
    if isinstance(condition, All | AnyOf):
        return [leaf for part in condition.parts for leaf in leaves(part)]
    return leaves(condition.part) if isinstance(condition, Not) else [condition]
