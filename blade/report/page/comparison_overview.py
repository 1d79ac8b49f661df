"""The overview of a comparison: the verdict, every task's difference, where the change shows and who moved."""

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from blade.comparison import Comparison
from blade.comparison.comparison import Driver, Part
from blade.comparison.pairing import Pairing
from blade.comparison.verdict import say_p
from blade.metrics.buckets import ORDER
from blade.report.comparison_rows import Words
from blade.report.numbers import count, plural
from blade.report.page import svg
from blade.report.page.links import encoded, repeat_of
from blade.report.page.panels import Link, Panel, Row, and_more

MOST_MOVED = 12
MOST_LEVELS = 12
MOST_BARS = 3000


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of the transition matrix."""

    tasks: int
    """How many tasks."""
    kind: str
    """Better, worse or the same."""


class ComparisonOverview(msgspec.Struct, frozen=True, kw_only=True):
    """The page's first view."""

    answer: list[str]
    """Three sentences."""
    verdict: str
    """Improved, regressed or tied."""
    value: str
    """The difference."""
    sure: str
    """Its interval and p."""
    strip: Markup
    """The same as a picture."""
    sides: list[Row]
    """Both headlines."""
    differences: Markup
    """Every paired task's difference."""
    differences_note: str
    """What they say."""
    buckets: list[str]
    """Heads of the transition matrix."""
    transitions: list[tuple[str, list[Cell]]]
    """Its rows: a bucket of the base, and tasks by bucket of the candidate."""
    panels: list[Panel]
    """Everything else."""
    warnings: list[str]
    """What to know before believing it."""


def build_comparison_overview(comparison: Comparison, pairing: Pairing) -> ComparisonOverview:
    """The overview of a comparison; `pairing` has the difference of every task."""
    words = Words(comparison.metric == "pass_at_1")
    delta = comparison.delta
    reach = max(0.05, abs(delta.value), *(abs(end) for end in delta.ci95 or ())) * 1.25
    sure = f"95 % interval {words.deltas(delta.ci95)}, {say_p(delta.p_value)}" if delta.ci95 else say_p(delta.p_value)
    panels = [
        waterfall_panel(comparison, words),
        drivers_panel(comparison, words, "regressed", total=comparison.regressed_tasks),
        drivers_panel(comparison, words, "improved", total=comparison.improved_tasks),
        *slice_panels(comparison, words),
        countings_panel(comparison, words),
        config_panel(comparison),
        pairs_panel(comparison, words),
    ]
    return ComparisonOverview(
        answer=[*answer(comparison, words)],
        verdict=comparison.verdict,
        value=words.delta(delta.value),
        sure=sure,
        strip=svg.range_bar(delta.value, delta.ci95, low=-reach, high=reach, zero=0.0, label="difference"),
        sides=list(sides(comparison, words)),
        differences=differences_chart(comparison, pairing),
        differences_note=differences_note(comparison),
        buckets=shown_buckets(comparison),
        transitions=matrix(comparison),
        panels=[panel for panel in panels if panel is not None],
        warnings=comparison.warnings,
    )


def answer(comparison: Comparison, words: Words) -> Iterator[str]:
    """The verdict, the largest part of the change, and what to read."""
    said = comparison.sentence
    yield f"{said[:1].upper()}{said[1:]}."
    moving = sorted((part for part in comparison.decomposition if part.value), key=lambda part: -abs(part.value))
    if moving:
        best = moving[0]
        yield f"The largest part of the change shows in {best.title} ({words.delta(best.value)})."
    if comparison.drivers:
        driver = comparison.drivers[0]
        moved = f"{words.value(driver.base.mean)} → {words.value(driver.candidate.mean)}"
        yield f"Read task {driver.task} first ({moved})."


def sides(comparison: Comparison, words: Words) -> Iterator[Row]:
    for side in (comparison.base, comparison.candidate):
        own = side.headline
        yield Row(
            name=side.run,
            note=f"{plural(side.tasks, 'task')}, {plural(side.rollouts, 'rollout')}",
            bar=svg.range_bar(own.value, own.ci95, low=0.0, high=max(1.0, own.value or 0.0), label="headline"),
            value=words.value(own.value),
            aside=f"({words.interval(own.ci95)})" if own.ci95 else "",
        )


def differences_note(comparison: Comparison) -> str:
    moved = f"{count(comparison.regressed_tasks)} worse, {count(comparison.improved_tasks)} better"
    said = f"{plural(comparison.paired_tasks, 'paired task')}: {moved}. Each bar is a task"
    return f"{said}; the band is the interval of their mean." if comparison.delta.ci95 else f"{said}."


