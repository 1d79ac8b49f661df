"""A tiny run on disk and its diagnosis, for the tests of workspaces and labels."""

from pathlib import Path
from typing import Any

import rollout_rows

from blade.api import read
from blade.diagnosis.analyze import AnalyzeOptions, analyze
from blade.diagnosis.labels import Evidence, Label
from blade.report.workspace import Request, Workspace, write_workspace
from blade.rollouts import Run


def rollout(task: str, repeat: int, reward: float | None, answer: str) -> dict[str, Any]:
    """A row with a question and an answer."""
    messages = [{"role": "user", "content": f"What is {task}?"}, {"role": "assistant", "content": answer}]
    return {"task_id": task, "repeat": repeat, "reward": reward, "model": "model-a", "messages": messages}


ROWS = [
    rollout("2+2", 0, 1.0, "The answer is 4."),
    rollout("2+2", 1, 1.0, "It is 4."),
    rollout("7*8", 0, 1.0, "That makes 56."),
    rollout("7*8", 1, 0.0, "That makes 54, I think."),
    rollout("sqrt", 0, 0.0, "I do not know `sqrt`."),
    rollout("sqrt", 1, 0.0, "Perhaps 3."),
]
"""One task that is always passed, one sometimes, one never."""


def write_rows(folder: Path, rows: list[dict[str, Any]] = ROWS, name: str = "math.jsonl") -> Path:
    """The rows as a file."""
    return rollout_rows.write_rows(folder / name, rows)


def read_run(path: Path) -> Run:
    """The only run of a file."""
    return read(path)


def diagnose(folder: Path, rows: list[dict[str, Any]] = ROWS, **options: Any) -> Workspace:
    """Writes the rows to `folder/math.jsonl` and their diagnosis to `folder/out`."""
    path = write_rows(folder, rows)
    run = read_run(path)
    choices = AnalyzeOptions(**options)
    request = Request(inputs=[str(path)], analyze=choices, run=run.name)
    return write_workspace(folder / "out", run, analyze(run, choices), request)


def human_label(task: str = "sqrt", *evidence: Evidence, cause: str = "KG", **other: Any) -> Label:
    """A label by a person."""
    reason = other.pop("reason", "does not know square roots")
    fields = {"confidence": "high", "author": "human:ada", **other}
    return Label(task=task, cause=cause, reason=reason, evidence=list(evidence), **fields)
