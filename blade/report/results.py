"""Aggregate Results: every number of the run, as the rows of its tables."""

import msgspec

from blade.diagnosis.analysis import Analysis, SliceTable
from blade.metrics import Effort, Metric, Slice, VarianceSplit, Variant
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.listing import Listing, first
from blade.report.numbers import count, interval, number, percent, points, signed_pp, signed_pp_interval
from blade.report.text import Markdown

MOST_LEVELS = 30

MISSING = {"excluded": "left out", "as_failures": "counted as failures"}
INFRASTRUCTURE = {"included": "counted", "excluded": "left out"}


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
    """Four ways of counting."""
    variance: list[Markdown]
    """Where the uncertainty comes from."""
    effort: list[Effort]
    """What rollouts cost."""
    slices: list[SliceRows]
    """The run in parts."""


def collect_results(analysis: Analysis) -> Results:
    """The section's tables."""
    metrics = analysis.metrics
    return Results(
        metrics=metric_rows(analysis),
        passes=[PassRow(k=k, at=at, power=metrics.pass_pow_k.get(k)) for k, at in metrics.pass_at_k.items()],
        sensitivity=[variant_row(variant, rate=is_rate(analysis)) for variant in analysis.sensitivity],
        variance=variance_words(analysis.variance, rate=is_rate(analysis)),
        effort=analysis.effort,
        slices=[slice_rows(table, rate=is_rate(analysis)) for table in analysis.slices],
    )


def metric_rows(analysis: Analysis) -> list[MetricRow]:
    """The named numbers, each written as its kind is."""
    metrics = analysis.metrics
    return [
        rate_row("pass@1", metrics.pass_at_1),
        rate_row("pass@1, weighted by rollouts", metrics.pass_at_1_micro),
        rate_row("consistency", metrics.consistency),
        gain_row("retry value", metrics.retry_value),
        reward_row("mean reward", metrics.mean_reward),
        rate_row("coverage", metrics.coverage),
    ]


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
        return [Markdown("Variance cannot be split: that takes two tasks, one of them with repeats.")]
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
