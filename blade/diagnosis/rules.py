"""The rule that a wrong call breaks: what the agent was told about the tool, and what sets wrong calls apart.

A call is known by its arguments and by the records that tools gave before and that name one of its arguments: the
reservation that is cancelled, the user it belongs to. A value that most wrong calls share and right ones lack is
probably what the rule is about (Fisher's exact test over distinct calls, times the number of values tried).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import comb
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Mode
from blade.diagnosis.budget import within_budget
from blade.diagnosis.differences import made_calls
from blade.diagnosis.modes import Tested
from blade.diagnosis.noting import Noted
from blade.metrics import Outcomes
from blade.rollouts import Item, Run
from blade.rollouts.formats.calls import call_arguments

MOST_READ, MOST_BYTES = 200, 16 << 20
"""Rollouts of either outcome that are read for their calls."""
MOST_MODES = 8
FEWEST_TOOLS = 2
"""Tools whose names may share a word that tells them from nothing."""
SHORTEST_NAME, LONGEST_VALUE = 4, 40
"""Shorter arguments name no record; longer values are prose."""
MOST_VALUES = 5
"""A field with more values names something instead of describing it."""
LEVEL, MOSTLY, FEWEST = 0.05, 0.6, 3

Traits = frozenset[tuple[str, str]]
"""Fields with their values."""


class Rule(NamedTuple):
    """What is known of the rule behind a tool."""

    told: str = ""
    """A line of the agent's instructions about it."""
    at: str = ""
    """Where that line stands."""
    apart: str = ""
    """What sets its wrong calls apart, in words."""


def rules_behind(run: Run, noted: Noted, modes: Sequence[tuple[Mode, Tested]], outcomes: Outcomes) -> dict[str, Rule]:
    """By the code of a mode about calls made wrongly: what is known of the rule they break."""
    about = {mode.code: (mode.subject.partition(":"), found) for mode, found in modes if is_wrong_call(mode)}
    about = dict(list(about.items())[:MOST_MODES])
    if not about:
        return {}
    tools = {name for (part, _, name), _ in about.values() if part == "call_extra"}
    failing = np.unique(np.concatenate([found.failing for _, found in about.values()]))
    passing = np.asarray(sorted(noted.called & set(np.flatnonzero(outcomes.success == 1.0).tolist())), dtype=np.int64)
    read = [within_budget(run.table, rows, most=MOST_READ, most_bytes=MOST_BYTES) for rows in (failing, passing)]
    sides: dict[bool, dict[str, dict[str, Traits]]] = {side: {tool: {} for tool in tools} for side in (False, True)}
    told: dict[str, Rule] = {}
    listed = noted.conventions.listed
    words = {
        code: (telling_parts(name, listed), telling_parts(name.partition(".")[0], listed) if "." in name else [])
        for code, ((_, _, name), _) in about.items()
    }
    for row, rollout in run.numbered_rollouts(np.concatenate(read).tolist()):
        extra = {one.item for one in noted.differences.get(row, ()) if one.kind == "call_extra"}
        passed = bool(outcomes.success[row] == 1.0)
        for code, (parts, within) in words.items():
            if code not in told and (found := instruction_about(parts, rollout.items, within=within)) is not None:
                told[code] = Rule(told=found[0], at=run.table.citation(row, found[1]))
        for call in made_calls(rollout.items):
            if call.name in tools and (passed or call.position in extra):
                key = repr(sorted(call_arguments(call.text).items(), key=repr))
                known = sides[passed][call.name]
                known[key] = known.get(key, frozenset()) | traits_of_call(call, rollout.items)
    apart = {tool: set_apart(sides[False][tool], sides[True][tool]) for tool in tools}
    return {
        code: told.get(code, Rule())._replace(apart=apart.get(name, "")) for code, ((_, _, name), _) in about.items()
    }


def is_wrong_call(mode: Mode) -> bool:
    return mode.kind == "difference" and mode.subject.startswith(("call_extra:", "argument:"))


def telling_parts(name: str, tools: Collection[str]) -> list[str]:
    """The words of a tool's or an argument's name that tell it from the run's tools, without a plural's ending."""
    tool, _, argument = name.partition(".")
    own = argument or tool
    parts = [part.casefold() for part in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", own) if len(part) > 2]
    if argument and any(part.rstrip("s") in tool.casefold() for part in parts):
        return []  # what the prompt says of the tool says nothing of this argument
    most = max(len(tools) / 2, FEWEST_TOOLS)
    return [part.rstrip("s") for part in parts if sum(part in other.casefold() for other in tools) <= most]


def instruction_about(
    parts: Sequence[str], items: Sequence[Item], *, within: Sequence[str] = ()
) -> tuple[str, int] | None:
    """The line of the system prompt that speaks most of something, headings above it included, and where it stands.

    In a prompt with headings, the line or its heading must have a word of `within`: another tool has rules of its own.
    """
    best, score = None, 1
    for item in items:
        heading, title = 0, ""
        for line in item.text.splitlines() if item.prompt and item.role == "system" else ():
            plain, said = line.strip(" -*\t"), line.casefold()
            hits = sum(said.count(part) for part in parts)
            if line.startswith("#"):
                heading, title = hits, said
            elif within and title and not any(part in title or part in said for part in within):
                continue
            elif hits and hits + heading > score and " " in plain:
                best, score = (plain, item.position), hits + heading
    return best


def traits_of_call(call: Item, items: Sequence[Item]) -> Traits:
    """What a call's arguments say, and the records seen before that one of them names."""
    arguments = call_arguments(call.text)
    names = {value for _, value in fields_of(arguments) if len(value) >= SHORTEST_NAME}
    found = set(fields_of(arguments))
    for item in items[: call.position]:
        if item.kind == "tool_result" and item.error is None:
            record = set(fields_of(as_record(item.text)))
            found |= record if names & {value for _, value in record} else set()
    return frozenset(found)


def as_record(text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError):
        return None


def fields_of(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Short texts and flags of a record, each with the name of its field."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from fields_of(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and path:
        for inner in value:
            yield from fields_of(inner, path)
    elif path and isinstance(value, bool | str) and 0 < len(str(value)) <= LONGEST_VALUE:
        yield path, str(value)


def set_apart(wrong: Mapping[str, Traits], right: Mapping[str, Traits]) -> str:
    """The value that sets wrong calls apart most clearly, in words; empty where none does."""
    values: dict[str, set[str]] = {}
    for field, value in (trait for traits in (*wrong.values(), *right.values()) for trait in traits):
        values.setdefault(field, set()).add(value)
    kinds = [(field, value) for field, known in values.items() if 1 < len(known) <= MOST_VALUES for value in known]
    counts = {trait: [sum(trait in traits for traits in side.values()) for side in (wrong, right)] for trait in kinds}
    tried = {trait: (a, b) for trait, (a, b) in counts.items() if a >= FEWEST and a >= MOSTLY * len(wrong)}
    best = min(((chance(a, len(wrong), b, len(right)), *trait) for trait, (a, b) in tried.items()), default=None)
    if best is None or best[0] * len(kinds) > LEVEL:
        return ""
    (_, field, value), (a, b) = best, tried[best[1], best[2]]
    return f"`{field}` is `{value}` in {a} of the {len(wrong)} wrong calls, and in {b} of the {len(right)} right ones"


def chance(a: int, m: int, b: int, n: int) -> float:
    """Probability that m wrong calls have what a + b of all m + n have at least a times by chance (Fisher)."""
    total = a + b
    ways = sum(comb(m, k) * comb(n, total - k) for k in range(a, min(m, total) + 1) if total - k <= n)
    return ways / comb(m + n, total)
