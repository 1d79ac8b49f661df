"""A taxonomy pack as a value, and how one is made from a file.

A pack declares, for one family of benchmarks, how a run is recognised (`matches`), the stages of its funnel and its
error patterns. It is data: the file is YAML, its shape is `schemas/taxonomy.schema.json`, and nothing in it is ever
executed. Patterns are tried in their order, and a failing rollout belongs to the first that holds.
"""

from pathlib import Path as File
from typing import Any, Literal

import msgspec

from blade.diagnosis.labels import Confidence
from blade.diagnosis.packs.conditions import Condition, parse_condition, parse_questions
from blade.diagnosis.packs.expressions import Expression
from blade.diagnosis.packs.values import Path, Questions

Intervention = Literal["data", "prompt", "agent_loop", "verifier_repair", "environment", "sft", "rl", "documentation"]
CauseCode = Literal["DA", "IR", "TI", "BI", "UK", "KG"]


class Match(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One way to recognise a run; everything it names must be so."""

    all_fields: tuple[Path, ...] = ()
    """Fields the rows have, null or not."""
    any_fields: tuple[Path, ...] = ()
    """Fields of which the rows have at least one."""
    no_fields: tuple[Path, ...] = ()
    """Fields the rows do not have."""
    texts: tuple[tuple[Path, Expression], ...] = ()
    """Fields whose every text matches, empty ones aside."""
    first_tool: Expression | None = None
    """Matches the first tool that some rollout called."""
    prompt: Expression | None = None
    """Matches an item given to the agent, in every row looked at."""
    formats: tuple[str, ...] = ()
    """Formats of the file."""


class StageRule(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One stage of the funnel."""

    name: str
    """What a rollout has done when it is here."""
    definition: str
    """How it is told from the rows."""
    when: Condition
    """The same as a condition."""


class Breakdown(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A field whose values a pattern's rollouts are counted by."""

    field: Path
    """The field; every element of a list counts."""
    beside: Path | None = None
    """A second list; only elements whose neighbour passes count."""
    beside_asked: Questions = ()
    """What is asked of the neighbour."""


class PatternRule(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One kind of failure."""

    code: str
    """Short name."""
    title: str
    """What is seen, in words."""
    cause: CauseCode | None
    """Root cause; `None` where only the task's other rollouts can tell, as for a wrong answer."""
    confidence: Confidence
    """How sure the rule is; no label that rests on it is surer."""
    intervention: Intervention
    """What kind of fix it calls for."""
    when: Condition
    """When a rollout that did not pass shows it."""
    by: Breakdown | None = None
    """What its rollouts are counted by."""


class Pack(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A benchmark family's funnel and error patterns."""

    name: str
    """Short name, as in its file."""
    title: str
    """What family it is for."""
    description: str
    """What a reader should know before using it."""
    version: str
    """The pack's own version."""
    matches: tuple[Match, ...]
    """Ways to recognise a run; one is enough."""
    priority: int
    """Which pack wins when several recognise a run: the higher, then the more specific."""
    slices: tuple[str, ...]
    """Fields worth cutting a run of this family by."""
    stages: tuple[StageRule, ...]
    """The funnel between `started` and `passed`, in order."""
    patterns: tuple[PatternRule, ...]
    """Error patterns, in the order in which they are tried."""
    source: str
    """Where it was read from: a file, or `shipped`."""


def make_pack(said: dict[str, Any], source: File | None) -> Pack:
    """The pack a checked document states."""
    return Pack(
        name=said["name"],
        title=said["title"],
        description=said["description"],
        version=said["version"],
        matches=tuple(make_match(match) for match in said["matches"]),
        priority=said.get("priority", 0),
        slices=tuple(said.get("slices", ())),
        stages=tuple(make_stage(stage) for stage in said["stages"]),
        patterns=tuple(make_pattern(pattern) for pattern in said["patterns"]),
        source="shipped" if source is None else source.name,
    )


def make_match(said: dict[str, Any]) -> Match:
    return Match(
        all_fields=paths(said.get("all_fields")),
        any_fields=paths(said.get("any_fields")),
        no_fields=paths(said.get("no_fields")),
        texts=tuple((Path(path), Expression(source)) for path, source in said.get("texts", {}).items()),
        first_tool=expression(said.get("first_tool")),
        prompt=expression(said.get("prompt")),
        formats=tuple(said.get("formats", ())),
    )


def paths(said: list[str] | None) -> tuple[Path, ...]:
    return tuple(Path(text) for text in said or ())


def expression(source: str | None) -> Expression | None:
    return None if source is None else Expression(source)


def make_stage(said: dict[str, Any]) -> StageRule:
    return StageRule(name=said["name"], definition=said["definition"], when=parse_condition(said["when"]))


def make_pattern(said: dict[str, Any]) -> PatternRule:
    return PatternRule(
        code=said["code"],
        title=said["title"],
        cause=said.get("cause"),
        confidence=said["confidence"],
        intervention=said["intervention"],
        when=parse_condition(said["when"]),
        by=make_breakdown(said["by"]) if "by" in said else None,
    )


def make_breakdown(said: dict[str, Any]) -> Breakdown:
    beside, asked = make_beside(said)
    return Breakdown(field=Path(said["field"]), beside=beside, beside_asked=asked)


def make_beside(said: dict[str, Any]) -> tuple[Path | None, Questions]:
    beside = said.get("beside")
    return (None, ()) if beside is None else (Path(beside["field"]), parse_questions(beside))
