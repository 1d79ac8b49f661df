"""The overview of a comparison: the verdict, every task's difference, where the change shows and who moved."""

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from blade.comparison import Comparison
from blade.comparison.comparison import Driver, Part
from blade.comparison.pairing import Pairing
from blade.comparison.verdict import say_p
from blade.metrics.buckets import ORDER
from blade.report.comparison_rows import Words, adjusted_words
from blade.report.numbers import count, plural
from blade.report.page import svg
from blade.report.page.links import encoded, repeat_of
from blade.report.page.panels import FIRST_LEVELS, Link, Panel, Row, and_more, capital

MOST_MOVED = 30
FIRST_MOVED = 6
"""Tasks that moved which are not folded."""
MOST_STEPS = 8
"""Parts of the change that are steps of their own."""
MOST_LEVELS = 40
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
    first: Link | None
    """The task to read first."""
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
    differences_ends: list[str]
    """The tasks at both ends."""
    buckets: list[str]
    """Heads of the transition matrix."""
    transitions: list[tuple[str, list[Cell]]]
    """Its rows: a bucket of the base, and tasks by bucket of the candidate."""
    first_panels: list[Panel]
    """Where the change shows, and the tasks that drove it."""
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
    drivers = [
        drivers_panel(comparison, words, "regressed", total=comparison.regressed_tasks),
        drivers_panel(comparison, words, "improved", total=comparison.improved_tasks),
    ]
    drivers = [panel for panel in drivers if panel is not None]
    waterfall = waterfall_panel(comparison, words)
    panels = [
        *drivers[1:],
        *slice_panels(comparison, words),
        countings_panel(comparison, words),
        config_panel(comparison),
        pairs_panel(comparison, words),
    ]
    return ComparisonOverview(
        answer=[*answer(comparison, words)],
        first=first_link(comparison, words),
        verdict=comparison.verdict,
        value=words.delta(delta.value),
        sure=sure,
        strip=svg.range_bar(delta.value, delta.ci95, low=-reach, high=reach, zero=0.0, label="difference"),
        sides=list(sides(comparison, words)),
        differences=differences_chart(comparison, pairing),
        differences_note=differences_note(comparison),
        buckets=shown_buckets(comparison),
        transitions=matrix(comparison) if len(shown_buckets(comparison)) > 1 else [],
        differences_ends=differences_ends(pairing, words),
        first_panels=[panel for panel in (waterfall, *drivers[:1]) if panel is not None],
        panels=[panel for panel in panels if panel is not None],
        warnings=comparison.warnings,
    )


def answer(comparison: Comparison, words: Words) -> Iterator[str]:
    """The verdict, the largest part of the change, and how many tasks moved."""
    yield f"{capital(comparison.sentence)}."
    if isinstance(comparison.pairs, list):
        yield adjusted_words(comparison, comparison.pairs)
    moving = sorted((part for part in comparison.decomposition if part.value), key=lambda part: -abs(part.value))
    if moving:
        best = moving[0]
        yield f"The largest part of the change: {best.title} ({words.delta(best.value)})."
    if not comparison.regressed_tasks and not comparison.improved_tasks:
        yield f"None of {plural(comparison.paired_tasks, 'paired task')} moved."
        return
    yield (
        f"{count(comparison.regressed_tasks)} of {plural(comparison.paired_tasks, 'task')} did worse, "
        f"{count(comparison.improved_tasks)} did better."
    )


def first_link(comparison: Comparison, words: Words) -> Link | None:
    """The task that moved most."""
    if not comparison.drivers:
        return None
    driver = comparison.drivers[0]
    moved = f"{words.value(driver.base.mean)} to {words.value(driver.candidate.mean)}"
    return Link(text=f"Read task {driver.task} side by side ({moved})", href=driver_link(driver))


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
    said = f"Each bar is one of {plural(comparison.paired_tasks, 'paired task')}"
    return f"{said}; the band is the interval of their mean." if comparison.delta.ci95 else f"{said}."


