"""What the numbers say: pass@k, buckets, intervals and slices, as pure functions over columns of outcomes."""

from blade.metrics.buckets import Buckets, Misplacement, TaskResult, misplacement, task_results
from blade.metrics.effort import Effort, EffortSummary, compare_effort
from blade.metrics.gym import field_stats, pass_metrics
from blade.metrics.intervals import (
    Limits,
    estimate_mean,
    estimate_rate,
    mean_over_tasks,
    mean_rate_interval,
    rate_interval,
)
from blade.metrics.measure import Measures, Metrics, measure
from blade.metrics.outcomes import Outcomes
from blade.metrics.passk import pass_at_k, pass_pow_k
from blade.metrics.sensitivity import Variant, vary_headline
from blade.metrics.slices import BucketCounts, Slice, slice_outcomes
from blade.metrics.success import Success, SuccessRule, infer_success, parse_success_rule
from blade.metrics.values import Interval, Metric
from blade.metrics.variance import VarianceSplit, split_variance
from blade.rollouts.identity import natural_key

__all__ = [
    "BucketCounts",
    "Buckets",
    "Effort",
    "EffortSummary",
    "Interval",
    "Limits",
    "Measures",
    "Metric",
    "Metrics",
    "Misplacement",
    "Outcomes",
    "Slice",
    "Success",
    "SuccessRule",
    "TaskResult",
    "VarianceSplit",
    "Variant",
    "compare_effort",
    "estimate_mean",
    "estimate_rate",
    "field_stats",
    "infer_success",
    "mean_over_tasks",
    "mean_rate_interval",
    "measure",
    "misplacement",
    "natural_key",
    "parse_success_rule",
    "pass_at_k",
    "pass_metrics",
    "pass_pow_k",
    "rate_interval",
    "slice_outcomes",
    "split_variance",
    "task_results",
    "vary_headline",
]
