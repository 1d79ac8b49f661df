"""Judging rollouts again: the same trajectories, today's verifier, and every reward that is no longer the same.

A verifier is a pure function of the task and the output items, so no model and no server is needed. The rollouts are
never changed: those with today's verdicts are a new file, which gets its failures, inputs and metrics beside it.
"""

import math
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from blade.benchmarks import Benchmark
from blade.environments import Environment, Verdict
from blade.errors import InputError, UsageError
from blade.evals.aggregate import AggregateOptions, read_expected, sidecar, write_aggregate
from blade.evals.counted import REPEAT, TASK, Line, Task, is_number, read_lines
from blade.evals.files import ENCODER, movable, write_whole
from blade.evals.materialize import read_tasks
from blade.evals.rows import FAILURE, identity
from blade.evals.skills import without_skill_calls
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.sidecars import beside

Row = dict[str, Any]
SAME = 1e-9
"""Rewards this close are one reward."""
FAILED = "verifier_failed"
"""Failure class of a rollout whose verifier broke."""

Outcome = Literal["same", "changed", "failed", "unjudgeable"]
Progress = Callable[[Path, int, int], None]
"""Called with a file, how many of its bytes were read, and how many there are."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A reward that is no longer the same."""

    rollout: str
    """Which, as a citation."""
    old: float | None
    """As the row has it; None when it has none."""
    new: float | None
    """As the verifier says now."""
    fields: list[str]
    """Verifier fields that changed with it."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout that could not be judged again."""

    rollout: str
    """Which, as a citation."""
    why: str
    """What was missing, or how the verifier broke."""


class Judged(NamedTuple):
    """One row after it was judged again."""

    outcome: Outcome
    row: Row
    """As it is now."""
    change: Change | None = None
    trouble: Trouble | None = None
    rewards: tuple[float | None, float | None] = (None, None)
    """Before and now."""


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


class Reverified(msgspec.Struct, kw_only=True):
    """What judging again showed."""

    rollouts: int = 0
    """Rows that were read."""
    judged: int = 0
    """Rows that have a verdict now."""
    changed: list[Change] = []
    """Rewards that are not the same, in file order."""
    failed: list[Trouble] = []
    """Rows on which the verifier broke."""
    unjudgeable: list[Trouble] = []
    """Rows without output items; they keep what they have."""
    mean_before: float | None = None
    """Mean of the old rewards of judged rows; None when there are none."""
    mean_now: float | None = None
    """Mean of the new rewards of the same rows."""
    output: Path | None = None
    """The rollouts with today's verdicts, if they were asked for."""
    notes: list[str] = []
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
    found, bad = Reverified(output=options.output), list[str]()
    with Asked(benchmark, inputs) as asked:
        rows = judged_rows(rollouts, asked, environment, options=options, progress=progress, bad=bad)
        counting = counted(rows, found)
        if options.output is None:
            deque(counting, maxlen=0)
        else:
            write_output(counting, options.output)
    if not found.rollouts:
        raise InputError(f"{rollouts}: holds no rollouts{f'; {bad[0]}' if bad else ''}.")
    if options.output is not None:
        finish(options.output, inputs, benchmark)
    found.notes = [*asked.notes(), *([f"{len(bad)} lines are not rollouts; the first is {bad[0]}"] if bad else [])]
    return found


def counted(rows: Iterable[Judged], found: Reverified) -> Iterator[Judged]:
    """The rows as they come, each counted."""
    before: list[float] = []
    now: list[float] = []
    for judged in rows:
        found.rollouts += 1
        found.judged += judged.outcome in ("same", "changed")
        for values, reward in zip((before, now), judged.rewards, strict=True):
            values += [] if reward is None else [reward]
        found.changed += [judged.change] if judged.change else []
        if judged.trouble is not None:
            (found.failed if judged.outcome == "failed" else found.unjudgeable).append(judged.trouble)
        yield judged
    found.mean_before = math.fsum(before) / len(before) if before else None
    found.mean_now = math.fsum(now) / len(now) if now else None


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
    asked: "Asked",
    environment: Environment,
    *,
    options: ReverifyOptions,
    progress: Progress,
    bad: list[str],
) -> Iterator[Judged]:
    """Every row judged again, in file order; a few at a time are on their way."""
    size = rollouts.stat().st_size
    waiting: deque[Future[Judged]] = deque()
    with ThreadPoolExecutor(options.jobs) as pool:
        for line, row in rows_of(rollouts, bad, limit=options.limit):
            waiting.append(pool.submit(rejudge_row, row, asked.of(row), environment))
            if len(waiting) >= 4 * options.jobs:
                yield waiting.popleft().result()
            progress(rollouts, min(line.offset, size), size)
        while waiting:
            yield waiting.popleft().result()
    progress(rollouts, size, size)


