"""The report of a comparison: one complete value, its page and appendix, and the folder they are written to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from blade._version import __version__
from blade.comparison import CompareOptions, Comparison, compare_many
from blade.comparison.comparison import ConfigChange, Side, SliceChange
from blade.diagnosis import Diagnosed
from blade.metrics import definitions
from blade.metrics.buckets import ORDER
from blade.report.addresses import addressed_struct
from blade.report.citations import codes
from blade.report.claims import extract
from blade.report.comparison_rows import (
    CountingRow,
    DriverRow,
    PairRow,
    PartRow,
    RankRow,
    SliceSection,
    Words,
    adjusted_words,
    counting_row,
    driver_row,
    pair_row,
    part_row,
    rank_rows,
    slice_section,
)
from blade.report.files import write_file
from blade.report.listing import Listing, first
from blade.report.marks import recording
from blade.report.numbers import count, p_words, plural
from blade.report.onepage import fitting_prose
from blade.report.page.comparison_page import write_comparison_page
from blade.report.report import SUMMARY, Prose, Texts, said, templates
from blade.report.text import Markdown, code, md, sentence
from blade.report.workspace import APPENDIX, canonical_json, write_texts

COMPARISON: Final = "comparison.json"
COMPARISON_REPORT: Final = "comparison.md"
MOST_DRIVERS: Final = 20
MOST_NAMED: Final = 10
MOST_LISTED: Final = 4
SURE: Final = 0.05
PROSE_SECTIONS: Final = (
    *("Executive Summary", "Decomposition", "Bucket Transitions", "Slices", "Tasks That Drove the Change"),
    *("Findings No Table Shows", "Recommendations"),
)
"""Sections a reader can write for, in the order of the report."""
DEFINITIONS: Final = {
    "pass@1": definitions.PASS_AT_1,
    "mean reward": definitions.MEAN_REWARD,
    "difference": "mean over paired tasks of the candidate's task mean minus the base's",
    "paired": "a task of which both runs have a scored rollout; tasks are matched by key",
    "uncertainty": (
        "tasks, or clusters of them, are the sampling unit; the interval is Student's t on the tasks' differences, "
        "its limit on the skewed side moved out by the skewness of their mean, "
        "and where fewer than two tasks differ, or all by the same, a pair of opposite changes is imagined beside them"
    ),
    "p": (
        "sign-flip permutation test over tasks, or over clusters: how often random signs give a difference at least "
        "this large; counted exactly, or over 20,000 draws where that would take too long"
    ),
    "improved, regressed": "p below 0.05 and an interval that excludes 0; anything else is tied",
    "smallest visible difference": "what would be seen with 80 % power at two-sided 5 %, given how tasks' changes vary",
    "passes, by majority": "more than half of the task's scored rollouts succeed; its p is McNemar's exact test",
    "parts": (
        "headline H over a run's scored tasks, C over those the other run knows too, P over paired tasks: the change "
        "of H is the change of H − C (task set), of C − P (missing rows) and of P; on paired tasks every rollout's "
        "loss, best score minus its own, is charged to one thing, and each part is minus the change of that mean loss"
    ),
    "charges": (
        "tried in this order, the first that fits is charged: infrastructure; verifier, judge or environment; an "
        "answer that the two runs score differently; the failure modes of either run, the most telling kind first; "
        "each behaviour in the order of the signals; unexplained"
    ),
    "what a part is not": "it says where the change shows, not what would have happened otherwise",
}


MOST_LINES: Final = 80
"""Lines of the page for any comparison; the limits below add up to it."""
MOST_FACTS, MOST_WARNINGS, MOST_PARTS, MOST_SLICES, MOST_MOVED, MOST_CHANGES, MOST_RANKS = 5, 3, 6, 3, 4, 3, 6
MOST_PROSE: Final = 8


class ComparisonPage(msgspec.Struct, frozen=True, kw_only=True):
    """What stands on the one page."""

    prose: Markdown = Markdown("")
    """Executive Summary: what a reader wrote, as far as it fits."""
    facts: list[Markdown]
    """What stands beside the verdict."""
    warnings: Listing[str]
    """What to know before believing it."""
    parts: Listing[PartRow]
    """Parts that moved the headline most."""
    slices: list[Markdown]
    """Fields whose levels changed differently."""
    drivers: list[DriverRow]
    """Tasks that moved most in either direction."""
    moved: Markdown
    """How many moved in all."""
    config: Listing[ConfigChange]
    """What the rows state differently."""
    ranking: Listing[RankRow]
    """The runs in order, when there are more than two."""


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a comparison's report says, section by section."""

    page: ComparisonPage
    """The one-page report; all below is the appendix."""
    title: list[str]
    """Names of the runs."""
    metric: str
    """Which headline is compared."""
    sentence: str
    """The verdict."""
    facts: list[Markdown]
    """What stands beside it."""
    warnings: list[str]
    """What to know before believing it."""
    sides: list[Markdown]
    """Pairing, run by run."""
    parts: list[PartRow]
    """Decomposition: the parts that are not 0."""
    change: Markdown
    """What the parts add up to."""
    countings: list[CountingRow]
    """The same change counted in other ways; empty when all ways give the same."""
    buckets: list[str]
    """Names of the buckets, when there are any."""
    transitions: dict[str, dict[str, int]]
    """Bucket Transitions."""
    slices: list[SliceSection]
    """Slices: fields the user asked for, or by which something changed."""
    even_fields: list[str]
    """Fields by which no level changed beyond chance."""
    regressions: Listing[DriverRow]
    """Tasks that did worse."""
    improvements: Listing[DriverRow]
    """Tasks that did better."""
    config_changes: list[ConfigChange]
    """Configuration Changes."""
    config_same: str
    """Aspects stated alike."""
    config_unknown: str
    """Aspects not stated."""
    pairs: list[PairRow]
    """All pairs, when there are more than two runs."""
    ranking: list[RankRow]
    """The runs in order."""
    definitions: dict[str, str]
    """What each number means."""
    version: str = __version__
    """Version of BLADE."""
    author: str | None = None
    """Who wrote the prose; `None` when nobody did."""
    prose: dict[str, Markdown] = {}
    """What a reader wrote, by section; it stands before what was counted."""
    constants: dict[str, str] = {}
    """Numbers the prose states itself, and what they mean."""

    def said(self, section: str, *, headed: bool = False) -> Markdown:
        """The prose of a section and the blank line after it."""
        return said(self.prose, section, headed=headed)

    def byline(self) -> Markdown:
        """Who wrote the prose."""
        if self.author is None:
            return Markdown("")
        return Markdown(
            f"Prose by {code(self.author)}, who has read the rollouts; every number is computed from them. "
        )


