"""What a run's rows state about how it was made: model, agent, sampling, skills, verifier, prompt and tools.

Most of it stands in columns of the table. Prompts and tools do not: they are read from two rollouts of each of a few
tasks that both runs have.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.diagnosis.answers import EXPECTED_FIELDS
from blade.rollouts import Column, Item, Run
from blade.rollouts.columns import level_text
from blade.rollouts.conform import BadRow
from blade.rollouts.fetch import fetch
from blade.rollouts.formats import value_at
from blade.rollouts.formats.records import INPUT_NAMES
from blade.rollouts.skills import SKILLS_READ, without_catalog, without_skill_tool
from blade.rollouts.trajectory import read_items, read_record

MOST_VALUES: Final = 6
MOST_READ: Final = 20
MOSTLY: Final = 0.9
SAMPLING: Final = (
    "temperature", "top_p", "top_k", "min_p", "max_output_tokens", "max_tokens", "max_completion_tokens",
    "reasoning.effort", "reasoning_effort", "presence_penalty", "frequency_penalty", "tool_choice",
    "parallel_tool_calls", "max_tool_calls", "max_turns", "max_steps", "num_ctx",
)  # fmt: skip
PREFIXES: Final = ("responses_create_params.", "response.", "")
SKILLS: Final = ("skills_ref.hash", "skills_ref.path")
VERIFIER_WORDS: Final = ("judge", "verifier", "grader", "scorer", "rubric")
FOREIGN: Final = ("responses_create_params.", "response.", "agent_ref.", "skills_ref.", SKILLS_READ, "_ng_")
TASK_TEXTS: Final = ("expected.script", "info.task.instruction", *INPUT_NAMES)
"""Where a row says what its task asks for, besides the prompt."""
SYSTEM_ROLES: Final = frozenset({"system", "developer"})

Values = tuple[str, ...]
Statement = tuple[str, str]
"""Aspect and name."""


class Stated(NamedTuple):
    """What one run's rows state."""

    values: dict[Statement, Values]
    """Distinct values by aspect and name; a name that is missing is not stated."""
    prompts: dict[str, set[str]]
    """Hashes of the task's own prompt, by task that was read; a simulated user words it anew in every rollout."""
    fields: frozenset[str]
    """Fields of its own that nearly every row has."""
    any_fields: frozenset[str]
    """Fields of its own that some row has."""


def state(diagnosed: Diagnosed, scores: Scores, pairing: Pairing) -> Stated:
    """What a run's rows state."""
    table = diagnosed.run.table
    values: dict[Statement, Values] = {}
    add(values, "model", "model", table.model)
    add(values, "agent", "agent", table.agent)
    for name in SAMPLING:
        for prefix in PREFIXES:
            add(values, "sampling", prefix + name, table.rows.columns.get(prefix + name))
    for name in SKILLS:
        add(values, "skills", name, table.rows.columns.get(name))
    values |= constants(diagnosed.run)
    if diagnosed.run.reward_field is not None:
        values["verifier", "field the score is taken from"] = (diagnosed.run.reward_field,)
    own = {n: column for n, column in table.rows.columns.items() if "." not in n and not n.startswith(FOREIGN)}
    usual = frozenset(name for name, column in own.items() if is_mostly_known(column))
    contents = read_contents(diagnosed.run, scores, pairing)
    return Stated(values | contents.values, contents.prompts, usual, frozenset(own))


def add(values: dict[Statement, Values], aspect: str, name: str, column: Column | None) -> None:
    """States the distinct values of a column, if it has any."""
    if column is not None and (found := distinct(column)):
        values[aspect, name] = found


def distinct(column: Column) -> Values:
    """Values in use, in order."""
    coded = column.coded()
    return tuple(sorted({level_text(coded.levels[code]) for code in np.unique(coded.values).tolist() if code >= 0}))


def is_mostly_known(column: Column) -> bool:
    return bool(len(column.values)) and float(column.known().mean()) >= MOSTLY


