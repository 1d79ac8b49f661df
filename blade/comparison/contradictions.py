"""One answer, two verdicts: rollouts whose very answer to the very task scored higher in the other run.

Then the verifier, the judge or the expected answer changed, not the model. Only an answer that a field of the rows
holds counts; without such a field nothing is contradicted.
"""

from typing import NamedTuple

import numpy as np

from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.answers import GIVEN_FIELDS, normalize
from blade.metrics.success import TOLERANCE
from blade.metrics.values import Bools
from blade.rollouts.columns import level_text
from blade.rollouts.table import RolloutTable

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


def find_contradictions(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> tuple[Bools, Bools]:
    """Per row of each run: every verdict on its answer is lower here than any in the other run."""
    mine, theirs = read_verdicts(base, pairing.base), read_verdicts(candidate, pairing.candidate)
    return contradicted(mine, theirs), contradicted(theirs, mine)


def contradicted(mine: Verdicts, theirs: Verdicts) -> Bools:
    wrong = {
        key
        for key, highest in mine.highest.items()
        if key in theirs.lowest and highest < theirs.lowest[key] - TOLERANCE
    }
    return np.asarray([key in wrong for key in mine.keys], dtype=np.bool_)


def read_verdicts(diagnosed: Diagnosed, scores: Scores) -> Verdicts:
    """The run's verdicts; rows that infrastructure broke have none of their own."""
    outcomes, texts = diagnosed.outcomes, answer_texts(diagnosed.run.table)
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