def build_comparison_report(comparison: Comparison) -> ComparisonReport:
    """The report of a comparison."""
    words = Words(comparison.metric == "pass_at_1")
    pairs = comparison.pairs if isinstance(comparison.pairs, list) else []
    shown = [cut for cut in comparison.slices if cut.asked or is_telling(cut)]
    even = len({(counting.base, counting.candidate) for counting in comparison.countings}) <= 1
    return ComparisonReport(
        page=make_page(comparison, words),
        title=[comparison.base.run, comparison.candidate.run],
        metric="pass@1" if words.rate else "mean reward",
        sentence=comparison.sentence,
        facts=list(verdict_facts(comparison, words)),
        warnings=comparison.warnings,
        sides=[side_words(side, words) for side in (comparison.base, comparison.candidate)],
        parts=[part_row(part, words) for part in comparison.decomposition if part.value or part.base_rollouts],
        change=words.delta(comparison.change.value),
        countings=[] if even else [counting_row(counting, words) for counting in comparison.countings],
        buckets=list(ORDER) if comparison.transitions else [],
        transitions=comparison.transitions,
        slices=[slice_section(cut, words) for cut in shown],
        even_fields=[cut.field for cut in comparison.slices if cut not in shown],
        regressions=driver_rows(comparison, words, "regressed", total=comparison.regressed_tasks),
        improvements=driver_rows(comparison, words, "improved", total=comparison.improved_tasks),
        config_changes=comparison.config_changes,
        config_same=", ".join(comparison.config_same),
        config_unknown=", ".join(comparison.config_unknown),
        pairs=[pair_row(pair, words) for pair in pairs],
        ranking=rank_rows(comparison, words),
        definitions=addressed_struct(DEFINITIONS, "blade:/comparison_definitions"),
    )


def make_page(comparison: Comparison, words: Words) -> ComparisonPage:
    """The page of a comparison."""
    worse, better = (driver_rows(comparison, words, way, total=0).shown for way in ("regressed", "improved"))
    moving = [part for part in comparison.decomposition if part.value]
    telling = [cut for cut in comparison.slices if is_telling(cut)]
    parts = first(sorted(moving, key=lambda part: -abs(part.value)), MOST_PARTS)
    return ComparisonPage(
        facts=[*verdict_facts(comparison, words)][:MOST_FACTS],
        warnings=first(comparison.warnings, MOST_WARNINGS),
        parts=Listing(shown=[part_row(part, words) for part in parts.shown], rest=parts.rest),
        slices=[slice_words(cut, words) for cut in telling[:MOST_SLICES]],
        drivers=[*worse[:MOST_MOVED], *better[:MOST_MOVED]],
        moved=Markdown(
            f"In all, {plural(comparison.regressed_tasks, 'task')} did worse and {count(comparison.improved_tasks)} "
            f"better of {plural(comparison.paired_tasks, 'paired task')}."
        ),
        config=first(comparison.config_changes, MOST_CHANGES),
        ranking=first(rank_rows(comparison, words), MOST_RANKS),
    )


def is_telling(cut: SliceChange) -> bool:
    """Whether a level changed beyond chance, or the levels contradict the headline."""
    return cut.simpson or any(level.p_holm is not None and level.p_holm < SURE for level in cut.levels)


