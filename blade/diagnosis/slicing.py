"""Which fields cut a run into parts worth comparing.

A slice must describe the task, not the outcome: its value is the same for every attempt at a task, and it does not
simply repeat who passed. Fields the user names are taken as they are.
"""

import numpy as np

from blade.diagnosis.analysis import SliceTable
from blade.errors import UsageError
from blade.metrics import Outcomes
from blade.metrics.slices import slice_outcomes
from blade.rollouts.columns import Column, level_text
from blade.rollouts.identity import require_field
from blade.rollouts.table import RolloutTable

MOST_LEVELS = 12
MOST_SLICES = 6
KNOWN = 0.9
WELL_KNOWN = (
    "difficulty", "level", "category", "subject", "topic", "domain", "kind", "type", "problem_type", "task_type",
    "question_type", "subset", "split", "language", "target_language", "prompt_type", "label", "family",
)  # fmt: skip
FOREIGN = ("response.", "responses_create_params.", "agent_ref.", "_ng_", "skills_ref.", "instance_config.", "config.")
NOT_TASKS = frozenset({"reward", "first_tool", "input_hash", "model", "agent", "seed", "repeat", "trial"})


def cut(table: RolloutTable, outcomes: Outcomes, asked: tuple[str, ...]) -> list[SliceTable]:
    """The slices the user asked for, then those that were found."""
    for field in asked:
        require_field(table.rows, field)
    found = [field for field in find_fields(table, outcomes) if field not in asked]
    return [cut_by(field, table, outcomes, asked=True) for field in asked] + [
        cut_by(field, table, outcomes, asked=False) for field in found
    ]


def cut_by(field: str, table: RolloutTable, outcomes: Outcomes, *, asked: bool) -> SliceTable:
    column = table.rows.columns[field].coded()
    if len(column.levels) > 1000:
        raise UsageError(f"--slice {field}: {len(column.levels)} different values; pick a field with fewer.")
    names: list[str | tuple[str, ...] | None] = [
        level if isinstance(level, tuple) else level_text(level) for level in column.levels
    ]
    names.append(None)
    levels = [names[code] for code in column.values.tolist()]
    return SliceTable(field=field, asked=asked, levels=slice_outcomes(outcomes, levels))


def find_fields(table: RolloutTable, outcomes: Outcomes) -> list[str]:
    """Fields with few values that belong to tasks; those with well-known names first."""
    candidates = [f for f, column in table.rows.columns.items() if may_cut(f, column, table, outcomes)]
    return sorted(candidates, key=lambda f: (rank(f), f))[:MOST_SLICES]


def rank(field: str) -> int:
    name = field.rpartition(".")[2]
    return WELL_KNOWN.index(name) if name in WELL_KNOWN else len(WELL_KNOWN)


def may_cut(field: str, column: Column, table: RolloutTable, outcomes: Outcomes) -> bool:
    if field.startswith(FOREIGN) or field in NOT_TASKS or column.known().mean() < KNOWN:
        return False
    if column.kind == "list" or (column.kind == "number" and not whole_numbers(column)):
        return False
    coded = column.coded()
    used = np.unique(coded.values[coded.values >= 0])
    tasks = len(np.unique(table.task))
    most = MOST_LEVELS if rank(field) < len(WELL_KNOWN) else min(MOST_LEVELS, tasks // 4)
    if not 2 <= len(used) <= most or not is_constant_within_tasks(coded, table):
        return False
    return not repeats_outcome(coded, outcomes)


def whole_numbers(column: Column) -> bool:
    values = column.values[column.known()]
    return bool((values == np.floor(values)).all())


def is_constant_within_tasks(coded: Column, table: RolloutTable) -> bool:
    pairs = np.unique(np.stack([table.task, coded.values]), axis=1)
    return len(pairs[0]) == len(np.unique(pairs[0]))


def repeats_outcome(coded: Column, outcomes: Outcomes) -> bool:
    """Whether every value goes with one outcome only, as a verifier's own verdict would."""
    known = ~np.isnan(outcomes.scores)
    pairs = np.unique(np.stack([coded.values[known].astype(np.float64), outcomes.scores[known]]), axis=1)
    both = len(np.unique(outcomes.scores[known])) > 1
    return both and len(pairs[0]) == len(np.unique(pairs[0]))
