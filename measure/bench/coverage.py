"""Does a nominal 95 % interval of pass@1 contain the truth in 93–97 % of runs?

Population: every task has its own true success rate, drawn from a Beta distribution with the given mean and
concentration a + b (0.5: tasks are nearly always or never solved; 1000: tasks hardly differ). A run draws tasks from
that population and repeats each; the truth is the population's mean rate. Tasks being exchangeable, a run is how many
tasks had 0, 1, … R successes: one multinomial draw. With one repeat every Beta gives the same binomial, whose
coverage is summed exactly. The limits are those of `mean_rate_interval`; in every cell some runs also go through
`measure` and must give the same interval.

The interval's prior and guard were chosen on this very grid, so a clean table shows that the promise is kept here, not
that every other number of tasks, repeats or rate is inside too; `blade/metrics/intervals.py` says what was seen
elsewhere.

Usage: python measure/bench/coverage.py [--trials N] [--seed S]     exit 1 when a cell is outside 93–97 %
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[2]))

from blade.metrics import Limits, Outcomes, mean_rate_interval, measure

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

TASKS = (30, 80, 300)
REPEATS = (1, 5)
RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
CONCENTRATIONS = (0.5, 2.0, 10.0, 1000.0)
CHECKED_RUNS = 5


def run_limits(counts: Counts) -> Limits:
    """Limits of pass@1 for many runs at once; row = run, column c = number of its tasks with c successes."""
    tasks, repeats = int(counts[0].sum()), counts.shape[1] - 1
    rates = np.arange(repeats + 1) / repeats
    # Whole successes are summed before dividing, so that a unanimous run has a mean of exactly 0 or 1.
    mean = (counts @ np.arange(repeats + 1)) / (tasks * repeats)
    variance = (counts * (rates - mean[:, None]) ** 2).sum(axis=1) / (tasks - 1)
    dissenters = tasks - np.maximum(counts[:, 0], counts[:, -1])
    return mean_rate_interval(
        mean, np.sqrt(variance / tasks), units=tasks, rollouts=tasks * repeats, dissenters=dissenters
    )


def measured_interval(counts: Counts) -> tuple[float, float]:
    """The interval that `measure` gives for one run."""
    repeats = len(counts) - 1
    successes = np.repeat(np.arange(repeats + 1), counts)
    success = (np.arange(repeats) < successes[:, None]).astype(np.float64).ravel()
    tasks = len(successes)
    outcomes = Outcomes(
        tasks=[str(task) for task in range(tasks)],
        task=np.repeat(np.arange(tasks), repeats),
        repeat=np.tile(np.arange(repeats), tasks),
        reward=success,
        success=success,
        infrastructure=np.zeros(len(success), dtype=np.bool_),
        expected=np.full(tasks, repeats),
    )
    interval = measure(outcomes).metrics.pass_at_1.ci95
    assert interval is not None
    return interval


def draw_runs(
    rng: np.random.Generator, tasks: int, *, repeats: int, successes: Array, trials: int
) -> tuple[Counts, Array]:
    """Runs and the probability that each stands for; `successes` is the chance that a task has 0, 1, … successes."""
    if repeats == 1:
        passed = np.arange(tasks + 1)
        return np.stack([tasks - passed, passed], axis=1), stats.binom.pmf(passed, tasks, successes[1])
    return rng.multinomial(tasks, successes, size=trials), np.full(trials, 1.0 / trials)


def coverage(
    rng: np.random.Generator, tasks: int, *, repeats: int, rate: float, concentration: float, trials: int
) -> float:
    """Share of runs whose interval contains the population's mean rate."""
    a, b = rate * concentration, (1.0 - rate) * concentration
    successes = stats.betabinom.pmf(np.arange(repeats + 1), repeats, a, b)
    runs, weight = draw_runs(rng, tasks, repeats=repeats, successes=successes / successes.sum(), trials=trials)
    low, high = run_limits(runs)
    for i in range(CHECKED_RUNS):
        assert np.allclose((low[i], high[i]), measured_interval(runs[i]), rtol=0.0, atol=1e-9)
    return float(weight[(low <= rate) & (rate <= high)].sum())


def main() -> int:
    """Prints the table and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40_000, help="runs per cell (default 40000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    outside = 0
    print("tasks repeats conc. |" + "".join(f"{rate:7.2f}" for rate in RATES))
    for tasks in TASKS:
        for repeats in REPEATS:
            for concentration in CONCENTRATIONS if repeats > 1 else (2.0,):
                row = [
                    coverage(
                        rng,
                        tasks,
                        repeats=repeats,
                        rate=rate,
                        concentration=concentration,
                        trials=options.trials,
                    )
                    for rate in RATES
                ]
                outside += sum(not 0.93 <= cell <= 0.97 for cell in row)
                label = f"{concentration:g}" if repeats > 1 else "any"
                print(f"{tasks:5d} {repeats:7d} {label:>5s} |" + "".join(f"{100 * cell:7.2f}" for cell in row))
    print(f"{outside} cells outside 93–97 %")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
