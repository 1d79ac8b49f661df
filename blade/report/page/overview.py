"""The overview of a page: what the analysis says, in the order in which a busy reader asks.

Everything here is a value for the template, which only lays it out. A part is `None` or empty when the analysis has
nothing to say there, and then the page does not mention it.
"""

from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup

from blade.diagnosis.analysis import Analysis, headline_of
from blade.metrics import Metric
from blade.metrics.prices import Cost
from blade.metrics.values import Floats
from blade.report.headline import (
    failing_rollouts,
    gain_words,
    interval_words,
    is_rate,
    value_words,
)
from blade.report.numbers import count, percent, plural
from blade.report.page import svg
from blade.report.page.associations import dollars, effort_panel, predictors_panel, traits_panel
from blade.report.page.links import filter_link
from blade.report.page.modes import PageMode, page_modes
from blade.report.page.panels import (
    Link,
    Panel,
    Row,
    causes_panel,
    fixes_panel,
    funnel_panel,
    health_panel,
    is_undecided,
    link_to,
    modes_panel,
    reading_panel,
    scale_of,
    slice_panels,
)
from blade.report.text import one_line

WIDESPREAD = 0.2
"""Share of failing rollouts from which a failure mode explains much."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket in the bar."""

    name: str
    """Which."""
    tasks: int
    """How many tasks."""
    href: str
    """Their rollouts."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The page's first view."""

    answer: list[str]
    """Three sentences."""
    first: Link | None
    """What to read first."""
    metric: str
    """What the headline is."""
    value: str
    """The headline."""
    sure: str
    """Its interval in words."""
    strip: Markup
    """The same as a picture."""
    counted: list[Row]
    """The headline under other ways of counting."""
    buckets: list[Part]
    """How tasks fall."""
    bucket_bar: Markup
    """The same as a picture."""
    facts: list[tuple[str, str]]
    """What came in."""
    curves: Markup | None
    """pass@k and pass^k."""
    curve_note: str
    """What they say."""
    panels: list[Panel]
    """Everything else, in order."""


def build_overview(
    analysis: Analysis, *, quantities: dict[str, Floats] | None = None, passed: Floats | None = None
) -> Overview:
    """The overview of an analysis; with the rollouts at hand, also success against what they cost."""
    rate, metric = is_rate(analysis), headline_of(analysis)
    modes = page_modes(analysis)
    ends = scale_of(analysis)
    drawn = curves_of(analysis)
    panels = [
        modes_panel(analysis, modes),
        causes_panel(analysis),
        fixes_panel(analysis),
        reading_panel(analysis),
        predictors_panel(analysis),
        traits_panel(analysis),
        *slice_panels(analysis),
        effort_panel(analysis, quantities or {}, passed),
        funnel_panel(analysis),
        health_panel(analysis),
    ]
    return Overview(
        answer=answer(analysis, modes),
        first=next((link_to(item.read[0]) for item in analysis.reading_list if item.read), None),
        metric="pass@1" if rate else "mean reward",
        value=value_words(metric, rate=rate) if metric.value is not None else "no score",
        sure=f"95 % interval {interval_words(metric, rate=rate)}" if metric.ci95 else "too few tasks for an interval",
        strip=svg.range_bar(metric.value, metric.ci95, low=ends[0], high=ends[1], label="headline with its interval"),
        counted=list(countings(analysis)),
        buckets=parts(analysis),
        bucket_bar=bucket_bar(analysis),
        facts=facts(analysis),
        curves=drawn,
        curve_note=curve_note(analysis) if drawn else "",
        panels=[panel for panel in panels if panel is not None],
    )


def answer(analysis: Analysis, modes: Sequence[PageMode]) -> list[str]:
    """The score, what goes with failing, and what to do next: a sentence each."""
    return [
        sentence
        for sentence in (score_sentence(analysis), why_sentence(analysis, modes), next_sentence(analysis))
        if sentence
    ]


def score_sentence(analysis: Analysis) -> str:
    metric, rate = headline_of(analysis), is_rate(analysis)
    if metric.value is None:
        return "No rollout has a known score, so there is no headline."
    sure = f" (95 % interval {interval_words(metric, rate=rate)})" if metric.ci95 else ""
    over = f"{plural(metric.n, 'task')} and {plural(analysis.coverage.rollouts, 'rollout')}"
    if not rate:
        return f"The mean reward is {value_words(metric, rate=rate)}{sure} over {over}; rewards are graded."
    buckets = analysis.buckets
    split = f"{count(len(buckets.always))} always pass, {count(len(buckets.sometimes))} sometimes, "
    return f"pass@1 is {value_words(metric, rate=rate)}{sure} over {over}: {split}{count(len(buckets.never))} never."


