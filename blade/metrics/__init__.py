"""What the numbers say: pass@k, buckets, intervals and slices, as pure functions over columns of outcomes."""

from blade.metrics.buckets import Buckets, Misplacement, TaskResult, misplacement, task_results
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
from blade.metrics.success import Success, SuccessRule, infer_success, parse_success_rule
from blade.metrics.values import Interval, Metric
from blade.metrics.variance import VarianceSplit, split_variance

__all__ = [
    "Buckets",
    "Interval",
    "Limits",
    "Measures",
    "Metric",
    "Metrics",
    "Misplacement",
    "Outcomes",
    "Success",
    "SuccessRule",
    "TaskResult",
    "VarianceSplit",
    "Variant",
    "estimate_mean",
    "estimate_rate",
    "infer_success",
    "mean_over_tasks",
    "mean_rate_interval",
    "measure",
    "misplacement",
    "parse_success_rule",
    "pass_at_k",
    "pass_pow_k",
    "rate_interval",
    "split_variance",
    "task_results",
    "vary_headline",
]
