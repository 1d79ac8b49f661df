"""What separates pass from fail within a task, and what each failure mode costs, as the rows of two tables."""

import msgspec

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.headroom import Headroom
from blade.diagnosis.pairs import REPORTED, Contrast, Trait
from blade.report.addresses import with_address
from blade.report.citations import cited
from blade.report.headline import gain_interval_words, gain_words, is_rate
from blade.report.listing import Listing, first
from blade.report.numbers import number, percent
from blade.report.text import Markdown

MOST_TRAITS = 15
MODES = {"baseline": "as it is", "all modes": "all of these modes gone", "oracle": "best rollout of every task"}
"""Rows of the headroom table that are not a signal."""


class TraitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One trait as it is shown."""

    trait: Trait
    """What goes with passing or failing."""
    examples: Markdown
    """A failing and a passing rollout that differ in it."""


class HeadroomRow(msgspec.Struct, frozen=True, kw_only=True):
    """The headline without one failure mode."""

    title: str
    """The mode in words."""
    score: Markdown
    """The headline then."""
    gain: Markdown
    """How much more than now."""
    interval: Markdown
    """The gain's interval."""
    row: Headroom
    """What it rests on."""


class ContrastSection(msgspec.Struct, frozen=True, kw_only=True):
    """Both tables."""

    contrast: Contrast
    """What was compared."""
    most_uncertain: float
    """Adjusted p-value up to which a trait is listed."""
    traits: Listing[TraitRow]
    """What goes with passing or failing, most certain first."""
    headroom: list[HeadroomRow]
    """The headline without each mode; empty when no mode was seen."""


def contrast_section(analysis: Analysis) -> ContrastSection:
    """The rows of both tables."""
    listing = first(analysis.contrast.traits, MOST_TRAITS)
    rows = [TraitRow(trait=trait, examples=cited(trait.examples, 2, in_table=True)) for trait in listing.shown]
    has_modes = any(row.mode not in MODES for row in analysis.headroom)
    return ContrastSection(
        contrast=analysis.contrast,
        most_uncertain=with_address(REPORTED, "blade:/bounds/adjusted p-value"),
        traits=Listing(shown=rows, rest=listing.rest),
        headroom=headroom_rows(analysis) if has_modes else [],
    )


def headroom_rows(analysis: Analysis) -> list[HeadroomRow]:
    titles = MODES | {signal.code: signal.title for signal in analysis.signals}
    titles |= {mode.code: mode.title for mode in analysis.modes}
    rate = is_rate(analysis)
    return [
        HeadroomRow(
            title=titles.get(row.mode, row.mode.replace("_", " ")),
            score=percent(row.score) if rate else number(row.score),
            gain=gain_words(row.gain, rate=rate),
            interval=gain_interval_words(row.gain, rate=rate),
            row=row,
        )
        for row in analysis.headroom
    ]
