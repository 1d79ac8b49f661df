"""A tiny diagnosis to be read, and a reader on the loopback."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import rollout_rows
from loopback import Loopback, Script

from blade.analyst.analyze import analyze
from blade.analyst.asking import AnalystOptions, Opinion
from blade.analyst.narrating import Story, narrate
from blade.api import read
from blade.diagnosis.analyze import AnalyzeOptions
from blade.diagnosis.analyze import analyze as diagnose
from blade.llm.connect import connect
from blade.llm.model import Model
from blade.report.workspace import Request, Workspace, open_workspace, write_workspace

Came = TypeVar("Came")


def row(task: str, repeat: int, reward: float, said: str, **fields: Any) -> dict[str, Any]:
    """A question and its answer."""
    messages = [{"role": "user", "content": f"What about {task}?"}, {"role": "assistant", "content": said}]
    return {"task_id": task, "repeat": repeat, "reward": reward, "messages": messages, **fields}


ROWS = [
    row("a", 0, 1.0, "right"),
    row("a", 1, 1.0, "right"),
    row("b", 0, 0.0, "this is wrong"),
    row("b", 1, 1.0, "this is right"),
    row("c", 0, 0.0, "also wrong"),
    row("c", 1, 0.0, "again wrong"),
]
"""One task that always passes, one that sometimes does, one that never does."""


def workspace(folder: Path, rows: list[dict[str, Any]] = ROWS) -> Workspace:
    """The diagnosis of some rows."""
    path = rollout_rows.write_rows(folder / "run.jsonl", rows)
    run = read(path)
    request = Request(inputs=[str(path)], run=run.name)
    return write_workspace(folder / "out", run, diagnose(run, AnalyzeOptions()), request)


def read_by(script: Script, opened: Workspace, **options: Any) -> list[Opinion]:
    """What a scripted model says of the tasks of a diagnosis."""
    how = AnalystOptions(**options)
    return asked_of(script, lambda model: analyze(opened, model, how, told=lambda *_: None))


def narrated_by(script: Script, opened: Workspace, **options: Any) -> Story:
    """What a scripted model writes about a diagnosis, with its labels as they now are."""
    how = AnalystOptions(**options)
    folder = opened.folder
    return asked_of(script, lambda model: narrate(open_workspace(folder), model, how, progress=lambda *_: None))


def asked_of(script: Script, job: Callable[[Model], Coroutine[Any, Any, Came]]) -> Came:
    """What comes of asking a scripted model on the loopback."""

    async def whole(url: str) -> Came:
        model = connect("scripted", base_url=url, api="chat", attempts=2, backoff=0.001)
        try:
            return await job(model)
        finally:
            await model.close()

    with Loopback(script) as server:
        return asyncio.run(whole(server.base_url))
