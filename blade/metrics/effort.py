"""What passing and failing rollouts cost: tokens, steps, seconds, or any other number per rollout.

Pooled over all rollouts, failures look expensive because hard tasks both fail and take long. So the same is also asked
within tasks: over tasks that have both, how much more does a failing rollout take than a passing one of the same task?
"""

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np

from blade.metrics.intervals import estimate_mean
from blade.metrics.outcomes import Outcomes
from blade.metrics.values import Floats, Metric

WITHIN_TASK: Final = "mean over tasks with both of (mean of failing rollouts − mean of passing rollouts)"


class EffortSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How one quantity is spread over a group of rollouts."""

    n: int
    """Rollouts whose value is known."""
    unknown: int
    """Rollouts whose value is not known; they are in none of the numbers."""
    mean: float | None
    """Mean of the known values."""
    median: float | None
    """Median of the known values."""
    p90: float | None
    """90th percentile of the known values, linearly interpolated."""


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity in passing and in failing rollouts."""

    name: str
    """What was counted."""
    passing: EffortSummary
    """Over all rollouts that succeeded."""
    failing: EffortSummary
    """Over all rollouts that failed."""
    within_task: Metric
    """Failing minus passing inside the same task; n is the number of tasks that have both."""
    tasks_where_failing_took_more: int
    """Tasks whose failing rollouts took more on average."""
    tasks_where_failing_took_less: int
    """Tasks whose failing rollouts took less on average."""
    tasks_tied: int
    """Tasks where both took the same."""


def compare_effort(outcomes: Outcomes, quantities: Mapping[str, Floats]) -> list[Effort]:
    """Compares passing with failing rollouts in each named row column; nan is unknown."""
    return [_compare(outcomes, name, values) for name, values in quantities.items()]


def summarize_effort(values: Floats) -> EffortSummary:
    """Summarises one quantity over some rollouts."""
    known = values[~np.isnan(values)]
    unknown = len(values) - len(known)
    if len(known) == 0:
        return EffortSummary(n=0, unknown=unknown, mean=None, median=None, p90=None)
    median, p90 = np.quantile(known, [0.5, 0.9]).tolist()
    return EffortSummary(n=len(known), unknown=unknown, mean=float(known.mean()), median=median, p90=p90)


def _compare(outcomes: Outcomes, name: str, values: Floats) -> Effort:
    has_passed, has_failed = outcomes.success == 1.0, outcomes.success == 0.0
    passing, failing = (outcomes.totals(np.where(rows, values, np.nan)).mean for rows in (has_passed, has_failed))
    gaps = failing - passing
    has_both = ~np.isnan(gaps)
    gaps = gaps[has_both]
    return Effort(
        name=name,
        passing=summarize_effort(values[has_passed]),
        failing=summarize_effort(values[has_failed]),
        within_task=estimate_mean(gaps, definition=WITHIN_TASK, cluster=outcomes.clusters_of(has_both)),
        tasks_where_failing_took_more=int((gaps > 0).sum()),
        tasks_where_failing_took_less=int((gaps < 0).sum()),
        tasks_tied=int((gaps == 0).sum()),
    )
