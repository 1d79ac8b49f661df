"""What was asked in a rollout, for whoever judges it again.

The materialized inputs say it best. Without them it is the row itself, and what the row lacks of its task is taken from
the benchmark's frozen tasks, by task id or by index.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blade.benchmarks import Benchmark
from blade.evals.counted import REPEAT, TASK, Task
from blade.evals.expected import read_expected
from blade.evals.materialize import read_tasks
from blade.evals.shards import movable
from blade.rollouts.conform import decode_any

Row = dict[str, Any]


class Asked:
    """What was asked in every rollout."""

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
