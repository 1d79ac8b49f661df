"""The report of a comparison: one complete value, its rendering, and the folder it is written to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from blade._version import __version__
from blade.comparison import CompareOptions, Comparison, compare_many
from blade.comparison.comparison import ConfigChange, Part, Side
from blade.diagnosis import Diagnosed
from blade.metrics import definitions
from blade.metrics.buckets import ORDER
from blade.report.addresses import addressed_struct
from blade.report.citations import codes
from blade.report.claims import Rendered, extract
from blade.report.comparison_rows import (
    CountingRow,
    DriverRow,
    PairRow,
    PartRow,
    RankRow,
    SliceSection,
    Words,
    counting_row,
    driver_row,
    pair_row,
    part_row,
    rank_row,
    slice_section,
)
from blade.report.files import write_file
from blade.report.listing import Listing, first
from blade.report.marks import recording
from blade.report.numbers import count, p_words, plural
from blade.report.page.comparison_page import write_comparison_page
from blade.report.report import Prose, said, templates
from blade.report.text import Markdown, code, sentence
from blade.report.workspace import canonical_json, write_text

COMPARISON: Final = "comparison.json"
COMPARISON_REPORT: Final = "comparison.md"
MOST_DRIVERS: Final = 20
MOST_NAMED: Final = 10
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
        "answer that the other run's verifier passed; the patterns of the taxonomy pack, where both runs have the "
        "same; each behaviour in the order of the signals; unexplained"
    ),
    "what a part is not": "it says where the change shows, not what would have happened otherwise",
}


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a comparison's report says, section by section."""

    title: list[str]
    """Names of the runs."""
    metric: str
    """Which headline is compared."""
    success: str | None
    """The success rule."""
    success_source: str
    """Where the rule comes from."""
    sentence: str
    """The verdict."""
    facts: list[Markdown]
    """What stands beside it."""
    warnings: list[str]
    """What to know before believing it."""
    sides: list[Markdown]
    """Pairing, run by run."""
    parts: list[PartRow]
    """Decomposition."""
    change: Markdown
    """What the parts add up to."""
    countings: list[CountingRow]
    """The same change counted in other ways."""
    buckets: list[str]
    """Names of the buckets, when there are any."""
    transitions: dict[str, dict[str, int]]
    """Bucket Transitions."""
    slices: list[SliceSection]
    """Slices."""
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
        """The prose of a section and the blank line behind it."""
        return said(self.prose, section, headed=headed)


def build_comparison_report(comparison: Comparison) -> ComparisonReport:
    """The report of a comparison."""
    words = Words(comparison.metric == "pass_at_1")
    pairs = comparison.pairs if isinstance(comparison.pairs, list) else []
    ranking = comparison.ranking if isinstance(comparison.ranking, list) else []
    return ComparisonReport(
        title=[comparison.base.run, comparison.candidate.run],
        metric="pass@1" if words.rate else "mean reward",
        success=comparison.success.rule,
        success_source=comparison.success.source,
        sentence=comparison.sentence,
        facts=list(verdict_facts(comparison, words)),
        warnings=comparison.warnings,
        sides=[side_words(side, words) for side in (comparison.base, comparison.candidate)],
        parts=[part_row(part, words) for part in comparison.decomposition],
        change=words.delta(comparison.change.value),
        countings=[counting_row(counting, words) for counting in comparison.countings],
        buckets=list(ORDER) if comparison.transitions else [],
        transitions=comparison.transitions,
        slices=[slice_section(cut, words) for cut in comparison.slices],
        regressions=driver_rows(comparison, words, "regressed", total=comparison.regressed_tasks),
        improvements=driver_rows(comparison, words, "improved", total=comparison.improved_tasks),
        config_changes=comparison.config_changes,
        config_same=", ".join(comparison.config_same),
        config_unknown=", ".join(comparison.config_unknown),
        pairs=[pair_row(pair, words) for pair in pairs],
        ranking=[rank_row(rank, words) for rank in ranking],
        definitions=addressed_struct(DEFINITIONS, "blade:/comparison_definitions"),
    )


def verdict_facts(comparison: Comparison, words: Words) -> Iterator[Markdown]:
    """What stands beside the verdict."""
    yield Markdown(
        f"Over the {plural(comparison.paired_tasks, 'paired task')}: {words.value(comparison.base.paired)} → "
        f"{words.value(comparison.candidate.paired)}, {plural(comparison.regressed_tasks, 'task')} worse and "
        f"{count(comparison.improved_tasks)} better."
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


def largest_parts(comparison: Comparison, most: int) -> list[Part]:
    """The parts that moved the headline most."""
    moving = [part for part in comparison.decomposition if part.value]
    return sorted(moving, key=lambda part: -abs(part.value))[:most]


def render_comparison(comparison: Comparison) -> str:
    """The report as Markdown, with nobody's prose in it."""
    return render_comparison_with_claims(comparison).text


def render_comparison_with_claims(comparison: Comparison, prose: Prose | None = None) -> Rendered:
    """The report with the address of everything it prints."""
    with recording() as found:
        report = build_comparison_report(addressed_struct(comparison, "comparison:"))
        if prose is not None:
            front = prose.narrative.front
            report = msgspec.structs.replace(
                report,
                author=front.author,
                prose=prose.filled(),
                constants=addressed_struct(front.constants, "constants:"),
            )
        return extract(render_comparison_report(report), found)


def render_comparison_report(report: ComparisonReport) -> str:
    """A report as Markdown."""
    return templates().get_template("comparison.md.jinja").render(report=report)


def write_comparison(folder: Path, runs: Sequence[Diagnosed], options: CompareOptions | None = None) -> Comparison:
    """Compares runs and writes `comparison.json`, `comparison.md` and `comparison.html`.

    Raises:
        UsageError: fewer than two runs, runs without a task in common, or runs judged by different rules.
        InputError: the folder cannot be written to.
    """
    comparison = compare_many(runs, options)
    rendered = render_comparison_with_claims(comparison)
    write_file(folder / COMPARISON, canonical_json(comparison))
    write_text(folder, COMPARISON_REPORT, rendered)
    write_comparison_page(folder, comparison, runs)
    return comparison
