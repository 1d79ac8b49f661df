"""The metrics sidecar: what a report says in numbers, for programs, with the names other tools look for."""

from typing import Any

import msgspec

from blade.diagnosis import Analysis
from blade.diagnosis.analysis import headline_of
from blade.metrics import Metric
from blade.report.headline import failing_rollouts


def sidecar_of(benchmark: str, analysis: Analysis) -> bytes:
    """The sidecar of an analysis, as it is stored."""
    return msgspec.json.format(msgspec.json.encode(facts_of(benchmark, analysis)), indent=2) + b"\n"


def facts_of(benchmark: str, analysis: Analysis) -> dict[str, Any]:
    """The sidecar's content; its first entries are the names every reader of such files knows."""
    metrics = analysis.metrics
    patterns = [] if analysis.pack is None else analysis.pack.patterns
    return {
        "benchmark": benchmark,
        "model": analysis.inputs.run,
        "num_tasks": analysis.coverage.tasks,
        "num_rollouts": analysis.coverage.rollouts,
        "pass_at_1": metrics.pass_at_1.value,
        "mean_reward": metrics.mean_reward.value,
        "success": analysis.success.rule,
        "headline": {"metric": analysis.headline, **measured(headline_of(analysis))},
        "failing_rollouts": failing_rollouts(analysis),
        "metrics": {
            name: measured(getattr(metrics, name))
            for name in ("pass_at_1", "consistency", "retry_value", "mean_reward", "coverage")
        },
        "pass_at_k": {k: metric.value for k, metric in metrics.pass_at_k.items()},
        "pass_pow_k": {k: metric.value for k, metric in metrics.pass_pow_k.items()},
        "buckets": msgspec.to_builtins(analysis.buckets),
        "tasks": {one.task: {"passed": one.c, "of": one.n} for one in analysis.tasks},
        "labels": {cause.task: cause.label for cause in analysis.causes},
        "slices": {
            table.field: {one.level: measured(one.headline) for one in table.levels} for table in analysis.slices
        },
        "funnel": {stage.name: stage.rollouts for stage in analysis.funnel},
        "signals": {one.code: {"title": one.title, "failed": one.failed} for one in analysis.signals},
        "patterns": {one.code: {"title": one.title, "primary": one.primary} for one in patterns},
        "reasons": {cause.task: cause.reason for cause in analysis.causes},
        "evidence": {cause.task: msgspec.to_builtins(cause.evidence) for cause in analysis.causes},
        "partings": {one.task: {"passing": one.passing, "failing": one.failing} for one in analysis.contrast.pairs},
    }


def measured(metric: Metric) -> dict[str, Any]:
    """A metric without its words."""
    return {"value": metric.value, "n": metric.n, "ci95": metric.ci95}
