"""The difference between two runs over the same tasks, and how sure it is.

Tasks, or clusters of them, are the sampling unit. The interval is Student's t on the tasks' differences, with the limit
on the skewed side moved out by the first term of the studentized mean's Edgeworth expansion (Hall 1983, Inverting an
Edgeworth expansion): where few tasks jump, a sample with too few of them has too small a mean and too small an error
alike. The other limit stays, because the skewness of a few tasks is itself uncertain; moving both (Johnson 1978) covers
too little. Where fewer than two units differ, or all by the same, nothing is seen of how units vary, so a pair of
opposite changes is imagined beside them (for one repeat these are Bonett and Price's 2012 limits).

`measure/bench/compare.py` measures how often it covers: 93.4–96.9 % in every cell, more where fewer than five tasks
differ, because no 5 % test exists there. Imagining the pair always, Beta limits, degrees of freedom by kurtosis,
bootstrap-t, BCa, and limits of gains and losses apart, put together by their recovered variances (Zou and Donner 2008),
were tried and leave cells outside 93–97 %.
"""

from typing import Final, NamedTuple

import numpy as np

from blade.comparison.comparison import Delta
from blade.comparison.signflip import TOLERANCE, sign_flip, unit_sums
from blade.metrics.distributions import student_quantile
from blade.metrics.intervals import spread_of_mean
from blade.metrics.values import Floats, Interval, Ints

TWO_SIDED: Final = 0.975
POWER: Final = 0.8
FEWEST_DIFFERING: Final = 2


class Scale(NamedTuple):
    """What differences of a task's score there can be."""

    step: float
    """The smallest."""
    limit: float = float("inf")
    """The largest."""


class Spread(NamedTuple):
    """How far a mean difference may be off."""

    center: float
    """Middle of the interval."""
    se: float
    """Standard error, the imagined pair included."""
    freedom: float
    """Degrees of freedom."""
    limit: float = float("inf")
    """Largest difference there can be."""
    skewness: float = 0.0
    """That of the mean: the units' own over the root of their number."""

    @property
    def ci95(self) -> Interval:
        quantile = student_quantile(self.freedom, TWO_SIDED)
        reach, further = quantile * self.se, self.skewness * (1.0 + 2.0 * quantile**2) / 6.0 * self.se
        low, high = self.center - reach + min(further, 0.0), self.center + reach + max(further, 0.0)
        return max(low, -self.limit), min(high, self.limit)

    @property
    def mde(self) -> float:
        """Smallest difference seen with 80 % power at two-sided 5 %."""
        return (student_quantile(self.freedom, TWO_SIDED) + student_quantile(self.freedom, POWER)) * self.se


def spread_of(differences: Floats, *, cluster: Ints | None, scale: Scale) -> Spread | None:
    """The spread of the mean difference; `None` when one unit was seen."""
    plain = spread_of_mean(differences, cluster)
    if np.isnan(plain.se):
        return None
    sums = unit_sums(differences, cluster)
    units, mean = len(sums), float(differences.mean())
    moved = np.abs(sums[np.abs(sums) > TOLERANCE]) * units / len(differences)
    is_lone = len(moved) < FEWEST_DIFFERING
    if not is_lone and plain.se > TOLERANCE:
        return Spread(mean, plain.se, plain.units - 1.0, scale.limit, skewness_of_mean(differences, cluster))
    imagined = float(moved.max(initial=0.0)) or scale.step
    squares = plain.se**2 * units * (units - 1) + 2.0 * imagined**2
    center = mean * units / (units + 2) if is_lone else mean
    return Spread(center, float(np.sqrt(squares / ((units + 1) * (units + 2)))), plain.units - 1.0, scale.limit)


def skewness_of_mean(differences: Floats, cluster: Ints | None) -> float:
    """How skewed the mean of some differences, which are not all alike, is."""
    apart = unit_sums(differences - differences.mean(), cluster)
    return float((apart**3).mean() / (apart**2).mean() ** 1.5 / np.sqrt(len(apart)))


def estimate_delta(
    differences: Floats, *, cluster: Ints | None, scale: Scale, rng: np.random.Generator | None = None
) -> Delta:
    """The mean difference with its error, interval and p."""
    spread = spread_of(differences, cluster=cluster, scale=scale)
    plain = spread_of_mean(differences, cluster).se
    test = sign_flip(differences, cluster=cluster, rng=rng)
    return Delta(
        value=float(differences.mean()),
        tasks=len(differences),
        se=None if np.isnan(plain) else plain,
        ci95=None if spread is None else spread.ci95,
        p_value=test.p_value,
        p_method=test.method,
    )
