"""What a model says of a task: votes, each a conversation of its own, and what they come to.

What never held is recorded as undecided, with the last reason.
"""

import asyncio
from collections import Counter
from typing import NamedTuple

import msgspec

from blade.analyst.answer import accept
from blade.analyst.conversation import talk
from blade.analyst.prompt import Question
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.labels import CONFIDENCES, Confidence, Label
from blade.llm.model import Model, Sampling
from blade.rollouts import Run

MOST_DIVES = 5


class AnalystOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the reading is done."""

    tasks: int | None = None
    """Tasks read at most; all when not given."""
    votes: int = 1
    """Independent readings of a task, at most; more than one only where the first is not sure."""
    attempts: int = 3
    """Answers taken from a reading before it counts as undecided."""
    chars: int = 24_000
    """Characters of trajectories shown per task, about."""
    concurrency: int = 4
    """Number of tasks to ask about in parallel."""
    again: bool = False
    """Whether tasks that a reader has judged are read too."""
    narrative: bool = True
    """Whether prose is written as well."""
    sampling: Sampling = Sampling(temperature=0.0, max_output_tokens=4000, seed=0)
    """How answers are drawn."""

    @property
    def dives(self) -> int:
        """Tasks of which the narrative compares a passing and a failing rollout, at most."""
        return MOST_DIVES if self.tasks is None else min(MOST_DIVES, self.tasks)


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
    """The votes on one task and what they come to; one is enough where the reader is sure at once.

    Votes differ by their seed.
    """
    seed = reader.sampling.seed or 0
    first = await cast_vote(question, reader, seed)
    sure = first.label is not None and first.label.confidence == "high" and not first.refused
    more = range(0) if sure else range(seed + 1, seed + reader.votes)
    others = await asyncio.gather(*(cast_vote(question, reader, other) for other in more))
    return count_votes(question.task, reader.author, [first, *others])


async def cast_vote(question: Question, reader: Reader, seed: int) -> Vote:
    """One conversation about a task."""

    def accepted(text: str) -> Label:
        held_against = (reader.analysis, reader.run)
        return accept(text, question.task, question.excerpts, author=reader.author, judged=held_against)

    request = question.request(msgspec.structs.replace(reader.sampling, seed=seed))
    found = await talk(reader.model, request, accepted, attempts=reader.attempts)
    return Vote(label=found.value, refused=found.refused, error=found.error)


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
    return "low" if agreeing * 3 < votes * 2 else min(label.confidence, "medium", key=CONFIDENCES.index)
