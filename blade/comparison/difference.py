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

The test is of signs: were the runs the same, every task's difference could as well have the other sign. All assignments
of signs are counted when that is feasible: differences of success rates are whole multiples of some 1/L, so the
distribution of their sum is built up task by task on a grid. Otherwise up to `MOST_ENUMERATED` differences are
enumerated, and beyond that a sample is drawn. With 0/1 outcomes and one repeat this is McNemar's exact test.
"""

from fractions import Fraction
from math import lcm
from typing import Final, Literal, NamedTuple

import numpy as np

from blade.comparison.comparison import Delta
from blade.metrics.distributions import even_odds_p, student_quantile
from blade.metrics.intervals import spread_of_mean
from blade.metrics.values import Floats, Interval, Ints

MOST_ENUMERATED: Final = 16
LARGEST_DENOMINATOR: Final = 1000
MOST_STEPS: Final = 200_000_000
"""Additions that an exact count may take: about a second."""
SAMPLE: Final = 20_000
SEED: Final = 0
TOLERANCE: Final = 1e-12


class FlipTest(NamedTuple):
    """A two-sided p-value and how it came about."""

    p_value: float
    method: Literal["exact", "simulated"]


def sign_flip(differences: Floats, *, cluster: Ints | None = None, rng: np.random.Generator | None = None) -> FlipTest:
    """How often random signs give a sum at least as far from 0 as the one observed; clusters flip as one."""
    values = np.abs(unit_sums(differences, cluster))
    observed = abs(float(differences.sum()))
    values = values[values > TOLERANCE]
    if not len(values):
        return FlipTest(1.0, "exact")
    if (grid := on_grid(values)) is not None:
        return FlipTest(count_on_grid(grid.steps, observed * grid.scale), "exact")
    if len(values) <= MOST_ENUMERATED:
        return FlipTest(share_beyond(all_sums(values), observed), "exact")
    return FlipTest(simulate(values, observed, rng or np.random.default_rng(SEED)), "simulated")


def unit_sums(differences: Floats, cluster: Ints | None) -> Floats:
    """The differences of tasks, or their sums by cluster."""
    if cluster is None:
        return differences
    _, member = np.unique(cluster, return_inverse=True)
    return np.bincount(member, weights=differences).astype(np.float64)


class Grid(NamedTuple):
    """Values as whole multiples of 1/scale."""

    steps: Ints
    scale: int


def on_grid(values: Floats) -> Grid | None:
    """The coarsest grid all values lie on; `None` when there is none, or an exact count on it would take too long."""
    distinct = np.unique(np.round(values, 12)).tolist()
    if len(distinct) > LARGEST_DENOMINATOR:
        return None
    fractions = [Fraction(value).limit_denominator(LARGEST_DENOMINATOR) for value in distinct]
    if any(abs(float(f) - v) > TOLERANCE * max(1.0, v) for f, v in zip(fractions, distinct, strict=True)):
        return None
    scale = lcm(*(fraction.denominator for fraction in fractions))
    if float(values.sum()) * scale * len(values) > MOST_STEPS:
        return None
    return Grid(np.rint(values * scale).astype(np.int64), scale)


def count_on_grid(steps: Ints, observed: float) -> float:
    """Share of sign assignments whose sum is at least `observed` from 0; sums are kept by what the plus signs add."""
    total = int(steps.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reach = 0
    for step in np.sort(steps).tolist():
        chance[: reach + step + 1] *= 0.5
        chance[step : reach + step + 1] += chance[: reach + 1].copy()
        reach += step
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(float(chance[sums >= round(observed)].sum()), 1.0)


def all_sums(values: Floats) -> Floats:
    """The sum under every assignment of signs."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def share_beyond(sums: Floats, observed: float) -> float:
    # Sums of the same values in another order differ in the last digits and must still count as equal.
    return float((np.abs(sums) >= observed - TOLERANCE * max(1.0, observed)).mean())


def simulate(values: Floats, observed: float, rng: np.random.Generator) -> float:
    """The same from a sample of assignments; the observed one is counted among them (Phipson and Smyth 2010)."""
    hits = 0
    for _ in range(0, SAMPLE, 1000):
        signs = rng.integers(0, 2, size=(1000, len(values)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ values) >= observed - TOLERANCE * max(1.0, observed)).sum())
    return (hits + 1) / (SAMPLE + 1)


def mcnemar_p(only_base: int, only_candidate: int) -> float:
    """Exact two-sided binomial p of the tasks that only one of two runs passes (McNemar 1947)."""
    return even_odds_p(only_base, only_candidate)


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
