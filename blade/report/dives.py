"""Deep dives: what is known about each task that is not always passed, and who says so.

A draft by rule is called one. Nobody has read a trajectory until a person or a model signed a label.
"""

from collections.abc import Collection

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, Cause
from blade.diagnosis.labels import CAUSES, UNDECIDED, is_by_rule
from blade.diagnosis.pairs import TaskContrast
from blade.metrics import TaskResult
from blade.report.addresses import size
from blade.report.citations import reading_commands, rollout_of, task_of
from blade.report.listing import Listing, first

MOST_DIVES = 20


class SignalCount(msgspec.Struct, frozen=True, kw_only=True):
    """A signal and in how many rollouts of a task it was seen."""

    title: str
    """What was seen."""
    rollouts: int
    """In how many of the task's rollouts."""


class Dive(msgspec.Struct, frozen=True, kw_only=True):
    """One task."""

    result: TaskResult
    """What its rollouts showed."""
    cause: Cause | None
    """The label in force."""
    is_draft: bool
    """Whether only a rule has said so."""
    meaning: str
    """The cause in words."""
    signals: list[SignalCount]
    """What was seen in its rollouts."""
    pair: TaskContrast | None
    """Where its closest passing and failing rollouts part ways."""
    commands: list[str]
    """What to run to read them."""


class Dives(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one bucket."""

    tasks: Listing[Dive]
    """Those shown, in reading order."""
    drafts: int
    """Tasks of the bucket that nobody has read."""
    read: int
    """Tasks whose cause a person or a model has judged."""
    only_failing: bool
    """Whether signals are counted in failing rollouts alone, or in passing ones too."""


def dive_into(analysis: Analysis, bucket: str) -> Dives:
    """What is known about every task of a bucket."""
    rank = {item.task: place for place, item in enumerate(analysis.reading_list)}
    results = [result for result in analysis.tasks if result.bucket == bucket]
    results.sort(key=lambda result: rank.get(result.task, len(rank)))
    listing = first(results, MOST_DIVES)
    causes = {cause.task: cause for cause in analysis.causes}
    drafts = size([result for result in results if is_draft(causes.get(result.task))])
    signals = count_signals(analysis, {result.task for result in listing.shown})
    shown = [dive(result, causes.get(result.task), analysis, signals[result.task]) for result in listing.shown]
    return Dives(
        tasks=Listing(shown=shown, rest=listing.rest),
        drafts=drafts,
        read=size(results) - drafts,
        only_failing=bucket == "never" or failing_citations(analysis) is not None,
    )


def dive(result: TaskResult, cause: Cause | None, analysis: Analysis, signals: list[SignalCount]) -> Dive:
    """What is known about one task."""
    return Dive(
        result=result,
        cause=cause,
        is_draft=is_draft(cause),
        meaning=cause_words(cause.label) if cause else "",
        signals=signals,
        pair=next((pair for pair in analysis.contrast.pairs if pair.task == result.task), None),
        commands=reading_commands(to_read(analysis, result.task, cause)),
    )


def is_draft(cause: Cause | None) -> bool:
    """Whether nobody but a rule has judged the task."""
    return cause is None or is_by_rule(cause.author)


def cause_words(label: str) -> str:
    """`BI+KG?` in words."""
    if label == UNDECIDED:
        return "undecided"
    return " and ".join(CAUSES.get(part, part) for part in label.removesuffix("?").split("+"))


def to_read(analysis: Analysis, task: str, cause: Cause | None) -> list[str]:
    """The rollouts that the reading list or the evidence names."""
    listed = [citation for item in analysis.reading_list if item.task == task for citation in item.read]
    proof = [evidence.citation for evidence in cause.evidence] if cause else []
    return listed or list(dict.fromkeys(rollout_of(citation) for citation in proof))[:2]


def failing_citations(analysis: Analysis) -> frozenset[str] | None:
    """Every rollout that did not pass, when the funnel lists them all."""
    if any(len(stage.lost) >= MAX_LISTED for stage in analysis.funnel) or not analysis.funnel:
        return None
    return frozenset(citation for stage in analysis.funnel for citation in stage.lost)


def count_signals(analysis: Analysis, tasks: Collection[str]) -> dict[str, list[SignalCount]]:
    """By task: which signals were seen in its rollouts, most often first."""
    failing = failing_citations(analysis)
    seen_in: dict[str, dict[str, list[str]]] = {task: {} for task in tasks}
    for signal in analysis.signals:
        for citation in signal.citations:
            of_task = seen_in.get(task_of(citation))
            if of_task is not None and (failing is None or rollout_of(citation) in failing):
                of_task.setdefault(signal.title, []).append(citation)
    counts = {task: {title: size(cited) for title, cited in seen.items()} for task, seen in seen_in.items()}
    return {task: [SignalCount(title=t, rollouts=n) for t, n in most_first(seen)] for task, seen in counts.items()}


def most_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
