"""Where the uncertainty comes from: tasks that differ, or repeats of a task that differ.

Method of moments: within = mean over tasks of the sample variance of a task's rollouts (for a rate p it is
p(1 − p)n/(n − 1)); between = variance of task means − mean of within/n, floored at 0. More repeats shrink
only the within part, so the split says whether to buy repeats or tasks.
"""

import msgspec
import numpy as np

from blade.metrics.outcomes import Outcomes


class VarianceSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Variance of the headline score, between tasks and within them, and what more data would do."""

    tasks: int
    """Tasks with a known score."""
    repeats: float
    """Typical scored rollouts per task (harmonic mean)."""
    between: float
    """Variance of true task means."""
    within: float
    """Variance of rollouts around their task's mean."""
    between_share: float | None
    """between / (between + within); None when nothing varies."""
    within_share: float | None
    """within / (between + within); None when nothing varies."""
    se_now: float
    """Standard error that the split implies for this run."""
    se_repeats_doubled: float
    """The same with twice the repeats."""
    se_tasks_doubled: float
    """The same with twice the tasks."""
    se_repeats_unlimited: float
    """The floor that no number of repeats gets under."""


def split_variance(outcomes: Outcomes) -> VarianceSplit | None:
    """Splits the variance of the headline score; None without two tasks or without any repeated task."""
    totals = outcomes.totals(outcomes.scores)
    means, known = totals.mean, totals.known
    squares = outcomes.totals((outcomes.scores - means[outcomes.task]) ** 2).sum
    is_scored, is_repeated = known > 0, known > 1
    if is_scored.sum() < 2 or not is_repeated.any():
        return None
    within = float((squares[is_repeated] / (known[is_repeated] - 1)).mean())
    repeats = 1.0 / float((1.0 / known[is_scored]).mean())
    between = max(float(means[is_scored].var(ddof=1)) - within / repeats, 0.0)
    return _project(between, within, tasks=int(is_scored.sum()), repeats=repeats)


def _project(between: float, within: float, *, tasks: int, repeats: float) -> VarianceSplit:
    total = between + within
    return VarianceSplit(
        tasks=tasks,
        repeats=repeats,
        between=between,
        within=within,
        between_share=between / total if total else None,
        within_share=within / total if total else None,
        se_now=float(np.sqrt((between + within / repeats) / tasks)),
        se_repeats_doubled=float(np.sqrt((between + within / (2.0 * repeats)) / tasks)),
        se_tasks_doubled=float(np.sqrt((between + within / repeats) / (2.0 * tasks))),
        se_repeats_unlimited=float(np.sqrt(between / tasks)),
    )
