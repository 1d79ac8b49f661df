"""What the numbers are computed from: one row per rollout, as columns, and its totals per task.

Nothing here knows files: whoever read the rollouts fills an `Outcomes`. Unknown is nan in a column and never
0; a task without any row is legal, it is a missing task.
"""

import msgspec
import numpy as np

from blade.metrics.values import Bools, Floats, Ints


class Outcomes(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The outcome of every rollout of one run."""

    tasks: list[str]
    """Task keys in display order."""
    task: Ints
    """Per row: index into `tasks`."""
    repeat: Ints
    """Per row: which repeat of the task it is."""
    reward: Floats
    """Per row: the reward; nan when unscored."""
    success: Floats
    """Per row: 1.0, 0.0, or nan when unscored or when there is no success rule."""
    infrastructure: Bools
    """Per row: the rollout ended in an infrastructure failure, scored or not."""
    expected: Ints
    """Per task: rollouts expected."""
    cluster: Ints | None = None
    """Per task: the cluster it belongs to, when tasks come in related groups."""

    def __post_init__(self) -> None:
        rows, tasks = len(self.task), len(self.tasks)
        columns = (self.repeat, self.reward, self.success, self.infrastructure)
        if any(len(column) != rows for column in columns):
            raise ValueError(f"every row column must have the {rows} rows of 'task'")
        if len(self.expected) != tasks or (self.cluster is not None and len(self.cluster) != tasks):
            raise ValueError(f"'expected' and 'cluster' must have one entry for each of the {tasks} tasks")

    @property
    def is_continuous(self) -> bool:
        """No rollout has a known success, so the mean reward is the headline."""
        return bool(np.isnan(self.success).all())

    @property
    def scores(self) -> Floats:
        """Per row: what the headline averages, success or, without any, reward."""
        return self.reward if self.is_continuous else self.success

    def totals(self, values: Floats) -> "Totals":
        """A row column added up per task."""
        return total_by_task(self.task, values, tasks=len(self.tasks))

    def clusters_of(self, tasks: Bools) -> Ints | None:
        """The clusters of some tasks, when tasks come in clusters."""
        return None if self.cluster is None else self.cluster[tasks]


class Totals(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Per task: how many rows have a known value, and those values' sum."""

    known: Ints
    """Rows with a known value."""
    sum: Floats
    """Sum of the known values."""

    @property
    def mean(self) -> Floats:
        """Per task: mean of the known values; nan where none is known."""
        unknown: Floats = np.full(len(self.sum), np.nan)
        return np.divide(self.sum, self.known, out=unknown, where=self.known > 0)

    def part(self, tasks: slice) -> "Totals":
        """The totals of some of the tasks."""
        return Totals(known=self.known[tasks], sum=self.sum[tasks])


def total_by_task(task: Ints, values: Floats, *, tasks: int) -> Totals:
    """Adds up a row column per task, leaving out nan."""
    is_known = ~np.isnan(values)
    known = np.bincount(task[is_known], minlength=tasks)
    total = np.bincount(task[is_known], weights=values[is_known], minlength=tasks)
    return Totals(known=known.astype(np.int64), sum=total.astype(np.float64))
