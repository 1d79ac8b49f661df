"""One rollout judged again: its row with today's verdict, and whether the reward is still the same."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from blade.environments import Environment, Verdict
from blade.evals.counted import REPEAT, TASK, is_number
from blade.evals.rows import FAILURE, identity
from blade.evals.skills import without_skill_calls

SAME = 1e-9
"""Rewards this close are one reward."""
FAILED = "verifier_failed"
"""Failure class of a rollout whose verifier broke."""

Row = dict[str, Any]
Outcome = Literal["same", "changed", "failed", "unjudgeable"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A reward that is no longer the same."""

    rollout: str
    """Which, as a citation."""
    old: float | None
    """As the row has it; None when it has none."""
    new: float | None
    """As the verifier says now."""
    fields: list[str]
    """Verifier fields that changed with it."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout that could not be judged again."""

    rollout: str
    """Which, as a citation."""
    why: str
    """What was missing, or how the verifier broke."""


class Judged(NamedTuple):
    """One row after it was judged again."""

    outcome: Outcome
    row: Row
    """As it is now."""
    change: Change | None = None
    trouble: Trouble | None = None
    rewards: tuple[float | None, float | None] = (None, None)
    """Before and now."""


def judge(row: Row, task: Mapping[str, Any], environment: Environment) -> Judged:
    """One row with today's verdict."""
    name = f"{row.get(TASK, '?')}:{row.get(REPEAT, '?')}"
    response = row.get("response")
    items = response.get("output") if isinstance(response, dict) else None
    if not isinstance(items, list):
        return Judged("unjudgeable", row, trouble=Trouble(rollout=name, why="has no response with output items"))
    try:
        verdict = environment.verify(task, without_skill_calls([item for item in items if isinstance(item, dict)]))
    except Exception as error:  # a verifier that breaks on a row costs that row, never the others
        why = f"{type(error).__name__}: {error}"[:300]
        failed = {**row, FAILURE: FAILED, "_ng_failure_error": why, **identity(row)}
        return Judged("failed", failed, trouble=Trouble(rollout=name, why=why))
    return compared(row, verdict, name)


def compared(row: Row, verdict: Verdict, name: str) -> Judged:
    old, new = number(row.get("reward")), number(verdict.reward)
    now = {**row, **verdict.fields, "reward": new, **identity(row)}
    if (old is None) == (new is None) and (old is None or new is None or abs(old - new) <= SAME):
        return Judged("same", now, rewards=(old, new))
    fields = sorted(field for field, value in verdict.fields.items() if row.get(field) != value)
    return Judged("changed", now, Change(rollout=name, old=old, new=new, fields=fields), rewards=(old, new))


def number(value: Any) -> float | None:
    return float(value) if is_number(value) else None
