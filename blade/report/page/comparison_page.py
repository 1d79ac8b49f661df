"""`comparison.html`: the page of a comparison, with both trajectories of every task that moved."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from blade.comparison import Comparison
from blade.comparison.pairing import alike, pair
from blade.comparison.ranking import distinct_names
from blade.diagnosis import Diagnosed
from blade.report.files import write_file
from blade.report.numbers import count
from blade.report.page.comparison_overview import build_comparison_overview
from blade.report.page.data import PageData, page_data, places_or_none
from blade.report.page.links import repeat_of
from blade.report.page.render import render
from blade.report.page.tradeoff import run_point, tradeoff
from blade.report.page.trajectories import INLINE_BYTES, pack, within

COMPARISON_PAGE = "comparison.html"


class PageDriver(msgspec.Struct, frozen=True, kw_only=True):
    """A task that moved."""

    task: str
    """Task key."""
    direction: str
    """Which way."""
    delta: float
    """By how much."""
    base: int
    """Repeat of the base to read."""
    candidate: int
    """Repeat of the candidate to read."""


class ComparisonData(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the page's script knows before a trajectory is opened."""

    sides: list[PageData]
    """Base and candidate."""
    drivers: list[PageDriver]
    """Tasks that moved."""


def write_comparison_page(folder: Path, comparison: Comparison, runs: Sequence[Diagnosed]) -> None:
    """Writes the page of the first two runs; it holds the trajectories of the tasks that moved, as far as they fit."""
    base, candidate = alike(runs[0], runs[1])
    drivers = [
        PageDriver(
            task=driver.task,
            direction=driver.direction,
            delta=driver.delta,
            base=repeat_of(driver.base.citation),
            candidate=repeat_of(driver.candidate.citation),
        )
        for driver in comparison.drivers
    ]
    run_names = distinct_names([run.run.name for run in runs])
    points = [msgspec.structs.replace(run_point(run), name=name) for run, name in zip(runs, run_names, strict=True)]
    parts: list[bytes] = []
    sides: list[PageData] = []
    for side, names in ((base, [d.base for d in drivers]), (candidate, [d.candidate for d in drivers])):
        data, more = side_of(side, [driver.task for driver in drivers], names, first_part=len(parts))
        sides.append(data)
        parts += more
    page = render(
        "comparison.html.jinja",
        "comparison.js",
        ComparisonData(sides=sides, drivers=drivers),
        source="inline",
        parts=parts,
        title=f"{comparison.candidate.run} against {comparison.base.run}",
        tabs=[("overview", "Overview"), ("rollouts", f"Tasks that moved {count(len(drivers))}")],
        overview=build_comparison_overview(comparison, pair(base.outcomes, candidate.outcomes)),
        tradeoff=None if comparison.is_copy else tradeoff(points),
        base=comparison.base.run,
        candidate=comparison.candidate.run,
    )
    write_file(folder / COMPARISON_PAGE, page)


def side_of(
    side: Diagnosed, tasks: Sequence[str], repeats: Sequence[int], *, first_part: int
) -> tuple[PageData, list[bytes]]:
    """One run's part of the page: the rollouts of the tasks that moved, those to read first when not all fit."""
    table = side.run.table
    moved = {place for place, task in enumerate(table.tasks) if task in set(tasks)}
    named = [row for task, repeat in zip(tasks, repeats, strict=True) if (row := table.find(task, repeat)) is not None]
    others = [row for row, task in enumerate(table.task.tolist()) if task in moved]
    rows = within(table.rows.length, [*named, *others], INLINE_BYTES // 2)
    packed = pack(side.run, side.outcomes.success, rows, inline=True)
    chunk = places_or_none(np.where(packed.chunk < 0, -1, packed.chunk + first_part))
    data = page_data(side.analysis, side.run, side.outcomes.success, source="inline")
    rollouts = msgspec.structs.replace(data.rollouts, chunk=chunk)
    return msgspec.structs.replace(data, rollouts=rollouts, facets=[]), packed.parts
