"""`report.html` of a folder of several runs: a line for each, score against cost, and links to their pages."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from blade.diagnosis import Diagnosed
from blade.report.files import write_file
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, plural
from blade.report.page import svg
from blade.report.page.associations import dollars
from blade.report.page.modes import page_modes
from blade.report.page.overview import Part, bucket_bar, parts
from blade.report.page.panels import capital, scale_of
from blade.report.page.render import render
from blade.report.page.tradeoff import RunPoint, Tradeoff, named_examples, run_point, score_words, tradeoff


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the table."""

    name: str
    """What the run is called."""
    href: str
    """Its page."""
    score: str
    """Its headline."""
    sure: str
    """The interval."""
    bar: Markup
    """Both as a picture."""
    buckets: list[Part]
    """How its tasks fall."""
    bucket_bar: Markup
    """The same as a picture."""
    size: str
    """Tasks and rollouts."""
    cost: str
    """What a rollout costs."""
    tokens: str
    """The tokens it takes."""
    mode: str
    """Its costliest failure mode."""


def write_runs_page(out: Path, runs: Sequence[Diagnosed], folders: Sequence[str], *, compared: bool = False) -> None:
    """Writes the page; `folders` are those of the runs, beside it, and maybe their comparison is, too."""
    hrefs = [f"{quote(folder)}/report.html" for folder in folders]
    points = [run_point(one, href) for one, href in zip(runs, hrefs, strict=True)]
    found = tradeoff(points)
    lines = [run_line(one, point) for one, point in zip(runs, points, strict=True)]
    page = render(
        "runs.html.jinja",
        "theme.js",
        None,
        source="none",
        parts=[],
        title=plural(len(runs), "run"),
        tabs=[],
        answer=answer(points, found, compared=compared),
        lines=lines,
        has_buckets=any(one.buckets for one in lines),
        notes=copies(runs),
        tradeoff=found,
        has_comparison=compared,
    )
    write_file(out / "report.html", page)


def answer(points: Sequence[RunPoint], found: Tradeoff | None, *, compared: bool) -> list[str]:
    """Which run scores highest, and which are worth their cost."""
    scored = [point for point in points if point.headline.value is not None]
    if not scored:
        return ["No run has a score."]
    if len({(point.tasks, point.rate) for point in scored}) > 1:
        return ["These runs were tried on different tasks, so their scores say nothing about which is better."]
    best = max(scored, key=lambda point: point.headline.value or 0.0)
    said = [f"{best.name} scores highest: {score_words(best)}, over {plural(best.headline.n, 'task')}."]
    if found:
        only, are = ("Only ", "is") if len(found.front) == 1 else ("", "are")
        said.append(f"{only}{' and '.join(found.front)} {are} on the Pareto front of score against cost.")
    if not compared:
        said.append("Use `blade compare` to see whether a difference is real; it pairs the runs task by task.")
    return said


def run_line(one: Diagnosed, point: RunPoint) -> RunLine:
    """A run's line in the table."""
    analysis, metric = one.analysis, point.headline
    low, high = scale_of(analysis)
    coverage = analysis.coverage
    return RunLine(
        name=point.name,
        href=point.href or "",
        score=value_words(metric, rate=is_rate(analysis)) if metric.value is not None else "no score",
        sure=interval_words(metric, rate=is_rate(analysis)) if metric.ci95 else "",
        bar=svg.range_bar(metric.value, metric.ci95, low=low, high=high, label="headline with its interval")
        if metric.value is not None
        else Markup(""),
        buckets=parts(analysis),
        bucket_bar=bucket_bar(analysis),
        size=f"{plural(coverage.tasks, 'task')}, {plural(coverage.rollouts, 'rollout')}",
        cost=cost_words(point),
        tokens="" if point.tokens is None else f"{count(round(point.tokens))} tokens per rollout",
        mode=capital(next((mode.title for mode in page_modes(analysis)), "")),
    )


def cost_words(point: RunPoint) -> str:
    """What a rollout of a run costs, in words."""
    if point.dollars is None:
        return "unknown"
    return f"{dollars(point.dollars)} per rollout" + (" where known" if point.unpriced else "")


def copies(runs: Sequence[Diagnosed]) -> list[str]:
    """Runs that hold the same rollouts: copies, not second measurements."""
    same = dict.fromkeys(frozenset((one.run.name, *one.analysis.inputs.copies)) for one in runs)
    return [f"{named_examples(sorted(names))} hold the same rollouts." for names in same if len(names) > 1]
