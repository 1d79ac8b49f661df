"""The tables of a comparison's report, row by row, with every number as it is written."""

from collections.abc import Sequence

import msgspec

from blade.comparison import Comparison
from blade.comparison.comparison import Counting, Driver, DriverSide, LevelChange, Part, Rank, SliceChange
from blade.metrics import Interval
from blade.report.addresses import size
from blade.report.citations import codes
from blade.report.listing import first
from blade.report.numbers import (
    DASH,
    count,
    interval,
    number,
    number_interval,
    p_words,
    percent,
    plural,
    points,
    short_p,
    signed_number,
    signed_number_interval,
    signed_pp,
    signed_pp_interval,
)
from blade.report.results import INFRASTRUCTURE, MISSING
from blade.report.text import Markdown, cell, md

MOST_LEVELS = 30
MOST_TIED = 10


class Words(msgspec.Struct, frozen=True):
    """How scores and differences of one kind of headline are written."""

    rate: bool
    """Whether the headline is a share of successes and not a mean reward."""

    def value(self, score: float | None) -> Markdown:
        """A score."""
        return percent(score) if self.rate else number(score)

    def interval(self, ends: Interval | None) -> Markdown:
        """An interval of scores."""
        return interval(ends) if self.rate else number_interval(ends)

    def delta(self, difference: float | None) -> Markdown:
        """A difference."""
        return signed_pp(difference) if self.rate else signed_number(difference)

    def gap(self, difference: float | None) -> Markdown:
        """A difference without its sign."""
        return points(difference) if self.rate else number(difference)

    def deltas(self, ends: Interval | None) -> Markdown:
        """An interval of differences."""
        return signed_pp_interval(ends) if self.rate else signed_number_interval(ends)


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the change."""

    title: str
    """What it is."""
    kind: str
    """Whose doing."""
    value: Markdown
    """Its contribution."""
    interval: Markdown
    """The contribution's interval."""
    share: Markdown
    """Its share of the change."""
    rollouts: Markdown
    """Rollouts charged with it, in the base and in the candidate."""


class LevelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a field."""

    level: str
    """The field's value."""
    tasks: Markdown
    """Paired tasks."""
    base: Markdown
    """The base over them."""
    candidate: Markdown
    """The candidate over them."""
    delta: Markdown
    """The difference."""
    interval: Markdown
    """Its interval."""
    p: Markdown
    """Its p, adjusted for the number of levels."""
    own: Markdown
    """Both runs over all their tasks of the level."""


class SliceSection(msgspec.Struct, frozen=True, kw_only=True):
    """The change cut by one field."""

    field: str
    """The field."""
    asked: bool
    """Whether the user named it."""
    levels: list[LevelRow]
    """Its levels."""
    rest: int
    """Levels that are not shown."""
    unassigned: int
    """Paired tasks that belong to no level."""
    standardised: Markdown
    """The change at one and the same mix of levels."""
    simpson: bool
    """Whether the headline moved against its parts."""


class DriverRow(msgspec.Struct, frozen=True, kw_only=True):
    """A task that moved."""

    task: str
    """Its key."""
    base: Markdown
    """Passed of scored, or mean reward, in the base."""
    candidate: Markdown
    """The same in the candidate."""
    delta: Markdown
    """The difference."""
    contribution: Markdown
    """What it moves the difference over all by."""
    failing: Markdown
    """What the worse side's failing rollouts are charged to."""
    read_base: str
    """Rollout of the base to read."""
    read_candidate: str
    """Rollout of the candidate to read."""


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """Two of several runs."""

    base: str
    """One run."""
    candidate: str
    """The other."""
    tasks: int
    """Paired tasks."""
    delta: Markdown
    """The difference."""
    interval: Markdown
    """Its interval."""
    p: Markdown
    """p alone, by Holm, by Benjamini and Hochberg."""
    verdict: str
    """The verdict by Holm's p."""


class RankRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of several runs."""

    rank: Rank
    """Its place."""
    value: Markdown
    """Its mean over the tasks all runs scored."""
    against_base: Markdown
    """How it differs from the base, and the verdict by Holm's p."""
    tied: Markdown
    """Runs it cannot be told from."""


class CountingRow(msgspec.Struct, frozen=True, kw_only=True):
    """The change under one way of counting."""

    missing: str
    """What happens to missing rollouts."""
    infrastructure: str
    """What happens to infrastructure failures."""
    base: Markdown
    """The base so."""
    candidate: Markdown
    """The candidate so."""
    delta: Markdown
    """The difference."""


