"""What a page knows of a run: its tasks, its rollouts without their trajectories, and what they can be filtered by.

The page's script reads this value as JSON, so it is the contract between the two. It is made from an analysis and,
where the rollouts are at hand, from the run's table; whatever an analysis does not have leaves its part empty.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from blade.diagnosis.analysis import Analysis, Cause
from blade.diagnosis.labels import CAUSES, Evidence
from blade.metrics import TaskResult
from blade.metrics.values import Floats
from blade.report.headline import is_rate
from blade.report.page.modes import PageMode, page_modes
from blade.report.streams import Made
from blade.rollouts import Run
from blade.rollouts.columns import level_text
from blade.rollouts.table import CITATION, ENDING_KINDS, RolloutTable

MOST_LEVELS = 40
"""Values of a field that are offered as a filter."""


class RowIndex:
    """The row of every rollout, by task and repeat."""

    def __init__(self, table: RolloutTable) -> None:
        self._tasks = {task: number for number, task in enumerate(table.tasks)}
        self._ends = np.searchsorted(table.task, np.arange(len(table.tasks) + 1)).tolist()
        self._repeat = table.repeat

    def row(self, task: str, repeat: int) -> int | None:
        """A rollout's row; `None` when it is not there."""
        number = self._tasks.get(task)
        if number is None:
            return None
        first, end = self._ends[number : number + 2]
        hits = np.flatnonzero(self._repeat[first:end] == repeat)
        return first + int(hits[-1]) if len(hits) else None


class PageTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One task."""

    task: str
    """Task key."""
    bucket: str | None = None
    """Where it falls."""
    c: int = 0
    """Rollouts that succeeded."""
    n: int = 0
    """Rollouts with a known success."""
    score: float | None = None
    """Its success rate, or its mean reward where there is no success rule."""
    cause: str | None = None
    """The label in force; one that ends in `?` is undecided."""
    confidence: str | None = None
    """How sure its author is."""
    author: str | None = None
    """Who says so."""
    reason: str | None = None
    """Why."""
    evidence: list[Evidence] = []
    """The proof."""
    candidates: list[tuple[str, float]] = []
    """Where nothing is proven: causes it may be, with their probabilities."""
    steps: list[tuple[str, str]] = []
    """Where rollouts went wrong, and what shows it."""


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """One value per rollout, in the order of tasks and repeats."""

    task: Sequence[int] = ()
    """Index into the tasks."""
    repeat: Sequence[int] = ()
    """Which attempt it is."""
    passed: Sequence[int | None] = ()
    """1, 0, or `None` when nobody knows."""
    reward: Sequence[float | None] = ()
    """Score."""
    ending: Sequence[int] = ()
    """Why it ended, as an index into the page's `endings`."""
    tokens: Sequence[int | None] = ()
    """Tokens read and written."""
    seconds: Sequence[float | None] = ()
    """Wall time."""
    calls: Sequence[int | None] = ()
    """Tool calls made."""
    chunk: Sequence[int | None] = ()
    """Which part of the page holds the trajectory; `None` when none does."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a facet and the rollouts that have it."""

    id: str
    """What the address bar says."""
    title: str
    """What a person reads."""
    rows: Sequence[int]
    """Rollouts, as positions in the columns."""
    of: int | None = None
    """How many there are, when not all of them are listed."""


class Facet(msgspec.Struct, frozen=True, kw_only=True):
    """Something rollouts can be filtered by."""

    id: str
    """What the address bar says."""
    title: str
    """What a person reads."""
    values: list[Value]
    """Its values."""


