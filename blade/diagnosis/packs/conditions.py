"""Conditions of a pack as values: what `when` may say.

Combinators are `all`, `any` and `not`. A leaf asks about a field of the row, a fact of its trajectory, its status,
what was observed while it was read, or whether it passed. The shapes are checked by the schema before they come here;
only regular expressions can still be wrong.
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


class SeenIs(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Something like this was observed in the rollout."""

    kind: str
    """Kind of the observation."""
    subject: Expression | None = None
    """Matches what it is about: the tool, the field."""
    said: Expression | None = None
    """Matches what was seen, particulars masked."""


class Succeeded(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The rollout is known to have passed, or known not to have."""

    passed: bool


Leaf = FieldIs | FactIs | StatusIs | SeenIs | Succeeded
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
    if "seen" in said:
        return parse_seen(said["seen"])
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


def parse_seen(said: dict[str, Any]) -> SeenIs:
    return SeenIs(
        kind=said["kind"],
        subject=Expression(said["subject"]) if "subject" in said else None,
        said=Expression(said["said"]) if "said" in said else None,
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
