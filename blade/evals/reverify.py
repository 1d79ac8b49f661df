"""Judging rollouts again: the same trajectories, today's verifier, and every reward that is no longer the same.

A verifier is a pure function of the task and the output items, so no model and no server is needed. The rollouts are
never changed: those with today's verdicts are a new file, which gets its failures, inputs and metrics beside it.
"""

import math
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from blade.benchmarks import Benchmark
from blade.environments import Environment
from blade.errors import InputError, UsageError
from blade.evals.aggregate import AggregateOptions, sidecar, write_aggregate
from blade.evals.asked import Asked
from blade.evals.counted import Line, read_lines
from blade.evals.files import ENCODER, write_whole
from blade.evals.rejudging import Change, Judged, Trouble, judge
from blade.evals.shards import movable
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.sidecars import beside

Row = dict[str, Any]
Progress = Callable[[Path, int, int], None]
"""Called with a file, how many of its bytes were read, and how many there are."""


class ReverifyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How rollouts are judged again."""

    inputs: Path | None = None
    """Materialized inputs; by default those beside the rollouts."""
    output: Path | None = None
    """Where the rollouts with today's verdicts go; by default nowhere."""
    overwrite: bool = False
    """Whether an output that exists is replaced."""
    limit: int | None = None
    """Judge only the first rows."""
    jobs: int = 1
    """Rows judged at a time; verifiers that run code wait for it."""


class Reverified(msgspec.Struct, frozen=True, kw_only=True):
    """What judging again showed."""

    rollouts: int
    """Rows that were read."""
    judged: int
    """Rows that have a verdict now."""
    changed: list[Change]
    """Rewards that are not the same, in file order."""
    failed: list[Trouble]
    """Rows on which the verifier broke."""
    unjudgeable: list[Trouble]
    """Rows without output items; they keep what they have."""
    mean_before: float | None
    """Mean of the old rewards of judged rows; None when there are none."""
    mean_now: float | None
    """Mean of the new rewards of the same rows."""
    output: Path | None
    """The rollouts with today's verdicts, if they were asked for."""
    notes: list[str]
    """What a reader should know."""


def reverify(
    rollouts: Path,
    benchmark: Benchmark,
    environment: Environment,
    *,
    options: ReverifyOptions | None = None,
    progress: Progress = lambda path, done, total: None,
) -> Reverified:
    """Judges a rollout file again; with an output, also writes its failures, inputs and metrics beside it."""
    options = options or ReverifyOptions()
    check_output(rollouts, options)
    inputs = options.inputs or beside(rollouts, "inputs")
    report = Report()
    with Asked(benchmark, inputs) as asked:
        rows = judged_rows(rollouts, asked, environment, options=options, progress=progress, report=report)
        if options.output is None:
            deque(rows, maxlen=0)
        else:
            write_output(rows, options.output)
    if not report.rollouts:
        raise InputError(f"{rollouts}: holds no rollouts{f'; {report.bad[0]}' if report.bad else ''}.")
    if options.output is not None:
        finish(options.output, inputs, benchmark)
    return report.result(options.output, [*asked.notes(), *report.notes()])


def check_output(rollouts: Path, options: ReverifyOptions) -> None:
    output = options.output
    if output is None:
        return
    if output.resolve() == rollouts.resolve():
        raise UsageError(f"{output} holds the rollouts themselves; write today's verdicts to another file.")
    if output.exists() and not options.overwrite:
        raise UsageError(f"{output} exists; name another --output, or replace it with --overwrite.")


def judged_rows(
    rollouts: Path,
    asked: Asked,
    environment: Environment,
    *,
    options: ReverifyOptions,
    progress: Progress,
    report: "Report",
) -> Iterator[Judged]:
    """Every row judged again, in file order; a few at a time are on their way."""
    size = rollouts.stat().st_size
    waiting: deque[Future[Judged]] = deque()
    with ThreadPoolExecutor(options.jobs) as pool:
        for line, row in rows_of(rollouts, report, limit=options.limit):
            waiting.append(pool.submit(judge, row, asked.of(row), environment))
            if len(waiting) >= 4 * options.jobs:
                yield report.count(waiting.popleft().result())
            progress(rollouts, min(line.offset, size), size)
        while waiting:
            yield report.count(waiting.popleft().result())
    progress(rollouts, size, size)


def rows_of(rollouts: Path, report: "Report", *, limit: int | None) -> Iterator[tuple[Line, Row]]:
    """The rows of a file; lines that are none are told."""
    count = 0
    for line in read_lines(rollouts):
        try:
            row = decode_any(line.data)
            if not isinstance(row, dict):
                raise BadRow("is no object")
        except BadRow as error:
            report.bad.append(f"{rollouts.name}:{line.number}: {error}")
            continue
        count += 1
        if limit is not None and count > limit:
            return
        yield line, row


class Report:
    """Counts rows as they are judged."""

    def __init__(self) -> None:
        self.rollouts = self.judged = 0
        self.before: list[float] = []
        self.now: list[float] = []
        self.changed: list[Change] = []
        self.failed: list[Trouble] = []
        self.unjudgeable: list[Trouble] = []
        self.bad: list[str] = []

    def count(self, judged: Judged) -> Judged:
        self.rollouts += 1
        self.judged += judged.outcome in ("same", "changed")
        old, new = judged.rewards
        self.before += [] if old is None else [old]
        self.now += [] if new is None else [new]
        self.changed += [judged.change] if judged.change else []
        if judged.trouble is not None:
            (self.failed if judged.outcome == "failed" else self.unjudgeable).append(judged.trouble)
        return judged

    def notes(self) -> Iterator[str]:
        if self.bad:
            yield f"{len(self.bad)} lines are no rollouts; the first is {self.bad[0]}"

    def result(self, output: Path | None, notes: list[str]) -> Reverified:
        return Reverified(
            rollouts=self.rollouts,
            judged=self.judged,
            changed=self.changed,
            failed=self.failed,
            unjudgeable=self.unjudgeable,
            mean_before=math.fsum(self.before) / len(self.before) if self.before else None,
            mean_now=math.fsum(self.now) / len(self.now) if self.now else None,
            output=output,
            notes=notes,
        )


def write_output(rows: Iterable[Judged], output: Path) -> None:
    """Rollouts with today's verdicts; those whose verifier broke go to the failures file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    failures: list[bytes] = []

    def lines() -> Iterator[bytes]:
        for judged in rows:
            line = ENCODER.encode(judged.row) + b"\n"
            if judged.outcome == "failed":
                failures.append(line)
            else:
                yield line

    write_whole(output, lines())
    write_whole(sidecar(output, "failures"), failures)


def finish(output: Path, inputs: Path | None, benchmark: Benchmark) -> None:
    """Puts inputs and metrics beside rewritten rollouts."""
    place = sidecar(output, "inputs")
    if inputs is not None and inputs.resolve() != place.resolve():
        with movable(inputs) as source, place.open("wb") as target:
            shutil.copyfileobj(source, target)
    if output.stat().st_size:
        write_aggregate(
            output, AggregateOptions(success=benchmark.success, slices=tuple(benchmark.slices), duplicates="first")
        )
