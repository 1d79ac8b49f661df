"""Conditions put to a run: first to the table, for all rows at once; then, row by row, to the file where it must be.

The table's answer to every leaf is kept, so that a row read from the file is asked only what the table left open.
"""

from collections.abc import Sequence

import numpy as np

from blade.diagnosis.packs.columns import Sample, field_verdict, knows_field, level_verdict, number_mask
from blade.diagnosis.packs.conditions import (
    All,
    AnyOf,
    Condition,
    FactIs,
    FieldIs,
    ItemIs,
    Leaf,
    Not,
    StatusIs,
    Succeeded,
    leaves,
)
from blade.diagnosis.packs.rows import WholeRow
from blade.diagnosis.packs.values import all_hold, pair_holds
from blade.diagnosis.packs.verdict import Verdict, both, decided, either, everywhere, negated, only_where, undecided
from blade.rollouts.columns import Column
from blade.rollouts.features import FACTS, KINDS, split_thinking
from blade.rollouts.table import STATUSES, Floats, RolloutTable
from blade.rollouts.values import Item

PLACES = {
    "tool_errors": "error_at",
    "repeated_calls": "repeated_at",
    "looped_calls": "looped_at",
    "ended_on_error": "final_at",
    "final_kind": "final_at",
    "answer_bytes": "final_at",
}
"""Facts that say where they were seen."""

COUNTS = {
    None: "output_items",
    "message": "messages",
    "reasoning": "reasoning",
    "tool_call": "tool_calls",
    "tool_result": "tool_results",
    "environment": "environment_turns",
}
"""The fact that counts the items of a kind, or all of them."""

FACT_NAMES = ("output_items", *(name for name in FACTS if not name.endswith("_at")))
"""Facts a pack may name."""


class View:
    """A run as conditions see it."""

    def __init__(self, table: RolloutTable, success: Floats, sample: Sample) -> None:
        self.table = table
        self.success = success
        self.sample = sample
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

    def holds(self, condition: Condition, row: int, whole: WholeRow) -> int | None:
        """Whether a condition holds for a row that was read: the item it was seen at (-1 for none), else `None`."""
        if isinstance(condition, Not):
            return -1 if self.holds(condition.part, row, whole) is None else None
        if isinstance(condition, All | AnyOf):
            return self._parts_hold(condition, row, whole)
        known = self.leaf(condition)
        if not known.ask[row]:
            return int(known.place[row]) if known.yes[row] else None
        return ask_row(condition, whole)

    def _parts_hold(self, condition: All | AnyOf, row: int, whole: WholeRow) -> int | None:
        place: int | None = -1 if isinstance(condition, All) else None
        for part in condition.parts:
            found = self.holds(part, row, whole)
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
    return item_verdict(leaf, table)


def fact_verdict(leaf: FactIs, table: RolloutTable) -> Verdict:
    if not table.rows.facts.shape[1]:  # trajectories were not looked at
        return everywhere(len(table), yes=False)
    place = table.rows.fact(PLACES[leaf.name]) if leaf.name in PLACES else None
    if leaf.name == "final_kind":
        kinds = Column(kind="text", values=table.rows.fact("final_kind"), levels=list(KINDS))
        return decided(level_verdict(kinds, leaf.asked).yes, place)
    numbers = Column(kind="number", values=table.rows.fact(leaf.name).astype(np.float64))
    return decided(number_mask(numbers, leaf.asked), place)


def item_verdict(leaf: ItemIs, table: RolloutTable) -> Verdict:
    """Rows without a single item of the kind are decided; the texts of the others are in the file."""
    if not table.rows.facts.shape[1]:
        return undecided(len(table))
    return only_where(undecided(len(table)), table.rows.fact(COUNTS[leaf.kind]) > 0)


def ask_row(leaf: Leaf, whole: WholeRow) -> int | None:
    """What the file says about a leaf the table could not answer."""
    if isinstance(leaf, ItemIs):
        return find_item(leaf, whole.items)
    assert isinstance(leaf, FieldIs), "only fields and items are ever left open"
    value = leaf.path.values(whole.record)
    if leaf.beside is not None:
        neighbours = leaf.beside.values(whole.record)
        return -1 if pair_holds(leaf.asked, value, leaf.beside_asked, neighbours) else None
    return -1 if all_hold(leaf.asked, value) else None


def needed_fields(condition: Condition) -> set[str]:
    """Names of the rows' own fields that the condition may have to ask the file for."""
    paths = [path for leaf in leaves(condition) if isinstance(leaf, FieldIs) for path in (leaf.path, leaf.beside)]
    return {path.top for path in paths if path is not None}


def asks_for_failed(condition: Condition) -> bool:
    """Whether the condition speaks of rollouts that failed before a verdict."""
    return any(isinstance(leaf, StatusIs) and "failed" in leaf.words for leaf in leaves(condition))


def needs_items(condition: Condition) -> bool:
    """Whether the condition may have to ask the file for items."""
    return any(isinstance(leaf, ItemIs) for leaf in leaves(condition))


def find_item(rule: ItemIs, items: Sequence[Item]) -> int | None:
    """Position of the item a rule speaks of, if there is one; of a message only what was said counts, not thinking."""
    chosen = [item for item in items if is_like(item, rule)]
    chosen = {"first": chosen[:1], "last": chosen[-1:]}.get(rule.position, chosen)
    found = (item for item in chosen if rule.matches is None or rule.matches.search(said(item)) is not None)
    return next((item.position for item in found), None)


def is_like(item: Item, rule: ItemIs) -> bool:
    """Whether an item is one that the agent did not start with, of the kind and tool a rule names."""
    if item.prompt or (rule.kind is not None and item.kind != rule.kind):
        return False
    return rule.name is None or (item.name is not None and rule.name.search(item.name) is not None)


def said(item: Item) -> str:
    """The text of an item without thinking."""
    return split_thinking(item.text)[1] if item.kind == "message" else item.text