def constants(run: Run) -> dict[Statement, Values]:
    """Texts of the run's own fields that are the same in every row, such as a judge's name or a version."""
    out: dict[Statement, Values] = {}
    for name, column in run.table.rows.columns.items():
        if column.kind != "text" or name.startswith(FOREIGN) or not is_mostly_known(column):
            continue
        found = distinct(column)
        if len(found) == 1 and not is_stated_elsewhere(name):
            aspect = "verifier" if any(word in name for word in VERIFIER_WORDS) else "other"
            out[aspect, name] = found
    return out


def is_stated_elsewhere(name: str) -> bool:
    return name in (*SAMPLING, *EXPECTED_FIELDS, "model", "agent", "agent_name", "model_name", "model_id", "harness")


class Contents(NamedTuple):
    """What was found by reading a few rollouts."""

    values: dict[Statement, Values]
    prompts: dict[str, set[str]]


def read_contents(run: Run, scores: Scores, pairing: Pairing) -> Contents:
    """System prompts, tools and task prompts of a few rollouts."""
    systems: set[str] = set()
    tools: set[str] = set()
    prompts: dict[str, set[str]] = {}
    read: set[str] = set()
    for task, record, items in read_some(run, scores, pairing):
        given = [item for item in items if item.prompt]
        system = [without_catalog(item.text) for item in given if item.role in SYSTEM_ROLES]
        instructions = value_at(record, "responses_create_params.instructions")
        if given:
            read.add(task)
            systems.add(digest([*system, instructions if isinstance(instructions, str) else ""]))
        # What a simulated user says first is worded anew in each attempt; its task is what it was told to ask for.
        asked = [text for path in TASK_TEXTS if isinstance(text := value_at(record, path), str)][:1]
        if not asked and not any(item.kind == "environment" for item in items):
            asked = [item.text for item in given if item.role not in SYSTEM_ROLES]
        if asked:
            prompts.setdefault(task, set()).add(digest(asked))
        if isinstance(offered := value_at(record, "responses_create_params.tools"), list):
            tools.add(describe_tools(without_skill_tool(offered)))
    if len(systems) > len(read):
        systems = set()  # it holds a time or an id and differs from rollout to rollout
    found = {("prompt", "system prompt (hash)"): systems, ("tools", "tools offered"): tools}
    return Contents({key: tuple(sorted(values)) for key, values in found.items() if values}, prompts)


def read_some(run: Run, scores: Scores, pairing: Pairing) -> Iterator[tuple[str, dict[str, Any], list[Item]]]:
    """Task, record and items of the first and the last scored rollout of some paired tasks, spread evenly."""
    paired = np.flatnonzero(pairing.paired)
    chosen = paired[np.unique(np.linspace(0, len(paired) - 1, min(len(paired), MOST_READ)).astype(np.int64))]
    scored = np.flatnonzero(~np.isnan(run.table.reward) & np.isin(scores.place, chosen))
    _, first = np.unique(scores.place[scored], return_index=True)
    _, last = np.unique(scores.place[scored][::-1], return_index=True)
    for row, data in fetch(run.files, run.table.rows, [*scored[first].tolist(), *scored[::-1][last].tolist()]):
        with contextlib.suppress(BadRow):
            record = read_record(data)
            form = run.files[int(run.table.rows.file[row])].format
            yield pairing.tasks[int(scores.place[row])], record, read_items(record, form)


def digest(texts: list[str]) -> str:
    """A short name for some texts; none of them is one too."""
    if not any(texts):
        return "none"
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def describe_tools(offered: list[Any]) -> str:
    """Names of the tools, with a hash of everything that is said about them."""
    names = sorted(
        str(tool.get("name") or value_at(tool, "function.name")) for tool in offered if isinstance(tool, dict)
    )
    whole = digest([msgspec.json.encode(tool, order="sorted").decode() for tool in offered])
    more = f" and {len(names) - MOST_VALUES} more" if len(names) > MOST_VALUES else ""
    return f"{', '.join(names[:MOST_VALUES])}{more} ({whole})" if names else "none"
