"""One answer, two verdicts: rollouts whose very answer to the very task scored higher or lower in the other run.

Then the verifier, the judge or the expected answer changed, not the model. The answer is what a field of the rows has;
without such a field it is all that was said and done, which is read only of rows that have a twin of the same size.
"""

from typing import NamedTuple

import numpy as np

from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.answers import GIVEN_FIELDS, answer_of, normalize
from blade.metrics.success import TOLERANCE
from blade.metrics.values import Bools
from blade.rollouts.columns import level_text
from blade.rollouts.table import RolloutTable, Run

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
