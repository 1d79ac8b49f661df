"""Does a comparison cry wolf, and do its intervals contain the truth?

Population: every task has its own true success rate in the base, drawn from a Beta distribution with the given mean
and concentration a + b (0.5: tasks are nearly always or never solved; 1000: tasks hardly differ); an effect says what
the candidate's rate is. Both runs try the same tasks. Tasks being exchangeable, a comparison is how many tasks had each
difference: one multinomial draw. p-values and limits are computed for all draws at once; in every cell some also go
through `estimate_delta` and must give the same.

Null cells: the share of comparisons that are called a difference must not exceed 6 % of nominal 5 %, and the interval
must cover 93–97 %. Where fewer than five tasks are expected to differ (marked *), no test of 5 % exists and every
interval covers too much, so only the lower limit holds. Cells with an effect: the interval must cover 93–97 % too.

Usage: python measure/bench/compare.py [--trials N] [--seed S]     exit 1 when a cell is outside
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

sys.path.insert(0, str(Path(__file__).parents[2]))

from blade.comparison.difference import Scale, estimate_delta
from blade.comparison.verdict import decide

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

TASKS = (30, 80, 300)
REPEATS = (1, 5)
RATES = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
CONCENTRATIONS = (0.5, 2.0, 10.0, 1000.0)
CHECKED = 3
CHUNK = 1000
FEW = 5.0
"""Expected number of differing tasks below which no 5 % test exists."""


class Effect(NamedTuple):
    """What the candidate does to a task's rate, on a share of the tasks."""

    name: str
    toward: float
    """Above 0: moves a rate this share of the way to 1; below 0: to 0."""
    share: float


NULL = Effect("none", 0.0, 0.0)
EFFECTS = (
    Effect("all tasks 10 % of the way to 1", 0.1, 1.0),
    Effect("all tasks 10 % of the way to 0", -0.1, 1.0),
    Effect("three in ten tasks 30 % of the way to 0", -0.3, 0.3),
    Effect("one in ten tasks 90 % of the way to 1", 0.9, 0.1),
)


class Drawn(NamedTuple):
    """Comparisons of one cell: how many tasks had each difference, from −repeats to repeats."""

    counts: Counts
    repeats: int
    truth: float
    differing: float
    """Expected number of tasks that differ."""

    @property
    def tasks(self) -> int:
        return int(self.counts[0].sum())

    @property
    def steps(self) -> Counts:
        return np.arange(-self.repeats, self.repeats + 1)


def draw(
    rng: np.random.Generator, tasks: int, repeats: int, *, shape: tuple[float, float], effect: Effect, trials: int
) -> Drawn:
    """Comparisons of a population; its integral over true rates is taken at 2,000 quantiles."""
    rate, concentration = shape
    quantiles = (np.arange(2000) + 0.5) / 2000
    base = stats.beta.ppf(quantiles, rate * concentration, (1.0 - rate) * concentration)
    moved = base + effect.toward * (1.0 - base) if effect.toward > 0 else base * (1.0 + effect.toward)
    passes = np.arange(repeats + 1)
    before, after = (stats.binom.pmf(passes, repeats, p[:, None]) for p in (base, moved))
    joint = (effect.share * before.T @ after + (1.0 - effect.share) * before.T @ before) / len(quantiles)
    chances = np.asarray([np.trace(joint, offset) for offset in range(-repeats, repeats + 1)])
    chances /= chances.sum()
    truth = float(chances @ np.arange(-repeats, repeats + 1)) / repeats
    counts = rng.multinomial(tasks, chances, size=trials)
    return Drawn(counts, repeats, truth, tasks * (1.0 - float(chances[repeats])))


def limits(drawn: Drawn) -> tuple[Array, Array]:
    """The interval of every comparison."""
    tasks, values = drawn.tasks, drawn.steps / drawn.repeats
    mean = drawn.counts @ values / tasks
    squares = (drawn.counts * (values - mean[:, None]) ** 2).sum(axis=1)
    still = drawn.counts[:, drawn.repeats]
    few, alike = tasks - still < 2, (drawn.counts == tasks).any(axis=1)
    lone = np.where(still == tasks, 1.0 / drawn.repeats, np.abs(mean) * np.where(alike, 1, tasks))
    center = np.where(few, mean * tasks / (tasks + 2), mean)
    few |= alike
    widened = (squares + 2.0 * lone**2) / ((tasks + 1) * (tasks + 2))
    se = np.sqrt(np.where(few, widened, squares / (tasks * (tasks - 1))))
    quantile = special.stdtrit(tasks - 1, 0.975)
    cubes = (drawn.counts * (values - mean[:, None]) ** 3).sum(axis=1)
    skewness = np.where(few, 0.0, cubes / np.maximum(squares, 1e-12) ** 1.5)
    reach, further = quantile * se, skewness * (1.0 + 2.0 * quantile**2) / 6.0 * se
    return center - reach + np.minimum(further, 0.0), center + reach + np.maximum(further, 0.0)