def why_sentence(analysis: Analysis, modes: Sequence[PageMode]) -> str:
    failing = failing_rollouts(analysis)
    if not is_rate(analysis) or not failing:
        return "" if not is_rate(analysis) else "Every rollout passed."
    if not modes:
        return f"Nothing BLADE looks for was seen in the {plural(failing, 'rollout')} that did not pass."
    most = max(modes, key=lambda mode: mode.failed)
    lead = "Seen most" if most.failed >= WIDESPREAD * failing else "No failure mode is widespread; seen most"
    said = f"{lead} in the {plural(failing, 'rollout')} that did not pass: {most.title} ({count(most.failed)})"
    best = modes[0]
    gain = best.gain
    if gain is not None and (gain.value or 0.0) > 0.0:
        worth = f"at most {gain_words(gain, rate=True)} without it"
        said += f", {worth}" if best.code == most.code else f"; most headroom: {best.title} ({worth})"
    return said + "."


def next_sentence(analysis: Analysis) -> str:
    total = len(analysis.causes)
    if not total:
        return ""
    open_ = sum(is_undecided(cause.label) for cause in analysis.causes)
    fail = f"{plural(total, 'task')} {'fails' if total == 1 else 'fail'} at least once"
    if not open_:
        return f"{fail}; every cause is decided."
    if open_ == total:
        return f"{fail}; no cause is decided yet."
    return f"{fail}; {count(total - open_)} have a decided cause, {count(open_)} wait for a reader."


def countings(analysis: Analysis) -> Iterator[Row]:
    rate, (low, high) = is_rate(analysis), scale_of(analysis)
    if len({variant.metric.value for variant in analysis.sensitivity}) < 2:
        return
    for variant in analysis.sensitivity:
        metric = variant.metric
        missing = "missing left out" if variant.missing == "excluded" else "missing as failures"
        yield Row(
            name=f"{missing}, infrastructure {variant.infrastructure}",
            bar=svg.range_bar(metric.value, metric.ci95, low=low, high=high, label="headline counted so"),
            value=value_words(metric, rate=rate),
        )


def parts(analysis: Analysis) -> list[Part]:
    """The buckets that hold tasks."""
    sizes = {name: len(getattr(analysis.buckets, name)) for name in ("always", "sometimes", "never", "missing")}
    return [Part(name=n, tasks=size, href=filter_link(bucket=n)) for n, size in sizes.items() if size]


def bucket_bar(analysis: Analysis) -> Markup:
    found = parts(analysis)
    total = sum(part.tasks for part in found) or 1
    label = ", ".join(f"{part.tasks} {part.name}" for part in found)
    return svg.stacked_bar([(part.tasks / total, part.name) for part in found], label=f"tasks: {label}")


def facts(analysis: Analysis) -> list[tuple[str, str]]:
    """What came in, for the line under the title."""
    coverage = analysis.coverage
    models = [one.value for one in analysis.inputs.models if one.value]
    agents = [one.value for one in analysis.inputs.agents if one.value]
    found = [
        ("tasks", count(coverage.tasks)),
        ("rollouts", count(coverage.rollouts)),
        ("model", one_line(", ".join(models[:3]), 80)),
        ("agent", one_line(", ".join(agents[:3]), 80)),
        ("cost", cost_words(analysis.cost)),
        ("missing", count(coverage.missing) if coverage.missing else ""),
        ("without a score", count(coverage.unscored) if coverage.unscored else ""),
        ("unreadable lines", count(coverage.malformed) if coverage.malformed else ""),
    ]
    return [(name, text) for name, text in found if text]


def cost_words(cost: Cost | None) -> str:
    """What the run cost, and what a success did."""
    if cost is None:
        return ""
    return dollars(cost.total) + ("" if cost.per_success is None else f", {dollars(cost.per_success)} per success")


def curves_of(analysis: Analysis) -> Markup | None:
    """pass@k and pass^k with their bands, where there is more than one k."""
    lines = [
        curve("pass@k", "at", analysis.metrics.pass_at_k),
        curve("pass^k", "pow", analysis.metrics.pass_pow_k),
    ]
    lines = [line for line in lines if len(line.points) > 1]
    return svg.curves(lines, label="pass@k and pass^k by number of attempts k", below="k") if lines else None


def curve(name: str, kind: str, metrics: dict[str, Metric]) -> svg.Curve:
    known = [(float(k), metric) for k, metric in metrics.items() if metric.value is not None]
    known.sort(key=lambda pair: pair[0])
    return svg.Curve(
        name, kind, [(k, metric.value or 0.0) for k, metric in known], [metric.ci95 for _, metric in known]
    )


def curve_note(analysis: Analysis) -> str:
    retry = analysis.metrics.retry_value
    steady = analysis.metrics.consistency
    said = f"{percent(steady.value)} of tasks pass every time."
    if retry.value is not None:
        said += f" Retrying adds {gain_words(retry, rate=True)}: solid is at least one of k attempts, dashed is all k."
    return said
