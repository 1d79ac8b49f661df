"""How much of a run is read in full: trajectories are many and long, and a diagnosis should not wait for all."""

import numpy as np

from blade.metrics.values import Ints
from blade.rollouts.table import RolloutTable

MOST_BYTES = 64 << 20


def within_budget(table: RolloutTable, rows: Ints, *, most: int | None = None, most_bytes: int = MOST_BYTES) -> Ints:
    """The rows, or as many of the first as the budget allows; rows of one task stay together in the table."""
    read = np.cumsum(table.rows.length[rows])
    return rows[: int(np.searchsorted(read, most_bytes, side="right"))][:most]
