"""Every number about one run, from its outcomes, in one call.

When no rollout has a known success the run is continuous: everything that needs success is None with n = 0,
no task with a reward is put in a bucket, and the mean reward is the headline.
"""

from typing import Literal

import msgspec
import numpy as np

from blade.metrics import definitions
from blade.metrics.buckets import (
    Buckets,
    Misplacement,
    TaskResult,
    collect_buckets,
    lowest_rate_behind_always,
    misplacement_table,
    task_results,
)
from blade.metrics.intervals import estimate_rate, mean_over_tasks, rate_metric, spread_of_mean
from blade.metrics.outcomes import Outcomes, Totals
from blade.metrics.passk import ks_to_report, pass_at_k, pass_pow_k
from blade.metrics.sensitivity import Variant, vary_headline
from blade.metrics.values import Floats, Ints, Metric, unknown_metric
from blade.metrics.variance import VarianceSplit, split_variance


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """The named numbers of a run, as they stand in `analysis.json`."""

    pass_at_1: Metric
    """Headline of a run with known successes."""
    pass_at_1_micro: Metric
    """The same weighted by rollouts."""
    pass_at_k: dict[str, Metric]
    """By k; n is the number of tasks with at least k scored rollouts."""
    pass_pow_k: dict[str, Metric]
    """By k; n is the number of tasks with at least k scored rollouts."""
    consistency: Metric
    """Share of tasks that always succeed."""
    coverage: Metric
    """Rollouts present among those expected."""
    retry_value: Metric
    """What retrying adds; None when tasks have one rollout."""
    mean_reward: Metric
    """Headline of a continuous run."""


class Measures(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured about one run."""

    headline: Literal["pass_at_1", "mean_reward"]
    """Which metric speaks for the run."""
    repeats: int
    """Most common number of scored rollouts per task; 0 when nothing is scored."""
    metrics: Metrics
    """The named numbers."""
    buckets: Buckets
    """Task keys by bucket."""
    tasks: list[TaskResult]
    """One result per task, in display order."""
    variance: VarianceSplit | None
    """Between and within tasks; None without repeats."""
    sensitivity: list[Variant]
    """The headline under four ways of counting."""
    misplacement: list[Misplacement]
    """How often this many repeats misjudge a task; empty when no success is known."""
    lowest_rate_behind_always: float | None
    """True rate that an always-pass task of this many repeats may still have (lower 95 % bound)."""


def measure(outcomes: Outcomes) -> Measures:
    """Computes every number about a run."""
    success = outcomes.totals(outcomes.success)
    repeats = typical_repeats(success.known)
    results = task_results(outcomes)
    return Measures(
        headline="mean_reward" if outcomes.is_continuous else "pass_at_1",
        repeats=repeats,
        metrics=compute_metrics(outcomes, success),
        buckets=collect_buckets(results),
        tasks=results,
        variance=split_variance(outcomes),
        sensitivity=vary_headline(outcomes),
        misplacement=misplacement_table(repeats) if repeats else [],
        lowest_rate_behind_always=lowest_rate_behind_always(repeats) if repeats else None,
    )


def typical_repeats(known: Ints) -> int:
    """Most common number of scored rollouts per task that has any; the larger on a tie; 0 when none has."""
    frequency = np.bincount(known[known > 0], minlength=1)
    return int(len(frequency) - 1 - np.argmax(frequency[::-1])) if frequency.any() else 0


def compute_metrics(outcomes: Outcomes, success: Totals) -> Metrics:
    """Computes the named numbers from the outcomes and their successes per task."""
    n, c = success.known, success.sum.astype(np.int64)
    ks = ks_to_report(int(n.max(initial=0)))
    return Metrics(
        pass_at_1=_mean_of(outcomes, success.mean, n, definition=definitions.PASS_AT_1),
        pass_at_1_micro=_pass_at_1_micro(outcomes, n, c),
        pass_at_k={str(k): _mean_of(outcomes, pass_at_k(n, c, k), n, definition=definitions.PASS_AT_K) for k in ks},
        pass_pow_k={str(k): _mean_of(outcomes, pass_pow_k(n, c, k), n, definition=definitions.PASS_POW_K) for k in ks},
        consistency=_consistency(outcomes, n, c),
        coverage=_coverage(outcomes),
        retry_value=_retry_value(outcomes, n, c),
        mean_reward=_mean_reward(outcomes),
    )


def _mean_of(outcomes: Outcomes, values: Floats, n: Ints, *, definition: str) -> Metric:
    """Mean of the task values that are known; tasks with rollouts but no value were short of them."""
    used = ~np.isnan(values)
    return estimate_rate(
        values[used],
        rollouts=int(n[used].sum()),
        definition=definition,
        cluster=outcomes.clusters_of(used),
        short=int((n > 0).sum() - used.sum()),
    )


def _consistency(outcomes: Outcomes, n: Ints, c: Ints) -> Metric:
    is_always = np.where(n > 0, (c == n).astype(np.float64), np.nan)
    return _mean_of(outcomes, is_always, (n > 0).astype(np.int64), definition=definitions.CONSISTENCY)


def _pass_at_1_micro(outcomes: Outcomes, n: Ints, c: Ints) -> Metric:
    rollouts, used = int(n.sum()), n > 0
    if rollouts == 0:
        return unknown_metric(definitions.PASS_AT_1_MICRO)
    rate, cluster = float(c.sum() / rollouts), outcomes.clusters_of(used)
    # A ratio of two task totals: its error is that of the mean residual c − rate·n (Cochran 1977, ch. 6).
    residuals = (c[used] - rate * n[used]) * (used.sum() / rollouts)
    dissenters = spread_of_mean(c[used] / n[used], cluster).dissenters
    spread = spread_of_mean(residuals, cluster)._replace(dissenters=dissenters)
    return rate_metric(rate, spread, n=rollouts, rollouts=rollouts, definition=definitions.PASS_AT_1_MICRO)


def _retry_value(outcomes: Outcomes, n: Ints, c: Ints) -> Metric:
    k = typical_repeats(n)
    if k < 2:
        return unknown_metric(definitions.RETRY_VALUE, short=int((n > 0).sum()))
    gain = pass_at_k(n, c, k) - pass_at_k(n, c, 1)
    return _mean_of(outcomes, gain, n, definition=definitions.RETRY_VALUE)


def _coverage(outcomes: Outcomes) -> Metric:
    expected = int(outcomes.expected.sum())
    if expected == 0:
        return unknown_metric(definitions.COVERAGE)
    present = np.bincount(outcomes.task, minlength=len(outcomes.tasks))
    # Surplus rollouts of one task do not make up for those another task lacks.
    share = float(np.minimum(present, outcomes.expected).sum() / expected)
    return Metric(value=share, n=expected, definition=definitions.COVERAGE)


def _mean_reward(outcomes: Outcomes) -> Metric:
    reward = outcomes.totals(outcomes.reward)
    used = reward.known > 0
    return mean_over_tasks(
        reward.mean[used],
        rollouts=int(reward.known.sum()),
        definition=definitions.MEAN_REWARD,
        cluster=outcomes.clusters_of(used),
    )
