"""tau-bench trajectory JSON: an array of trials, each a whole chat conversation with its reward."""

from typing import Any

from blade.rollouts.formats.calls import listed_calls
from blade.rollouts.formats.format import Format
from blade.rollouts.values import Expected

FORMAT = Format(
    name="tau-bench",
    output="traj",
    scalars=("task_id", "trial", "reward"),
    indices=("task_id", "trial"),
    task_fields=("task_id",),
    repeat_fields=("trial",),
    error_opening="Error: ",
)


def expected(record: dict[str, Any]) -> Expected | None:
    """The calls and outputs a trial's task lists, calls that only read among them."""
    info = record.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    actions = task.get("actions") if isinstance(task, dict) else None
    if not isinstance(task, dict) or not isinstance(actions, list):
        return None
    outputs = task.get("outputs")
    return Expected(
        calls=listed_calls(actions),
        outputs=[str(text) for text in outputs] if isinstance(outputs, list) else None,
    )


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row is a trial."""
    return isinstance(row.get("traj"), list) and "task_id" in row
