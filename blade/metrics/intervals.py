"""How sure a mean over tasks is: tasks, or clusters of tasks, are the sampling unit, never repeats."""

from typing import Final, NamedTuple

import numpy as np
from scipy import special

from blade.metrics.values import Floats, Ints, Metric, unknown_metric

PRIOR: Final = 0.5
SHRINKAGE: Final = 2.0


class Limits(NamedTuple):
    """Lower and upper 95 % limits, as arrays of the shape of the input."""

    low: Floats
    high: Floats


class Spread(NamedTuple):
    """Standard error of a mean over tasks and the number of independent units behind it."""

    se: float
    units: float


def rate_interval(successes: Ints, trials: Ints) -> Limits:
    """95 % limits of one task's true success rate; nan where there is no trial."""
    c, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return _beta_limits(np.divide(c, n, out=np.full(np.broadcast(c, n).shape, np.nan), where=n > 0), n)


def mean_rate_interval(mean: Floats | float, se: Floats | float, *, units: float, rollouts: float) -> Limits:
    """95 % limits of a mean of task rates, given its standard error over `units` tasks or clusters."""
    mean, se = np.asarray(mean, dtype=np.float64), np.asarray(se, dtype=np.float64)
    most = mean * (1.0 - mean)
    evidence = units * most
    variance = (evidence * se**2 * units + SHRINKAGE * most) / (evidence + SHRINKAGE)
    size = np.divide(
        most, variance / units, out=np.full(mean.shape, units, dtype=np.float64), where=variance > 0
    )
    return _beta_limits(mean, np.clip(size, units, max(rollouts, units)))


def mean_interval(mean: float, se: float, *, units: float) -> tuple[float, float]:
    """95 % limits of a mean of unbounded task values: Student's t on task means."""
    reach = float(special.stdtrit(units - 1.0, 0.975)) * se
    return mean - reach, mean + reach


def spread_of_mean(values: Floats, cluster: Ints | None = None) -> Spread:
    """Standard error of the mean of task values (clusters: Miller 2024, with G/(G − 1) for G clusters)."""
    tasks = len(values)
    if cluster is None:
        return Spread(float(values.std(ddof=1) / np.sqrt(tasks)), float(tasks))
    _, member, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    clusters = len(sizes)
    if clusters < 2:
        return Spread(float("nan"), 1.0)
    totals = np.bincount(member, weights=values - values.mean())
    se = np.sqrt(clusters / (clusters - 1) * float(totals @ totals)) / tasks
    # Kish's effective number of clusters: one huge cluster among small ones is worth little more than one.
    return Spread(float(se), tasks**2 / float(sizes @ sizes))


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
    spread = spread_of_mean(values, cluster) if len(values) > 1 else Spread(float("nan"), 1.0)
    if np.isnan(spread.se):
        return Metric(value=mean, n=len(values), definition=definition, short=short)
    return rate_metric(mean, spread, n=len(values), rollouts=rollouts, definition=definition, short=short)


def rate_metric(
    mean: float, spread: Spread, *, n: int, rollouts: int, definition: str, short: int = 0
) -> Metric:
    """Puts a mean rate and its spread together as a metric."""
    low, high = mean_rate_interval(mean, spread.se, units=spread.units, rollouts=rollouts)
    return Metric(
        value=mean, n=n, se=spread.se, ci95=(float(low), float(high)), definition=definition, short=short
    )


def estimate_mean(values: Floats, *, definition: str, cluster: Ints | None = None) -> Metric:
    """Mean over tasks of unbounded values; no interval when one unit was seen or all values are the same."""
    if len(values) == 0:
        return unknown_metric(definition)
    mean = float(values.mean())
    spread = spread_of_mean(values, cluster) if len(values) > 1 else Spread(float("nan"), 1.0)
    if np.isnan(spread.se):
        return Metric(value=mean, n=len(values), definition=definition)
    interval = mean_interval(mean, spread.se, units=spread.units) if spread.se > 0 else None
    return Metric(value=mean, n=len(values), se=spread.se, ci95=interval, definition=definition)


def _beta_limits(rate: Floats, size: Floats) -> Limits:
    a, b = rate * size + PRIOR, (1.0 - rate) * size + PRIOR
    low = np.where(rate <= 0.0, 0.0, special.betaincinv(a, b, 0.025))
    high = np.where(rate >= 1.0, 1.0, special.betaincinv(a, b, 0.975))
    return Limits(np.asarray(low), np.asarray(high))
