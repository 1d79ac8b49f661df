"""What every failing rollout is charged to: one thing each, so that losses add up.

The order is the order in which causes are tried: infrastructure, verifier, a verdict that the other run contradicts,
then the behavioural signals as they stand in the rules, and last the two signals that are too common to decide
anything alone. What none of them is on is unexplained.
"""

from typing import Final, NamedTuple

import numpy as np

from blade.comparison.comparison import PartKind
from blade.comparison.contradictions import find_contradictions
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.signals import RULES
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Floats, Ints


class Charge(NamedTuple):
    """Something rollouts can be charged to."""

    part: str
    kind: PartKind
    title: str


TOO_COMMON: Final = ("tool_timeout", "tool_error")
"""Signals that many passing rollouts carry too; they are tried last."""
DECISIVE: Final = [rule for rule in RULES if rule.kind == "behaviour" and rule.code not in TOO_COMMON]
LAST: Final = [rule for rule in RULES if rule.code in TOO_COMMON]
BEHAVIOURS: Final = tuple(Charge(rule.code, "behaviour", rule.title) for rule in [*DECISIVE, *LAST])
CHARGES: Final = (
    Charge("infrastructure", "infrastructure", "infrastructure failures"),
    Charge("verifier", "verifier", "verifier, judge or environment failures"),
    Charge("verdict", "verifier", "answers that the other run's verifier passed"),
    *BEHAVIOURS,
    Charge("unexplained", "unexplained", "failures that no signal explains"),
)
"""Everything there is, in the order in which it is tried."""
ROUNDING: Final = 1e-13
"""A loss this small is an accident of arithmetic."""
UNEXPLAINED: Final = len(CHARGES) - 1
VERIFIER_CODES: Final = tuple(rule.code for rule in RULES if rule.kind == "verifier")


class Losses(NamedTuple):
    """What one run lost, by task and charge."""

    charge: Ints
    """Per row: index into `CHARGES`, -1 for a row without a loss or a score."""
    by_task: Floats
    """Per task and charge: mean over the task's scored rollouts of what was lost."""


def charge_rows(diagnosed: Diagnosed, *, lost: Bools, contradicted: Bools) -> Ints:
    """Per row: what its loss is charged to; `contradicted` rows gave an answer that passed in the other run."""
    outcomes, seen = diagnosed.outcomes, diagnosed.sightings.seen
    masks: dict[str, Bools] = {"infrastructure": outcomes.infrastructure, "verdict": contradicted}
    masks["verifier"] = any_seen([seen[code].rows for code in VERIFIER_CODES], len(outcomes.task))
    for behaviour in BEHAVIOURS:
        masks[behaviour.part] = any_seen([seen[behaviour.part].rows], len(outcomes.task))
    charge = np.full(len(outcomes.task), UNEXPLAINED, dtype=np.int64)
    for index in range(UNEXPLAINED - 1, -1, -1):
        charge[masks[CHARGES[index].part]] = index
    return np.where(lost, charge, -1)


def any_seen(rows: list[Ints], count: int) -> Bools:
    mask = np.zeros(count, dtype=np.bool_)
    for seen in rows:
        mask[seen] = True
    return mask


def best_score(base: Outcomes, candidate: Outcomes) -> float:
    """The score nothing is lost at: 1 unless a run has scored more."""
    known = [outcomes.scores[~np.isnan(outcomes.scores)] for outcomes in (base, candidate)]
    return max(1.0, *(float(scores.max(initial=-np.inf)) for scores in known))


def find_losses(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> tuple[Losses, Losses]:
    """What both runs lost, and to what."""
    best = best_score(base.outcomes, candidate.outcomes)
    contradicted = find_contradictions(base, candidate, pairing)
    sides = zip((base, candidate), (pairing.base, pairing.candidate), contradicted, strict=True)
    first, second = (losses_of(run, scores, best=best, contradicted=rows) for run, scores, rows in sides)
    return first, second


def losses_of(diagnosed: Diagnosed, scores: Scores, *, best: float, contradicted: Bools) -> Losses:
    lost = best - diagnosed.outcomes.scores
    charge = charge_rows(diagnosed, lost=~np.isnan(lost) & (np.abs(lost) > ROUNDING), contradicted=contradicted)
    charged = charge >= 0
    tasks = len(scores.known)
    cells = scores.place[charged] * len(CHARGES) + charge[charged]
    sums = np.bincount(cells, weights=lost[charged], minlength=tasks * len(CHARGES)).reshape(tasks, len(CHARGES))
    return Losses(charge, sums / np.maximum(scores.known, 1)[:, None])
