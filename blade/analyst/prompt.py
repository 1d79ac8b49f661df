"""What a model is shown of a task, and asked.

Our own words hold nothing that came from a file: task keys, fields, reasons and trajectories all stand inside fences.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from blade.analyst.answer import SCHEMA
from blade.analyst.conversation import fenced, instructions
from blade.analyst.excerpts import Excerpt, take_excerpt
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.differences import Conventions, differences_of
from blade.diagnosis.labels import Label, every_label, is_by_rule
from blade.llm.model import Request, Sampling, user_message
from blade.metrics import TaskResult
from blade.report.numbers import plural
from blade.report.workspace import LABELS, Workspace, judged_rollouts, run_conventions
from blade.rollouts import Run

INSTRUCTIONS = instructions("instructions.md")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One task, ready to be asked about."""

    task: str
    """Task key."""
    excerpts: list[Excerpt]
    """The rollouts shown, failing ones first."""
    text: str
    """The message to the model."""
    group: str = ""
    """What the task's failures share with those of other tasks, as the reading list has it."""

    def request(self, sampling: Sampling) -> Request:
        """The first request about the task."""
        return Request(instructions=INSTRUCTIONS, input=[user_message(self.text)], sampling=sampling, schema=SCHEMA)


def make_question(result: TaskResult, draft: Label | None, excerpts: Sequence[Excerpt], *, group: str = "") -> Question:
    """The question about one task."""
    parts = [
        f"One task was tried {plural(result.n, 'time')} and passed {plural(result.c, 'time')}.",
        *([] if draft is None else [f"A rule's draft, which may be wrong:\n{fenced(draft_text(draft))}"]),
        *(f"{excerpt.name}:\n{fenced(excerpt.text)}" for excerpt in excerpts),
        "Why is this task not always passed? Answer with the JSON object only.",
    ]
    return Question(task=result.task, excerpts=list(excerpts), text="\n\n".join(parts), group=group)


def with_precedent(question: Question, precedent: Label) -> Question:
    """The question with what was said of the first task of its group, to be confirmed here or not."""
    grouped = fenced(f"{question.group}\n{draft_text(precedent)}")
    words = "Failures of this task look like those of another, which you judged as follows. Do the same only if these"
    return msgspec.structs.replace(question, text=f"{question.text}\n\n{words} rollouts show it too:\n{grouped}")


def draft_text(draft: Label) -> str:
    return f"{draft.cause} ({draft.confidence} confidence): {draft.reason}"


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
