"""How much the score would rise, at most, if a failure mode went away.

For each mode, every task is judged by its unaffected rollouts alone, and the tasks are averaged: no task is ever
dropped. What a task would score whose rollouts all have the mode cannot be seen, so it counts in full: less would be no
bound. All modes together take the rollouts without any; the oracle takes each task's best rollout. The gain is over the
same tasks, so its interval is paired.
"""

import msgspec
import numpy as np

from blade.metrics import Metric, Outcomes
from blade.metrics.intervals import estimate_mean
from blade.metrics.values import Bools, Floats, Ints

DEFINITION = (
    "mean over tasks of (score of the unaffected rollouts, or full score where there are none − score of all rollouts)"
)
ORACLE_DEFINITION = "mean over tasks of (best rollout − score of all rollouts)"


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """What the score would be without a failure mode."""

    mode: str
    """Code of the mode; `all modes`, `oracle` and `baseline` are the rows around them."""
    score: float | None
    """The score then."""
    gain: Metric
    """How much more than now."""
    tasks: int
    """Tasks whose score would change."""
    rollouts: int
    """Failing rollouts that carry the mode."""
    unseen_tasks: int = 0
    """Tasks all of whose rollouts carry the mode: what they would score without it cannot be seen."""


def ablate(outcomes: Outcomes, modes: dict[str, Ints]) -> list[Headroom]:
    """Baseline, one row per mode by gain, all modes, and the oracle. `modes` maps a code to rows."""
    known = ~np.isnan(outcomes.scores)
    load = np.zeros(len(outcomes.task))
    rows: list[Headroom] = []
    for code, members in modes.items():
        affected = np.zeros(len(outcomes.task))
        affected[members] = 1.0
        load += affected
        failing = int(((affected > 0) & (outcomes.scores < 1.0)).sum())
        row = headroom(code, outcomes, unaffected(outcomes, affected), rollouts=failing)
        if not (outcomes.scores[members] > 0.0).any():
            row = without_loss(row)  # what no passing rollout shows can go without a loss
        rows.append(msgspec.structs.replace(row, unseen_tasks=fully_affected(outcomes, affected)))
    rows.sort(key=lambda row: (-(row.gain.value or 0.0), -row.unseen_tasks, row.mode))
    everything = int(((load > 0) & (outcomes.scores < 1.0)).sum())
    best = best_of_all(outcomes)
    return [
        headroom("baseline", outcomes, task_means(outcomes, known), rollouts=0),
        *rows,
        headroom("all modes", outcomes, unaffected(outcomes, load), rollouts=everything),
        without_loss(headroom("oracle", outcomes, best, rollouts=0, definition=ORACLE_DEFINITION)),
    ]


def within_reach(gain: Metric, now: Floats) -> Metric:
    """The gain with an interval that leads to no score below 0 or above 1; graded scores have no such bounds."""
    if gain.ci95 is None or not len(now) or now.min() < 0.0 or now.max() > 1.0:
        return gain
    level = float(now.mean())
    low, high = gain.ci95
    return msgspec.structs.replace(gain, ci95=(max(low, -level), min(high, 1.0 - level)))


def without_loss(row: Headroom) -> Headroom:
    """The row of something that can lower no task's score: neither can its gain be below 0 on other tasks."""
    return msgspec.structs.replace(row, gain=at_least_nothing(row.gain))


def at_least_nothing(gain: Metric) -> Metric:
    """A gain that no tasks could make negative, with an interval that says so.

    Without a mode a score may well be lower, where the rollouts that carry it pass more often than the others.
    """
    if gain.ci95 is None:
        return gain
    return msgspec.structs.replace(gain, ci95=(max(gain.ci95[0], 0.0), gain.ci95[1]))


def task_means(outcomes: Outcomes, mask: Bools) -> Floats:
    """Per task: mean score of the chosen rows; nan without any."""
    return outcomes.totals(np.where(mask, outcomes.scores, np.nan)).mean


def unaffected(outcomes: Outcomes, load: Floats) -> Floats:
    """Per task: mean score of the scored rows without a load; full score where every scored row has one."""
    known = ~np.isnan(outcomes.scores)
    free = task_means(outcomes, known & (load == 0))
    full = max(1.0, float(outcomes.scores[known].max(initial=1.0)))
    return np.where(np.isnan(free) & ~np.isnan(task_means(outcomes, known)), full, free)


def fully_affected(outcomes: Outcomes, load: Floats) -> int:
    """Tasks without a single scored rollout that is free of the mode."""
    known = ~np.isnan(outcomes.scores)
    width = len(outcomes.tasks)
    touched = np.bincount(outcomes.task[known & (load > 0)], minlength=width)
    return int(((touched > 0) & (touched == np.bincount(outcomes.task[known], minlength=width))).sum())


def best_of_all(outcomes: Outcomes) -> Floats:
    known = ~np.isnan(outcomes.scores)
    best = np.full(len(outcomes.tasks), -np.inf)
    np.maximum.at(best, outcomes.task[known], outcomes.scores[known])
    return np.where(np.isfinite(best), best, np.nan)


def headroom(mode: str, outcomes: Outcomes, scores: Floats, *, rollouts: int, definition: str = DEFINITION) -> Headroom:
    now = task_means(outcomes, ~np.isnan(outcomes.scores))
    used = ~np.isnan(now)
    gains = scores[used] - now[used]
    return Headroom(
        mode=mode,
        score=float(scores[used].mean()) if used.any() else None,
        gain=within_reach(estimate_mean(gains, definition=definition, cluster=outcomes.clusters_of(used)), now[used]),
        tasks=int((np.abs(gains) > 1e-12).sum()),
        rollouts=rollouts,
    )
