"""Which fields cut a run into parts worth comparing.

A slice must describe the task, not the outcome: its value is the same for every attempt at a task, and it does not
simply repeat who passed. Fields the user names are taken as they are.
"""

import numpy as np
import numpy.typing as npt

from blade.diagnosis.analysis import SliceTable
from blade.errors import UsageError
from blade.metrics import Outcomes
from blade.metrics.slices import slice_codes, slice_outcomes
from blade.rollouts.columns import Column, codes_in, level_text
from blade.rollouts.identity import HALF, MADE, require_field
from blade.rollouts.table import RolloutTable

Codes = npt.NDArray[np.int32] | npt.NDArray[np.int64]

MOST_LEVELS = 12
MOST_SLICES = 6
KNOWN = 0.9
WELL_KNOWN = (
    "difficulty", "level", "category", "subject", "topic", "domain", "kind", "type", "problem_type", "task_type",
    "question_type", "subset", "split", "language", "target_language", "prompt_type", "label", "family", "n_needles",
)  # fmt: skip
FOREIGN = ("response.", "responses_create_params.", "agent_ref.", "_ng_", "skills_ref.", "instance_config.", "config.")
VERDICT_ENDINGS = ("reward", "score", "correct", "passed", "success", "error", "verdict", "match", "accuracy", "errors")
VERDICT_BEGINNINGS = ("is_", "extracted_", "parsed_", "judge_", "reward_", "score_")
NOT_TASKS = MADE | {"reward", "model", "agent", "seed", "repeat", "trial"}


def cut(
    table: RolloutTable, outcomes: Outcomes, asked: tuple[str, ...], *, usual: tuple[str, ...] = ()
) -> list[SliceTable]:
    """The slices the user asked for, then those that were found; those usual for the benchmark first."""
    for field in asked:
        require_field(table.rows, field)
    there = [field for field in usual if field in table.rows.columns]
    found = [f for f in dict.fromkeys([*there, *find_fields(table, outcomes)]) if f not in asked][:MOST_SLICES]
    return [cut_by(field, table, outcomes, asked=True) for field in dict.fromkeys(asked)] + [
        cut_by(field, table, outcomes, asked=False) for field in found
    ]


def cut_by(field: str, table: RolloutTable, outcomes: Outcomes, *, asked: bool) -> SliceTable:
    column = table.rows.columns[field].coded()
    if len(column.levels) > 1000:
        raise UsageError(f"--slice {field}: {len(column.levels)} different values; pick a field with fewer.")
    if any(isinstance(level, tuple) for level in column.levels):
        several = [level if isinstance(level, tuple) else (level_text(level),) for level in column.levels]
        slices = slice_outcomes(outcomes, [None if code < 0 else several[code] for code in column.values.tolist()])
    else:
        used = codes_in(column.values)
        codes = np.where(column.values < 0, -1, np.searchsorted(used, column.values))
        slices = slice_codes(outcomes, codes, [level_text(column.levels[code]) for code in used.tolist()])
    return SliceTable(field=field, asked=asked, levels=slices)


def find_fields(table: RolloutTable, outcomes: Outcomes) -> list[str]:
    """Fields with few values that belong to tasks; those with well-known names first."""
    repeated = np.bincount(table.task, minlength=1)
    # Without repeats nothing tells a task's attribute from an outcome but its name.
    by_name = (repeated > 1).sum() < HALF * (repeated > 0).sum()
    fields = [field for field in table.rows.columns if is_well_known(field) or not by_name]
    candidates = [field for field in fields if may_cut(field, table.rows.columns[field], table, outcomes)]
    return sorted(candidates, key=lambda field: (rank(field), field))[:MOST_SLICES]


def rank(field: str) -> int:
    name = field.rpartition(".")[2]
    return WELL_KNOWN.index(name) if name in WELL_KNOWN else len(WELL_KNOWN)


def is_well_known(field: str) -> bool:
    return rank(field) < len(WELL_KNOWN)


def may_cut(field: str, column: Column, table: RolloutTable, outcomes: Outcomes) -> bool:
    if field.startswith(FOREIGN) or field in NOT_TASKS or column.known().mean() < KNOWN:
        return False
    if not is_well_known(field) and (column.kind == "flag" or not is_scored_apart(field)):
        return False
    if column.kind == "list" or (column.kind == "number" and not whole_numbers(column)):
        return False
    coded = column.coded()
    used = len(codes_in(coded.values))
    tasks = len(codes_in(table.task))
    most = MOST_LEVELS if is_well_known(field) else min(MOST_LEVELS, tasks // 4)
    if not 2 <= used <= most or not goes_with(table.task, coded.values):
        return False
    return not repeats_outcome(coded, outcomes)


def is_scored_apart(field: str) -> bool:
    """Whether a name does not sound like a verdict or a measurement of the rollout."""
    name = field.rpartition(".")[2].lower()
    return not name.endswith(VERDICT_ENDINGS) and not name.startswith(VERDICT_BEGINNINGS)


def whole_numbers(column: Column) -> bool:
    values = column.values[column.known()]
    return bool((values == np.floor(values)).all())


def goes_with(first: Codes, second: Codes) -> bool:
    """Whether rows with the same first code have the same second one."""
    if not len(first):
        return True
    seen = np.empty(int(first.max()) + 2, dtype=second.dtype)  # a row without a code is -1, which is the last place
    seen[first] = second
    return bool((seen[first] == second).all())


def repeats_outcome(coded: Column, outcomes: Outcomes) -> bool:
    """Whether every value goes with one outcome only, as a verifier's own verdict would."""
    known = ~np.isnan(outcomes.scores)
    _, scores = np.unique(outcomes.scores[known], return_inverse=True)
    return bool(scores.max(initial=0) > 0) and goes_with(coded.values[known], scores)
