"""The same numbers for parts of a run: per difficulty, category, tool, or any field with levels.

A row may belong to several levels (a task needing three tools counts in all three), so slices can overlap and need
not add up. The caller maps a field to levels; a row without a level is in no slice.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from blade.metrics.outcomes import Outcomes, Totals, total_by_task
from blade.metrics.sensitivity import headline_definition, headline_metric
from blade.metrics.values import Ints, Metric
from blade.rollouts.identity import natural_key

Levels = Sequence[str | Sequence[str] | None]


class BucketCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks fall in each bucket."""

    always: int = 0
    """Every scored rollout succeeded."""
    sometimes: int = 0
    """Some succeeded and some failed."""
    never: int = 0
    """Every scored rollout failed."""
    missing: int = 0
    """No rollout has a known outcome."""


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a field and what its rollouts showed."""

    level: str
    """The field's value."""
    tasks: int
    """Tasks with at least one rollout, or known to belong, at this level."""
    rollouts: int
    """Rollouts at this level, scored or not."""
    headline: Metric
    """pass@1 of these rollouts, or their mean reward in a continuous run."""
    buckets: BucketCounts | None
    """Tasks by bucket, judged by these rollouts alone; None in a continuous run."""


def slice_outcomes(outcomes: Outcomes, levels: Levels, *, task_levels: Levels | None = None) -> list[Slice]:
    """One slice per level in natural order.

    Args:
        levels: per row, its level or levels.
        task_levels: per task, its level or levels where known; puts tasks without any row into their slices.
    """
    ids: dict[str, int] = {}
    return _slices(outcomes, ids, _match(levels, ids), _match(task_levels or [], ids))


def slice_codes(outcomes: Outcomes, codes: Ints, levels: Sequence[str]) -> list[Slice]:
    """The same of rows that name their level by its number; -1 is none."""
    ids: dict[str, int] = {}
    named = np.array([ids.setdefault(level, len(ids)) for level in levels], dtype=np.int64)
    rows = np.flatnonzero(codes >= 0)
    return _slices(outcomes, ids, (named[codes[rows]], rows), _match([], ids))


def _slices(
    outcomes: Outcomes, ids: dict[str, int], of_rows: tuple[Ints, Ints], of_tasks: tuple[Ints, Ints]
) -> list[Slice]:
    """The slices of numbered levels, given the level and the place of each row and each task that has one."""
    (row_level, row), (task_level, task) = of_rows, of_tasks
    # A unit is a task within a level, so one pass over all of them serves every slice.
    width = max(len(outcomes.tasks), 1)
    row_unit = row_level * width + outcomes.task[row]
    units, place = np.unique(np.concatenate([row_unit, task_level * width + task]), return_inverse=True)
    totals = total_by_task(place[: len(row)], outcomes.scores[row], tasks=len(units))
    rollouts = np.bincount(place[: len(row)], minlength=len(units))
    starts = np.searchsorted(units, np.arange(len(ids) + 1) * width)
    definition, is_continuous = headline_definition(outcomes), outcomes.is_continuous
    slices = []
    for name in sorted(ids, key=natural_key):
        part = slice(*starts[ids[name] :][:2])
        mine = totals.part(part)
        cluster = None if outcomes.cluster is None else outcomes.cluster[units[part] % width]
        slices.append(
            Slice(
                level=name,
                tasks=len(mine.known),
                rollouts=int(rollouts[part].sum()),
                headline=headline_metric(mine, definition=definition, cluster=cluster),
                buckets=None if is_continuous else _count_buckets(mine),
            )
        )
    return slices


def _match(levels: Levels, ids: dict[str, int]) -> tuple[Ints, Ints]:
    """Pairs of level id and position, one per level that a position belongs to; numbers new levels in `ids`."""
    level: list[int] = []
    position: list[int] = []
    for i, value in enumerate(levels):
        for name in (value,) if isinstance(value, str) else dict.fromkeys(value or ()):
            level.append(ids.setdefault(name, len(ids)))
            position.append(i)
    return np.array(level, dtype=np.int64), np.array(position, dtype=np.int64)


def _count_buckets(totals: Totals) -> BucketCounts:
    known, passed = totals.known, totals.sum
    return BucketCounts(
        always=int(((known > 0) & (passed == known)).sum()),
        sometimes=int(((passed > 0) & (passed < known)).sum()),
        never=int(((known > 0) & (passed == 0)).sum()),
        missing=int((known == 0).sum()),
    )
