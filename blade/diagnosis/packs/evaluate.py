"""Conditions put to a run: first to the table, for all rows at once; then, row by row, to the file where it must be.

The table's answer to every leaf is kept, so that a row read from the file is asked only what the table left open.
"""

from typing import Any

import numpy as np

from blade.diagnosis.noting import Observations
from blade.diagnosis.packs.columns import Sample, field_verdict, knows_field, level_verdict, number_mask
from blade.diagnosis.packs.conditions import (
    All,
    AnyOf,
    Condition,
    FactIs,
    FieldIs,
    Leaf,
    Not,
    SeenIs,
    StatusIs,
    Succeeded,
    leaves,
)
from blade.diagnosis.packs.values import all_hold, pair_holds
from blade.diagnosis.packs.verdict import Verdict, both, decided, either, everywhere, negated
from blade.rollouts.columns import Column
from blade.rollouts.features import FACTS, KINDS
from blade.rollouts.table import STATUSES, Floats, RolloutTable

PLACES = {
    "tool_errors": "error_at",
    "repeated_calls": "repeated_at",
    "looped_calls": "looped_at",
    "ended_on_error": "final_at",
    "final_kind": "final_at",
    "answer_bytes": "final_at",
}
"""Facts that say where they were seen."""

FACT_NAMES = ("output_items", *(name for name in FACTS if not name.endswith("_at")))
"""Facts a pack may name."""


class View:
    """A run as conditions see it."""

    def __init__(self, table: RolloutTable, success: Floats, sample: Sample, seen: Observations) -> None:
        self.table = table
        self.success = success
        self.sample = sample
        self.seen = seen
        self._verdicts: dict[int, Verdict] = {}

    def verdict(self, condition: Condition) -> Verdict:
        """What the table says about a condition."""
        if isinstance(condition, Not):
            return negated(self.verdict(condition.part))
        if isinstance(condition, All | AnyOf):
            combine = both if isinstance(condition, All) else either
            found = self.verdict(condition.parts[0])
            for part in condition.parts[1:]:
                found = combine(found, self.verdict(part))
            return found
        return self.leaf(condition)

    def leaf(self, leaf: Leaf) -> Verdict:
        if id(leaf) not in self._verdicts:
            self._verdicts[id(leaf)] = leaf_verdict(leaf, self)
        return self._verdicts[id(leaf)]

    def can_tell(self, condition: Condition) -> bool:
        """Whether the rows have anything the condition asks for."""
        asked = leaves(condition)
        paths = [leaf.path for leaf in asked if isinstance(leaf, FieldIs)]
        return len(paths) < len(asked) or any(knows_field(path, self.table, self.sample) for path in paths)

    def holds(self, condition: Condition, row: int, record: dict[str, Any]) -> int | None:
        """Whether a condition holds for a row that was read: the item it was seen at (-1 for none), else `None`."""
        if isinstance(condition, Not):
            return -1 if self.holds(condition.part, row, record) is None else None
        if isinstance(condition, All | AnyOf):
            return self._parts_hold(condition, row, record)
        known = self.leaf(condition)
        if not known.ask[row]:
            return int(known.place[row]) if known.yes[row] else None
        return ask_row(condition, record)

    def _parts_hold(self, condition: All | AnyOf, row: int, record: dict[str, Any]) -> int | None:
        place: int | None = -1 if isinstance(condition, All) else None
        for part in condition.parts:
            found = self.holds(part, row, record)
            if isinstance(condition, All) and found is None:
                return None
            if found is not None and (place is None or place < 0):
                place = found
        return place


def leaf_verdict(leaf: Leaf, view: View) -> Verdict:
    """What the table says about one leaf."""
    table = view.table
    if isinstance(leaf, FieldIs):
        return field_verdict(leaf, table, view.sample)
    if isinstance(leaf, FactIs):
        return fact_verdict(leaf, table)
    if isinstance(leaf, StatusIs):
        codes = [STATUSES.index(word) for word in leaf.words]
        return decided(np.isin(table.status, codes), table.rows.fact("final_at"))
    if isinstance(leaf, Succeeded):
        return decided(view.success == float(leaf.passed))
    return seen_verdict(leaf, view)


def fact_verdict(leaf: FactIs, table: RolloutTable) -> Verdict:
    if not table.rows.facts.shape[1]:  # trajectories were not looked at
        return everywhere(len(table), yes=False)
    place = table.rows.fact(PLACES[leaf.name]) if leaf.name in PLACES else None
    if leaf.name == "final_kind":
        kinds = Column(kind="text", values=table.rows.fact("final_kind"), levels=list(KINDS))
        return decided(level_verdict(kinds, leaf.asked).yes, place)
    numbers = Column(kind="number", values=table.rows.fact(leaf.name).astype(np.float64))
    return decided(number_mask(numbers, leaf.asked), place)


def seen_verdict(leaf: SeenIs, view: View) -> Verdict:
    """Each distinct observation once, whatever the number of rollouts it was made in."""
    found = view.seen.where(
        lambda one: (
            one.kind == leaf.kind
            and (leaf.subject is None or leaf.subject.search(one.subject) is not None)
            and (leaf.said is None or leaf.said.search(one.said) is not None)
        )
    )
    yes, place = np.zeros(len(view.table), dtype=bool), np.full(len(view.table), -1, dtype=np.int32)
    yes[found.rows] = True
    # An assignment in this order leaves the earliest item of each row.
    place[found.rows[::-1]] = found.items[::-1]
    return decided(yes, place)


def ask_row(leaf: Leaf, record: dict[str, Any]) -> int | None:
    """What the file says about a leaf the table could not answer."""
    assert isinstance(leaf, FieldIs), "only fields are ever left open"
    value = leaf.path.values(record)
    if leaf.beside is not None:
        neighbours = leaf.beside.values(record)
        return -1 if pair_holds(leaf.asked, value, leaf.beside_asked, neighbours) else None
    return -1 if all_hold(leaf.asked, value) else None


def needed_fields(condition: Condition) -> set[str]:
    """Names of the rows' own fields that the condition may have to ask the file for."""
    paths = [path for leaf in leaves(condition) if isinstance(leaf, FieldIs) for path in (leaf.path, leaf.beside)]
    return {path.top for path in paths if path is not None}


def asks_for_failed(condition: Condition) -> bool:
    """Whether the condition speaks of rollouts that failed before a verdict."""
    return any(isinstance(leaf, StatusIs) and "failed" in leaf.words for leaf in leaves(condition))
