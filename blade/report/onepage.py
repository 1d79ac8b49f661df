"""The one-page report: the answer, how it was counted, what explains it, what to fix and what to read.

It has at most `MOST_LINES` lines for any run, which the limits below add up to. What does not fit is in the appendix.
A signal is said to be *seen in* rollouts, never to be their cause; a cause is a judgement and names its author.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from blade.diagnosis.analysis import Analysis, Coverage, Mirror, Mode, PatternSeen, Signal, headline_of
from blade.diagnosis.labels import UNDECIDED
from blade.diagnosis.predictors import Predictor
from blade.diagnosis.taxonomy import TO_REPAIR
from blade.metrics import Metric
from blade.report.addresses import entries_with, picked, size
from blade.report.advice import DRAFTS, JudgedCause, judged_causes, repair, rests_on, success_advice
from blade.report.citations import codes, reading_commands
from blade.report.dives import SIGNED, cause_words
from blade.report.headline import (
    basis_words,
    bucket_words,
    gain_interval_words,
    gain_words,
    interval_words,
    is_rate,
    is_tried_once,
    mode_words,
    score_words,
    sure_words,
    telling_patterns,
    telling_signals,
    undecided_words,
    value_words,
)
from blade.report.listing import Listing, first, fitting
from blade.report.numbers import DASH, count, number, percent, plural, points, signed_pp, signed_pp_interval
from blade.report.results import Cut, MetricRow, cuts_of, metric_row
from blade.report.text import Markdown, clauses, code, code_cell, md

MOST_LINES: Final = 80
MOST_METRICS, MOST_COUNTED, MOST_EXPLAINED, MOST_MODES, MOST_FIXES, MOST_TO_READ, MOST_HEALTH = 4, 6, 5, 5, 4, 4, 3
MOST_JUDGED, MOST_PROSE = 2, 9
LONGEST_TITLE, LONGEST_FIX, LONGEST_REASON, LONGEST_LIST = 240, 900, 200, 160


class ModeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A failure mode."""

    title: Markdown
    """What was seen."""
    failed: int
    """Rollouts that did not pass and show it."""
    passed: int | None
    """Rollouts that passed and show it all the same; `None` when nobody looked."""
    tasks: int
    """Tasks it was seen in."""
    gain: Markdown
    """What the headline would gain at most without it."""
    example: Markdown
    """A rollout that shows it."""


class FixRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do."""

    what: Markdown
    """What it is, and the rule behind it."""
    brief: Markdown
    """What it is, without what is behind it."""
    gain: Markdown
    """What the headline would gain at most."""
    interval: Markdown
    """The gain's interval."""
    tasks: int
    """Tasks it would move."""


class Reading(NamedTuple):
    """A task to read."""

    task: str
    bucket: str
    command: str
    why: Markdown


class OnePage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page, section by section."""

    prose: Markdown = Markdown("")
    """Executive Summary: what a reader wrote, as far as it fits."""
    answer: list[Markdown]
    """Executive Summary: what was counted."""
    metrics: list[MetricRow]
    """Aggregate Results: the headline and what goes with it."""
    counted: list[Markdown]
    """Aggregate Results: how it was counted."""
    explained: list[Markdown]
    """What Explains the Score; empty when nothing does."""
    modes: Listing[ModeRow]
    """Dominant Failure Modes, most failures first."""
    judged: list[Markdown]
    """Recommendations: what readers found, most to gain first."""
    fixes: list[FixRow]
    """Recommendations: what would gain most; the first is in the Executive Summary too."""
    advice: list[Markdown]
    """Recommendations: what would let rollouts count as successes, where nothing does."""
    reading: Listing[Reading]
    """Recommendations: what to read first."""
    health: Listing[Markdown]
    """What is wrong with the data, the infrastructure or the verifier."""


def make_page(analysis: Analysis) -> OnePage:
    """The page of an analysis."""
    modes = mode_rows(analysis)
    advice = success_advice(analysis)
    fixes = fix_rows(analysis)
    findings = first(analysis.health, MOST_HEALTH)
    judged = [*map(judged_words, judged_causes(analysis)[:MOST_JUDGED])]
    return OnePage(
        answer=[
            *headline_words(analysis),
            *filter(None, [mode_words(analysis, md)]),
            *fix_words(fixes),
            *cause_words_of(analysis),
        ],
        metrics=metric_rows(analysis)[:MOST_METRICS],
        counted=[*counted(analysis)][:MOST_COUNTED],
        explained=[*explained(analysis)][:MOST_EXPLAINED],
        modes=modes,
        fixes=fixes,
        advice=advice,
        judged=judged,
        reading=to_read(analysis, MOST_TO_READ - len(judged)),
        health=Listing(shown=[*map(repair, findings.shown)], rest=findings.rest),
    )


def with_summary(page: OnePage, prose: Markdown | None) -> OnePage:
    """The page with a reader's summary before the two sentences on the score."""
    fits = fitting_prose(prose, MOST_PROSE)
    return msgspec.structs.replace(page, prose=fits, answer=page.answer[:2]) if fits else page


