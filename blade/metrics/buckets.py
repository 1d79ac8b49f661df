"""Which tasks always, sometimes or never succeed, and how far such a bucket can be trusted.

A bucket is what k repeats showed, not what the task is: a task that succeeds nine times in ten passes five
repeats out of five in 59 % of runs. So every task carries an interval, and the run a table of misplacement.
"""

from typing import Any, Final, Literal

import msgspec
import numpy as np

from blade.metrics.intervals import rate_interval
from blade.metrics.outcomes import Outcomes
from blade.metrics.values import Interval

Bucket = Literal["always", "sometimes", "never", "missing"]
ORDER: Final[tuple[Bucket, ...]] = ("always", "sometimes", "never", "missing")
TRUE_RATES: Final = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


class TaskResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one task's rollouts showed."""

    task: str
    """Task key."""
    expected: int
    """Rollouts expected."""
    rollouts: int
    """Rollouts present, scored or not."""
    n: int
    """Rollouts with a known success."""
    c: int
    """Rollouts that succeeded."""
    bucket: Bucket | None
    """Where the task falls; None when the run has no success rule and the task has rollouts."""
    rate: float | None
    """Share of rollouts that succeeded."""
    ci95: Interval | None
    """95 % interval of the task's true success rate."""
    mean_reward: float | None
    """Mean reward of the scored rollouts."""


class Buckets(msgspec.Struct, frozen=True, kw_only=True):
    """Task keys by bucket, in display order."""

    always: list[str]
    """Every scored rollout succeeded."""
    sometimes: list[str]
    """Some succeeded and some failed."""
    never: list[str]
    """Every scored rollout failed."""
    missing: list[str]
    """No rollout has a known outcome."""


class Misplacement(msgspec.Struct, frozen=True, kw_only=True):
    """How often k repeats put a task of a given true rate into an extreme bucket."""

    rate: float
    """True success rate of the task."""
    k: int
    """Repeats."""
    always: float
    """Chance that all k succeed, rate^k."""
    never: float
    """Chance that all k fail, (1 − rate)^k."""


def task_results(outcomes: Outcomes) -> list[TaskResult]:
    """One result per task, in display order."""
    success, reward = outcomes.totals(outcomes.success), outcomes.totals(outcomes.reward)
    low, high = rate_interval(success.sum.astype(np.int64), success.known)
    columns = zip(
        outcomes.tasks,
        outcomes.expected.tolist(),
        np.bincount(outcomes.task, minlength=len(outcomes.tasks)).tolist(),
        success.known.tolist(),
        success.sum.astype(np.int64).tolist(),
        low.tolist(),
        high.tolist(),
        reward.known.tolist(),
        reward.mean.tolist(),
        strict=True,
    )
    continuous = outcomes.is_continuous
    shared: dict[Any, Any] = {}  # of a large run most values come again
    return [
        TaskResult(
            task=task,
            expected=expected,
            rollouts=rollouts,
            n=n,
            c=c,
            bucket=None if continuous and scored else bucket_of(c, n),
            rate=shared.setdefault(c / n, c / n) if n else None,
            ci95=shared.setdefault((lowest, highest), (lowest, highest)) if n else None,
            mean_reward=shared.setdefault(mean_reward, mean_reward) if scored else None,
        )
        for task, expected, rollouts, n, c, lowest, highest, scored, mean_reward in columns
    ]


def bucket_of(c: int, n: int) -> Bucket:
    """Names the bucket of a task with c successes in n scored rollouts."""
    if n == 0:
        return "missing"
    if c == n:
        return "always"
    return "sometimes" if c else "never"


def collect_buckets(results: list[TaskResult]) -> Buckets:
    """Lists task keys by bucket."""
    keys: dict[Bucket, list[str]] = {bucket: [] for bucket in ORDER}
    for result in results:
        if result.bucket is not None:
            keys[result.bucket].append(result.task)
    return Buckets(**keys)


def misplacement(k: int, rate: float) -> Misplacement:
    """Chance that k repeats make a task of this true rate look like always or never."""
    return Misplacement(rate=rate, k=k, always=rate**k, never=(1.0 - rate) ** k)


def misplacement_table(k: int) -> list[Misplacement]:
    """Misplacement at k repeats for a few true rates."""
    return [misplacement(k, rate) for rate in TRUE_RATES]


def lowest_rate_behind_always(n: int) -> float:
    """True rate a task with n successes in n may still have: lower 95 % bound 0.05^(1/n), about 1 − 3/n."""
    return float(0.05 ** (1.0 / n)) if n else 0.0