class Mark(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """An item of a rollout at which a failure mode was seen."""

    row: int
    item: int
    mode: int


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the page's script knows before a trajectory is opened."""

    run: str
    """Name of the run."""
    rate: bool
    """Whether success is defined; otherwise scores are graded."""
    tasks: Sequence[PageTask]
    """Every task."""
    rollouts: Columns = Columns()
    """Every rollout."""
    endings: tuple[str, ...] = ENDING_KINDS
    """How rollouts end."""
    facets: list[Facet] = []
    """What they can be filtered by, beside bucket and cause."""
    modes: list[str] = []
    """Failure modes by the numbers that `marks` uses."""
    marks: list[Mark] = []
    """Where modes were seen."""
    causes: dict[str, str] = msgspec.field(default_factory=lambda: dict(CAUSES))
    """What the letters mean."""
    source: str = "none"
    """Where trajectories come from: `inline`, `files`, `server` or `none`."""
    files: str = ""
    """Folder of the parts, when they are files."""
    left_out: int = 0
    """Rollouts whose trajectory did not fit."""
    token: str = ""
    """What a label sent to the server must carry."""


def page_data(analysis: Analysis, run: Run | None = None, passed: Floats | None = None, **more: Any) -> PageData:
    """The page's data; `passed` is the verdict per row of the run, `more` are fields to fill in."""
    modes = page_modes(analysis)
    rollouts = Columns() if run is None or passed is None else columns(run.table, passed)
    index = None if run is None else RowIndex(run.table)
    facets = [] if run is None or index is None else [*mode_facet(modes, index), *slice_facets(analysis, run.table)]
    return PageData(
        run=analysis.inputs.run,
        rate=is_rate(analysis),
        tasks=page_tasks(analysis),
        rollouts=rollouts,
        facets=facets,
        modes=[mode.title for mode in modes],
        marks=[] if index is None else list(marks(modes, index)),
        **more,
    )


def page_tasks(analysis: Analysis) -> Sequence[PageTask]:
    """Every task with the label in force."""
    causes = {cause.task: cause for cause in analysis.causes}
    rate = is_rate(analysis)

    def made(first: int, end: int) -> list[PageTask]:
        return [page_task(result, causes.get(result.task), rate=rate) for result in analysis.tasks[first:end]]

    return Made(len(analysis.tasks), made)


def page_task(result: TaskResult, cause: Cause | None, *, rate: bool) -> PageTask:
    """A task, with its label if it has one."""
    score = result.rate if rate else result.mean_reward
    if cause is None:
        return PageTask(task=result.task, bucket=result.bucket, c=result.c, n=result.n, score=score)
    return PageTask(
        task=result.task,
        bucket=result.bucket,
        c=result.c,
        n=result.n,
        score=score,
        cause=cause.label,
        confidence=cause.confidence,
        author=cause.author,
        reason=cause.reason,
        evidence=cause.evidence,
        candidates=[(one.label, one.probability) for one in cause.candidates],
        steps=[(one.citation, one.why) for one in cause.steps],
    )


def columns(table: RolloutTable, passed: Floats) -> Columns:
    """The table's columns that a list of rollouts shows."""
    tokens = np.where(np.isnan(table.input_tokens), 0.0, table.input_tokens) + table.output_tokens
    return Columns(
        task=whole(table.task),
        repeat=whole(table.repeat),
        passed=whole_or_none(passed),
        reward=known_or_none(table.reward),
        ending=whole(table.ending),
        tokens=whole_or_none(tokens),
        seconds=known_or_none(table.seconds),
        calls=places_or_none(table.rows.fact("tool_calls")),
    )


def known_or_none(values: Floats) -> Sequence[float | None]:
    """The numbers, `None` for nan, which alone differs from itself."""
    return Made(len(values), lambda first, end: [None if v != v else v for v in values[first:end].tolist()])


def whole_or_none(values: Floats) -> Sequence[int | None]:
    return Made(len(values), lambda first, end: [None if v != v else int(v) for v in values[first:end].tolist()])


def whole(values: npt.NDArray[Any]) -> Sequence[int]:
    return Made(len(values), lambda first, end: values[first:end].tolist())


def places_or_none(values: npt.NDArray[Any]) -> Sequence[int | None]:
    """The whole numbers, `None` for those below 0."""
    return Made(len(values), lambda first, end: [None if v < 0 else v for v in values[first:end].tolist()])


def mode_facet(modes: Sequence[PageMode], index: RowIndex) -> list[Facet]:
    """Rollouts by the failure modes seen in them."""
    listed = [(mode, rows_of(mode.citations, index)) for mode in modes]
    values = [
        Value(id=mode.code, title=mode.title, rows=rows, of=mode.failed if mode.failed > len(rows) else None)
        for mode, rows in listed
        if rows
    ]
    return [Facet(id="mode", title="Failure mode", values=values)] if values else []


def slice_facets(analysis: Analysis, table: RolloutTable) -> list[Facet]:
    """Rollouts by the fields the run is cut by."""
    facets: list[Facet] = []
    for cut in analysis.slices:
        column = table.rows.columns.get(cut.field)
        if column is None:
            continue
        coded = column.coded()
        codes: dict[str, list[int]] = {}
        for code, level in enumerate(coded.levels):
            for name in set(level if isinstance(level, tuple) else () if level is None else (level_text(level),)):
                codes.setdefault(name, []).append(code)
        shown = [level.level for level in cut.levels][:MOST_LEVELS]
        rows = {name: np.flatnonzero(np.isin(coded.values, codes.get(name, []))) for name in shown}
        values = [Value(id=name, title=name, rows=whole(rows[name])) for name in shown]
        facets.append(Facet(id=f"field.{cut.field}", title=cut.field, values=values))
    return facets


def tool_facet(tools: dict[str, list[int]]) -> list[Facet]:
    """Rollouts by the tools they called."""
    values = [Value(id=name, title=name, rows=sorted(rows)) for name, rows in sorted(tools.items())]
    return [Facet(id="tool", title="Tool called", values=values)] if values else []


def rows_of(citations: Iterable[str], index: RowIndex) -> list[int]:
    """Rows of the rollouts that are cited, each once."""
    return sorted({row for row, _ in places_of(citations, index)})


def marks(modes: Sequence[PageMode], index: RowIndex) -> Iterable[Mark]:
    """Where modes were seen, as far as they name an item."""
    for number, mode in enumerate(modes):
        for row, item in places_of(mode.citations, index):
            if item is not None:
                yield Mark(row=row, item=item, mode=number)


def places_of(citations: Iterable[str], index: RowIndex) -> Iterable[tuple[int, int | None]]:
    """Row and item of citations; those of rollouts that are not there are passed over."""
    for text in citations:
        match = CITATION.fullmatch(text)
        row = None if match is None else index.row(match["task"], int(match["repeat"]))
        if match is not None and row is not None:
            yield row, None if match["item"] is None else int(match["item"])