def part_row(part: Part, words: Words) -> PartRow:
    charged = part.base_rollouts, part.candidate_rollouts
    return PartRow(
        title=part.title,
        kind=part.kind.replace("_", " "),
        value=words.delta(part.value),
        interval=words.deltas(part.ci95),
        share=DASH if part.share is None else percent(part.share),
        rollouts=DASH if charged[0] is None else Markdown(f"{count(charged[0])} → {count(charged[1])}"),
    )


def counting_row(counting: Counting, words: Words) -> CountingRow:
    return CountingRow(
        missing=MISSING[counting.missing],
        infrastructure=INFRASTRUCTURE[counting.infrastructure],
        base=words.value(counting.base),
        candidate=words.value(counting.candidate),
        delta=words.delta(counting.value),
    )


def slice_section(cut: SliceChange, words: Words) -> SliceSection:
    return SliceSection(
        field=cut.field,
        asked=cut.asked,
        levels=[level_row(level, words) for level in cut.levels[:MOST_LEVELS]],
        rest=first(cut.levels, MOST_LEVELS).rest,
        unassigned=cut.unassigned,
        standardised=words.delta(cut.standardised),
        simpson=cut.simpson,
    )


def level_row(level: LevelChange, words: Words) -> LevelRow:
    delta = level.delta
    return LevelRow(
        level=level.level,
        tasks=count(0 if delta is None else delta.tasks),
        base=words.value(level.base),
        candidate=words.value(level.candidate),
        delta=words.delta(None if delta is None else delta.value),
        interval=words.deltas(None if delta is None else delta.ci95),
        p=DASH if level.p_holm is None else short_p(level.p_holm),
        own=Markdown(
            f"{words.value(level.base_own)} of {count(level.base_tasks)} → "
            f"{words.value(level.candidate_own)} of {count(level.candidate_tasks)}"
        ),
    )


def driver_row(driver: Driver, words: Words) -> DriverRow:
    failing = ", ".join(f"{cell(charge.title)} ({count(charge.rollouts)})" for charge in driver.failing)
    return DriverRow(
        task=driver.task,
        base=standing(driver.base, words),
        candidate=standing(driver.candidate, words),
        delta=words.delta(driver.delta),
        contribution=signed_pp(driver.contribution, 2) if words.rate else signed_number(driver.contribution, 4),
        failing=Markdown(failing) if failing else DASH,
        read_base=driver.base.citation,
        read_candidate=driver.candidate.citation,
    )


def standing(side: DriverSide, words: Words) -> Markdown:
    """`3/5`, or the mean reward and how many rollouts it is of."""
    if side.c is not None:
        return Markdown(f"{count(side.c)}/{count(side.n)}")
    many = f" over {plural(side.n, 'rollout')}" if side.n > 1 else ""
    return Markdown(f"{words.value(side.mean)}{many}")


def pair_row(pair: Comparison, words: Words) -> PairRow:
    numbers = [pair.delta.p_value, pair.p_holm, pair.p_bh]
    shown = [short_p(p) for p in numbers if p is not None]
    return PairRow(
        base=pair.base.run,
        candidate=pair.candidate.run,
        tasks=pair.paired_tasks,
        delta=words.delta(pair.delta.value),
        interval=words.deltas(pair.delta.ci95),
        p=Markdown(", ".join(shown)),
        verdict=pair.verdict,
    )


def rank_rows(comparison: Comparison, words: Words) -> list[RankRow]:
    """The runs in order; none when there are only two."""
    ranks = comparison.ranking if isinstance(comparison.ranking, list) else []
    found = {pair.candidate.run: pair for pair in pairs_with_base(comparison)}
    return [rank_row(rank, found.get(rank.run), words) for rank in ranks]


def rank_row(rank: Rank, pair: Comparison | None, words: Words) -> RankRow:
    tied = codes(first(rank.tied_with, MOST_TIED), in_table=True) if rank.tied_with else Markdown("none")
    against = Markdown("base") if pair is None else Markdown(f"{pair.verdict}, {words.delta(pair.delta.value)}")
    return RankRow(rank=rank, value=words.value(rank.value), against_base=against, tied=tied)


def pairs_with_base(comparison: Comparison) -> list[Comparison]:
    """The pairs of a comparison in which its base is the base."""
    pairs = comparison.pairs if isinstance(comparison.pairs, list) else [comparison]
    return [pair for pair in pairs if pair.base.run == comparison.base.run]


def adjusted_words(comparison: Comparison, pairs: Sequence[Comparison]) -> Markdown:
    """The verdict with regard to all the pairs that were tested."""
    pair = pairs_with_base(comparison)[0]
    sure = "" if pair.p_holm is None else f", {p_words(pair.p_holm)}"
    return Markdown(f"Adjusted for all {plural(size(pairs), 'pair')} of runs (Holm): {md(pair.verdict)}{sure}.")
