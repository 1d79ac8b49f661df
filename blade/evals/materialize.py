"""From tasks to what is asked: one row per rollout, complete enough to be sent, judged and judged again later.

A row is the task's own fields, the request (`responses_create_params`), who answers (`agent_ref`) and which rollout
of which task it is. Rows are made one at a time, so that a large dataset never stands in memory.

A prompt file has a system text, examples, and a user text with `{field}` places that a task fills. Doubled braces are
literal ones. A place takes a field's text as it is and anything else as JSON; nothing in it is evaluated, because tasks
come from files of others. Examples are literal.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.environments import Environment
from blade.errors import BladeError, InputError
from blade.evals.files import read_lines
from blade.evals.plan import Plan, rollout_seed
from blade.evals.skills import Library, with_skills
from blade.llm import Sampling

PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that was answered well."""

    user: str
    """What was asked."""
    assistant: str
    """What was answered."""


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a task becomes a conversation."""

    user: str
    """Template of the question."""
    system: str | None = None
    """Template of the system text."""
    examples: list[Example] = []
    """Exchanges shown before the question."""


def read_prompt(path: Path) -> Prompt:
    """A prompt file."""
    import yaml

    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Prompt)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{path}: {said}; a prompt has `user`, and may have `system` and `examples`.") from error


def conversation(prompt: Prompt, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages that put a task to a model."""
    messages = [message("system", fill(prompt.system, task))] if prompt.system else []
    for example in prompt.examples:
        messages += [message("user", example.user), message("assistant", example.assistant)]
    return [*messages, message("user", fill(prompt.user, task))]


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def fill(template: str, task: Mapping[str, Any]) -> str:
    """A template with a task's fields in its places."""

    def value_at(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        field = match[1]
        if field is None:
            raise InputError(f"the prompt has a lone {match[0]!r}; write it twice to mean the sign itself.")
        if field not in task:
            there = ", ".join(sorted(name for name in task if not name.startswith("_")))
            raise InputError(f"the prompt asks for field {field!r}, which the task does not have; it has {there}.")
        value = task[field]
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()

    return PLACE.sub(value_at, template)


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