def fitting_prose(prose: Markdown | None, most: int) -> Markdown:
    """The first paragraphs that fit into so many lines, and where the rest is."""
    kept, lines = list[str](), 0
    for paragraph in [] if prose is None else prose.split("\n\n"):
        lines += max(1, len(paragraph.splitlines())) + 1
        if lines > most:
            return Markdown("\n\n".join([*kept, "The rest of this summary is in `appendix.md`."]))
        kept.append(paragraph)
    return Markdown("\n\n".join(kept))


def headline_words(analysis: Analysis) -> Iterator[Markdown]:
    """The headline with its interval, and how tasks fall into buckets."""
    if headline_of(analysis).value is None:
        yield Markdown("**No rollout has a known score**, so there is no headline; the rest is about the rollouts.")
        return
    yield Markdown(f"**{score_words(analysis)}** ({sure_words(analysis)}) over {basis_words(analysis)}.")
    if not is_rate(analysis):
        yield Markdown("Rewards are graded and no success rule was given, so there is no pass@1 and no buckets.")
        return
    said = bucket_words(analysis)
    if is_tried_once(analysis):
        said = Markdown(f"{said} With at most one scored rollout per task, no task can be seen to pass *sometimes*.")
    yield said


def fix_words(fixes: Sequence[FixRow]) -> Iterator[Markdown]:
    """What would be worth most."""
    for best in fixes[:1]:
        yield Markdown(f"Fix first (at most {best.gain}): {best.brief}.")


def cause_words_of(analysis: Analysis) -> Iterator[Markdown]:
    """How many causes are decided and whether anything is wrong that is not the model's."""
    if said := undecided_words(analysis, emphasis="**"):
        yield said
    found = size(analysis.health)
    if found:
        yield Markdown(f"{plural(found, 'finding')} about data, infrastructure or verifier: see Health.")
    elif blamed := size(picked(analysis.causes, lambda _, label: label.partition("+")[0] in TO_REPAIR, *SIGNED)):
        yield Markdown(f"The cause of {plural(blamed, 'task')} is the data, the infrastructure or the verifier.")
    else:
        yield Markdown("No fault of the data, the infrastructure or the verifier was proven.")


def metric_rows(analysis: Analysis) -> list[MetricRow]:
    """The headline, and pass@k and pass^k at the largest k; a number that another row gives already is left out."""
    metrics, rate = analysis.metrics, is_rate(analysis)
    headline = headline_of(analysis)
    if headline.value is None:
        return []
    name = "pass@1" if rate else "mean reward"
    rows = [metric_row(name, headline, value_words(headline, rate=rate), interval_words(headline, rate=rate), DASH)]
    for sign, by_k in (("@", metrics.pass_at_k), ("^", metrics.pass_pow_k)):
        for k, metric in list(by_k.items())[-1:]:
            if k != "1" and metric.value is not None:
                ends = interval_words(metric, rate=True)
                rows.append(metric_row(f"pass{sign}{k}", metric, percent(metric.value), ends, DASH))
    retry = metrics.retry_value
    if len(rows) > 1 and retry.value is not None:
        rows.append(metric_row("retry value", retry, signed_pp(retry.value), signed_pp_interval(retry.ci95), DASH))
    return rows


