"""What to read first: tasks whose cause nobody knows, those that weigh most first, with the rollouts that will tell."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from blade.diagnosis.analysis import Cause, Mode, ReadingItem
from blade.diagnosis.labels import UNDECIDED
from blade.diagnosis.modes import Tested
from blade.diagnosis.pairs import TaskContrast
from blade.metrics import Outcomes, TaskResult
from blade.rollouts.table import RolloutTable

MOST_ITEMS = 50
DOUBT = {"high": 0.05, "medium": 0.2, "low": 0.5}
"""How often a label of this confidence is wrong, at most."""
FOLDER = "DIR"
"""What a command calls the folder of its diagnosis where nobody knows its name."""


def reading_list(
    causes: list[Cause],
    results: list[TaskResult],
    table: RolloutTable,
    outcomes: Outcomes,
    pairs: Sequence[TaskContrast] = (),
    groups: Mapping[str, str] | None = None,
) -> list[ReadingItem]:
    """Tasks by how much a decision would move the conclusions, those of a group together, the heaviest group first.

    A task that was contrasted keeps its pair. `groups` says what the failures of a task are mostly about.
    """
    known = {pair.task: [rollout_of(pair.passing), rollout_of(pair.failing)] for pair in pairs}
    place = {result.task: index for index, result in enumerate(results)}
    at = [place[cause.task] for cause in causes]
    weights = np.array([(1.0 - (results[i].rate or 0.0)) * doubt(cause) for i, cause in zip(at, causes, strict=True)])
    names = [(groups or {}).get(cause.task) or shape_words(cause) for cause in causes]
    ranks = {name: rank for rank, name in enumerate(sorted(set(names)))}
    group = np.array([ranks[name] for name in names], dtype=np.int64)
    together = np.bincount(group, weights=weights)
    order = np.lexsort((-weights, group, -together[group])).tolist()
    items = (
        read_item(causes[n], at[n], results[at[n]], table, outcomes, known.get(causes[n].task), names[n]) for n in order
    )
    return list(islice((item for item in items if item is not None), MOST_ITEMS))


def doubt(cause: Cause) -> float:
    """How unsure a cause is; that times what the task costs is what a decision would move."""
    if cause.label != UNDECIDED:
        return DOUBT[cause.confidence]
    return 1.0 - max((candidate.probability for candidate in cause.candidates), default=0.0)


def shape_words(cause: Cause) -> str:
    """What a task without a mode of its own shares with others: what is known of it, or what it may be."""
    if cause.label != UNDECIDED:
        return f"{cause.label} by {cause.author}"
    return (
        f"may be {' or '.join(candidate.label for candidate in cause.candidates[:2])}" if cause.candidates else "open"
    )


def group_tasks(
    modes: Sequence[Mode], found: Sequence[Tested], table: RolloutTable, outcomes: Outcomes
) -> dict[str, str]:
    """Task -> the first mode that most of its failing rollouts show."""
    width = len(table.tasks)
    failing = np.bincount(table.task[outcomes.success != 1.0], minlength=width)
    out: dict[str, str] = {}
    for mode, one in zip(modes, found, strict=True):
        shown = np.bincount(table.task[one.failing], minlength=width)
        for task in np.flatnonzero(2 * shown > failing).tolist():
            out.setdefault(table.tasks[task], mode.title)
    return out


def rollout_of(cited: str) -> str:
    """A citation without its item."""
    head, _, item = cited.rpartition("#")
    return head if head and item.isdecimal() else cited


def read_item(
    cause: Cause,
    index: int,
    result: TaskResult,
    table: RolloutTable,
    outcomes: Outcomes,
    pair: list[str] | None,
    group: str,
) -> ReadingItem | None:
    rows = np.arange(*np.searchsorted(table.task, [index, index + 1]))  # the table is sorted by task
    passing, failing = rows[outcomes.success[rows] == 1.0], rows[outcomes.success[rows] != 1.0]
    if not len(failing):
        return None
    chosen = closest(passing.tolist(), failing.tolist(), table) if len(passing) else (int(failing[0]),)
    cited = pair or [table.citation(row) for row in chosen]
    return ReadingItem(
        task=result.task,
        bucket=result.bucket or "missing",
        why=f"{'undecided' if cause.label == UNDECIDED else f'{cause.label} by {cause.author}'}: {cause.reason}",
        read=cited,
        command=shlex.join(reading_words(cited)),
        group=group,
    )


def reading_words(citations: Sequence[str], folder: str = FOLDER) -> list[str]:
    """The command that shows a rollout or compares two, word by word."""
    # A key that begins with a dash would be taken for an option.
    dashes = ["--"] if any(citation.startswith("-") for citation in citations) else []
    return ["blade", "diff" if len(citations) == 2 else "show", folder, *dashes, *citations]


def closest(passing: list[int], failing: list[int], table: RolloutTable) -> tuple[int, int]:
    """The passing and the failing rollout that are most alike in length, so that the difference is easy to see."""
    size = table.rows.fact("text_bytes") + table.rows.fact("items") * 100
    pairs = [(abs(int(size[p]) - int(size[f])), p, f) for p in passing for f in failing]
    _, first, second = min(pairs)
    return first, second
