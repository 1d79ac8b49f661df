"""How far rollouts came: started, the stages of the benchmark's family or those of any benchmark, passed.

A rollout that reached a later stage reached the earlier ones, whatever the rows say of them: a pass without a tool
call is still a pass.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Stage
from blade.diagnosis.signals import is_true
from blade.metrics import Outcomes
from blade.metrics.values import Bools
from blade.rollouts.columns import codes_in
from blade.rollouts.table import RolloutTable


class StageName(NamedTuple):
    """What a stage is called, and how it is told from the rows."""

    name: str
    definition: str


class Reached(NamedTuple):
    """A stage of the funnel, in numbers and row by row."""

    stage: Stage
    """As it stands in the analysis."""
    mask: Bools | None
    """Per row: whether the rollout came this far; `None` when the rows cannot tell."""


STARTED = StageName("started", "a row exists for the rollout, failed ones included")
PASSED = StageName("passed", "counts as a success")
OF_ANY_BENCHMARK = (
    StageName("produced output", "the trajectory holds at least one item after the prompt"),
    StageName("reached the core action", "made a tool call where tools were offered; elsewhere gave an answer"),
    StageName("was scored", "has a score"),
)


def build_funnel(table: RolloutTable, outcomes: Outcomes) -> list[Stage]:
    """The funnel that holds for any benchmark."""
    masks = [produced(table), acted(table), ~np.isnan(table.reward)]
    return [reached.stage for reached in follow(OF_ANY_BENCHMARK, masks, table, outcomes)]


def follow(
    names: Sequence[StageName], masks: Sequence[Bools | None], table: RolloutTable, outcomes: Outcomes
) -> list[Reached]:
    """Stages between the two that every funnel has; a mask is `None` where the rows cannot tell."""
    passed = None if outcomes.is_continuous else outcomes.success == 1.0
    before = np.ones(len(table), dtype=bool)
    stages: list[Reached] = []
    own = [before, *masks, passed]
    for name, shown, mask in zip([STARTED, *names, PASSED], own, carried_back(own), strict=True):
        stages.append(Reached(describe(qualified(name, shown, mask), mask, before=before, table=table), mask))
        before = before if mask is None else mask
    return stages


def qualified(name: StageName, shown: Bools | None, reached: Bools | None) -> StageName:
    """The stage, saying how many show it themselves where others count because they came further."""
    if shown is None or reached is None or shown.sum() == reached.sum():
        return name
    return name._replace(definition=f"{name.definition} ({int(shown.sum())} show it; the others came further without)")


def carried_back(masks: Sequence[Bools | None]) -> list[Bools | None]:
    """Each stage with everything that reached a later one."""
    out: list[Bools | None] = []
    later: Bools | None = None
    for mask in reversed(masks):
        if mask is not None:
            later = mask if later is None else mask | later
        out.append(None if mask is None else later)
    return out[::-1]


def describe(name: StageName, mask: Bools | None, *, before: Bools, table: RolloutTable) -> Stage:
    if mask is None:
        return Stage(name=name.name, rollouts=None, tasks=None, definition=name.definition)
    return Stage(
        name=name.name,
        rollouts=int(mask.sum()),
        tasks=len(codes_in(table.task[mask])),
        definition=name.definition,
        lost=table.citations(np.flatnonzero(before & ~mask)[:MAX_LISTED]),
    )


def produced(table: RolloutTable) -> Bools | None:
    some = table.rows.fact("output_items") > 0
    return some if some.any() else None


def acted(table: RolloutTable) -> Bools | None:
    if produced(table) is None:
        return None
    offered = is_true(table, "responses_create_params.tools")
    calls, answer = table.rows.fact("tool_calls") > 0, table.rows.fact("answer_bytes") > 0
    return np.where(offered, calls, calls | answer)
