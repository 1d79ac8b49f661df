"""The overview of a page: what the analysis says, in the order in which a busy reader asks.

Everything here is a value for the template, which only lays it out. A part is `None` or empty when the analysis has
nothing to say there, and then the page does not mention it.
"""

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from blade.diagnosis.analysis import Analysis, headline_of
from blade.metrics import Metric
from blade.metrics.prices import Cost
from blade.metrics.values import Floats
from blade.report.headline import (
    basis_words,
    bucket_words,
    failing_rollouts,
    gain_words,
    is_rate,
    mode_words,
    score_words,
    sure_words,
    undecided_words,
    value_words,
)
from blade.report.numbers import count, number, percent, plural
from blade.report.page import svg
from blade.report.page.associations import dollars, effort_panel, predictors_panel, traits_panel
from blade.report.page.links import filter_link
from blade.report.page.modes import page_modes
from blade.report.page.panels import (
    Link,
    Panel,
    Row,
    causes_panel,
    fixes_panel,
    funnel_panel,
    health_panel,
    link_to,
    modes_panel,
    reading_panel,
    scale_of,
    slice_panels,
)
from blade.report.text import one_line


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
    ends: tuple[str, str]
    """What the ends of the picture stand for."""
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
    first_panels: list[Panel]
    """What goes wrong and what to do about it: the rest of the first screen."""
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
    first_panels = [modes_panel(analysis, modes), fixes_panel(analysis, modes)]
    panels = [
        causes_panel(analysis),
        reading_panel(analysis),
        predictors_panel(analysis),
        traits_panel(analysis),
        *slice_panels(analysis),
        effort_panel(analysis, quantities or {}, passed),
        funnel_panel(analysis),
        health_panel(analysis),
    ]
    return Overview(
        answer=answer(analysis),
        first=next((link_to(item.read[0]) for item in analysis.reading_list if item.read), None),
        metric="" if metric.value is None else "pass@1" if rate else "mean reward",
        value="no score" if metric.value is None else value_words(metric, rate=rate),
        sure="no rollout has been scored" if metric.value is None else sure_words(analysis),
        strip=svg.range_bar(metric.value, metric.ci95, low=ends[0], high=ends[1], label="headline with its interval"),
        ends=("0 %", "100 %") if rate else (number(ends[0]), number(ends[1])),
        counted=list(countings(analysis)) if metric.value is not None else [],
        buckets=parts(analysis),
        bucket_bar=bucket_bar(analysis),
        facts=facts(analysis),
        curves=drawn,
        curve_note=curve_note(analysis) if drawn else "",
        first_panels=[panel for panel in first_panels if panel is not None],
        panels=[panel for panel in panels if panel is not None],
    )


def answer(analysis: Analysis) -> list[str]:
    """The score, what goes with failing, and what is decided: a paragraph each, in the words of the report."""
    if headline_of(analysis).value is None:
        score = "No rollout has a known score, so there is no headline."
    else:
        said = score_words(analysis)
        score = f"{said[:1].upper() if not is_rate(analysis) else said[:1]}{said[1:]} ({sure_words(analysis)})"
        score += f" over {basis_words(analysis)}."
        score += f" {bucket_words(analysis)}" if is_rate(analysis) else " Rewards are graded."
    why = " ".join(explanation(analysis))
    return [said for said in (score, why, undecided_words(analysis)) if said]


def explanation(analysis: Analysis) -> Iterator[str]:
    """The strongest thing known of tasks before they are tried, and the most frequent failure mode."""
    if not is_rate(analysis):
        return
    if not (failing := failing_rollouts(analysis)):
        yield "Every rollout passed."
        return
    for best in analysis.predictors[:1]:
        inside, outside = percent(best.inside.value), percent(best.outside.value)
        yield f"Tasks that {best.rule} pass {inside} of the time, the others {outside}."
    if said := mode_words(analysis):
        yield said
    elif not analysis.predictors:
        yield f"Nothing BLADE looks for was seen in the {plural(failing, 'rollout')} that did not pass."


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
    if sizes["missing"] == sum(sizes.values()):
        return []
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
    said = (
        f"Solid: at least one of k attempts passes; dashed: all k do. {percent(steady.value)} of tasks pass every time"
    )
    if retry.value is None:
        return f"{said}."
    tasks = "" if retry.n == steady.n else f" over {plural(retry.n, 'task')}"
    return f"{said}; retrying adds {gain_words(retry, rate=True)}{tasks}."
