"""What a pattern's rollouts show: where to look, what stands there, and which values they have in common."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from blade.diagnosis.analysis import Count
from blade.diagnosis.labels import Evidence
from blade.diagnosis.packs.columns import distinct_pairs
from blade.diagnosis.packs.pack import Breakdown, PatternRule
from blade.diagnosis.packs.quotes import Quoted, quote_from_file, quote_from_table
from blade.diagnosis.packs.reading import read_whole, trajectory_fields
from blade.diagnosis.packs.values import all_hold
from blade.metrics.values import Ints
from blade.rollouts.columns import level_text
from blade.rollouts.table import RolloutTable, Run

MOST_QUOTED = 1000
"""Tasks per pattern whose evidence is quoted; further ones are cited only."""


def find_evidence(rule: PatternRule, rows: Ints, items: Ints, *, run: Run) -> list[Evidence]:
    """A citation for the first row of each task, with its quote where the pattern says what to quote."""
    table = run.table
    _, first = np.unique(table.task[rows], return_index=True)
    chosen = rows[first].tolist()
    seen_at = dict(zip(chosen, items[first].tolist(), strict=True))
    quotes = find_quotes(rule, chosen[:MOST_QUOTED], run)
    return [evidence(table, row, seen_at[row], quotes.get(row)) for row in chosen]


def evidence(table: RolloutTable, row: int, item: int, quoted: Quoted | None) -> Evidence:
    if quoted is None:
        return Evidence(citation=table.citation(row, item))
    return Evidence(citation=table.citation(row, quoted.item), quote=quoted.text)


def find_quotes(rule: PatternRule, rows: list[int], run: Run) -> dict[int, Quoted]:
    quote = rule.quote
    if quote is None or not rows:
        return {}
    found = {row: quoted for row in rows if (quoted := quote_from_table(quote, run.table, row)) is not None}
    paths = [path.top for path in (quote.field, quote.beside) if path is not None]
    names: Iterable[str] = paths if quote.item is None else trajectory_fields(run)
    for row, whole in read_whole(run, [row for row in rows if row not in found], names):
        quoted = quote_from_file(quote, whole)
        if quoted is not None:
            found[row] = quoted
    return found


def count_by(by: Breakdown | None, rows: Ints, table: RolloutTable) -> list[Count]:
    """Rollouts per value, those whose value the table does not hold under `None`."""
    if by is None or not len(rows):
        return []
    left, right = (table.rows.column((path or by.field).text).coded() for path in (by.field, by.beside))
    pairs = distinct_pairs(left.values[rows], right.values[rows])
    counts: dict[str | None, int] = {}
    for (one, other), rollouts in zip(pairs.codes, pairs.times, strict=True):
        value, neighbours = left.levels[one] if one >= 0 else None, right.levels[other] if other >= 0 else None
        for counted in dict.fromkeys(values_of(by, value, neighbours)):
            counts[counted] = counts.get(counted, 0) + rollouts
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0] is None, entry[0] or ""))
    return [Count(value=value, rollouts=rollouts) for value, rollouts in ordered]


def values_of(by: Breakdown, value: Any, neighbours: Any) -> list[str | None]:
    """What a rollout counts under."""
    if by.beside is None:
        return list(value) if isinstance(value, tuple) else [None if value is None else level_text(value)]
    if not isinstance(value, tuple) or not isinstance(neighbours, tuple) or len(value) != len(neighbours):
        return [None]
    return [one for one, other in zip(value, neighbours, strict=True) if all_hold(by.beside_asked, other)]
