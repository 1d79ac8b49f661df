"""Labels in and out of an analysis: its drafts as labels, and the analysis with other labels in force."""

from collections.abc import Iterator, Mapping

import msgspec

from blade.diagnosis.analysis import Analysis, Cause
from blade.diagnosis.labels import Label, is_by_rule
from blade.diagnosis.remedies import rejudged

SHARED = tuple(name for name in Label.__struct_fields__ if name != "cause")
"""What a label and a cause call by the same name."""


def as_cause(label: Label) -> Cause:
    """A label as it stands in the analysis."""
    return Cause(label=label.cause, **{name: getattr(label, name) for name in SHARED})


def draft_labels(analysis: Analysis) -> Iterator[Label]:
    """The labels an analysis carries."""
    for cause in analysis.causes:
        yield Label(
            task=cause.task,
            cause=cause.label,
            confidence=cause.confidence,
            author=cause.author,
            reason=cause.reason,
            evidence=cause.evidence,
            candidates=cause.candidates,
        )


def relabel(analysis: Analysis, labels: Mapping[str, Label]) -> Analysis:
    """The analysis with other labels in force; what somebody has read and decided leaves the reading list."""
    causes = [as_cause(labels[cause.task]) if cause.task in labels else cause for cause in analysis.causes]
    decided = {cause.task for cause in causes if not is_by_rule(cause.author)}
    waiting = [item for item in analysis.reading_list if item.task not in decided]
    worth = rejudged(analysis.interventions, analysis.tasks, causes)
    return msgspec.structs.replace(analysis, causes=causes, reading_list=waiting, interventions=worth)
