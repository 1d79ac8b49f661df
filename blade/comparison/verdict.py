"""The verdict, in one word and in one sentence, and what a reader must know before believing it.

A tie is settled by more tasks or more repeats: the squared standard error of a difference has two parts, since tasks
change by different amounts and repeats of a task differ. More tasks shrink both; more repeats shrink only the second,
so there may be no number of them that would do.
"""

from math import ceil
from typing import Final

import numpy as np

from blade.comparison.comparison import Delta, Settling, Side, SliceChange, Verdict
from blade.comparison.difference import POWER, TWO_SIDED, Spread
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.metrics.distributions import normal_quantile
from blade.metrics.rounding import fixed, percent
from blade.metrics.values import Bools

LEVEL: Final = 0.05
FEWEST_UNITS: Final = 6
"""With fewer tasks or clusters, even if all agree, no sign-flip test gets below 5 %: 2 / 2^5 = 0.0625."""


def decide(delta: Delta, p_value: float | None = None) -> Verdict:
    """Improved or regressed when p (the adjusted one, if given) is below 0.05 and the interval excludes 0."""
    p = delta.p_value if p_value is None else p_value
    if p >= LEVEL or delta.ci95 is None or delta.ci95[0] <= 0.0 <= delta.ci95[1]:
        return "tied"
    return "improved" if delta.value > 0 else "regressed"


def say_verdict(
    verdict: Verdict, delta: Delta, *, mde: float | None, is_rate: bool, p_holm: float | None = None
) -> str:
    """The verdict in words."""
    p = say_p(delta.p_value) if p_holm is None else f"{say_p(p_holm)} after Holm"
    over = f"{delta.tasks:,} paired {'task' if delta.tasks == 1 else 'tasks'}"
    evidence = f"{signed(delta.value, is_rate)}{ends(delta, is_rate)}, {p}, over {over}"
    if verdict != "tied":
        return f"{verdict}: {evidence}"
    if mde is None:
        return f"tied: {evidence}; so few tasks cannot tell runs apart"
    return f"tied: {evidence}; a difference of less than {amount(mde, is_rate)} would probably not have been seen"


def ends(delta: Delta, is_rate: bool) -> str:
    if delta.ci95 is None:
        return ""
    return f" (95 % interval {signed(delta.ci95[0], is_rate)} to {signed(delta.ci95[1], is_rate)})"


def signed(value: float, is_rate: bool) -> str:
    """A difference as it is printed: in percentage points for rates."""
    return f"{fixed(100.0 * value, signed=True)} pp" if is_rate else fixed(value, 3, signed=True)


def amount(value: float, is_rate: bool) -> str:
    return signed(abs(value), is_rate).removeprefix("+")


def say_p(p: float) -> str:
    """A p-value with the digits that matter."""
    return "p < 0.0001" if p < 0.0001 else f"p = {fixed(p, 4 if p < 0.001 else 3)}"


def pairing_warnings(base: Side, candidate: Side, *, units: int, is_rate: bool) -> list[str]:
    """What the pairing leaves out, and whether enough is left."""
    found: list[str] = []
    if units < FEWEST_UNITS:
        found.append(f"{units} paired tasks or clusters are too few to tell runs apart at 5 %, whatever they show")
    for side in (base, candidate):
        left, value = side.not_in_other + side.only_scored_here, side.headline.value
        if left and value is not None:
            shift = f"{score(value, is_rate)} over all its tasks and {score(side.paired, is_rate)} over the paired ones"
            found.append(f"{side.run}: {left:,} of {side.tasks:,} tasks have no counterpart; its headline is {shift}")
    return found


def score_warnings(base: Diagnosed, candidate: Diagnosed) -> list[str]:
    """Scores that stand in fields of other names."""
    fields = [one.run.reward_field for one in (base, candidate)]
    if None in fields or fields[0] == fields[1]:
        return []
    return [f"the score is `{fields[0]}` in {base.run.name} and `{fields[1]}` in {candidate.run.name}"]


def score(value: float, is_rate: bool) -> str:
    return percent(value) if is_rate else fixed(value, 3)


def slice_warnings(slices: list[SliceChange]) -> list[str]:
    """Cuts that tell another story than the headline."""
    return [
        f"by {cut.field} the headline moved against its parts (Simpson's paradox): the runs' mixes of tasks differ"
        for cut in slices
        if cut.simpson
    ]


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
