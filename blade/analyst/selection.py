"""Which tasks are read, and which of their rollouts: the reading list first, within what may be spent."""

from collections.abc import Iterator, Sequence

import numpy as np

from blade.analyst.excerpts import Excerpt, take_excerpt
from blade.analyst.prompt import Question, make_question
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.differences import Conventions, differences_of
from blade.diagnosis.labels import every_label, is_by_rule
from blade.report.workspace import LABELS, Workspace, judged_rollouts, run_conventions
from blade.rollouts import Run

FAILING, PASSING = 2, 1
"""Rollouts shown of one task, at most."""
KEYS = ("_ng_task_index", "_ng_rollout_index")


def tasks_to_read(analysis: Analysis, *, most: int | None = None, again: bool = False) -> list[str]:
    """Tasks in the order of the reading list, then the rest; those a reader has judged only when asked `again`."""
    listed = dict.fromkeys(item.task for item in analysis.reading_list)
    ordered = [*listed, *(cause.task for cause in analysis.causes if cause.task not in listed)]
    judged = {cause.task for cause in analysis.causes if not is_by_rule(cause.author)}
    return [task for task in ordered if again or task not in judged][:most]


def questions(workspace: Workspace, run: Run, tasks: Sequence[str], *, chars: int) -> Iterator[Question]:
    """A question for every task that has a failing rollout to show; each about so many characters."""
    results = {result.task: result for result in workspace.analysis.tasks}
    conventions = run_conventions(workspace, run)
    groups = {item.task: item.group for item in workspace.analysis.reading_list}
    drafts = {label.task: label for label in every_label(workspace.folder / LABELS) if is_by_rule(label.author)}
    for task in tasks:
        shown = shown_rollouts(workspace, run, task, conventions, chars=chars)
        if shown:
            yield make_question(results[task], drafts.get(task), shown, group=groups.get(task, ""))


def shown_rollouts(workspace: Workspace, run: Run, task: str, conventions: Conventions, *, chars: int) -> list[Excerpt]:
    """Excerpts of a few failing rollouts and, where there is one, a passing one to hold against them."""
    index = run.table.tasks.index(task)
    rows = np.arange(*np.searchsorted(run.table.task, [index, index + 1])).tolist()
    rollouts = judged_rollouts(workspace, run, rows)
    failing = [rollout for rollout in rollouts if rollout.success is not True][:FAILING]
    passing = [rollout for rollout in rollouts if rollout.success is True][:PASSING]
    chosen = [*failing, *passing] if failing else []
    return [
        take_excerpt(
            f"R{number}",
            rollout,
            chars=chars // len(chosen),
            hidden=KEYS,
            differences=differences_of(rollout, conventions),
        )
        for number, rollout in enumerate(chosen, start=1)
    ]
