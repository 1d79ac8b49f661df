"""The headline under every way of counting what did not go well.

Two questions move a score without the model changing: do missing rollouts count as failures, and do
infrastructure failures count at all? All four answers are printed. A rollout is missing when it was expected
and has no known outcome: no row, or a row without a score. With infrastructure failures excluded their rows,
scored or not, are neither outcomes nor missing.
"""

from typing import Literal

import msgspec
import numpy as np

from blade.metrics.definitions import MEAN_REWARD, PASS_AT_1
from blade.metrics.intervals import mean_over_tasks
from blade.metrics.outcomes import Outcomes, Totals
from blade.metrics.values import Ints, Metric, unknown_metric


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """The headline under one way of counting."""

    missing: Literal["excluded", "as_failures"]
    """What happened to expected rollouts without an outcome."""
    infrastructure: Literal["included", "excluded"]
    """What happened to infrastructure failures."""
    metric: Metric
    """The headline counted so."""
    rollouts: int
    """Rollouts counted, the added failures among them."""
    added_failures: int
    """Missing rollouts counted as failures."""
    removed_rows: int
    """Infrastructure failures left out."""
    reason: str | None = None
    """Why there is no value, when there is none."""


NEGATIVE_REWARDS = "rewards below 0 exist, so a missing rollout has no natural worst reward"


def vary_headline(outcomes: Outcomes) -> list[Variant]:
    """Four variants; the first, missing excluded and infrastructure included, is the headline itself."""
    return [
        _vary(outcomes, missing=missing, infrastructure=infrastructure)
        for missing in ("excluded", "as_failures")
        for infrastructure in ("included", "excluded")
    ]


def _vary(
    outcomes: Outcomes,
    *,
    missing: Literal["excluded", "as_failures"],
    infrastructure: Literal["included", "excluded"],
) -> Variant:
    tasks = len(outcomes.tasks)
    removed = outcomes.infrastructure & (infrastructure == "excluded")
    totals = outcomes.totals(np.where(removed, np.nan, outcomes.scores))
    is_undefined = missing == "as_failures" and outcomes.is_continuous and bool((outcomes.reward < 0).any())
    added = np.zeros(tasks, dtype=np.int64)
    if missing == "as_failures" and not is_undefined:
        gone = np.bincount(outcomes.task[removed], minlength=tasks)
        added = np.maximum(outcomes.expected - gone - totals.known, 0)
    definition = headline_definition(outcomes)
    counted = Totals(known=totals.known + added, sum=totals.sum)
    return Variant(
        missing=missing,
        infrastructure=infrastructure,
        metric=unknown_metric(definition)
        if is_undefined
        else headline_metric(counted, definition=definition, cluster=outcomes.cluster),
        rollouts=0 if is_undefined else int(counted.known.sum()),
        added_failures=int(added.sum()),
        removed_rows=int(removed.sum()),
        reason=NEGATIVE_REWARDS if is_undefined else None,
    )


def headline_metric(totals: Totals, *, definition: str, cluster: Ints | None) -> Metric:
    """Mean over scored tasks of the task's mean score; `cluster` is that of the same tasks as `totals`."""
    is_scored = totals.known > 0
    return mean_over_tasks(
        totals.mean[is_scored],
        rollouts=int(totals.known.sum()),
        cluster=None if cluster is None else cluster[is_scored],
        definition=definition,
    )


def headline_definition(outcomes: Outcomes) -> str:
    """pass@1, or mean reward when no success is known."""
    return MEAN_REWARD if outcomes.is_continuous else PASS_AT_1
