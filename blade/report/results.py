"""Aggregate Results, Workflow Funnel and Task Outcome Buckets: every number of the run, as the rows of its tables."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, SliceTable, Stage
from blade.metrics import Effort, Metric, Misplacement, Slice, TaskResult, VarianceSplit, Variant
from blade.metrics.buckets import ORDER
from blade.report.addresses import bare_entries, grouped, size
from blade.report.citations import cited, codes
from blade.report.dives import PASSED
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.listing import Listing, first
from blade.report.numbers import DASH, count, interval, number, percent, points, share, signed_pp, signed_pp_interval
from blade.report.text import Markdown

MOST_LEVELS = 30
FEWEST_TASKS = 3
"""Tasks a level needs before its difference from others is worth a line."""

MISSING = {"excluded": "left out", "as_failures": "counted as failures"}
INFRASTRUCTURE = {"included": "counted", "excluded": "left out"}


class Cut(NamedTuple):
    """A field with the levels that are furthest apart, among those with enough tasks."""

    table: SliceTable
    lowest: Slice
    highest: Slice
    apart: float

    @classmethod
    def of(cls, table: SliceTable) -> "Cut | None":
        """The cut by a field; none when fewer than two of its levels can be compared."""
        known = [
            (s.headline.value, s) for s in table.levels if s.headline.value is not None and s.tasks >= FEWEST_TASKS
        ]
        known.sort(key=lambda pair: pair[0])
        if len(known) < 2:
            return None
        return cls(table, known[0][1], known[-1][1], known[-1][0] - known[0][0])

    @property
    def may_be_chance(self) -> bool:
        """Whether the two intervals overlap."""
        low, high = self.lowest.headline.ci95, self.highest.headline.ci95
        return low is None or high is None or low[1] >= high[0]


def cuts_of(analysis: Analysis) -> list[Cut]:
    """Fields whose levels differ by more than chance; those the user asked for come first, whatever they show."""
    cuts = [cut for cut in map(Cut.of, analysis.slices) if cut is not None]
    cuts = [cut for cut in cuts if cut.table.asked or not cut.may_be_chance]
    cuts.sort(key=lambda cut: (not cut.table.asked, -cut.apart))
    return distinct(cuts)


def distinct(cuts: list[Cut]) -> list[Cut]:
    """The cuts without those that divide the tasks as an earlier one does, under another name."""
    seen: set[tuple[tuple[int, float | None], ...]] = set()
    out: list[Cut] = []
    for cut in cuts:
        parts = tuple(sorted(((s.tasks, s.headline.value) for s in cut.table.levels), key=repr))
        if parts not in seen or cut.table.asked:
            out.append(cut)
        seen.add(parts)
    return out


class MetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric as it is shown."""

    name: str
    """What it is called."""
    value: Markdown
    """The number."""
    interval: Markdown
    """Its 95 % interval."""
    se: Markdown
    """Its standard error."""
    n: int
    """Tasks or rollouts it is taken over."""
    definition: str
    """What it means."""


class PassRow(msgspec.Struct, frozen=True, kw_only=True):
    """pass@k and pass^k at one k."""

    k: str
    """How many rollouts."""
    at: Metric
    """Chance that one of them succeeds."""
    power: Metric | None
    """Chance that all do."""


class VariantRow(msgspec.Struct, frozen=True, kw_only=True):
    """The headline under one way of counting."""

    missing: str
    """What happens to missing rollouts."""
    infrastructure: str
    """What happens to infrastructure failures."""
    value: Markdown
    """The headline so."""
    interval: Markdown
    """Its interval."""
    variant: Variant
    """What was counted."""


class SliceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a field."""

    slice: Slice
    """What its rollouts showed."""
    value: Markdown
    """Its headline."""
    interval: Markdown
    """The headline's interval."""


