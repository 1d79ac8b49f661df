"""tau-bench trajectory JSON: an array of trials, each a whole chat conversation with its reward."""

from typing import Any

from blade.rollouts.formats.format import Format

FORMAT = Format(
    name="tau-bench",
    output="traj",
    scalars=("task_id", "trial", "reward"),
    indices=("task_id", "trial"),
    task_fields=("task_id",),
    repeat_fields=("trial",),
)


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row is a trial."""
    return isinstance(row.get("traj"), list) and "task_id" in row
