"""What it would take to settle a tie: more tasks, or more repeats of the same.

The squared standard error of a difference has two parts: tasks changed by different amounts, and repeats of a task
differ. More tasks shrink both; more repeats shrink only the second, so there may be no number of them that would do.
"""

from math import ceil
from typing import Final

import numpy as np

from blade.comparison.comparison import Settling
from blade.comparison.difference import POWER, TWO_SIDED, Spread
from blade.comparison.pairing import Pairing, Scores
from blade.metrics.distributions import normal_quantile
from blade.metrics.values import Bools

REACH: Final = normal_quantile(TWO_SIDED) + normal_quantile(POWER)
"""Standard errors that a difference must be away from 0 to be seen with 80 % power at two-sided 5 %."""


def settle_tie(pairing: Pairing, value: float, spread: Spread | None) -> Settling | None:
    """What would tell the observed difference from none; `None` when no error is known."""
    if spread is None:
        return None
    if value == 0.0:
        return Settling(tasks=None, repeats=None, floor=None, sentence="there is no difference to settle")
    target = abs(value) / REACH
    paired = int(pairing.paired.sum())
    tasks = max(ceil(paired * (spread.se / target) ** 2), paired + 1)  # these did not settle it
    said = f"if the difference is as large as observed, settling it takes about {tasks:,} tasks with today's repeats"
    within = within_part(pairing)
    if within is None:
        said += "; without two rollouts of a task in each run, the rows cannot tell what more repeats would do"
        return Settling(tasks=tasks, repeats=None, floor=None, sentence=said)
    between = max(spread.se**2 - within, 0.0)
    if between >= target**2:
        said += "; no number of repeats would do, because tasks changed by different amounts"
        return Settling(tasks=tasks, repeats=None, floor=float(np.sqrt(between)), sentence=said)
    now = repeats_now(pairing)
    repeats = max(ceil(now * within / (target**2 - between)), int(now) + 1)
    said += f", or about {repeats:,} repeats of today's tasks"
    return Settling(tasks=tasks, repeats=repeats, floor=float(np.sqrt(between)), sentence=said)


def within_part(pairing: Pairing) -> float | None:
    """The part of the squared standard error that repeats shrink; `None` unless both runs repeat a task."""
    parts = [noise_of(scores, pairing.paired) for scores in (pairing.base, pairing.candidate)]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def noise_of(scores: Scores, paired: Bools) -> float | None:
    """Squared error of a run's mean that comes from its repeats; a task tried once is taken as noisy as the others."""
    spread, known = scores.spread[paired], scores.known[paired]
    if np.isnan(spread).all():
        return None
    usual = float(np.nanmean(spread))
    return float((np.where(np.isnan(spread), usual, spread) / known).sum()) / len(known) ** 2


def repeats_now(pairing: Pairing) -> float:
    """Repeats per task and run (harmonic mean)."""
    known = np.concatenate([scores.known[pairing.paired] for scores in (pairing.base, pairing.candidate)])
    return float(len(known) / (1.0 / known).sum())