def slice_words(cut: SliceChange, words: Words) -> Markdown:
    """The levels of a field that changed beyond chance."""
    sure = [level for level in cut.levels if level.delta and level.p_holm is not None and level.p_holm < SURE]
    listed = [
        f"{code(level.level)} {words.delta(level.delta.value)} ({words.deltas(level.delta.ci95)})"
        for level in sure[:MOST_LISTED]
        if level.delta is not None
    ]
    paradox = "the levels moved against the headline (Simpson's paradox): believe the levels" if cut.simpson else ""
    return Markdown(f"By {code(cut.field)}: {'; '.join(filter(None, [', '.join(listed), paradox]))}.")


def verdict_facts(comparison: Comparison, words: Words) -> Iterator[Markdown]:
    """What stands beside the verdict."""
    yield Markdown(
        f"Over the {plural(comparison.paired_tasks, 'paired task')}: {words.value(comparison.base.paired)} → "
        f"{words.value(comparison.candidate.paired)}, {plural(comparison.regressed_tasks, 'task')} worse and "
        f"{count(comparison.improved_tasks)} better."
    )
    if isinstance(comparison.pairs, list):
        yield adjusted_words(comparison, comparison.pairs)
    rule = comparison.success.rule
    defined = "success is not defined" if rule is None else f"success is {code(rule)}"
    yield Markdown(
        f"Compared: {'pass@1' if words.rate else 'mean reward'}; {defined} ({md(comparison.success.source)})."
    )
    if comparison.clusters is not None:
        yield Markdown(f"Those tasks fall into {plural(comparison.clusters, 'cluster')}, which are what is sampled.")
    if comparison.mcnemar is not None:
        table = comparison.mcnemar
        yield Markdown(
            f"By majority: {count(table.both)} tasks pass in both runs, {count(table.only_base)} in the base alone, "
            f"{count(table.only_candidate)} in the candidate alone, {count(table.neither)} in neither "
            f"(McNemar's exact {p_words(table.p_value)})."
        )
    if comparison.mde is not None:
        yield Markdown(f"Smallest visible difference: {words.gap(comparison.mde)}.")
    if comparison.settling is not None:
        yield Markdown(f"{sentence(comparison.settling.sentence)}.")


def side_words(side: Side, words: Words) -> Markdown:
    """What a run brought, and what the pairing does to its headline."""
    own = side.headline
    said = (
        f"{code(side.run)} ({codes(first(side.files, MOST_NAMED))}): {plural(side.tasks, 'task')}, "
        f"{plural(side.rollouts, 'rollout')}; {words.value(own.value)} ({words.interval(own.ci95)}) over its "
        f"{plural(own.n, 'scored task')}, {words.value(side.paired)} over the paired ones."
    )
    for number, tasks, what in (
        (side.not_in_other, side.not_in_other_tasks, "not known to the other run"),
        (side.only_scored_here, side.only_scored_here_tasks, "without a scored rollout in the other run"),
    ):
        if number:
            said += f" {plural(number, 'task')} {what}: {codes(first(tasks, MOST_NAMED, total=number))}."
    return Markdown(said)


def driver_rows(comparison: Comparison, words: Words, direction: str, *, total: int) -> Listing[DriverRow]:
    drivers = [driver for driver in comparison.drivers if driver.direction == direction]
    listing = first(drivers, MOST_DRIVERS, total=total)
    return Listing(shown=[driver_row(driver, words) for driver in listing.shown], rest=listing.rest)


def render_comparison(comparison: Comparison, prose: Prose | None = None) -> Texts:
    """The page and the appendix, with the address of everything they print."""
    with recording() as found:
        report = build_comparison_report(addressed_struct(comparison, "comparison:"))
        if prose is not None:
            front, sections = prose.narrative.front, prose.filled()
            page = msgspec.structs.replace(report.page, prose=fitting_prose(sections.get(SUMMARY), MOST_PROSE))
            report = msgspec.structs.replace(
                report,
                page=page if not page.prose else msgspec.structs.replace(page, facts=page.facts[:1]),
                author=front.author,
                prose=sections,
                constants=addressed_struct(front.constants, "constants:"),
            )
        names = ("comparison.md.jinja", "comparison_appendix.md.jinja")
        return Texts(*(extract(templates().get_template(name).render(report=report), found) for name in names))


def write_comparison(folder: Path, runs: Sequence[Diagnosed], options: CompareOptions | None = None) -> Comparison:
    """Compares runs and writes `comparison.json`, `comparison.md`, `appendix.md` and `comparison.html`.

    Raises:
        UsageError: fewer than two runs, runs without a task in common, or runs judged by different rules.
        InputError: the folder cannot be written to.
    """
    comparison = compare_many(runs, options)
    write_compared(folder, comparison, runs)
    return comparison


def write_compared(folder: Path, comparison: Comparison, runs: Sequence[Diagnosed]) -> None:
    """Writes a comparison that has been made."""
    texts = render_comparison(comparison)
    write_file(folder / COMPARISON, canonical_json(comparison))
    write_texts(folder, {COMPARISON_REPORT: texts.page, APPENDIX: texts.appendix})
    write_comparison_page(folder, comparison, runs)
