"""Deep dives: what is known about each task that is not always passed, and who says so.

A draft by rule is called one. Nobody has read a trajectory until a person or a model signed a label.
"""

from collections.abc import Collection, Sequence

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, Cause
from blade.diagnosis.labels import CAUSES, UNDECIDED, Evidence, is_by_rule
from blade.diagnosis.pairs import TaskContrast
from blade.metrics import TaskResult
from blade.report.addresses import at_places, bare_entries, entries_with, picked, size
from blade.report.citations import codes, reading_commands, rollout_of, task_of
from blade.report.listing import Listing, first
from blade.report.text import Markdown

SIGNED = ("author", "label")
PASSED = ("bucket", "c", "n")
"""What causes and tasks are counted by; always the same, so that they are looked at once."""
MOST_DIVES = 20
MOST_DRAFTS = 50
MOST_CITED = 3


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
    examples: Markdown
    """Where its cause shows."""
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
    """Those whose cause a person or a model has judged, in reading order."""
    drafts: Listing[Dive]
    """Those that nobody has read."""
    only_failing: bool
    """Whether signals are counted in failing rollouts alone, or in passing ones too."""


def dive_into(analysis: Analysis, bucket: str) -> Dives:
    """What is known about every task of a bucket."""
    results = list(bare_entries(analysis.tasks))
    mine = picked(analysis.tasks, lambda found, *_: found == bucket, *PASSED).places
    rank = {item.task: place for place, item in enumerate(bare_entries(analysis.reading_list))}
    listed = sorted((at for at in mine if results[at].task in rank), key=lambda at: rank[results[at].task])
    mine = [*listed, *(at for at in mine if results[at].task not in rank)]
    signed = {cause.task for cause in judged(analysis.causes)}
    read = first(at_places(analysis.tasks, [at for at in mine if results[at].task in signed]), MOST_DIVES)
    unread = first(at_places(analysis.tasks, [at for at in mine if results[at].task not in signed]), MOST_DRAFTS)
    signals = count_signals(analysis, {result.task for result in read.shown})

    causes = entries_with(analysis.causes, "task", {result.task for result in [*read.shown, *unread.shown]})

    def dives(listing: Listing[TaskResult]) -> Listing[Dive]:
        shown = [dive(one, causes.get(one.task), analysis, signals.get(one.task, [])) for one in listing.shown]
        return Listing(shown=shown, rest=listing.rest)

    return Dives(
        tasks=dives(read),
        drafts=dives(unread),
        only_failing=bucket == "never" or failing_citations(analysis) is not None,
    )


def dive(result: TaskResult, cause: Cause | None, analysis: Analysis, signals: list[SignalCount]) -> Dive:
    """What is known about one task."""
    return Dive(
        result=result,
        cause=cause,
        examples=codes(first([proof.citation for proof in proofs_of(cause)], MOST_CITED), in_table=True),
        meaning=cause_words(cause.label) if cause else "",
        signals=signals,
        pair=next((pair for pair in analysis.contrast.pairs if pair.task == result.task), None),
        commands=reading_commands(to_read(analysis, result.task, cause)),
    )


def judged(causes: Sequence[Cause]) -> Sequence[Cause]:
    """The causes that a person or a model has judged."""
    return picked(causes, lambda author, _: not is_by_rule(author), *SIGNED)


def drafts(causes: Sequence[Cause]) -> Sequence[Cause]:
    """The causes that nobody but a rule has judged."""
    return picked(causes, lambda author, _: is_by_rule(author), *SIGNED)


def cause_words(label: str) -> str:
    """`BI+KG?` in words."""
    if label == UNDECIDED:
        return "undecided"
    return " and ".join(CAUSES.get(part, part) for part in label.removesuffix("?").split("+"))


def to_read(analysis: Analysis, task: str, cause: Cause | None) -> list[str]:
    """The rollouts that the reading list or the evidence names."""
    listed = [citation for item in analysis.reading_list if item.task == task for citation in item.read]
    return listed or list(dict.fromkeys(rollout_of(proof.citation) for proof in proofs_of(cause)))[:2]


def proofs_of(cause: Cause | None) -> list[Evidence]:
    return [] if cause is None else cause.evidence


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
