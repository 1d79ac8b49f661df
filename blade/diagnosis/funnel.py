"""How far rollouts came, for any benchmark: started, produced output, reached the core action, verifier, passed.

A rollout that reached a later stage reached the earlier ones, whatever the rows say of them: a pass without a tool
call is still a pass.
"""

import numpy as np
import numpy.typing as npt

from blade.diagnosis.analysis import MAX_LISTED, Stage
from blade.metrics import Outcomes
from blade.rollouts.table import RolloutTable

Mask = npt.NDArray[np.bool_]

STAGES = (
    ("started", "a row exists for the rollout, failed ones included"),
    ("produced output", "the trajectory holds at least one item after the prompt"),
    ("reached the core action", "made a tool call where tools were offered; elsewhere gave an answer"),
    ("reached the verifier", "has a score"),
    ("passed", "counts as a success"),
)


def build_funnel(table: RolloutTable, outcomes: Outcomes) -> list[Stage]:
    """One stage after the other; `None` where the rows cannot tell."""
    masks = [started(table), produced(table), acted(table), scored(table), passed(outcomes)]
    reached = carried_back(masks)
    stages: list[Stage] = []
    before = np.ones(len(table), dtype=bool)
    for (name, definition), mask in zip(STAGES, reached, strict=True):
        if mask is None:
            stages.append(Stage(name=name, rollouts=None, tasks=None, definition=definition))
            continue
        lost = np.flatnonzero(before & ~mask)[:MAX_LISTED]
        stages.append(
            Stage(
                name=name,
                rollouts=int(mask.sum()),
                tasks=len(np.unique(table.task[mask])),
                definition=definition,
                lost=[table.citation(row) for row in lost.tolist()],
            )
        )
        before = mask
    return stages


def carried_back(masks: list[Mask | None]) -> list[Mask | None]:
    """Each stage with everything that reached a later one."""
    out: list[Mask | None] = []
    later: Mask | None = None
    for mask in reversed(masks):
        if mask is not None:
            later = mask if later is None else mask | later
        out.append(None if mask is None else later)
    return out[::-1]


def started(table: RolloutTable) -> Mask:
    return np.ones(len(table), dtype=bool)


def produced(table: RolloutTable) -> Mask | None:
    items, prompt = table.rows.fact("items"), table.rows.fact("prompt_items")
    return np.asarray(items > prompt) if (items > prompt).any() else None


def acted(table: RolloutTable) -> Mask | None:
    if produced(table) is None:
        return None
    column = table.rows.column("responses_create_params.tools")
    offered = np.nan_to_num(column.numbers()) != 0
    calls, answer = table.rows.fact("tool_calls") > 0, table.rows.fact("answer_bytes") > 0
    return np.where(offered, calls, calls | answer)


def scored(table: RolloutTable) -> Mask:
    return ~np.isnan(table.reward)


def passed(outcomes: Outcomes) -> Mask | None:
    return None if outcomes.is_continuous else outcomes.success == 1.0