def p_values(drawn: Drawn) -> Array:
    """The sign-flip p of every comparison, by the characteristic function of the sum of randomly signed steps."""
    positive, negative = drawn.counts[:, drawn.repeats + 1 :], drawn.counts[:, : drawn.repeats][:, ::-1]
    sizes, observed = positive + negative, np.abs(drawn.counts @ drawn.steps)
    chunks = range(0, len(sizes), CHUNK)
    return np.concatenate([tail(sizes[i : i + CHUNK], observed[i : i + CHUNK]) for i in chunks])


def tail(sizes: Counts, observed: Counts) -> Array:
    """Chance that signs give a sum at least as far from 0; `sizes[:, j]` steps have length j + 1."""
    lengths = np.arange(1, sizes.shape[1] + 1)
    half = int((sizes @ lengths).max()) + 1
    angle = np.pi * np.arange(1, half + 1) * 2 / (2 * half + 1)
    cosine = np.cos(lengths[:, None] * angle)
    odd = (sizes @ (cosine < 0)) % 2
    wave = np.exp(sizes @ np.log(np.maximum(np.abs(cosine), 1e-300))) * (1 - 2 * odd)
    inside = np.sin((2 * observed[:, None] - 1) * angle / 2) / np.sin(angle / 2)
    total = (2 * observed - 1) + 2.0 * (wave * inside).sum(axis=1)
    return np.where(observed == 0, 1.0, 1.0 - total / (2 * half + 1))


def check(drawn: Drawn, low: Array, high: Array, p: Array) -> None:
    """Some comparisons through the code that users run."""
    for i in range(CHECKED):
        differences = np.repeat(drawn.steps / drawn.repeats, drawn.counts[i])
        delta = estimate_delta(differences, cluster=None, scale=Scale(1.0 / drawn.repeats))
        assert delta.ci95 is not None
        assert np.allclose((*delta.ci95, delta.p_value), (low[i], high[i], p[i]), rtol=0.0, atol=1e-9)
        called = p[i] < 0.05 and not low[i] <= 0.0 <= high[i]
        assert (decide(delta) != "tied") == called


class Cell(NamedTuple):
    """What one population showed."""

    coverage: float
    called: float
    is_sparse: bool

    def is_good(self, effect: Effect) -> bool:
        highest = 1.0 if self.is_sparse else 0.97
        return 0.93 <= self.coverage <= highest and (effect is not NULL or self.called <= 0.06)


def measure(drawn: Drawn) -> Cell:
    """Coverage and the share of comparisons called a difference."""
    (low, high), p = limits(drawn), p_values(drawn)
    check(drawn, low, high, p)
    covered = (low <= drawn.truth + 1e-12) & (drawn.truth <= high + 1e-12)
    called = (p < 0.05) & ~((low <= 0.0) & (high >= 0.0))
    return Cell(float(covered.mean()), float(called.mean()), drawn.differing < FEW)


def print_effect(effect: Effect, *, rng: np.random.Generator, trials: int) -> int:
    """Prints the table of one effect and returns how many cells are outside."""
    outside = 0
    what = "called a difference / covered, %" if effect is NULL else "covered, %"
    print(f"\neffect: {effect.name}   {what}")
    print("tasks repeats conc. |" + "".join(f"{rate:>12.2f}" for rate in RATES))
    for tasks in TASKS:
        for repeats in REPEATS:
            for concentration in CONCENTRATIONS:
                cells = [
                    measure(draw(rng, tasks, repeats, shape=(rate, concentration), effect=effect, trials=trials))
                    for rate in RATES
                ]
                outside += sum(not cell.is_good(effect) for cell in cells)
                row = "".join(f"{show(cell, effect):>12}" for cell in cells)
                print(f"{tasks:5d} {repeats:7d} {concentration:5g} |{row}")
    return outside


def show(cell: Cell, effect: Effect) -> str:
    mark = "*" if cell.is_sparse else "" if cell.is_good(effect) else "!"
    covered = f"{100 * cell.coverage:.1f}{mark}"
    return f"{100 * cell.called:.1f}/{covered}" if effect is NULL else covered


def main() -> int:
    """Prints the tables and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000, help="comparisons per cell (default 10000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    outside = sum(print_effect(effect, rng=rng, trials=options.trials) for effect in (NULL, *EFFECTS))
    print(f"\n{outside} cells outside")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
