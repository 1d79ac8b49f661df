"""Faults put into rows that real models made, worded as real services word them.

A provider's error in a Gym row is typed by its place and must be named IR. The same words as the result of a tool are
text like any other: they must become a failure mode in their own words, and may not be taken for anything but IR.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from accuracy.public_words import WORDINGS, Wording
from blade.api import analyze, read
from blade.diagnosis import Analysis
from blade.errors import BladeError

Row = dict[str, Any]
STRUCK_TASKS, STRUCK_TRIALS = 4, 20
"""Tasks of which all trials are struck, and single trials of other tasks, so that a task's own trials can tell."""
NOT_THE_MODEL = ("IR", "TI", "DA")


class Injected(NamedTuple):
    """A fault, where it was put, and what was made of it."""

    place: str
    """What kind of place it was put in."""
    words: Wording
    labels: list[str]
    """Labels of the tasks it struck."""
    is_mode: bool
    """Whether a failure mode speaks in its words."""
    failing: int
    """Other tasks that are not always passed."""
    alarms: int
    """Those of them that got a decided IR, TI or DA which they do not have without the fault."""


def inject_all(data: Path, folder: Path) -> Iterator[Injected]:
    """Every wording in the tau-bench run, and one after the other in the Gym's files."""
    tau = sorted((data / "tau_bench").glob("*.json"))
    for number, words in enumerate(WORDINGS if tau else ()):
        rng = random.Random(number)
        yield from in_tool_results(tau[0], words, rng, folder)
    for number, path in enumerate(sorted((data / "gym").glob("*_rollouts*.jsonl"))):
        if "materialized" not in path.name and "profiling" not in path.name:
            yield from in_responses(path, WORDINGS[number % len(WORDINGS)], folder)


def in_tool_results(path: Path, words: Wording, rng: random.Random, folder: Path) -> Iterator[Injected]:
    """All trials of a few tasks, and some trials of others, break off at a tool's result.

    Struck are the tasks that fail for nothing else: an otherwise passing task may be one by a single trial.
    """
    rows = json.loads(path.read_bytes())
    struck = set(rng.sample(sorted({row["task_id"] for row in rows}), STRUCK_TASKS))
    single = set(rng.sample([at for at, row in enumerate(rows) if row["task_id"] not in struck], STRUCK_TRIALS))
    hit = {at for at, row in enumerate(rows) if row["task_id"] in struck or at in single}
    broken = [broken_off(row, words.text, rng) if at in hit else row for at, row in enumerate(rows)]
    failing = [(row["task_id"], at in hit) for at, row in enumerate(broken) if row["reward"] < 1]
    by_fault = {task for task, _ in failing if all(is_hit for other, is_hit in failing if other == task)}
    yield diagnosed("tool result", words, set(map(str, by_fault)), path, write(folder / path.name, broken))


def broken_off(row: Row, text: str, rng: random.Random) -> Row:
    """A trial that ends when a tool gave an error, which was then its last word."""
    results = [at for at, message in enumerate(row["traj"]) if message["role"] == "tool"]
    if not results:
        return {**row, "reward": 0.0}
    at = rng.choice(results)
    return {**row, "reward": 0.0, "traj": [*row["traj"][:at], {**row["traj"][at], "content": text}]}


def in_responses(path: Path, words: Wording, folder: Path) -> Iterator[Injected]:
    """The first passing rollout of a file ends in a provider's error."""
    try:
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        before = analyze(read(path, use_cache=False))
    except (ValueError, BladeError):
        return
    place = next((at for at, row in enumerate(rows) if row.get("reward") == 1 and row.get("response")), None)
    if place is None or before.headline != "pass_at_1":
        return
    response = {**rows[place]["response"], "output": [], "error": {"code": "server_error", "message": words.text}}
    rows[place] = {**rows[place], "reward": 0.0, "response": response}
    target = folder / path.name
    target.write_text("".join(json.dumps(row) + "\n" for row in rows))
    after = analyze(read(target, use_cache=False))
    struck = {cause.task for cause in after.causes} - {cause.task for cause in before.causes}
    yield compared("provider's error", words, struck, before, after)


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text(json.dumps(rows))
    return path


def diagnosed(place: str, words: Wording, struck: set[str], clean: Path, faulty: Path) -> Injected:
    before, after = (analyze(read(path, use_cache=False)) for path in (clean, faulty))
    return compared(place, words, struck, before, after)


def compared(place: str, words: Wording, struck: set[str], before: Analysis, after: Analysis) -> Injected:
    """What a fault changed in a diagnosis."""
    usual = {cause.task: cause.label for cause in before.causes}
    others = [cause for cause in after.causes if cause.task not in struck]
    return Injected(
        place=place,
        words=words,
        labels=[cause.label for cause in after.causes if cause.task in struck],
        is_mode=any(speaks(words.text, mode.title, *[e.quote or "" for e in mode.examples]) for mode in after.modes),
        failing=len(others),
        alarms=sum(cause.label in NOT_THE_MODEL and usual.get(cause.task) != cause.label for cause in others),
    )


def speaks(text: str, *said: str) -> bool:
    """Whether anything said shares most of the words of a text; numbers and ids may be masked."""
    words = {word for word in text.lower().split() if word.isalpha()}
    return any(2 * len(words & set(other.lower().split())) > len(words) for other in said)