def differences_chart(comparison: Comparison, pairing: Pairing) -> Markup:
    """A bar per paired task, from the most worse to the most better."""
    moved, paired = pairing.moved, pairing.paired
    found = sorted((float(moved[place]), task) for place, task in enumerate(pairing.tasks) if paired[place])
    step = -(-len(found) // MOST_BARS)
    low, high = min(0.0, found[0][0]), max(0.0, found[-1][0])
    span = (high - low) or 1.0
    axis = 10.0 * high / span if high > low else 5.0
    driven = {driver.task: driver for driver in comparison.drivers}
    bars: list[str] = []
    ends = comparison.delta.ci95
    if ends is not None:
        top, bottom = (axis - 10.0 * min(max(end, low), high) / span for end in (ends[1], ends[0]))
        bars.append(svg.element("rect", x=0, y=top, width=100, height=bottom - top, class_="interval"))
    shown = found[::step]
    width = 100.0 / len(shown)
    for place, (value, task) in enumerate(shown):
        tall = 10.0 * abs(value) / span
        bar = svg.element(
            "rect",
            svg.element("title", f"{task}: {value:+.3f}"),
            x=place * width + width * 0.08,
            y=axis - (tall if value > 0 else 0.0) if value else max(0.0, axis - 0.1),
            width=width * 0.84,
            height=tall or 0.2,
            class_="better" if value > 0 else "worse" if value < 0 else "same",
        )
        driver = driven.get(task)
        bars.append(
            bar if driver is None else svg.element("a", bar, href=driver_link(driver), aria_label=f"task {task}")
        )
    bars.append(svg.element("line", x1=0, x2=100, y1=axis, y2=axis, class_="axis"))
    return svg.element(
        "svg", *bars, viewBox="0 0 100 10", preserveAspectRatio="none", class_="differences", role="group",
        aria_label="difference of every paired task, sorted",
    )  # fmt: skip


def differences_ends(pairing: Pairing, words: Words) -> list[str]:
    """The task that lost most and the one that gained most."""
    found = [(float(pairing.moved[place]), task) for place, task in enumerate(pairing.tasks) if pairing.paired[place]]
    (low, first), (high, last) = min(found), max(found)
    worst = f"task {first}: {words.delta(low)}" if low < 0 else ""
    best = f"task {last}: {words.delta(high)}" if high > 0 else ""
    return [worst, best] if worst or best else []


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
    parts = sorted((p for p in comparison.decomposition if abs(p.value) > 1e-12), key=lambda part: -abs(part.value))
    if not parts:
        return None
    small = parts[MOST_STEPS:] if len(parts) > MOST_STEPS + 1 else []
    if small:
        whole = {"title": plural(len(small), "smaller part"), "value": sum(part.value for part in small)}
        unknown = {"ci95": None, "base_rollouts": None, "candidate_rollouts": None}
        parts = [*parts[:MOST_STEPS], msgspec.structs.replace(small[0], **whole, **unknown)]
    parts.sort(key=lambda part: -part.value)
    change = comparison.change
    levels = [change.base]
    for part in parts:
        levels.append(levels[-1] + part.value)
    low, high = min(0.0, *levels), max(0.0, *levels) or 1.0
    ends = [
        Row(name=name, note=side.run, bar=step_bar(level, None, low, high), value=words.value(level))
        for name, side, level in (
            ("Base", comparison.base, change.base),
            ("Candidate", comparison.candidate, change.candidate),
        )
    ]
    steps = [
        part_row(part, words, bar=step_bar(start, start + part.value, low, high))
        for part, start in zip(parts, levels, strict=False)
    ]
    return Panel(
        id="parts",
        title="Where the change shows",
        lead="Every lost rollout is charged to one thing; the parts add up to the change of the headline.",
        rows=[ends[0], *steps, ends[1]],
        folded=[part_row(part, words, bar=step_bar(0.0, part.value, low, high)) for part in small],
        kind="waterfall",
    )


def part_row(part: Part, words: Words, *, bar: Markup) -> Row:
    rollouts = ""
    if part.base_rollouts is not None and part.candidate_rollouts is not None:
        rollouts = f"{count(part.base_rollouts)} → {plural(part.candidate_rollouts, 'rollout')}"
    return Row(
        name=capital(part.title),
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
        left, right = sorted((place(0.0), place(start)))
        drawn.append(svg.element("rect", x=left, y=1, width=right - left, height=8, class_="fill"))
    else:
        left, right = sorted((place(start), place(end)))
        kind = "better" if end > start else "worse"
        drawn.append(svg.element("rect", x=left, y=1, width=max(right - left, 0.8), height=8, class_=kind))
    drawn.append(svg.element("line", x1=place(0.0), x2=place(0.0), y1=0, y2=10, class_="zero"))
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
        rows=rows[:FIRST_MOVED],
        folded=rows[FIRST_MOVED:],
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
        yield Panel(
            id=f"slice-{place}",
            title=f"By {cut.field}",
            rows=rows[:FIRST_LEVELS],
            folded=rows[FIRST_LEVELS:],
            scale=["worse", "better"],
        )


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
