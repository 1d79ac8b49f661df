"""tau-bench trajectory JSON: an array of trials, each a whole chat conversation with its reward."""

from typing import Any

from blade.rollouts.formats.format import Format
from blade.rollouts.values import Expected, ExpectedCall

FORMAT = Format(
    name="tau-bench",
    output="traj",
    scalars=("task_id", "trial", "reward"),
    indices=("task_id", "trial"),
    task_fields=("task_id",),
    repeat_fields=("trial",),
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
        calls=[
            ExpectedCall(name=str(action["name"]), arguments=arguments_of(action))
            for action in actions
            if isinstance(action, dict) and "name" in action
        ],
        outputs=[str(text) for text in outputs] if isinstance(outputs, list) else None,
    )


def arguments_of(action: dict[str, Any]) -> dict[str, Any]:
    arguments = action.get("kwargs", action.get("arguments"))
    return arguments if isinstance(arguments, dict) else {}


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row is a trial."""
    return isinstance(row.get("traj"), list) and "task_id" in row
