"""tau-bench trajectory JSON: an array of trials, each a whole chat conversation with its reward."""

from typing import Any

from blade.rollouts.formats.calls import listed_calls
from blade.rollouts.formats.format import Format
from blade.rollouts.values import Ending, Expected, TestStatus

FORMAT = Format(
    name="tau-bench",
    output="traj",
    scalars=("task_id", "trial", "reward"),
    indices=("task_id", "trial"),
    task_fields=("task_id",),
    repeat_fields=("trial",),
    error_opening="Error: ",
)

STOP, TERMINATING = "###STOP###", "transfer_to_human_agents"
"""What ends a trial: the simulated user's word, and the tool that hands over to a person."""
STEPS = 30
"""Steps an agent is given."""


def ending(record: dict[str, Any]) -> Ending | None:
    """How a trial ended: with an exception, or, when it took all its steps and nothing ended it, out of steps."""
    info = record.get("info")
    if isinstance(info, dict) and info.get("error") and "traceback" in info:
        return Ending(kind="error", message=str(info["error"]))
    traj = record.get("traj")
    turns = [turn for turn in traj if isinstance(turn, dict)] if isinstance(traj, list) else []
    if record.get("reward") or sum(turn.get("role") == "assistant" for turn in turns) < STEPS:
        return None
    ended = turns[-1].get("name") == TERMINATING or STOP in str(turns[-1].get("content") or "")
    return None if ended else Ending(kind="limit", origin="runner", name="max_num_steps")


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
        script=task["instruction"] if isinstance(task.get("instruction"), str) else None,
    )


def tests(record: dict[str, Any]) -> dict[str, TestStatus]:
    """What decided the reward: the state of the database, or every output that had to be said."""
    info = record.get("info")
    reward = info.get("reward_info") if isinstance(info, dict) else None
    checked = reward.get("info") if isinstance(reward, dict) else None
    if not isinstance(checked, dict):
        return {}
    found: dict[str, TestStatus] = {}
    if isinstance(checked.get("r_actions"), bool | int | float):
        found["database"] = "passed" if checked["r_actions"] else "failed"
    outputs = checked.get("outputs")
    for text, said in outputs.items() if isinstance(outputs, dict) else ():
        found[f"output {text}"] = "passed" if said is True else "failed"
    return found


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row is a trial."""
    return isinstance(row.get("traj"), list) and "task_id" in row
