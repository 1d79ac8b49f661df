"""How much of a run is read again for examples: quotes and pairs of rollouts. What is counted covers every rollout."""

import numpy as np

from blade.metrics.values import Ints
from blade.rollouts.table import RolloutTable

MOST_BYTES = 64 << 20


def within_budget(table: RolloutTable, rows: Ints, *, most: int | None = None, most_bytes: int = MOST_BYTES) -> Ints:
    """The rows, or as many of the first as the budget allows: whole tasks, unless it is spent on the first."""
    room = int(np.searchsorted(np.cumsum(table.rows.length[rows]), most_bytes, side="right"))
    chosen = rows[:room][:most]
    if len(chosen) == len(rows):
        return rows
    whole = chosen[table.task[chosen] != table.task[rows[len(chosen)]]]
    return whole if len(whole) else chosen
