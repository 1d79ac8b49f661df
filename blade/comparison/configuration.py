"""What differs between two runs in what their rows state about how they were made.

What a run's rows do not state is unknown, never "unchanged". When more than one thing changed, what each of them did
to the score cannot be told apart, and that is said.

Most of it stands in columns of the table. Prompts and tools do not: they are read from two rollouts of each of a few
tasks that both runs have.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from blade.comparison.comparison import ConfigChange
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


ASPECTS: tuple[str, ...] = ("model", "agent", "sampling", "prompt", "tools", "skills", "verifier", "dataset", "other")
NOT_ALWAYS: Final = frozenset({"skills", "verifier", "other"})
"""Aspects that many runs have nothing of, so that not stating them is no news."""
TASK_SET: Final = "task set"
TASK_TEXT: Final = "text of the task"


class Configuration(NamedTuple):
    """How two runs differ in what their rows state."""

    changes: list[ConfigChange]
    same: list[str]
    unknown: list[str]


def compare_configurations(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> Configuration:
    """What differs, what is stated alike, and what is not stated."""
    first, second = (
        state(run, scores, pairing) for run, scores in ((base, pairing.base), (candidate, pairing.candidate))
    )
    changes = [*changed_values(first, second), *changed_fields(first, second)]
    changes += [*added_skills(first, second), *changed_tasks(base, candidate, pairing), *changed_prompts(first, second)]
    changes.sort(key=lambda change: (ASPECTS.index(change.aspect), change.name))
    changed = {change.aspect for change in changes}
    stated = {aspect for aspect, _ in first.values.keys() & second.values.keys()} | {"dataset"}
    same = [aspect for aspect in ASPECTS if aspect in stated - changed and aspect != "other"]
    unknown = [aspect for aspect in ASPECTS if aspect not in stated | changed | NOT_ALWAYS]
    return Configuration(changes, same, unknown)


def changed_values(first: Stated, second: Stated) -> list[ConfigChange]:
    """Statements both runs make, differently."""
    shared = sorted(first.values.keys() & second.values.keys())
    return [
        ConfigChange(aspect=key[0], name=key[1], base=listed(first.values[key]), candidate=listed(second.values[key]))
        for key in shared
        if first.values[key] != second.values[key]
    ]


def added_skills(first: Stated, second: Stated) -> list[ConfigChange]:
    """Skills that one run had and the other, whose rows carry no stamp, had not."""
    key = ("skills", SKILLS[0])
    had = [side.values.get(key, ()) for side in (first, second)]
    if bool(had[0]) == bool(had[1]):
        return []
    base, candidate = (listed(values) if values else ["none"] for values in had)
    return [ConfigChange(aspect=key[0], name=key[1], base=base, candidate=candidate)]


def listed(values: Values) -> list[str]:
    """The first values and how many follow."""
    more = [f"and {len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
    return [*values[:MOST_VALUES], *more]


def changed_fields(first: Stated, second: Stated) -> list[ConfigChange]:
    """Fields that nearly every row of one run has and the other's rows lack: another verifier or dataset wrote them."""
    mine, theirs = sorted(first.fields - second.any_fields), sorted(second.fields - first.any_fields)
    if not mine and not theirs:
        return []
    name = "fields only one run has"
    return [ConfigChange(aspect="verifier", name=name, base=listed(tuple(mine)), candidate=listed(tuple(theirs)))]


def changed_tasks(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> list[ConfigChange]:
    """Tasks only one run has, and shared tasks whose expected answer differs."""
    out: list[ConfigChange] = []
    both_ways = ((pairing.base, pairing.candidate), (pairing.candidate, pairing.base))
    alone = [int((mine.knows & ~other.knows).sum()) for mine, other in both_ways]
    if any(alone):
        mine, theirs = ([f"{count} {'task' if count == 1 else 'tasks'} of its own"] if count else [] for count in alone)
        out.append(ConfigChange(aspect="dataset", name=TASK_SET, base=mine, candidate=theirs))
    for field in EXPECTED_FIELDS:
        answers = [expected(run, scores, field) for run, scores in sides(base, candidate, pairing)]
        differ = sum(answers[1].get(task, value) != value for task, value in answers[0].items())
        if differ:
            said = f"differs on {differ} of {len(answers[0].keys() & answers[1].keys())} shared tasks"
            out.append(ConfigChange(aspect="dataset", name=field, base=[], candidate=[said]))
    return out


def sides(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> list[tuple[Diagnosed, Scores]]:
    return [(base, pairing.base), (candidate, pairing.candidate)]


def expected(diagnosed: Diagnosed, scores: Scores, field: str) -> dict[int, str]:
    """What each task expects, by the first row that says."""
    column = diagnosed.run.table.rows.columns.get(field)
    if column is None:
        return {}
    coded = column.coded()
    found: dict[int, str] = {}
    for place, code in zip(scores.place.tolist(), coded.values.tolist(), strict=True):
        if code >= 0:
            found.setdefault(place, level_text(coded.levels[code]))
    return found


def changed_prompts(first: Stated, second: Stated) -> list[ConfigChange]:
    """Tasks whose own prompt reads differently, among those read; none where a run words it anew each time."""
    read = first.prompts.keys() & second.prompts.keys()
    if any(len(side.prompts[task]) > 1 for side in (first, second) for task in read):
        return []
    differ = sum(first.prompts[task] != second.prompts[task] for task in read)
    if not differ:
        return []
    said = f"differs on {differ} of {len(read)} tasks that were read"
    return [ConfigChange(aspect="prompt", name=TASK_TEXT, base=[], candidate=[said])]


def describe_configuration(found: Configuration) -> list[str]:
    """What the differences mean for the verdict; other tasks do not touch it, since only shared ones are compared."""
    said = [
        f"the text of tasks {change.candidate[0]}: keys may name different tasks"
        for change in found.changes
        if change.name == TASK_TEXT
    ]
    touching = {change.aspect for change in found.changes if change.name != TASK_SET}
    aspects = [aspect for aspect in ASPECTS if aspect in touching]
    if len(aspects) > 1:
        named = ", ".join(aspects[:-1]) + f" and {aspects[-1]}"
        said.append(f"{named} changed together: what each of them did to the score cannot be told apart")
    return said
