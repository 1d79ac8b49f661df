"""Dominant Failure Modes: what was seen in rollouts, what labels say, and what is not the model's doing."""

import msgspec

from blade.diagnosis.analysis import Analysis, Cause, Count, Finding, PackUse, PatternSeen, Signal
from blade.diagnosis.labels import CAUSES
from blade.report.addresses import size
from blade.report.citations import cited, codes
from blade.report.dives import cause_words, is_draft
from blade.report.headline import failing_rollouts
from blade.report.listing import Listing, first
from blade.report.text import Markdown

MOST_CITED = 3
MOST_FINDINGS = 50
MOST_VALUES = 6


class SignalRow(msgspec.Struct, frozen=True, kw_only=True):
    """One signal as it is shown."""

    signal: Signal
    """What was seen."""
    examples: Markdown
    """Where it was seen first."""


class CauseRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that share a label."""

    label: str
    """The label."""
    meaning: str
    """The label in words."""
    tasks: int
    """How many tasks carry it."""
    drafts: int
    """How many of them by rule alone."""


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One health finding as it is shown."""

    finding: Finding
    """What was seen."""
    kind: str
    """Whose it is."""
    examples: Markdown
    """Where."""


class PatternRow(msgspec.Struct, frozen=True, kw_only=True):
    """One error pattern of the pack as it is shown."""

    pattern: PatternSeen
    """What was seen."""
    cause: str
    """Root cause, or that only the task's other rollouts can tell."""
    examples: Markdown
    """Where it was seen first."""
    by: list[Count]
    """What its rollouts are counted by."""


class FailureModes(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section."""

    failing: int
    """Rollouts that did not pass."""
    pack: PackUse | None
    """The taxonomy pack that was used."""
    patterns: list[PatternRow]
    """Its error patterns that were seen, in the order in which they are tried."""
    signals: list[SignalRow]
    """What was seen, most failures first."""
    causes: list[CauseRow]
    """Labels in force, most tasks first."""
    health: Listing[FindingRow]
    """What is wrong that is not the model's."""


def failure_modes(analysis: Analysis) -> FailureModes:
    """The section's tables."""
    findings = first(analysis.health, MOST_FINDINGS)
    return FailureModes(
        failing=failing_rollouts(analysis),
        pack=analysis.pack,
        patterns=[] if analysis.pack is None else [pattern_row(pattern) for pattern in analysis.pack.patterns],
        signals=[
            SignalRow(signal=signal, examples=cited(signal.citations, MOST_CITED, in_table=True))
            for signal in analysis.signals
        ],
        causes=cause_rows(analysis),
        health=Listing(shown=[finding_row(finding) for finding in findings.shown], rest=findings.rest),
    )


def pattern_row(pattern: PatternSeen) -> PatternRow:
    cause = "decided by the task's other rollouts" if pattern.cause is None else CAUSES[pattern.cause]
    listing = first(pattern.citations, MOST_CITED, total=pattern.rollouts)
    return PatternRow(pattern=pattern, cause=cause, examples=codes(listing, in_table=True), by=pattern.by[:MOST_VALUES])


def finding_row(finding: Finding) -> FindingRow:
    listing = first(finding.citations, MOST_CITED, total=finding.rows if finding.citations else 0)
    return FindingRow(finding=finding, kind=CAUSES[finding.cause], examples=codes(listing, in_table=True))


def cause_rows(analysis: Analysis) -> list[CauseRow]:
    """Labels in force, most tasks first."""
    given: dict[str, list[Cause]] = {}
    for cause in analysis.causes:
        given.setdefault(cause.label, []).append(cause)
    rows = [
        CauseRow(label=label, meaning=cause_words(label), tasks=size(causes), drafts=size([*filter(is_draft, causes)]))
        for label, causes in given.items()
    ]
    return sorted(rows, key=lambda row: (-row.tasks, row.label))