def counted(analysis: Analysis) -> Iterator[Markdown]:
    """How the headline was counted, the most telling first."""
    inputs, coverage, success = analysis.inputs, analysis.coverage, analysis.success
    files = codes(fitting([file.name for file in inputs.files], LONGEST_LIST))
    formats = ", ".join(md(name) for name in dict.fromkeys(file.format for file in inputs.files))
    there = f"{count(coverage.rollouts)} of {plural(coverage.expected_rollouts, 'expected rollout')}"
    yield Markdown(f"Read: {there} of {plural(coverage.tasks, 'task')} from {files} ({formats}){models(analysis)}.")
    rule = "not defined" if success.rule is None else code(success.rule)
    field = "" if inputs.reward_field is None else f"; the score is {code(inputs.reward_field)}"
    yield Markdown(f"Success: {rule} ({md(success.source)}){field}.")
    if gaps := gap_words(coverage):
        yield Markdown(f"Incomplete: {'; '.join(gaps)}.{sensitivity_words(analysis)}")
    for check in inputs.published:
        if check.different:
            different = f"{count(size(check.different))} of {count(check.compared)} values"
            yield Markdown(f"Published metrics in {code(check.file)}: {different} differ from what the rows give.")
    if (split := analysis.variance) is not None and split.between_share is not None:
        now, repeats, tasks = (
            points(se) if is_rate(analysis) else number(se)
            for se in (split.se_now, split.se_repeats_doubled, split.se_tasks_doubled)
        )
        said = f"Standard error {now}; twice the repeats would make it {repeats}, twice the tasks {tasks}."
        yield Markdown(f"{said} {percent(split.between_share)} of a rollout's variance is between tasks.")
    for note in inputs.notes:
        yield Markdown(f"Note: {md(note)}")
    for copy in inputs.copies:
        yield Markdown(f"The run {code(copy)} holds the same rollouts: it is a copy, not a second measurement.")


def models(analysis: Analysis) -> str:
    """The models that answered, where the rows say so; several are pooled."""
    named = [model.value for model in analysis.inputs.models if model.value is not None]
    if not named:
        return ""
    said = codes(fitting(named, LONGEST_LIST))
    return f", model {said}" if len(named) == 1 else f", {plural(size(named), 'model')} **pooled**: {said}"


def gap_words(coverage: Coverage) -> list[str]:
    """What did not go well, in words; empty when all did."""
    gaps = (
        (coverage.missing, f"{plural(coverage.missing, 'expected rollout')} without a row"),
        (coverage.unscored, f"{plural(coverage.unscored, 'rollout')} without a score"),
        (coverage.failed, f"{plural(coverage.failed, 'rollout')} ended before a verdict"),
        (coverage.infrastructure, f"{plural(coverage.infrastructure, 'failed rollout')} lost to infrastructure"),
        (coverage.malformed, f"{plural(coverage.malformed, 'line')} could not be used"),
        (coverage.duplicates, f"{plural(coverage.duplicates, 'row')} repeated the key of another and left out"),
    )
    return [words for number_of, words in gaps if number_of]


def sensitivity_words(analysis: Analysis) -> str:
    """How far the way of counting moves the headline; nothing when there is nothing to count differently."""
    coverage = analysis.coverage
    values = [variant.metric for variant in analysis.sensitivity if variant.metric.value is not None]
    if headline_of(analysis).value is None or not (coverage.missing or coverage.unscored or coverage.infrastructure):
        return ""
    lowest = min(values, key=lambda metric: metric.value or 0.0)
    highest = max(values, key=lambda metric: metric.value or 0.0)
    low, high = (value_words(metric, rate=is_rate(analysis)) for metric in (lowest, highest))
    moves = f"stays at {low}" if low == high else f"lies between {low} and {high}"
    return f" Depending on how missing and infrastructure rollouts are counted, the headline {moves}."


def explained(analysis: Analysis) -> Iterator[Markdown]:
    """What tells tasks and rollouts that fail from those that pass."""
    cuts = cuts_of(analysis)
    yield from (cut_words(cut, rate=is_rate(analysis)) for cut in cuts[:2] if cut.table.asked)
    yield from map(predictor_words, analysis.predictors[:2])
    yield from (cut_words(cut, rate=is_rate(analysis)) for cut in cuts[:2] if not cut.table.asked)
    yield from map(mirror_words, analysis.mirrors[:2])
    stages = [stage for stage in analysis.funnel if stage.rollouts is not None]
    inner = [stage for stage, after in pairwise(stages) if stage.rollouts not in (stages[0].rollouts, after.rollouts)]
    if inner:
        said = " → ".join(f"{md(stage.name)} {count(stage.rollouts)}" for stage in [stages[0], *inner, stages[-1]])
        yield Markdown(f"Rollouts per stage: {said}.")


def cut_words(cut: Cut, *, rate: bool) -> Markdown:
    """The levels of a field that are furthest apart."""
    low, high = (
        f"{code(level.level)} {value_words(level.headline, rate=rate)} ({plural(level.tasks, 'task')})"
        for level in (cut.lowest, cut.highest)
    )
    doubt = "; their intervals overlap" if cut.may_be_chance else ""
    return Markdown(f"By {code(cut.table.field)}: lowest {low}, highest {high}{doubt}.")