class SliceRows(msgspec.Struct, frozen=True, kw_only=True):
    """The run cut by one field."""

    field: str
    """The field."""
    asked: bool
    """Whether the user named it."""
    levels: Listing[SliceRow]
    """Its levels."""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section."""

    metrics: list[MetricRow]
    """The named numbers."""
    passes: list[PassRow]
    """By k; empty when success is not defined."""
    sensitivity: list[VariantRow]
    """The headline by way of counting; empty when all ways give the same."""
    variance: list[Markdown]
    """Where the uncertainty comes from."""
    effort: list[Effort]
    """What failing rollouts took more or less of than passing ones."""
    even_effort: list[str]
    """What they took as much of, as far as anybody can tell."""
    slices: list[SliceRows]
    """The run in parts: by fields the user asked for or whose levels differ."""
    even_fields: list[str]
    """Fields whose levels may differ by chance alone."""


def collect_results(analysis: Analysis) -> Results:
    """The section's tables."""
    metrics, rate = analysis.metrics, is_rate(analysis)
    at_k = {} if list(metrics.pass_at_k) == ["1"] else metrics.pass_at_k
    uneven = [effort for effort in analysis.effort if rate and differs(effort)]
    telling = [cut.table.field for cut in cuts_of(analysis)]
    shown = [table for table in analysis.slices if table.asked or table.field in telling]
    return Results(
        metrics=metric_rows(analysis),
        passes=[PassRow(k=k, at=at, power=metrics.pass_pow_k.get(k)) for k, at in at_k.items()],
        sensitivity=[variant_row(variant, rate=rate) for variant in analysis.sensitivity if moves(analysis)],
        variance=variance_words(analysis.variance, rate=rate),
        effort=uneven,
        even_effort=[effort.name for effort in analysis.effort if rate and effort not in uneven],
        slices=[slice_rows(table, rate=rate) for table in shown],
        even_fields=[table.field for table in analysis.slices if table not in shown],
    )


def moves(analysis: Analysis) -> bool:
    """Whether it matters how missing rollouts and infrastructure failures are counted."""
    return len({variant.metric.value for variant in analysis.sensitivity}) > 1


def differs(effort: Effort) -> bool:
    """Whether failing rollouts took more or less than passing ones of the same task, beyond chance."""
    ends = effort.within_task.ci95
    return ends is not None and not ends[0] <= 0.0 <= ends[1]


def metric_rows(analysis: Analysis) -> list[MetricRow]:
    """The named numbers, each written as its kind is; those that say the same as one above are left out."""
    metrics, rate = analysis.metrics, is_rate(analysis)
    rows = [rate_row("pass@1", metrics.pass_at_1)] if rate else []
    if rate and metrics.pass_at_1_micro.value != metrics.pass_at_1.value:
        rows.append(rate_row("pass@1, weighted by rollouts", metrics.pass_at_1_micro))
    if rate and list(metrics.pass_at_k) != ["1"]:
        rows += [rate_row("consistency", metrics.consistency), gain_row("retry value", metrics.retry_value)]
    if metrics.mean_reward.value != metrics.pass_at_1.value or not rate:
        rows.append(reward_row("mean reward", metrics.mean_reward))
    return [*rows, rate_row("coverage", metrics.coverage)]


def rate_row(name: str, metric: Metric) -> MetricRow:
    return metric_row(name, metric, percent(metric.value), interval(metric.ci95), points(metric.se))


def gain_row(name: str, metric: Metric) -> MetricRow:
    return metric_row(name, metric, signed_pp(metric.value), signed_pp_interval(metric.ci95), points(metric.se))


def reward_row(name: str, metric: Metric) -> MetricRow:
    se = points(None) if metric.se is None else number(metric.se)
    return metric_row(name, metric, number(metric.value), interval_words(metric, rate=False), se)


def metric_row(name: str, metric: Metric, value: Markdown, ends: Markdown, se: Markdown) -> MetricRow:
    return MetricRow(name=name, value=value, interval=ends, se=se, n=metric.n, definition=metric.definition)


def variant_row(variant: Variant, *, rate: bool) -> VariantRow:
    return VariantRow(
        missing=MISSING[variant.missing],
        infrastructure=INFRASTRUCTURE[variant.infrastructure],
        value=value_words(variant.metric, rate=rate),
        interval=interval_words(variant.metric, rate=rate),
        variant=variant,
    )


def slice_rows(table: SliceTable, *, rate: bool) -> SliceRows:
    listing = first(table.levels, MOST_LEVELS)
    rows = [
        SliceRow(
            slice=part,
            value=value_words(part.headline, rate=rate),
            interval=interval_words(part.headline, rate=rate),
        )
        for part in listing.shown
    ]
    return SliceRows(field=table.field, asked=table.asked, levels=Listing(shown=rows, rest=listing.rest))


