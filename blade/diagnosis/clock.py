"""When rollouts were made: a service fails at a time, a model that declines does so by the task."""

from collections.abc import Sequence

import numpy as np

from blade.metrics.distributions import binomial_tail
from blade.rollouts.table import RolloutTable


class Clock:
    """The repeat and the time of every rollout of a run."""

    def __init__(self, table: RolloutTable) -> None:
        numbers, self.place_of_repeat = np.unique(table.repeat, return_inverse=True)
        self.repeats = len(numbers)
        made = table.rows.numbers("response.created_at")
        order = np.argsort(np.argsort(made)) / max(1, len(made) - 1)
        self.place = np.where(np.isnan(made), np.nan, order)
        """Place in the order of time, from 0 to 1."""

    def chance(self, rows: Sequence[int]) -> float:
        """That so many rollouts fall so close together, in one repeat or in one stretch of time."""
        return min(self.chance_of_repeat(rows), self.chance_of_time(rows))

    def chance_of_repeat(self, rows: Sequence[int]) -> float:
        """That so many rollouts are all of one repeat; 1 when they are not."""
        same = len(np.unique(self.place_of_repeat[list(rows)])) == 1
        return float(self.repeats) ** (1 - len(rows)) if same else 1.0

    def chance_beside(self, rows: Sequence[int], others: Sequence[int]) -> float:
        """That so many of `others` fall into one repeat, the one all `rows` are of; 1 when those are not of it."""
        counts = np.bincount(self.place_of_repeat[list(others)], minlength=self.repeats)
        busiest = int(counts.argmax())
        if self.repeats == 1 or (self.place_of_repeat[list(rows)] != busiest).any():
            return 1.0
        return min(1.0, self.repeats * binomial_tail(int(counts[busiest]), len(others), 1.0 / self.repeats))

    def chance_of_time(self, rows: Sequence[int]) -> float:
        """That so many rollouts fall into so short a stretch: the spread of evenly scattered places."""
        places, count = self.place[list(rows)], len(rows)
        if count < 2 or np.isnan(places).any():
            return 1.0
        spread = float(np.ptp(places))
        return count * spread ** (count - 1) - (count - 1) * spread**count
