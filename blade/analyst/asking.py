"""Asking a model about a task until its answer holds, or a bounded number of times.

An answer that does not hold goes back with the reason. What never held is recorded as undecided, with the last reason:
nothing a model says is mended by us.
"""

import asyncio
from collections import Counter
from typing import NamedTuple

import msgspec

from blade.analyst.answer import NotAccepted, accept
from blade.analyst.prompt import Question
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.labels import Confidence, Label
from blade.llm.model import Model, ModelError, Reply, Request, Sampling, assistant_message, user_message
from blade.rollouts import Run


class Vote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one conversation about a task came to."""

    label: Label | None
    """The label, when an answer held."""
    refused: list[str] = []
    """Why earlier answers did not hold, in order."""
    error: str | None = None
    """What stopped the conversation, when the model could not be asked."""


class Opinion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model says of a task, over all its votes."""

    task: str
    """Task key."""
    author: str
    """`llm:<model>`."""
    label: Label | None
    """The label most votes give; `None` when undecided."""
    undecided: str | None = None
    """Why there is no label."""
    votes: list[Vote]
    """Every vote."""


class Reader(NamedTuple):
    """Who reads, how often it may answer, and what its answers are held against."""

    model: Model
    sampling: Sampling
    votes: int
    attempts: int
    analysis: Analysis
    run: Run

    @property
    def author(self) -> str:
        return f"llm:{self.model.name}"


async def form_opinion(question: Question, reader: Reader) -> Opinion:
    """All votes on one task and what they come to; votes differ by their seed."""
    first = reader.sampling.seed or 0
    seeds = range(first, first + reader.votes)
    votes = await asyncio.gather(*(cast_vote(question, reader, seed) for seed in seeds))
    return count_votes(question.task, reader.author, votes)


async def cast_vote(question: Question, reader: Reader, seed: int) -> Vote:
    """One conversation: ask, check, say what is wrong, ask again."""
    request = question.request(msgspec.structs.replace(reader.sampling, seed=seed))
    refused: list[str] = []
    for _ in range(reader.attempts):
        try:
            reply = await reader.model.ask(request)
        except ModelError as error:
            return Vote(label=None, refused=refused, error=f"{error.kind}: {error}")
        try:
            label = accept(
                reply.text, question.task, question.excerpts, author=reader.author, judged=(reader.analysis, reader.run)
            )
            return Vote(label=label, refused=refused)
        except NotAccepted as problem:
            refused.append(str(problem))
            request = asked_again(request, reply, str(problem))
    return Vote(label=None, refused=refused)


def asked_again(request: Request, reply: Reply, problem: str) -> Request:
    """The conversation so far, and what was wrong with the answer."""
    said = reply.text or "(no text)"
    mend = f"Your answer was not accepted: {problem} Answer again with the whole JSON object."
    more = [assistant_message(said, id="earlier"), user_message(mend)]
    return msgspec.structs.replace(request, input=[*request.input, *more])


def count_votes(task: str, author: str, votes: list[Vote]) -> Opinion:
    """The cause with most votes, as its first voter put it; a tie, or no vote that held, decides nothing."""
    held = [vote.label for vote in votes if vote.label is not None]
    counts = Counter(label.cause for label in held).most_common()
    if not counts:
        last = next((vote.error or (vote.refused or ["no answer"])[-1] for vote in reversed(votes)), "no answer")
        return Opinion(task=task, author=author, label=None, undecided=last, votes=votes)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        tied = " and ".join(cause for cause, count in counts if count == counts[0][1])
        return Opinion(task=task, author=author, label=None, undecided=f"votes are tied between {tied}", votes=votes)
    winner = next(label for label in held if label.cause == counts[0][0])
    label = msgspec.structs.replace(winner, confidence=shared_confidence(winner, counts[0][1], len(votes)))
    return Opinion(task=task, author=author, label=label, votes=votes)


def shared_confidence(label: Label, agreeing: int, votes: int) -> Confidence:
    """The voter's own confidence, less where others disagreed."""
    if agreeing == votes:
        return label.confidence
    return "low" if agreeing * 3 < votes * 2 else min(label.confidence, "medium", key=("low", "medium", "high").index)
