"""From tasks to what is asked: one row per rollout, complete enough to be sent, judged and judged again later.

A row is the task's own fields, the request (`responses_create_params`), who answers (`agent_ref`) and which rollout
of which task it is. Rows are made one at a time, so that a large dataset never stands in memory.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.environments import Environment
from blade.errors import BladeError, InputError
from blade.evals.files import read_lines
from blade.evals.plan import Plan, rollout_seed
from blade.evals.prompts import Prompt, conversation, read_prompt
from blade.evals.skills import Library, with_skills
from blade.llm import Sampling

Row = dict[str, Any]

TASK, REPEAT = "_ng_task_index", "_ng_rollout_index"
REQUEST = "responses_create_params"

TASK_DECODER = msgspec.json.Decoder(dict[str, Any])


class Key(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which rollout of which task a row is."""

    task: int
    repeat: int


class Indices(msgspec.Struct, frozen=True):
    """The two fields that identify a row."""

    task: int = msgspec.field(name=TASK)
    repeat: int = msgspec.field(name=REPEAT)


INDICES = msgspec.json.Decoder(Indices)


def key_of(row: Mapping[str, Any]) -> Key:
    """The key of a materialized row."""
    return Key(row[TASK], row[REPEAT])


def materialize(plan: Plan, environment: Environment | None, library: Library | None = None) -> Iterator[Row]:
    """Every row of a run, tasks in the order of the data and the repeats of a task together."""
    stamp = {"skills_ref": library.reference} if library else {}
    prompt = read_prompt(plan.prompt) if plan.prompt else None
    for index, task in read_tasks(plan.data, limit=plan.limit):
        tools = environment.tools(task) if environment else []
        request = {**request_of(task, prompt), **({"tools": tools} if tools else {}), **settings(plan.sampling)}
        request = with_skills(request, library) if library and environment else request
        own = {name: value for name, value in task.items() if name not in (REQUEST, TASK, REPEAT)}
        agent = {"type": "responses_api_agents", "name": plan.agent}
        for repeat in range(plan.repeats):
            asked = {**request, **seed_setting(plan.sampling.seed, index, repeat)}
            yield {**own, REQUEST: asked, "agent_ref": agent, TASK: index, REPEAT: repeat, **stamp}


def read_tasks(path: Path, *, limit: int | None = None) -> Iterator[tuple[int, Row]]:
    """Tasks with their index: the row's own, or else its position."""
    seen: set[int] = set()
    for position, (number, line) in enumerate(read_lines(path)):
        if limit is not None and position >= limit:
            break
        try:
            task = TASK_DECODER.decode(line)
            index = msgspec.convert(task.get(TASK, position), int)
        except msgspec.MsgspecError as error:
            raise InputError(f"{path}:{number}: not a task: {error}.") from error
        if index in seen:
            raise InputError(f"{path}:{number}: a second task with {TASK} {index}; give every task its own.")
        seen.add(index)
        yield index, task
    if not seen:
        raise InputError(f"{path}: holds no tasks.")


def request_of(task: Row, prompt: Prompt | None) -> Row:
    """The request as far as task and prompt decide it."""
    own = task.get(REQUEST) or {}
    if prompt is None:
        if not isinstance(own, dict) or not own.get("input"):
            raise InputError(f"a task has no {REQUEST}.input, and the benchmark has no prompt to make one.")
        return own
    if own.get("input"):
        raise InputError(f"a task has its own {REQUEST}.input, and the benchmark has a prompt as well; drop one.")
    try:
        return {**own, "input": conversation(prompt, task)}
    except BladeError as error:
        raise InputError(f"task {task.get('task_id', '')}: {error}") from error


def settings(sampling: Sampling) -> Row:
    """Settings of the request that were chosen; the rest is the server's."""
    names = ("temperature", "top_p", "max_output_tokens")
    return {name: value for name in names if (value := getattr(sampling, name)) is not None}


def seed_setting(seed: int | None, task: int, repeat: int) -> Row:
    """The rollout's seed where NeMo Gym puts it: JSON text in the metadata, because the API has no field for one."""
    if seed is None:
        return {}
    text = msgspec.json.encode({"seed": rollout_seed(seed, task, repeat)}).decode()
    return {"metadata": {"extra_body": text}}


def sampling_of(request: Mapping[str, Any]) -> Sampling:
    """The settings in a row's request."""
    extra = (request.get("metadata") or {}).get("extra_body")
    seed = msgspec.json.decode(extra).get("seed") if extra else None
    names = ("temperature", "top_p", "max_output_tokens")
    return Sampling(seed=seed, **{name: request.get(name) for name in names})
