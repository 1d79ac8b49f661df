"""The totals a metrics sidecar states, counted again from the rows. Standard library only.

The engine computes the same with intervals (`blade.metrics`); a test holds the two to each other.
"""

from dataclasses import dataclass
from typing import Any

from blade.golden.package.rows import Rows, is_success

TOLERANCE = 5e-4
"""How far a stated share may be off: half a unit of the third digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the rows of one run give."""

    num_tasks: int
    """Tasks."""
    num_rollouts: int
    """Rollouts."""
    mean_reward: float | None
    """Mean over tasks of the task's mean reward."""
    pass_at_1: float | None
    """Mean over tasks of the share of rollouts that succeed; `None` when the rule needs more than the score."""
    always: int | None
    """Tasks whose every rollout succeeds."""
    sometimes: int | None
    """Tasks some of whose rollouts succeed."""
    never: int | None
    """Tasks none of whose rollouts succeeds."""


def count_totals(run: Rows, rule: str | None) -> Totals:
    """The totals of one run under a success rule; without one, rewards of 0 and 1 speak for themselves."""
    tasks = {task: [r.reward for r in rows if r.reward is not None] for task, rows in run.by_task().items()}
    scored = {task: rewards for task, rewards in tasks.items() if rewards}
    shares = success_shares(scored, rule)
    return Totals(
        num_tasks=len(tasks),
        num_rollouts=sum(len(rows) for rows in run.by_task().values()),
        mean_reward=mean([mean(rewards) or 0.0 for rewards in scored.values()]),
        pass_at_1=None if shares is None else mean(shares),
        always=None if shares is None else sum(share == 1.0 for share in shares),
        sometimes=None if shares is None else sum(0.0 < share < 1.0 for share in shares),
        never=None if shares is None else sum(share == 0.0 for share in shares),
    )


def success_shares(scored: dict[str, list[float]], rule: str | None) -> list[float] | None:
    """Per task: the share of its rollouts that succeed."""
    graded = any(reward not in (0.0, 1.0) for rewards in scored.values() for reward in rewards)
    if rule is None and graded:
        return None
    passed = {task: [is_success(reward, rule) for reward in rewards] for task, rewards in scored.items()}
    if any(one is None for of_task in passed.values() for one in of_task):
        return None
    return [sum(map(bool, of_task)) / len(of_task) for of_task in passed.values()]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def differences(stated: dict[str, Any], totals: Totals) -> list[str]:
    """What a metrics sidecar says otherwise than the rows, in words."""
    buckets = stated.get("buckets")
    listed = buckets if isinstance(buckets, dict) else {}
    pairs = [
        *((name, stated.get(name), totals.num_tasks) for name in ("num_tasks", "total_tasks")),
        *((name, stated.get(name), totals.num_rollouts) for name in ("num_rollouts", "total_rollouts")),
        *((name, stated.get(name), getattr(totals, name)) for name in ("pass_at_1", "mean_reward")),
        *((name, size(listed.get(name)), getattr(totals, name)) for name in ("always", "sometimes", "never")),
    ]
    return [f"{name} is {said}, the rows give {shown(true)}" for name, said, true in pairs if differs(said, true)]


def size(value: Any) -> Any:
    """A bucket as a number, whether it is counted or listed."""
    return len(value) if isinstance(value, list) else value


def differs(said: Any, true: float | None) -> bool:
    """Whether a stated value is not what the rows give; what is not stated or not known is not compared."""
    if said is None or true is None:
        return False
    if isinstance(said, bool) or not isinstance(said, int | float):
        return True
    return abs(said - true) > (TOLERANCE if isinstance(true, float) else 0)


def shown(value: float | None) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
