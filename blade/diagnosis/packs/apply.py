"""A pack applied to a run: how far rollouts came, and which error pattern each that did not pass belongs to.

The table is asked first. The file is read for a small sample, which says what fields there are beyond the table's, once
for the rows the table leaves open, and once for each pattern that quotes. Only the sample holds rollouts that passed.
In a run without a success rule nothing is known to have passed, so patterns are looked for in every rollout. Rollouts
that failed before a verdict lack the very fields rules ask for, so a pattern does not look at them unless it asks for
`status: failed`.
"""

from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import Count
from blade.diagnosis.budget import within_budget
from blade.diagnosis.funnel import Reached, StageName, follow
from blade.diagnosis.labels import Evidence
from blade.diagnosis.packs.conditions import Condition
from blade.diagnosis.packs.evaluate import View, asks_for_failed, needed_fields, needs_items
from blade.diagnosis.packs.evidence import count_by, find_evidence
from blade.diagnosis.packs.pack import Pack, PatternRule, StageRule
from blade.diagnosis.packs.reading import read_sample, read_whole, trajectory_fields
from blade.diagnosis.packs.verdict import Verdict, only_where
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Ints
from blade.rollouts.table import FAILED, Run

MOST_BYTES = 512 << 20
"""Rows that only their file can decide are read up to this size."""


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
    evidence: list[Evidence]
    """For the first such rollout of each task: where to look, and what stands there."""
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
    """Those of them that no pattern explains, and those that were left unread."""
    unread: int
    """Those of them whose file was not read for want of budget, although a pattern asks for it."""


def apply_pack(pack: Pack, run: Run, outcomes: Outcomes, *, most_bytes: int = MOST_BYTES) -> PackResult:
    """Puts every rule of a pack to a run; of rows the table cannot decide, at most so many bytes are read."""
    table = run.table
    open_rows = outcomes.success != 1.0
    view = View(table, outcomes.success, read_sample(run, open_rows))
    conditions = [*(stage.when for stage in pack.stages), *(pattern.when for pattern in pack.patterns)]
    before = [view.verdict(stage.when) for stage in pack.stages]
    before += [pattern_verdict(pattern, view) for pattern in pack.patterns]
    asked = np.flatnonzero(open_among(before, open_rows))
    readable = np.isin(np.arange(len(table)), within_budget(table, asked, most_bytes=most_bytes))
    found = resolve(conditions, before, view=view, run=run, among=readable)
    staged, seen = found[: len(pack.stages)], found[len(pack.stages) :]
    primary = first_of(seen, among=open_rows)
    judged = open_rows & (table.status != FAILED)
    return PackResult(
        pack=pack,
        stages=follow(
            [StageName(stage.name, stage.definition) for stage in pack.stages],
            [told(view, *stage) for stage in zip(pack.stages, staged, strict=True)],
            table,
            outcomes,
        ),
        patterns=[
            pattern_hits(position, rule, seen[position], run=run, outcomes=outcomes, primary=primary)
            for position, rule in enumerate(pack.patterns)
        ],
        primary=primary,
        failing=int(judged.sum()),
        unexplained=int((judged & (primary < 0)).sum()),
        unread=int(open_among(seen, open_rows).sum()),
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
    names: set[str] = set().union(*(needed_fields(conditions[index]) for index in wanting))
    if any(needs_items(conditions[index]) for index in wanting):
        names |= trajectory_fields(run)
    after = [Verdict(verdict.yes.copy(), verdict.ask & ~among, verdict.place.copy()) for verdict in before]
    for row, whole in read_whole(run, np.flatnonzero(among).tolist(), names):
        for index in wanting:
            place = view.holds(conditions[index], row, whole) if before[index].ask[row] else None
            if place is not None:
                after[index].yes[row], after[index].place[row] = True, place
    return after


def first_of(seen: list[Verdict], *, among: Bools) -> Ints:
    """Per row: position of the first pattern that holds; -1 where that one, or an earlier one, was not read."""
    primary = np.full(len(among), -1, dtype=np.int64)
    for position in range(len(seen) - 1, -1, -1):
        primary[seen[position].yes & among] = position
        primary[seen[position].ask] = -1
    return primary


def told(view: View, stage: StageRule, verdict: Verdict) -> Bools | None:
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
        tasks=len(np.unique(run.table.task[rows])),
        passed=None if (verdict.ask & passing).any() else int((verdict.yes & passing).sum()),
        evidence=find_evidence(rule, rows, items, run=run),
        by=count_by(rule.by, rows, run.table),
    )
