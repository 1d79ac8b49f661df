"""What a model is shown of a task, and asked.

Our own words hold nothing that came from a file: task keys, fields, reasons and trajectories all stand inside fences.
"""

from collections.abc import Sequence

import msgspec

from blade.analyst.answer import SCHEMA
from blade.analyst.excerpts import Excerpt
from blade.analyst.quoting import fenced, instructions
from blade.diagnosis.labels import Label
from blade.llm.model import Request, Sampling, user_message
from blade.metrics import TaskResult
from blade.report.numbers import plural

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
