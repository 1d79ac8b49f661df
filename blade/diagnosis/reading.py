"""What to read first: tasks whose cause nobody knows, those that weigh most first, with the rollouts that will tell."""

import shlex
from collections.abc import Sequence
from itertools import islice

import numpy as np

from blade.diagnosis.analysis import Cause, ReadingItem
from blade.diagnosis.labels import CONFIDENCES
from blade.diagnosis.pairs import TaskContrast
from blade.metrics import Outcomes, TaskResult
from blade.rollouts.table import RolloutTable

MOST_ITEMS = 50
FOLDER = "DIR"
"""What a command calls the folder of its diagnosis where nobody knows its name."""


def reading_list(
    causes: list[Cause],
    results: list[TaskResult],
    table: RolloutTable,
    outcomes: Outcomes,
    pairs: Sequence[TaskContrast] = (),
) -> list[ReadingItem]:
    """Least certain causes first; among them the tasks that cost most. A task that was contrasted keeps its pair."""
    known = {pair.task: [rollout_of(pair.passing), rollout_of(pair.failing)] for pair in pairs}
    by_task = {result.task: (index, result) for index, result in enumerate(results)}
    ordered = sorted(causes, key=lambda cause: weight(cause, by_task[cause.task][1]))
    items = (read_item(cause, *by_task[cause.task], table, outcomes, known.get(cause.task)) for cause in ordered)
    return list(islice((item for item in items if item is not None), MOST_ITEMS))


def weight(cause: Cause, result: TaskResult) -> tuple[int, float]:
    lost = 1.0 - (result.rate or 0.0)
    return CONFIDENCES.index(cause.confidence), -lost


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
        why=f"{cause.label} by {cause.author}: {cause.reason}",
        read=cited,
        command=shlex.join(reading_words(cited)),
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