def variance_words(split: VarianceSplit | None, *, rate: bool) -> list[Markdown]:
    """Whether repeats or tasks would make the headline surer."""
    if split is None:
        return [Markdown("Without repeats of several tasks the variance cannot be split between tasks and repeats.")]
    if split.between_share is None:
        return [Markdown("Every rollout has the same score, so there is no variance to split.")]
    now, repeats, tasks, floor = (
        points(se) if rate else number(se)
        for se in (split.se_now, split.se_repeats_doubled, split.se_tasks_doubled, split.se_repeats_unlimited)
    )
    shape = f"Of the variance of a single rollout, {percent(split.between_share)} is between tasks and "
    shape += f"{percent(split.within_share)} between repeats of one task ({count(split.tasks)} tasks, "
    shape += f"{number(split.repeats, 1)} repeats each)."
    more = f"The standard error this implies is {now}. Twice the repeats would make it {repeats}, twice the tasks "
    more += f"{tasks}; no number of repeats brings it under {floor}."
    return [Markdown(shape), Markdown(more)]


MOST_TASKS = 50
MOST_LOST = 5
MOST_RATES = 20


class StageRow(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the funnel as it is shown."""

    stage: Stage
    """What is known about it."""
    share: Markdown
    """Its rollouts among all there are."""
    lost: Markdown
    """Rollouts that came to the stage before and no further; empty when there are none."""


class BucketRow(msgspec.Struct, frozen=True, kw_only=True):
    """One bucket."""

    name: str
    """What it is called."""
    count: int
    """Tasks in it."""
    share: Markdown
    """Their share of all tasks."""
    tasks: Markdown
    """Their keys."""


class RateRow(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of which equally many rollouts of equally many passed."""

    result: TaskResult
    """One of them."""
    count: int
    """How many they are."""
    tasks: Markdown
    """Their keys."""


class BucketSection(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section on buckets."""

    rows: list[BucketRow]
    """The buckets; empty when success is not defined."""
    rates: list[RateRow]
    """Tasks that pass sometimes, those that pass least first."""
    misplacement: list[Misplacement]
    """How often this many repeats misjudge a task."""
    lowest_rate: float | None
    """True rate an always-pass task may still have."""
    lowest: Listing[TaskResult]
    """Tasks with the lowest mean reward, when there are no buckets."""


def stage_rows(analysis: Analysis) -> list[StageRow]:
    """The funnel, stage by stage."""
    return [
        StageRow(
            stage=stage,
            share=share(stage.rollouts, analysis.coverage.rollouts),
            lost=cited(stage.lost, MOST_LOST, limit=MAX_LISTED),
        )
        for stage in analysis.funnel
    ]


def bucket_section(analysis: Analysis) -> BucketSection:
    """Buckets, the rates behind them, and how far they can be trusted."""
    return BucketSection(
        rows=bucket_rows(analysis) if is_rate(analysis) else [],
        rates=rate_rows(analysis),
        misplacement=analysis.misplacement,
        lowest_rate=analysis.lowest_rate_behind_always,
        lowest=Listing(shown=[]) if is_rate(analysis) else lowest_rewards(analysis),
    )


def bucket_rows(analysis: Analysis) -> list[BucketRow]:
    keys: dict[str, list[str]] = {name: getattr(analysis.buckets, name) for name in ORDER}
    return [
        BucketRow(
            name=name,
            count=size(tasks),
            share=share(size(tasks), analysis.coverage.tasks),
            tasks=codes(first(tasks, MOST_TASKS), in_table=True) if tasks else DASH,
        )
        for name, tasks in keys.items()
    ]


def rate_rows(analysis: Analysis) -> list[RateRow]:
    """Tasks that pass sometimes, those with the same rate together."""
    alike = grouped(analysis.tasks, *PASSED)
    rates = sorted((c / n, n, c) for bucket, c, n in alike if bucket == "sometimes")
    return [rate_row_of(alike["sometimes", c, n]) for _, n, c in rates[:MOST_RATES]]


def rate_row_of(tasks: Sequence[TaskResult]) -> RateRow:
    listing = first(tasks, MOST_TASKS)
    keys = Listing(shown=[result.task for result in listing.shown], rest=listing.rest)
    return RateRow(result=tasks[0], count=size(tasks), tasks=codes(keys, in_table=True))


def lowest_rewards(analysis: Analysis) -> Listing[TaskResult]:
    """Tasks with a reward, lowest first."""
    rewards = [result.mean_reward for result in bare_entries(analysis.tasks)]
    places = [place for place, reward in enumerate(rewards) if reward is not None]
    places.sort(key=lambda place: rewards[place] or 0.0)
    return first([analysis.tasks[place] for place in places], MOST_TASKS)
