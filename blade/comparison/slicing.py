"""The change cut by a field both runs have, and a warning when the cut tells another story than the whole.

Paired tasks are the same in both runs, so their overall change cannot contradict their levels'. The runs' own
headlines can: when the mix of tasks differs, a run may lose at every level and win overall (Simpson 1951).
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from blade.comparison.comparison import Change, LevelChange, SliceChange
from blade.comparison.difference import estimate_delta
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.metrics import natural_key
from blade.metrics.adjusting import holm
from blade.metrics.values import Bools
from blade.rollouts.columns import level_text
from blade.rollouts.identity import require_field

MOST_LEVELS = 50
TINY = 1e-12

TaskLevels = list[tuple[str, ...]]
"""Per task of either run: the levels it belongs to."""


def slice_changes(
    base: Diagnosed, candidate: Diagnosed, pairing: Pairing, change: Change, *, asked: Sequence[str] = ()
) -> list[SliceChange]:
    """The fields asked for, then those that were found in both runs."""
    tables = [{table.field: table.asked for table in run.analysis.slices} for run in (base, candidate)]
    wanted = dict.fromkeys([*asked, *(field for table in tables for field, given in table.items() if given)])
    for field in wanted:
        for run in (base, candidate):
            require_field(run.run.table.rows, field)
    found = [field for field in tables[0] if field in tables[1] and field not in wanted]
    cuts = [(field, field in wanted) for field in [*wanted, *found]]
    return [slice_change(field, is_asked, base, candidate, pairing, change) for field, is_asked in cuts]


def slice_change(
    field: str, asked: bool, base: Diagnosed, candidate: Diagnosed, pairing: Pairing, change: Change
) -> SliceChange:
    """The change cut by one field."""
    levels = task_levels(field, base, candidate, pairing)
    names = sorted({name for names in levels for name in names}, key=natural_key)[:MOST_LEVELS]
    changes = [level_change(name, np.asarray([name in mine for mine in levels]), pairing) for name in names]
    standardised = at_one_mix(changes)
    return SliceChange(
        field=field,
        asked=asked,
        levels=with_adjusted_p(changes),
        unassigned=sum(bool(is_paired) and not mine for is_paired, mine in zip(pairing.paired, levels, strict=True)),
        standardised=standardised,
        simpson=is_paradox(change.value, changes, standardised),
    )


def task_levels(field: str, base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> TaskLevels:
    """Per task: the levels that either run puts it at."""
    sides = zip((base, candidate), (pairing.base, pairing.candidate), strict=True)
    first, second = (own_levels(field, run, scores, len(pairing.tasks)) for run, scores in sides)
    return [tuple(dict.fromkeys([*mine, *theirs])) for mine, theirs in zip(first, second, strict=True)]


def own_levels(field: str, run: Diagnosed, scores: Scores, tasks: int) -> TaskLevels:
    """Per task: its levels by the first row that says."""
    levels: TaskLevels = [()] * tasks
    column = run.run.table.rows.columns[field].coded()
    names = [level if isinstance(level, tuple) else (level_text(level),) for level in column.levels]
    for place, code in zip(scores.place[::-1].tolist(), column.values[::-1].tolist(), strict=True):
        if code >= 0:
            levels[place] = names[code]
    return levels


def level_change(name: str, members: Bools, pairing: Pairing) -> LevelChange:
    """What changed at one level."""
    paired = members & pairing.paired
    cluster = None if pairing.cluster is None else pairing.cluster[paired]
    differences = pairing.moved[paired]
    delta = estimate_delta(differences, cluster=cluster, scale=pairing.scale) if len(differences) else None
    return LevelChange(
        level=name,
        base=mean_of(pairing.base, paired),
        candidate=mean_of(pairing.candidate, paired),
        delta=delta,
        p_holm=None,
        base_tasks=int((members & pairing.base.scored).sum()),
        candidate_tasks=int((members & pairing.candidate.scored).sum()),
        base_own=mean_of(pairing.base, members),
        candidate_own=mean_of(pairing.candidate, members),
    )


def mean_of(scores: Scores, members: Bools) -> float | None:
    counted = members & scores.scored
    return float(scores.mean[counted].mean()) if counted.any() else None


def with_adjusted_p(changes: list[LevelChange]) -> list[LevelChange]:
    """The levels with p adjusted for their number."""
    tested = [change for change in changes if change.delta is not None]
    adjusted = dict(zip([c.level for c in tested], holm([c.delta.p_value for c in tested if c.delta]), strict=True))
    return [msgspec.structs.replace(change, p_holm=adjusted.get(change.level)) for change in changes]


def own_changes(changes: list[LevelChange]) -> list[tuple[float, int]]:
    """Change of the runs' own means at each level that both have, and the tasks behind it."""
    return [
        (change.candidate_own - change.base_own, change.base_tasks + change.candidate_tasks)
        for change in changes
        if change.base_own is not None and change.candidate_own is not None
    ]


def at_one_mix(changes: list[LevelChange]) -> float | None:
    """The change if both runs had the pooled mix of levels."""
    known = own_changes(changes)
    weight = sum(tasks for _, tasks in known)
    return sum(value * tasks for value, tasks in known) / weight if weight else None


def is_paradox(overall: float, changes: list[LevelChange], standardised: float | None) -> bool:
    """Whether the headline moved against every level, or against the change at one mix."""
    known = own_changes(changes)
    if abs(overall) < TINY or len(known) < 2 or standardised is None:
        return False
    return all(value * overall < 0 for value, _ in known) or standardised * overall < -TINY
