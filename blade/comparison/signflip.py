"""The sign-flip permutation test: were the runs the same, every task's difference could as well have the other sign.

All assignments of signs are counted when that is feasible: differences of success rates are whole multiples of some
1/L, so the distribution of their sum is built up task by task on a grid. Otherwise up to `MOST_ENUMERATED` differences
are enumerated, and beyond that a sample is drawn. With 0/1 outcomes and one repeat this is McNemar's exact test.
"""

from fractions import Fraction
from math import lcm
from typing import Final, Literal, NamedTuple

import numpy as np

from blade.metrics.distributions import even_odds_p
from blade.metrics.values import Floats, Ints

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
