"""Dominant Failure Modes: what was seen in rollouts, what labels say, and what separates pass from fail."""

from collections.abc import Sequence

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, Cause, Count, Mode, PackUse, PatternSeen, Signal
from blade.diagnosis.labels import CAUSES, is_by_rule
from blade.diagnosis.pairs import REPORTED, Contrast, Trait
from blade.report.addresses import grouped, picked, size, with_address
from blade.report.citations import cited, codes
from blade.report.dives import SIGNED, cause_words
from blade.report.headline import failing_rollouts, gain_words, is_rate
from blade.report.listing import Listing, first
from blade.report.numbers import DASH
from blade.report.text import Markdown

MOST_CITED = 3
MOST_MODES = 50
MOST_VALUES = 6
MOST_TRAITS = 15


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


class ModeLine(msgspec.Struct, frozen=True, kw_only=True):
    """One failure mode as it is shown."""

    mode: Mode
    """What was seen."""
    gain: Markdown
    """What the headline would gain at most without it."""
    examples: Markdown
    """Where it was seen first."""


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
    modes: Listing[ModeLine]
    """What goes with failing in the run's own words, most failures first."""


def failure_modes(analysis: Analysis) -> FailureModes:
    """The section's tables."""
    modes = first(analysis.modes, MOST_MODES)
    return FailureModes(
        failing=failing_rollouts(analysis),
        pack=analysis.pack,
        patterns=[] if analysis.pack is None else [pattern_row(pattern) for pattern in analysis.pack.patterns],
        signals=[
            SignalRow(signal=signal, examples=cited(signal.citations, MOST_CITED, in_table=True))
            for signal in analysis.signals
        ],
        causes=cause_rows(analysis),
        modes=Listing(shown=[mode_line(mode, rate=is_rate(analysis)) for mode in modes.shown], rest=modes.rest),
    )


def pattern_row(pattern: PatternSeen) -> PatternRow:
    cause = "decided by the task's other rollouts" if pattern.cause is None else CAUSES[pattern.cause]
    listing = first(pattern.citations, MOST_CITED, total=pattern.rollouts)
    return PatternRow(pattern=pattern, cause=cause, examples=codes(listing, in_table=True), by=pattern.by[:MOST_VALUES])


def mode_line(mode: Mode, *, rate: bool) -> ModeLine:
    gain = DASH if mode.headroom is None else gain_words(mode.headroom, rate=rate)
    return ModeLine(mode=mode, gain=gain, examples=cited(mode.citations, MOST_CITED, limit=MAX_LISTED, in_table=True))


def cause_row(label: str, causes: Sequence[Cause]) -> CauseRow:
    """The tasks with a label."""
    mine = picked(causes, lambda _, given: given == label, *SIGNED)
    drafts = picked(causes, lambda author, given: given == label and is_by_rule(author), *SIGNED)
    return CauseRow(label=mine[0].label, meaning=cause_words(label), tasks=size(mine), drafts=size(drafts))


def cause_rows(analysis: Analysis) -> list[CauseRow]:
    """Labels in force, most tasks first."""
    labels = dict.fromkeys(label for _, label in grouped(analysis.causes, *SIGNED))
    rows = [cause_row(label, analysis.causes) for label in labels]
    return sorted(rows, key=lambda row: (-row.tasks, row.label))


class TraitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One trait as it is shown."""

    trait: Trait
    """What goes with passing or failing."""
    examples: Markdown
    """A failing and a passing rollout that differ in it."""


class ContrastSection(msgspec.Struct, frozen=True, kw_only=True):
    """The table and what it rests on."""

    contrast: Contrast
    """What was compared."""
    most_uncertain: float
    """Adjusted p-value up to which a trait is listed."""
    traits: Listing[TraitRow]
    """What goes with passing or failing, most certain first."""


def contrast_section(analysis: Analysis) -> ContrastSection:
    """The rows of the table."""
    listing = first(analysis.contrast.traits, MOST_TRAITS)
    rows = [TraitRow(trait=trait, examples=cited(trait.examples, 2, in_table=True)) for trait in listing.shown]
    return ContrastSection(
        contrast=analysis.contrast,
        most_uncertain=with_address(REPORTED, "blade:/bounds/adjusted p-value"),
        traits=Listing(shown=rows, rest=listing.rest),
    )