def differences_chart(comparison: Comparison, pairing: Pairing) -> Markup:
    """A bar per paired task, from the most worse to the most better."""
    moved, paired = pairing.moved, pairing.paired
    found = sorted((float(moved[place]), task) for place, task in enumerate(pairing.tasks) if paired[place])
    step = -(-len(found) // MOST_BARS)
    reach = max(abs(value) for value, _ in found) or 1.0
    driven = {driver.task: driver for driver in comparison.drivers}
    bars: list[str] = []
    ends = comparison.delta.ci95
    if ends is not None:
        top, bottom = (5.0 - 5.0 * max(-1.0, min(1.0, end / reach)) for end in (ends[1], ends[0]))
        bars.append(svg.element("rect", x=0, y=top, width=100, height=bottom - top, class_="interval"))
    shown = found[::step]
    width = 100.0 / len(shown)
    for place, (value, task) in enumerate(shown):
        tall = 5.0 * abs(value) / reach
        bar = svg.element(
            "rect",
            svg.element("title", f"{task}: {value:+.3f}"),
            x=place * width + width * 0.08,
            y=5.0 - (tall if value > 0 else 0.0) if value else 4.9,
            width=width * 0.84,
            height=tall or 0.2,
            class_="better" if value > 0 else "worse" if value < 0 else "same",
        )
        driver = driven.get(task)
        bars.append(
            bar if driver is None else svg.element("a", bar, href=driver_link(driver), aria_label=f"task {task}")
        )
    bars.append(svg.element("line", x1=0, x2=100, y1=5, y2=5, class_="axis"))
    return svg.element(
        "svg", *bars, viewBox="0 0 100 10", preserveAspectRatio="none", class_="differences", role="group",
        aria_label="difference of every paired task, sorted",
    )  # fmt: skip


def driver_link(driver: Driver) -> str:
    """The address at which both rollouts of a driver stand side by side."""
    repeats = repeat_of(driver.base.citation), repeat_of(driver.candidate.citation)
    return f"#{encoded(driver.task)}:{repeats[0]}?with={repeats[1]}"


def shown_buckets(comparison: Comparison) -> list[str]:
    """Buckets that hold a task in either run."""
    table = comparison.transitions
    return [name for name in ORDER if sum(table.get(name, {}).values()) or any(row.get(name) for row in table.values())]


def matrix(comparison: Comparison) -> list[tuple[str, list[Cell]]]:
    """Tasks by bucket in the base, then in the candidate."""
    names = shown_buckets(comparison)
    rank = {"always": 2, "sometimes": 1, "never": 0}
    rows: list[tuple[str, list[Cell]]] = []
    for base in names:
        cells = []
        for candidate in names:
            kind = "same"
            if base != candidate and base in rank and candidate in rank:
                kind = "better" if rank[candidate] > rank[base] else "worse"
            cells.append(Cell(tasks=comparison.transitions.get(base, {}).get(candidate, 0), kind=kind))
        rows.append((base, cells))
    return rows


def waterfall_panel(comparison: Comparison, words: Words) -> Panel | None:
    """From the base's headline to the candidate's, part by part."""
    parts = [part for part in comparison.decomposition if abs(part.value) > 1e-12]
    if not parts:
        return None
    change = comparison.change
    levels = [change.base]
    for part in parts:
        levels.append(levels[-1] + part.value)
    low, high = min(levels), max(levels)
    pad = (high - low) * 0.08 or 0.01
    low, high = low - pad, high + pad
    rows = [Row(name="Base", bar=step_bar(change.base, None, low, high), value=words.value(change.base))]
    rows += [
        part_row(part, words, bar=step_bar(start, start + part.value, low, high))
        for part, start in zip(parts, levels, strict=False)
    ]
    rows.append(
        Row(name="Candidate", bar=step_bar(change.candidate, None, low, high), value=words.value(change.candidate))
    )
    return Panel(
        id="parts",
        title="Where the change shows",
        lead="Every rollout's loss is charged to one thing; the parts add up to the change of the headline.",
        rows=rows,
    )


def part_row(part: Part, words: Words, *, bar: Markup) -> Row:
    rollouts = ""
    if part.base_rollouts is not None and part.candidate_rollouts is not None:
        rollouts = f"{count(part.base_rollouts)} → {plural(part.candidate_rollouts, 'rollout')}"
    return Row(
        name=part.title,
        note=rollouts,
        bar=bar,
        value=words.delta(part.value),
        aside=f"({words.deltas(part.ci95)})" if part.ci95 else "",
    )


def step_bar(start: float, end: float | None, low: float, high: float) -> Markup:
    """A level, or the step from one to another."""

    def place(value: float) -> float:
        return 100.0 * (value - low) / (high - low)

    drawn = [svg.element("rect", x=0, y=1, width=100, height=8, class_="track")]
    if end is None:
        drawn.append(svg.element("rect", x=0, y=1, width=place(start), height=8, class_="fill"))
    else:
        left, right = sorted((place(start), place(end)))
        kind = "better" if end > start else "worse"
        drawn.append(svg.element("rect", x=left, y=1, width=max(right - left, 0.8), height=8, class_=kind))
    return svg.stretched(*drawn, label="level" if end is None else f"step of {end - start:+.3f}")


def drivers_panel(comparison: Comparison, words: Words, direction: str, *, total: int) -> Panel | None:
    """Tasks that moved, with both rollouts side by side."""
    drivers = [driver for driver in comparison.drivers if driver.direction == direction]
    if not drivers:
        return None
    rows = [
        Row(
            name=f"Task {driver.task}",
            href=driver_link(driver),
            note="; ".join(f"{failing.title} ({failing.rollouts})" for failing in driver.failing[:3]),
            bar=svg.range_bar(
                driver.candidate.mean, sorted((driver.base.mean, driver.candidate.mean)), low=0.0, high=1.0,
                label=f"from {driver.base.mean:.2f} to {driver.candidate.mean:.2f}",
            ),
            value=words.delta(driver.delta),
            aside=f"{words.value(driver.base.mean)} → {words.value(driver.candidate.mean)}",
            links=[Link(text="read both side by side", href=driver_link(driver))],
        )
        for driver in drivers[:MOST_MOVED]
    ]  # fmt: skip
    return Panel(
        id=direction,
        title="Tasks that did worse" if direction == "regressed" else "Tasks that did better",
        rows=rows,
        more=and_more(total - len(rows), "task"),
    )


def slice_panels(comparison: Comparison, words: Words) -> Iterator[Panel]:
    for place, cut in enumerate(comparison.slices):
        levels = [level for level in cut.levels if level.delta is not None][:MOST_LEVELS]
        if len(levels) < 2:
            continue
        reach = max([0.05, *(abs(end) for one in levels if one.delta for end in one.delta.ci95 or (one.delta.value,))])
        rows = [
            Row(
                name=level.level,
                note=plural(level.delta.tasks, "paired task"),
                bar=svg.range_bar(
                    level.delta.value, level.delta.ci95, low=-reach, high=reach, zero=0.0, label="difference"
                ),
                value=words.delta(level.delta.value),
                aside=f"({words.deltas(level.delta.ci95)})" if level.delta.ci95 else "",
            )
            for level in levels
            if level.delta is not None
        ]
        yield Panel(id=f"slice-{place}", title=f"By {cut.field}", rows=rows, scale=["worse", "better"])


def countings_panel(comparison: Comparison, words: Words) -> Panel | None:
    """The change under other ways of counting, when they differ."""
    known = [counting for counting in comparison.countings if counting.value is not None]
    if len({round(counting.value or 0.0, 9) for counting in known}) < 2:
        return None
    rows = [
        Row(
            name=f"missing {counting.missing.replace('_', ' ')}, infrastructure {counting.infrastructure}",
            value=words.delta(counting.value),
            aside=f"{words.value(counting.base)} → {words.value(counting.candidate)}",
        )
        for counting in known
    ]
    return Panel(id="countings", title="Counted in other ways", rows=rows)


def config_panel(comparison: Comparison) -> Panel | None:
    """What the rows state differently about how the runs were made."""
    rows = [
        Row(name=change.name, tag=change.aspect, note=f"{'; '.join(change.base)} → {'; '.join(change.candidate)}")
        for change in comparison.config_changes[:MOST_LEVELS]
    ]
    lead = "What the rows state differently about how the two were made."
    return Panel(id="config", title="What else changed", lead=lead, rows=rows) if rows else None


def pairs_panel(comparison: Comparison, words: Words) -> Panel | None:
    """Every pair of several runs."""
    if not isinstance(comparison.pairs, list):
        return None
    rows = [
        Row(
            name=f"{pair.candidate.run} against {pair.base.run}",
            tag=pair.verdict,
            value=words.delta(pair.delta.value),
            aside=f"({words.deltas(pair.delta.ci95)})" if pair.delta.ci95 else "",
        )
        for pair in comparison.pairs[:40]
    ]
    lead = "Verdicts are adjusted for the number of pairs. The rest of this page is about the first two runs."
    return Panel(id="pairs", title="Every pair of runs", lead=lead, rows=rows)
