"""What every failing rollout is charged to: one thing each, so that losses add up.

The order is the order in which causes are tried: infrastructure, verifier, a verdict that the other run contradicts,
then the failure modes of either run as its diagnosis names them, the most telling kind first, and last the
behavioural signals. What none of them is on is unexplained.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from blade.comparison.comparison import PartKind
from blade.comparison.contradictions import find_contradictions
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.modes import RANK, Mined, codes_of
from blade.diagnosis.observations import Observation, title_of
from blade.diagnosis.signals import RULES
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Floats, Ints

VERIFIER_CODES: Final = tuple(rule.code for rule in RULES if rule.kind == "verifier")


class Charge(NamedTuple):
    """Something rollouts can be charged to."""

    part: str
    kind: PartKind
    title: str


INFRASTRUCTURE: Final = Charge("infrastructure", "infrastructure", "infrastructure failures")
VERIFIER: Final = Charge("verifier", "verifier", "verifier, judge or environment failures")
VERDICT: Final = Charge("verdict", "verifier", "answers that the two runs score differently")
BEHAVIOURS: Final = tuple(Charge(rule.code, "behaviour", rule.title) for rule in RULES if rule.kind == "behaviour")
UNEXPLAINED: Final = Charge("unexplained", "unexplained", "failures that nothing in the rows explains")
MOST_MODES: Final = 20
ROUNDING: Final = 1e-13
"""A loss this small is an accident of arithmetic."""


class Losses(NamedTuple):
    """What one run lost, by task and charge."""

    charge: Ints
    """Per row: index into the ledger's charges, -1 for a row without a loss or a score."""
    by_task: Floats
    """Per task and charge: mean over the task's scored rollouts of what was lost."""


class Ledger(NamedTuple):
    """What both runs lost."""

    charges: tuple[Charge, ...]
    """Everything there is, in the order in which it is tried; the last is what nothing explains."""
    base: Losses
    """The base's losses."""
    candidate: Losses
    """The candidate's."""


def find_losses(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> Ledger:
    """What both runs lost, and to what."""
    best = best_score(base.outcomes, candidate.outcomes)
    contradicted = find_contradictions(base, candidate, pairing)
    modes = either_modes(base.mined, candidate.mined)
    named = tuple(Charge(f"mode.{code}", "behaviour", title_of(mode)) for mode, code in modes.items())
    charges = (INFRASTRUCTURE, VERIFIER, VERDICT, *named, *BEHAVIOURS, UNEXPLAINED)
    masks = [find_masks(*side, modes) for side in zip((base, candidate), contradicted, strict=True)]
    return Ledger(
        charges,
        losses_of(base.outcomes, pairing.base, masks[0], best=best),
        losses_of(candidate.outcomes, pairing.candidate, masks[1], best=best),
    )


def best_score(base: Outcomes, candidate: Outcomes) -> float:
    """The score nothing is lost at: 1 unless a run has scored more."""
    known = [outcomes.scores[~np.isnan(outcomes.scores)] for outcomes in (base, candidate)]
    return max(1.0, *(float(scores.max(initial=-np.inf)) for scores in known))


def either_modes(base: Mined, candidate: Mined) -> dict[Observation, str]:
    """The modes with most failures in either run, each with a short name, the most telling kind first."""
    failures: Counter[Observation] = Counter()
    for mined in (base, candidate):
        failures.update({one.observation: len(one.failing) for one in mined.modes})
    chosen = sorted((mode for mode, _ in failures.most_common(MOST_MODES)), key=lambda mode: (RANK[mode.kind], mode))
    return dict(zip(chosen, codes_of(chosen), strict=True))


def find_masks(diagnosed: Diagnosed, contradicted: Bools, modes: Mapping[Observation, str]) -> list[Bools]:
    """Per charge that explains something, in order: the rows it is on."""
    seen, count = diagnosed.sightings.seen, len(diagnosed.outcomes.task)
    shown = {one.observation: one.seen.rows for one in diagnosed.mined.tested}
    return [
        diagnosed.outcomes.infrastructure,
        on_rows([seen[code].rows for code in VERIFIER_CODES], count),
        contradicted,
        *(on_rows([shown[mode]] if mode in shown else [], count) for mode in modes),
        *(on_rows([seen[behaviour.part].rows], count) for behaviour in BEHAVIOURS),
    ]


def on_rows(places: list[Ints], count: int) -> Bools:
    mask = np.zeros(count, dtype=np.bool_)
    for rows in places:
        mask[rows] = True
    return mask


def losses_of(outcomes: Outcomes, scores: Scores, masks: list[Bools], *, best: float) -> Losses:
    """One run's losses; every lost row is charged to the first mask it is in, or to the unexplained behind them."""
    lost, width, tasks = best - outcomes.scores, len(masks) + 1, len(scores.known)
    first = np.argmax(np.stack([*masks, np.ones(len(lost), dtype=np.bool_)]), axis=0)
    charge = np.where(~np.isnan(lost) & (np.abs(lost) > ROUNDING), first, -1)
    charged = charge >= 0
    cells = scores.place[charged] * width + charge[charged]
    sums = np.bincount(cells, weights=lost[charged], minlength=tasks * width).reshape(tasks, width)
    return Losses(charge, sums / np.maximum(scores.known, 1)[:, None])
