"""Traits of a rollout that may separate pass from fail: what it called, in which order, how it answered, what it said.

A trait is a name; a rollout has it or not. Quantities become traits relative to the task's own median, so that a long
task's rollouts are not all "long".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts import Item, Rollout
from blade.rollouts.features import TOOL_ERROR, split_thinking

WORD = re.compile(r"[a-z][a-z']+")
PHRASE_LENGTHS = (2, 3)
MOST_PHRASES = 150
FEWEST_ROLLOUTS = 4
FORMATS = {
    "answer holds a code block": re.compile(r"```"),
    "answer holds JSON": re.compile(r"\{\s*\"\w+\"\s*:"),
    "answer is boxed": re.compile(r"\\boxed"),
    "answer is a list": re.compile(r"^\s*(?:[-*]|\d+[.)])\s", re.MULTILINE),
    "answer asks back": re.compile(r"\?\s*$"),
}


def traits_of(rollout: Rollout) -> set[str]:
    """Everything a single rollout shows, phrases left out."""
    items = [item for item in rollout.items if not item.prompt]
    calls = [item.name or "?" for item in items if item.kind == "tool_call"]
    found = {f"calls {name}" for name in calls}
    found |= {f"calls {first} then {second}" for first, second in pairwise(calls)}
    if calls:
        found.add(f"first tool is {calls[0]}")
    return found | error_traits(items) | format_traits(items)


def error_traits(items: Sequence[Item]) -> set[str]:
    """Whether a tool failed, and whether the same tool was tried again afterwards."""
    failed = [i for i, item in enumerate(items) if item.kind == "tool_result" and is_error(item)]
    if not failed:
        return set()
    names = {items[i].name for i in failed}
    again = any(item.kind == "tool_call" and item.name in names for item in items[failed[0] + 1 :])
    return {"meets a tool error", "retries after a tool error" if again else "does not retry after a tool error"}


def is_error(item: Item) -> bool:
    return TOOL_ERROR.match(item.text[:120].encode("utf-8", "replace")) is not None


def format_traits(items: Sequence[Item]) -> set[str]:
    said = [item for item in items if item.kind == "message"]
    if not said:
        return {"gives no answer"}
    answer = split_thinking(said[-1].text)[1]
    return {name for name, pattern in FORMATS.items() if pattern.search(answer[-4000:])}


def phrases_of(rollout: Rollout) -> set[str]:
    """Short runs of words the agent wrote, in messages and in reasoning."""
    found: set[str] = set()
    for item in rollout.items:
        if not item.prompt and item.kind in ("message", "reasoning"):
            words = WORD.findall(item.text[:8000].lower())
            for length in PHRASE_LENGTHS:
                found.update(" ".join(words[i : i + length]) for i in range(len(words) - length + 1))
    return found


def common_phrases(phrases: Iterable[set[str]], count: int) -> list[str]:
    """Phrases that are neither rare nor everywhere, the most even ones first."""
    seen = Counter(phrase for found in phrases for phrase in found)
    even = {p: n for p, n in seen.items() if FEWEST_ROLLOUTS <= n <= count - FEWEST_ROLLOUTS}
    ordered = sorted(even, key=lambda phrase: (abs(even[phrase] - count / 2), phrase))
    return ordered[:MOST_PHRASES]


def above_median(task: Ints, quantities: Mapping[str, Floats]) -> dict[str, Bools]:
    """Per quantity: rows above the median of their own task."""
    out: dict[str, Bools] = {}
    for name, values in quantities.items():
        middle = np.full(len(values), np.nan)
        for number in np.unique(task).tolist():
            mine = (task == number) & ~np.isnan(values)
            if mine.any():
                middle[mine] = np.median(values[mine])
        out[f"more {name} than the task's median"] = values > middle
    return out
