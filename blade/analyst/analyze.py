"""The analyst at work: read what the reading list names, say why, and put it where reports find it.

An opinion becomes a label in force only where no person has judged the task. Every opinion is written down before the
next is counted, so an interrupted analysis loses nothing: with its replies cached, it goes on where it was.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from blade.analyst.asking import AnalystOptions, Opinion, Reader, form_opinion
from blade.analyst.prompt import Question, questions, tasks_to_read, with_precedent
from blade.analyst.record import keep_opinion
from blade.errors import UsageError
from blade.llm.model import Model
from blade.report.workspace import Workspace, append_label

Told = Callable[[Opinion, int, int], None]
"""Called with each opinion, how many there are so far, and of how many."""


def plan(workspace: Workspace, options: AnalystOptions) -> list[Question]:
    """Every question that would be asked, in order."""
    tasks = tasks_to_read(workspace.analysis, most=options.tasks, again=options.again)
    return list(questions(workspace, workspace.run(), tasks, chars=options.chars))


async def analyze(workspace: Workspace, model: Model, options: AnalystOptions, *, told: Told) -> list[Opinion]:
    """Asks about every task on the list; opinions in the order of the list.

    The first task of each group is read before the others, which are asked about with what was said of it.
    """
    if options.votes < 1 or options.attempts < 1:
        raise UsageError("votes and attempts must be at least 1.")
    asked = plan(workspace, options)
    reader = Reader(model, options.sampling, options.votes, options.attempts, workspace.analysis, workspace.run())
    opinions: dict[str, Opinion] = {}

    async def read_all(questions: Sequence[Question]) -> None:
        async for opinion in as_formed(questions, reader, options.concurrency):
            put_down(workspace, opinion)
            opinions[opinion.task] = opinion
            told(opinion, len(opinions), len(asked))

    first = {question.group: question.task for question in reversed(asked)}
    await read_all([question for question in asked if not question.group or first[question.group] == question.task])
    labels = {group: opinions[task].label for group, task in first.items()}
    rest = [question for question in asked if question.task not in opinions]
    await read_all([with_precedent(one, label) if (label := labels[one.group]) else one for one in rest])
    return [opinions[question.task] for question in asked if question.task in opinions]


async def as_formed(asked: Sequence[Question], reader: Reader, concurrency: int) -> AsyncIterator[Opinion]:
    """Opinions as they come, a bounded number under way at once."""
    gate = asyncio.Semaphore(concurrency)

    async def one(question: Question) -> Opinion:
        async with gate:
            return await form_opinion(question, reader)

    waiting = [asyncio.ensure_future(one(question)) for question in asked]
    try:
        for done in asyncio.as_completed(waiting):
            yield await done
    finally:
        for task in waiting:
            task.cancel()


def put_down(workspace: Workspace, opinion: Opinion) -> None:
    """Records an opinion, and makes it the task's label unless a person has labelled the task."""
    keep_opinion(workspace.folder, opinion)
    in_force = workspace.labels.get(opinion.task)
    by_person = in_force is not None and in_force.author.startswith("human:")
    if opinion.label is not None and not by_person:
        append_label(workspace, opinion.label)