def rows_of(rollouts: Path, bad: list[str], *, limit: int | None) -> Iterator[tuple[Line, Row]]:
    """The rows of a file; lines that are none are added to `bad`."""
    count = 0
    for line in read_lines(rollouts):
        try:
            row = decode_any(line.data)
            if not isinstance(row, dict):
                raise BadRow("is not an object")
        except BadRow as error:
            bad.append(f"{rollouts.name}:{line.number}: {error}")
            continue
        count += 1
        if limit is not None and count > limit:
            return
        yield line, row


class Asked:
    """What was asked in every rollout, for whoever judges it again.

    The materialized inputs say it best. Without them it is the row itself, and what the row lacks of its task is taken
    from the benchmark's frozen tasks, by task id or by index.
    """

    def __init__(self, benchmark: Benchmark, inputs: Path | None) -> None:
        self.benchmark = benchmark
        self.places = read_expected(inputs).samples if inputs is not None else {}
        self.file = movable(inputs) if inputs is not None else None
        self.frozen: dict[Task, Row] | None = None
        self.completed = 0

    def __enter__(self) -> "Asked":
        self.stream = self.file.__enter__() if self.file is not None else None
        return self

    def __exit__(self, *error: object) -> None:
        if self.file is not None:
            self.file.__exit__(None, None, None)

    def of(self, row: Mapping[str, Any]) -> Row:
        """The task of a row as its verifier saw it."""
        task = row.get(TASK)
        place = self.places.get(task) if isinstance(task, int | str) else None
        if place is not None and self.stream is not None:
            self.stream.seek(place[0])
            return {**decode_any(self.stream.read(place[1])), REPEAT: row.get(REPEAT)}
        known = self.frozen_task(row)
        self.completed += any(name not in row for name in known)
        return {**known, **row}

    def frozen_task(self, row: Mapping[str, Any]) -> Row:
        """The benchmark's own task of a row, by its id or its index; empty when it has none."""
        if self.frozen is None:
            self.frozen = {}
            data = self.benchmark.data
            for index, task in read_tasks(data) if data is not None and data.is_file() else ():
                self.frozen[index] = task
                if isinstance(task.get("task_id"), str):
                    self.frozen[task["task_id"]] = task
        key = row.get("task_id", row.get(TASK))
        return self.frozen.get(key, {}) if isinstance(key, int | str) else {}

    def notes(self) -> Iterator[str]:
        if self.completed:
            yield f"{self.completed} rows lack fields of their task, which were taken from {self.benchmark.tasks.name}"


def rejudge_row(row: Row, task: Mapping[str, Any], environment: Environment) -> Judged:
    """One row with today's verdict."""
    name = f"{row.get(TASK, '?')}:{row.get(REPEAT, '?')}"
    response = row.get("response")
    items = response.get("output") if isinstance(response, dict) else None
    if not isinstance(items, list):
        return Judged("unjudgeable", row, trouble=Trouble(rollout=name, why="has no response with output items"))
    try:
        verdict = environment.verify(task, without_skill_calls([item for item in items if isinstance(item, dict)]))
    except Exception as error:  # a verifier that breaks on a row costs that row, never the others
        why = f"{type(error).__name__}: {error}"[:300]
        failed = {**row, FAILURE: FAILED, "_ng_failure_error": why, **identity(row)}
        return Judged("failed", failed, trouble=Trouble(rollout=name, why=why))
    return compared(row, verdict, name)


def compared(row: Row, verdict: Verdict, name: str) -> Judged:
    old, new = number(row.get("reward")), number(verdict.reward)
    now = {**row, **verdict.fields, "reward": new, **identity(row)}
    if (old is None) == (new is None) and (old is None or new is None or abs(old - new) <= SAME):
        return Judged("same", now, rewards=(old, new))
    fields = sorted(field for field, value in verdict.fields.items() if row.get(field) != value)
    return Judged("changed", now, Change(rollout=name, old=old, new=new, fields=fields), rewards=(old, new))


def number(value: Any) -> float | None:
    return float(value) if is_number(value) else None


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
