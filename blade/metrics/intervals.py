"""How sure a mean over tasks is: tasks, or clusters of tasks, are the sampling unit, never repeats (Miller 2024).

A mean rate gets the equal-tailed limits of Beta(x + ¾, m − x + ¾), where m is the number of independent yes/no
observations with the same standard error (the effective size) and x = m · mean. The effective size is what matters:
Student limits on task means cover 78–96 % (Bowyer 2025, arXiv 2503.01747, warns of them), while on the same size
Wilson 1927, logit, Jeffreys, uniform and ¾ all cover 92.7–98.4 % of nominal 95 % in `measure/bench/coverage.py`.
The prior ¾ and the guard for a lone dissenter were chosen on that grid, where only they leave no cell outside 93–97 %
(the others 4–5 of 135). On 364 other cells (40–200 tasks) ¾ leaves 12 outside, at 92.3–98.0 %, and Wilson 5: no better.
Below 30 tasks it is often too wide: 92.7–99.1 % for 8–20 tasks.
"""

from typing import Final, NamedTuple

import numpy as np

from blade.metrics.distributions import beta_quantiles, normal_quantile, student_quantile
from blade.metrics.values import Bools, Floats, Ints, Metric, unknown_metric

PRIOR: Final = 0.75
TWO_SIDED: Final = 0.975


class Limits(NamedTuple):
    """Lower and upper 95 % limits, as arrays of the shape of the input."""

    low: Floats
    high: Floats


class Spread(NamedTuple):
    """How far the mean of task values may be off, and how much it rests on."""

    se: float
    """Standard error; nan when there are not two units."""
    units: float
    """Independent units: tasks, or the effective number of clusters."""
    dissenters: int
    """Units that keep the result from being unanimous: those above 0 or those below 1, whichever are fewer."""


def rate_interval(successes: Ints, trials: Ints) -> Limits:
    """95 % limits of one task's true success rate; nan where there is no trial."""
    # Thousands of tasks share a few distinct (successes, trials).
    width = int(trials.max(initial=0)) + 1
    pairs, place = np.unique(successes * width + trials, return_inverse=True)
    c, n = (part.astype(np.float64) for part in divmod(pairs, width))
    rate = np.divide(c, n, out=np.full(len(n), np.nan), where=n > 0)
    low, high = _beta_limits(rate, n)
    return Limits(low[place], high[place])


def mean_rate_interval(
    mean: Floats | float, se: Floats | float, *, units: float, rollouts: float, dissenters: Ints | int
) -> Limits:
    """95 % limits of a mean of task rates, given its standard error and what it rests on (see `Spread`).

    The effective size lies between the number of units (repeats told nothing new) and of rollouts (repeats are as
    good as new tasks). A single dissenter says nothing about how tasks differ, so then only units count.
    """
    mean, se = np.asarray(mean, dtype=np.float64), np.asarray(se, dtype=np.float64)
    # Korn & Graubard 1998: the effective size is itself estimated, with units − 1 degrees of freedom.
    student = student_quantile(units - 1.0, TWO_SIDED) / normal_quantile(TWO_SIDED)
    variance = np.maximum((se * student) ** 2, np.finfo(np.float64).tiny)
    size = np.where(np.asarray(dissenters) >= 2, mean * (1.0 - mean) / variance, units)
    return _beta_limits(mean, np.clip(size, units, max(rollouts, units)))


def mean_interval(mean: float, se: float, *, units: float) -> tuple[float, float]:
    """95 % limits of a mean of unbounded task values: Student's t on task means."""
    reach = student_quantile(units - 1.0, TWO_SIDED) * se
    return mean - reach, mean + reach


def spread_of_mean(values: Floats, cluster: Ints | None = None) -> Spread:
    """Spread of the mean of task values; over clusters as in Miller 2024 (arXiv 2411.00640), times G/(G − 1)."""
    tasks = len(values)
    if cluster is None:
        se = float(values.std(ddof=1) / np.sqrt(tasks)) if tasks > 1 else float("nan")
        return Spread(se, float(tasks), _count_dissenters(values > 0.0, values < 1.0))
    _, member, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    clusters = len(sizes)
    totals = np.bincount(member, weights=values - values.mean())
    se = float(np.sqrt(clusters / (clusters - 1) * (totals @ totals)) / tasks) if clusters > 1 else float("nan")
    above, below = np.bincount(member, values > 0.0) > 0, np.bincount(member, values < 1.0) > 0
    # Kish's effective number of clusters: one huge cluster among small ones is worth little more than one.
    return Spread(se, float(tasks**2 / (sizes @ sizes)), _count_dissenters(above, below))


def _count_dissenters(above: Bools, below: Bools) -> int:
    return int(min(np.count_nonzero(above), np.count_nonzero(below)))


def mean_over_tasks(values: Floats, *, rollouts: int, definition: str, cluster: Ints | None = None) -> Metric:
    """Mean of task values, as rates when all lie in [0, 1] and as unbounded values otherwise."""
    if ((values >= -1e-9) & (values <= 1.0 + 1e-9)).all():
        return estimate_rate(values, rollouts=rollouts, definition=definition, cluster=cluster)
    return estimate_mean(values, definition=definition, cluster=cluster)


def estimate_rate(
    values: Floats, *, rollouts: int, definition: str, cluster: Ints | None = None, short: int = 0
) -> Metric:
    """Mean over tasks of values in [0, 1]; its interval stays inside [0, 1] and never has zero width."""
    if len(values) == 0:
        return unknown_metric(definition, short=short)
    mean = min(max(float(values.mean()), 0.0), 1.0)
    spread = spread_of_mean(values, cluster)
    return rate_metric(mean, spread, n=len(values), rollouts=rollouts, definition=definition, short=short)


def rate_metric(mean: float, spread: Spread, *, n: int, rollouts: int, definition: str, short: int = 0) -> Metric:
    """Puts a mean rate and its spread together; one unit alone gives neither error nor interval."""
    if np.isnan(spread.se):
        return Metric(value=mean, n=n, definition=definition, short=short)
    low, high = mean_rate_interval(mean, spread.se, units=spread.units, rollouts=rollouts, dissenters=spread.dissenters)
    ci95 = float(low), float(high)
    return Metric(value=mean, n=n, se=spread.se, ci95=ci95, definition=definition, short=short)


def estimate_mean(values: Floats, *, definition: str, cluster: Ints | None = None) -> Metric:
    """Mean over tasks of unbounded values; no interval when one unit was seen or all values are the same."""
    if len(values) == 0:
        return unknown_metric(definition)
    mean, spread = float(values.mean()), spread_of_mean(values, cluster)
    if np.isnan(spread.se):
        return Metric(value=mean, n=len(values), definition=definition)
    ci95 = mean_interval(mean, spread.se, units=spread.units) if spread.se > 0 else None
    return Metric(value=mean, n=len(values), se=spread.se, ci95=ci95, definition=definition)


def _beta_limits(rate: Floats, size: Floats) -> Limits:
    a, b = rate * size + PRIOR, (1.0 - rate) * size + PRIOR
    low = np.where(rate <= 0.0, 0.0, beta_quantiles(a, b, 1.0 - TWO_SIDED))
    high = np.where(rate >= 1.0, 1.0, beta_quantiles(a, b, TWO_SIDED))
    return Limits(np.asarray(low), np.asarray(high))
