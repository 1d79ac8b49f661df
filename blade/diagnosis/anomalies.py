"""A repeat, a shard or a stretch of time whose failures are out of line with its siblings.

A provider outage or a bad worker hits some rollouts and spares others of the same tasks, so the test is within tasks
(Mantel-Haenszel) and the p-values are adjusted for the number of groups looked at.
"""

from typing import NamedTuple

import numpy as np

from blade.metrics.adjusting import benjamini_hochberg
from blade.metrics.stratified import associate
from blade.metrics.values import Bools, Ints
from blade.rollouts.table import RolloutTable

WINDOWS = 8
LEVEL = 0.01
FEWEST = 5
"""Rollouts a group must have to be judged at all."""


class Anomaly(NamedTuple):
    """A group of rollouts that fails more often than the rest of the same tasks."""

    group: str
    rows: Ints
    """Its failing rows."""
    members: int
    failed: int
    rate_elsewhere: float
    p_value: float
    """Adjusted for all groups tested."""


def find_anomalies(table: RolloutTable, failing: Bools) -> list[Anomaly]:
    """Groups whose failures (by the given flag) exceed those of their siblings, most certain first."""
    groups = [group for group in candidate_groups(table) if FEWEST <= int(group[1].sum()) < len(table)]
    tested: list[tuple[str, Bools, float]] = []
    for name, members in groups:
        found = associate(table.task, members, failing)
        if found.p_value is not None:
            tested.append((name, members, found.p_value if found.excess > 0 else 1.0))
    adjusted = benjamini_hochberg([p for _, _, p in tested])
    kept = [(t, p) for t, p in zip(tested, adjusted, strict=True) if p < LEVEL]
    return [describe(name, members, failing, p) for (name, members, _), p in sorted(kept, key=lambda k: k[1])]


def describe(name: str, members: Bools, failing: Bools, p_value: float) -> Anomaly:
    rest = ~members
    return Anomaly(
        group=name,
        rows=np.flatnonzero(members & failing),
        members=int(members.sum()),
        failed=int((members & failing).sum()),
        rate_elsewhere=float(failing[rest].mean()),
        p_value=p_value,
    )


def candidate_groups(table: RolloutTable) -> list[tuple[str, Bools]]:
    """Every repeat, every file, and equal stretches of time by when responses were made."""
    groups = [(f"repeat {number}", table.repeat == number) for number in np.unique(table.repeat)[:64].tolist()]
    files = np.unique(table.rows.file)
    if len(files) > 1:
        groups += [(f"file {number + 1}", table.rows.file == number) for number in files.tolist()]
    return groups + time_windows(table)


def time_windows(table: RolloutTable) -> list[tuple[str, Bools]]:
    made = table.rows.numbers("response.created_at")
    known = ~np.isnan(made)
    if known.sum() < WINDOWS * FEWEST or len(np.unique(made[known])) < WINDOWS:
        return []
    edges = np.quantile(made[known], np.linspace(0, 1, WINDOWS + 1))
    place = np.clip(np.searchsorted(edges, made, side="right") - 1, 0, WINDOWS - 1)
    return [(f"time window {i + 1} of {WINDOWS}", known & (place == i)) for i in range(WINDOWS)]
