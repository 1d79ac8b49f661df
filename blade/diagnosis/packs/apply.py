"""A pack applied to a run: how far rollouts came, and which error pattern each that did not pass belongs to.

The table is asked first. The file is read for a small sample, which says what fields there are beyond the table's, once
for the rows the table leaves open. Only the sample holds rollouts that passed.
In a run without a success rule nothing is known to have passed, so patterns are looked for in every rollout. Rollouts
that failed before a verdict lack the very fields rules ask for, so a pattern does not look at them unless it asks for
`status: failed`.
"""

from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from blade.diagnosis.analysis import Count
from blade.diagnosis.funnel import Reached, StageName, follow
from blade.diagnosis.noting import Observations
from blade.diagnosis.packs.columns import distinct_pairs
from blade.diagnosis.packs.conditions import Condition
from blade.diagnosis.packs.evaluate import View, asks_for_failed, needed_fields
from blade.diagnosis.packs.pack import Breakdown, Pack, PatternRule, StageRule
from blade.diagnosis.packs.rows import Wanted, read_sample
from blade.diagnosis.packs.values import all_hold
from blade.diagnosis.packs.verdict import Verdict, only_where
from blade.engine import share
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Ints
from blade.rollouts.columns import codes_in, level_text
from blade.rollouts.table import FAILED, RolloutTable, Run


class PatternHits(NamedTuple):
    """Where an error pattern was seen."""

    rule: PatternRule
    """The pattern."""
    rows: Ints
    """Rollouts that did not pass and show it, in table order."""
    items: Ints
    """Per such rollout: the item it was seen at, -1 where there is none."""
    primary: Bools
    """Per such rollout: whether no earlier pattern claims it."""
    tasks: int
    """Tasks with such a rollout."""
    passed: int | None
    """Rollouts that passed and show it all the same; `None` when only their files could tell."""
    by: list[Count]
    """Rollouts per value of the field the pattern is broken down by, most first."""


class PackResult(NamedTuple):
    """What a pack says about a run."""

    pack: Pack
    """The pack."""
    stages: list[Reached]
    """The funnel, from `started` to `passed`."""
    patterns: list[PatternHits]
    """One entry per pattern, in the pack's order; those never seen included."""
    primary: Ints
    """Per row: position of the pattern it belongs to; -1 when it passed or nothing explains it."""
    failing: int
    """Rollouts patterns were looked for in: those that came to a verdict and are not known to have passed."""
    unexplained: int
    """Those of them that no pattern explains."""


def apply_pack(pack: Pack, run: Run, outcomes: Outcomes, seen: Observations) -> PackResult:
    """Puts every rule of a pack to a run; rows the table cannot decide are read again."""
    table = run.table
    open_rows = outcomes.success != 1.0
    view = View(table, outcomes.success, read_sample(run, open_rows), seen)
    conditions = [*(stage.when for stage in pack.stages), *(pattern.when for pattern in pack.patterns)]
    before = [view.verdict(stage.when) for stage in pack.stages]
    before += [pattern_verdict(pattern, view) for pattern in pack.patterns]
    found = resolve(conditions, before, view=view, run=run, among=open_among(before, open_rows))
    staged, shown = found[: len(pack.stages)], found[len(pack.stages) :]
    primary = first_of(shown, among=open_rows)
    judged = open_rows & (table.status != FAILED)
    return PackResult(
        pack=pack,
        stages=follow(
            [StageName(stage.name, stage.definition) for stage in pack.stages],
            [at_stage(view, *stage) for stage in zip(pack.stages, staged, strict=True)],
            table,
            outcomes,
        ),
        patterns=[
            pattern_hits(position, rule, shown[position], run=run, outcomes=outcomes, primary=primary)
            for position, rule in enumerate(pack.patterns)
        ],
        primary=primary,
        failing=int(judged.sum()),
        unexplained=int((judged & (primary < 0)).sum()),
    )


def pattern_verdict(pattern: PatternRule, view: View) -> Verdict:
    """What the table says about a pattern; rollouts without a verdict are left out unless it asks for them."""
    verdict = view.verdict(pattern.when)
    return verdict if asks_for_failed(pattern.when) else only_where(verdict, view.table.status != FAILED)


def open_among(verdicts: list[Verdict], among: Bools) -> Bools:
    """Rows among some that at least one verdict leaves open."""
    rows = np.zeros(len(among), dtype=bool)
    for verdict in verdicts:
        rows |= verdict.ask
    return rows & among


def resolve(conditions: list[Condition], before: list[Verdict], *, view: View, run: Run, among: Bools) -> list[Verdict]:
    """Verdicts with the open rows among some decided from the file, each row read once."""
    wanting = [index for index, verdict in enumerate(before) if (verdict.ask & among).any()]
    wanted = Wanted(set().union(*(needed_fields(conditions[index]) for index in wanting)))
    after = [Verdict(verdict.yes.copy(), verdict.ask & ~among, verdict.place.copy()) for verdict in before]

    def ask(rows: Ints) -> list[tuple[int, int, int]]:
        return [
            (index, row, place)
            for row, record in run.read(rows.tolist(), wanted.read)
            for index in wanting
            if before[index].ask[row] and (place := view.holds(conditions[index], row, record)) is not None
        ]

    for index, row, place in chain.from_iterable(share(ask, run.shared_out(np.flatnonzero(among)))):
        after[index].yes[row], after[index].place[row] = True, place
    return after


def first_of(seen: list[Verdict], *, among: Bools) -> Ints:
    """Per row: position of the first pattern that holds; -1 where that one, or an earlier one, was not read."""
    primary = np.full(len(among), -1, dtype=np.int64)
    for position in range(len(seen) - 1, -1, -1):
        primary[seen[position].yes & among] = position
        primary[seen[position].ask] = -1
    return primary


def at_stage(view: View, stage: StageRule, verdict: Verdict) -> Bools | None:
    """Per row: whether it is at a stage; `None` when the rows have no field the stage is told by."""
    return verdict.yes if view.can_tell(stage.when) else None


def pattern_hits(
    position: int, rule: PatternRule, verdict: Verdict, *, run: Run, outcomes: Outcomes, primary: Ints
) -> PatternHits:
    passing = outcomes.success == 1.0
    rows = np.flatnonzero(verdict.yes & ~passing)
    items = verdict.place[rows]
    return PatternHits(
        rule=rule,
        rows=rows,
        items=items,
        primary=primary[rows] == position,
        tasks=len(codes_in(run.table.task[rows])),
        passed=None if (verdict.ask & passing).any() else int((verdict.yes & passing).sum()),
        by=count_by(rule.by, rows, run.table),
    )


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