def mirror_words(found: Mirror) -> Markdown:
    """A value that nearly only failing rollouts have."""
    where = f"{plural(found.failed, 'failing rollout')} and {plural(found.passed, 'passing one')}"
    return Markdown(
        f"{code(found.field)} is {code(found.value)} in {where}: the verdict in other words, or the reason for it."
    )


def predictor_words(found: Predictor) -> Markdown:
    """A split of the tasks with the rates of both parts."""
    tasks = found.inside.n + found.outside.n
    said = f"{count(found.inside.n)} of {plural(tasks, 'task')} {md(found.rule)}: {rate_words(found.inside)} passed"
    return Markdown(f"{said}; of the other {count(found.outside.n)}, {rate_words(found.outside)}.")


def rate_words(metric: Metric) -> str:
    return f"{percent(metric.value)} ({interval_words(metric, rate=True)})"


def mode_rows(analysis: Analysis) -> Listing[ModeRow]:
    """What goes with failing in the run's own words; where nothing was found, the pack's patterns, then signals."""
    patterns = telling_patterns(analysis)
    if analysis.modes:
        modes = first(analysis.modes, MOST_MODES)
        rows = [mode_row(m, m.title, (m.failed, m.passed, size(m.tasks)), analysis) for m in modes.shown]
        return Listing(shown=rows, rest=modes.rest)
    if patterns:
        seen = first(sorted(patterns, key=lambda pattern: -pattern.primary), MOST_MODES)
        rows = [mode_row(p, p.title, (p.primary, p.passed, p.tasks), analysis) for p in seen.shown]
        return Listing(shown=rows, rest=seen.rest)
    signals = first(telling_signals(analysis), MOST_MODES)
    rows = [mode_row(s, s.title, (s.failed, s.passed, s.tasks), analysis) for s in signals.shown]
    return Listing(shown=rows, rest=signals.rest)


def mode_row(
    mode: Mode | PatternSeen | Signal, title: str, counts: tuple[int, int | None, int], analysis: Analysis
) -> ModeRow:
    """A mode with what it would be worth to be rid of it."""
    fix = next((fix for fix in analysis.interventions if fix.target == mode.code), None)
    has_gain = fix is not None and (fix.headroom.value or 0.0) > 0.0
    return ModeRow(
        title=clauses(title, LONGEST_TITLE),
        failed=counts[0],
        passed=counts[1],
        tasks=counts[2],
        gain=gain_words(fix.headroom, rate=is_rate(analysis)) if fix is not None and has_gain else DASH,
        example=code_cell(mode.citations[0]) if mode.citations else DASH,
    )


def fix_rows(analysis: Analysis) -> list[FixRow]:
    """The fixes with the most headroom; nothing that rests on drafts."""
    rate = is_rate(analysis)
    fixes = [fix for fix in analysis.interventions if (fix.headroom.value or 0.0) > 0.0]
    return [
        FixRow(
            what=clauses(fix.what, LONGEST_FIX),
            brief=clauses(fix.what, LONGEST_TITLE),
            gain=gain_words(fix.headroom, rate=rate),
            interval=gain_interval_words(fix.headroom, rate=rate),
            tasks=fix.tasks,
        )
        for fix in [fix for fix in fixes if rests_on(fix, analysis) != DRAFTS][:MOST_FIXES]
    ]


def judged_words(row: JudgedCause) -> Markdown:
    """The tasks that readers gave one cause."""
    return Markdown(
        f"Readers found {md(row.label)} ({md(row.meaning)}) in {plural(row.count, 'task')}: {row.tasks}; "
        f"at most {row.headroom} if they always passed."
    )


def to_read(analysis: Analysis, most: int) -> Listing[Reading]:
    """What to read first, and why."""
    listing = first(analysis.reading_list, most)
    causes = entries_with(analysis.causes, "task", {item.task for item in listing.shown})
    shown = []
    for item in listing.shown:
        cause = causes.get(item.task)
        command = reading_commands(item.read)[-1] if item.read else "reading_list.md"
        why = Markdown("") if cause is None else clauses(cause.reason, LONGEST_REASON)
        if cause is not None and cause.label != UNDECIDED:
            why = Markdown(f"{md(cause.label)} ({md(cause_words(cause.label))}): {why}")
        shown.append(Reading(item.task, item.bucket, command, why))
    return Listing(shown=shown, rest=listing.rest)
