"""What every failing rollout is charged to: one thing each, so that losses add up.

The order is the order in which causes are tried: infrastructure, verifier, a verdict that the other run contradicts,
then the failure modes of either run as its diagnosis names them, the most telling kind first, and last the
behavioural signals. What none of them is on is unexplained.

A verdict is contradicted where the very answer to the very task scored higher or lower in the other run: then the
verifier, the judge or the expected answer changed, not the model. The answer is what a field of the rows has; without
such a field it is all that was said and done, which is read only of rows that have a twin of the same size.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from blade.comparison.comparison import PartKind
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.answers import GIVEN_FIELDS, answer_of, normalize
from blade.diagnosis.modes import RANK, Mined, codes_of
from blade.diagnosis.observations import Observation, title_of
from blade.diagnosis.signals import RULES
from blade.metrics import Outcomes
from blade.metrics.success import TOLERANCE
from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts.columns import level_text
from blade.rollouts.table import RolloutTable, Run

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


SIZES = ("text_bytes", "items", "tool_calls", "answer_bytes")

Key = tuple[int, str]
"""Task and answer."""


class Verdicts(NamedTuple):
    """How a run scored the answers it was given."""

    keys: list[Key | None]
    """Per row: task and answer; `None` where answer or score is unknown."""
    lowest: dict[Key, float]
    """Lowest score of each answer."""
    highest: dict[Key, float]
    """Highest score of each answer."""


def find_contradictions(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> tuple[Bools, ...]:
    """Per row of each run: whether all verdicts on its answer are lower, or all higher, than any in the other run.

    Both sides of a contradiction are marked: of graded scores each has a loss, and only their difference is explained.
    """
    texts = [answer_texts(diagnosed.run.table) for diagnosed in (base, candidate)]
    if not all(any(side) for side in texts):
        texts = texts_of_twins(base.run, candidate.run, pairing)
    mine = read_verdicts(base, pairing.base, texts[0])
    theirs = read_verdicts(candidate, pairing.candidate, texts[1])
    odd = {
        key
        for key in mine.highest.keys() & theirs.highest.keys()
        if mine.highest[key] < theirs.lowest[key] - TOLERANCE or theirs.highest[key] < mine.lowest[key] - TOLERANCE
    }
    return tuple(np.asarray([key in odd for key in side.keys], dtype=np.bool_) for side in (mine, theirs))


def read_verdicts(diagnosed: Diagnosed, scores: Scores, texts: list[str | None]) -> Verdicts:
    """The run's verdicts; rows that infrastructure broke have none of their own."""
    outcomes = diagnosed.outcomes
    judged = ~np.isnan(outcomes.scores) & ~outcomes.infrastructure
    keys: list[Key | None] = [
        (task, text) if text and known else None
        for task, text, known in zip(scores.place.tolist(), texts, judged.tolist(), strict=True)
    ]
    verdicts = Verdicts(keys, {}, {})
    for key, score in zip(keys, outcomes.scores.tolist(), strict=True):
        if key is not None:
            verdicts.lowest[key] = min(score, verdicts.lowest.get(key, score))
            verdicts.highest[key] = max(score, verdicts.highest.get(key, score))
    return verdicts


def answer_texts(table: RolloutTable) -> list[str | None]:
    """Per row: the answer without harmless differences."""
    column = next((table.rows.columns[name] for name in GIVEN_FIELDS if name in table.rows.columns), None)
    if column is None:
        return [None] * len(table)
    coded = column.coded()
    levels = [normalize(level_text(level)) for level in coded.levels]
    return [levels[code] if code >= 0 else None for code in coded.values.tolist()]


def texts_of_twins(base: Run, candidate: Run, pairing: Pairing) -> list[list[str | None]]:
    """Per row of each run: all that was said and done, where the other run has a row of the task of the same size."""
    sizes = [row_sizes(base.table, pairing.base), row_sizes(candidate.table, pairing.candidate)]
    shared = set(sizes[0]) & set(sizes[1]) - {None}
    return [
        read_texts(run, [row for row, size in enumerate(side) if size in shared])
        for run, side in zip((base, candidate), sizes, strict=True)
    ]


def row_sizes(table: RolloutTable, scores: Scores) -> list[tuple[int, ...] | None]:
    """Per row: task, and how much of what it holds; `None` without an output."""
    facts = [table.rows.fact(name).tolist() for name in SIZES]
    rows = zip(scores.place.tolist(), *facts, strict=True)
    return [row if row[0] >= 0 and row[1] > 0 else None for row in rows]


def read_texts(run: Run, rows: list[int]) -> list[str | None]:
    texts: list[str | None] = [None] * len(run.table)
    for row, rollout in run.numbered_rollouts(rows):
        said = answer_of(rollout)
        texts[row] = None if said is None else normalize(said)
    return texts
