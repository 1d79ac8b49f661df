"""A benchmark small enough to read, an environment that counts, and a run of them against a loopback server."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopback import Loopback

from blade.environments import Session, Verdict
from blade.environments.answering import final_text, function_call, message
from blade.environments.environment import Item, Task
from blade.evals.files import RunFiles
from blade.evals.jobs import Job, model_job
from blade.evals.manifest import settings_of
from blade.evals.plan import Plan
from blade.evals.run import RunOptions, RunResult, run_job
from blade.evals.skills import Library
from blade.llm import Sampling, connect

Row = dict[str, Any]

ADD = {"type": "function", "name": "add", "description": "Add one.", "parameters": {"type": "object", "properties": {}}}


class Counter:
    """A state with one tool, which adds one."""

    def __init__(self) -> None:
        self.total = 0

    def call(self, name: str, arguments: str) -> str:
        if name != "add":
            return f"Error: no tool is named {name}."
        self.total += 1
        return str(self.total)


class Counting:
    """A task is solved by saying its number, or, when the task wants calls, by calling as often."""

    name = "counting"

    def tools(self, task: Task) -> list[dict[str, Any]]:
        return [ADD] if "calls" in task else []

    def open(self, task: Task) -> Session | None:
        return Counter() if "calls" in task else None

    def verify(self, task: Task, items: Sequence[Item]) -> Verdict:
        if task.get("breaks"):
            raise RuntimeError("the verifier broke")
        if "calls" in task:
            made = sum(item.get("type") == "function_call" for item in items)
            return Verdict(reward=float(made == task["calls"]), fields={"made": made})
        said = final_text(items)
        return Verdict(reward=float(said == str(task["answer"])), fields={"said": said})

    def gold(self, task: Task) -> list[dict[str, Any]]:
        if "calls" in task:
            return [function_call("add", "{}", call_id=f"c{n}") for n in range(task["calls"])]
        return [message(str(task["answer"]))]


def write_tasks(folder: Path, tasks: list[Row]) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    return path


def small_plan(folder: Path, tasks: list[Row] | None = None, **settings: Any) -> Plan:
    """Three tasks, asked as `Say N.`, two repeats."""
    folder.mkdir(exist_ok=True)
    prompt = folder / "prompt.yaml"
    prompt.write_text('system: "You count {{up}}."\nuser: "Say {answer}."\n', encoding="utf-8")
    rows = [{"answer": n} for n in (1, 2, 3)] if tasks is None else tasks
    common = {"benchmark": "small", "environment": "counting", "agent": "small_agent", "prompt": prompt, "repeats": 2}
    return Plan(**{**common, "data": write_tasks(folder, rows), "sampling": Sampling(seed=7), **settings})


def small_job(
    plan: Plan, server: Loopback, *, model: str = "m-1", attempts: int = 3, library: Library | None = None
) -> Job:
    """A plan with the counting environment and a model of the loopback server."""
    asked = connect(model, base_url=server.base_url, api="chat", timeout=5.0, attempts=attempts, backoff=0.001)
    settings = settings_of(plan, model=model, api="chat", skills=library.hash if library else None)
    return model_job(plan, asked, Counting(), settings=settings, library=library)


def run_small(
    plan: Plan,
    server: Loopback,
    output: Path,
    *,
    model: str = "m-1",
    attempts: int = 3,
    library: Library | None = None,
    **options: Any,
) -> RunResult:
    """One sitting of a plan."""
    job = small_job(plan, server, model=model, attempts=attempts, library=library)
    return run_job(job, RunFiles(output), options=RunOptions(**{"concurrency": 4, **options}))


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, sorted by their key."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=key)


def key(row: Row) -> tuple[int, int]:
    return row["_ng_task_index"], row["_ng_rollout_index"]


def keys(path: Path) -> list[tuple[int, int]]:
    return [key(row) for row in read_rows(path)]
