"""What a taxonomy pack knows about the failures of a benchmark family, row by row.

A pattern of the pack names a failure better than a signal that holds for any benchmark, so it is charged before them.
It counts only when both runs are read with the same pack.
"""

from typing import NamedTuple

from blade.comparison.comparison import PartKind
from blade.diagnosis import Diagnosed
from blade.diagnosis.taxonomy import classify
from blade.metrics.values import Ints

KINDS: dict[str | None, PartKind] = {"IR": "infrastructure", "TI": "verifier", "DA": "verifier"}
"""Whose doing a pattern's cause is; any other cause is a behaviour."""


class Charge(NamedTuple):
    """Something rollouts can be charged to."""

    part: str
    kind: PartKind
    title: str


class Patterns(NamedTuple):
    """What a pack saw in a run."""

    pack: str | None
    """Name of the pack."""
    charges: tuple[Charge, ...] = ()
    """Its patterns, in the order in which they are tried."""
    rows: tuple[Ints, ...] = ()
    """Per pattern: the rows that belong to it and to no earlier one."""


NONE = Patterns(None)


def find_patterns(diagnosed: Diagnosed, wanted: str | None) -> Patterns:
    """What the pack of this name or path, or the one the run calls for, saw in it."""
    result = classify(diagnosed.run, diagnosed.outcomes, wanted).result
    if result is None:
        return NONE
    name = result.pack.name
    charges = [
        Charge(f"{name}.{h.rule.code}", KINDS.get(h.rule.cause, "behaviour"), h.rule.title) for h in result.patterns
    ]
    return Patterns(name, tuple(charges), tuple(hits.rows[hits.primary] for hits in result.patterns))


def shared_patterns(base: Patterns, candidate: Patterns) -> tuple[Patterns, Patterns]:
    """Both runs' patterns, or none when they were read with different packs."""
    return (base, candidate) if base.pack == candidate.pack else (NONE, NONE)


def pattern_warnings(base: Patterns, candidate: Patterns) -> list[str]:
    """What a reader must know about packs that differ."""
    if base.pack == candidate.pack:
        return []
    named = " and ".join(name or "none" for name in (base.pack, candidate.pack))
    return [f"the runs call for different taxonomy packs ({named}), so only general signals explain the change"]
