"""Metrics somebody else published about a run, recomputed from its rows.

Only values the rows can give are compared; the others are named, not guessed.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, PublishedCheck
from blade.metrics.gym import field_stats, pass_metrics
from blade.metrics.recipes import ANSWERS, SCORE_FIELDS
from blade.rollouts.columns import Column
from blade.rollouts.sidecars import read_published
from blade.rollouts.table import Run, known

TOLERANCE = 1e-6
USAGE = "response.usage."
PUBLISHED = ("aggregate", "profile", "agent")
Record = Mapping[str, Any]
Pair = tuple[str, float, float | None]
"""Name, published value, and the value the rows give or `None`."""


class Scored(NamedTuple):
    """A row of the rollout file as whoever published its metrics saw it."""

    task: str
    agent: str | None
    answer: Any
    numbers: dict[str, Any]


class Published(NamedTuple):
    """The rows of one agent, all of them and by task."""

    rows: list[Scored]
    by_task: dict[str, list[Scored]]


def check_published(run: Run) -> list[PublishedCheck]:
    """One check per published metrics file of the run, by the rows of the rollout file it stands beside."""
    checks: list[PublishedCheck] = []
    for index, file in enumerate(run.files):
        published = [(kind, path) for kind, path in file.sidecars.found() if kind in PUBLISHED]
        if published:
            rows = numeric_rows(run, np.flatnonzero(run.table.rows.file == index).tolist())
            by_agent: dict[str | None, Published] = {None: gather(rows)}
            checks += [check_file(kind, path, by_agent) for kind, path in published]
    return checks


def check_file(kind: str, path: Path, by_agent: dict[str | None, Published]) -> PublishedCheck:
    records = read_published(path)
    if kind == "profile":
        records = numbered(records, list(by_agent[None].by_task))
    return make_check(
        path.name, [p for record in records for p in comparisons(record, kind, rows_of(record, by_agent))]
    )


def numeric_rows(run: Run, rows: list[int]) -> list[Scored]:
    """The rows' numbers by name; usage overrides a field of the same name, as Gym has it."""
    table = run.table
    columns = {path: column for path, column in table.rows.columns.items() if column.kind in ("number", "flag")}
    plain = {path: column for path, column in columns.items() if "." not in path}
    usage = {path.removeprefix(USAGE): column for path, column in columns.items() if path.startswith(USAGE)}
    named = {name: column for name, column in {**plain, **usage}.items() if "." not in name}
    answers = answer_column(run)
    out: list[Scored] = []
    for row in rows:
        numbers = {name: column.at(row) for name, column in named.items()}
        if run.reward_field is not None:
            # One reward that is no number makes the whole column mixed; the table has the numbers.
            numbers[run.reward_field] = known(table.reward[row])
        answer = None if answers is None else answers.at(row)
        out.append(Scored(table.tasks[int(table.task[row])], table.agent.at(row), answer, numbers))
    return out


def answer_column(run: Run) -> Column | None:
    """The answers, if every row has a short one: a long one is left in the file and would look like none."""
    columns = run.table.rows.columns
    found = next((columns[name] for name in ANSWERS if name in columns), None)
    return found if found is not None and found.known().all() else None


def gather(rows: list[Scored]) -> Published:
    by_task: dict[str, list[Scored]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    return Published(rows, by_task)


def rows_of(record: Record, by_agent: dict[str | None, Published]) -> Published:
    """The rows of the agent a record is about; all of them when none is of that agent."""
    reference = record.get("agent_ref")
    agent = reference.get("name") if isinstance(reference, dict) else None
    name = agent if isinstance(agent, str) else None
    if name not in by_agent:
        mine = [row for row in by_agent[None].rows if row.agent in (name, None)]
        by_agent[name] = gather(mine) if mine else by_agent[None]
    return by_agent[name]


def comparisons(record: Record, kind: str, mine: Published) -> Iterator[Pair]:
    """Name, published value and recomputed value (or `None`) of every number in a published record."""
    if kind == "profile":
        yield from compare_task(record, mine)
        return
    overall = record.get("agent_metrics") if kind == "aggregate" else record
    yield from compare(overall if isinstance(overall, dict) else {}, mine.rows, prefix="")
    groups = record.get("group_level_metrics")
    for group in groups if isinstance(groups, list) else []:
        yield from compare_task(group, mine)


def numbered(records: list[dict[str, Any]], tasks: list[str]) -> list[dict[str, Any]]:
    """Profile records with their task; older files have none and list tasks in ascending order."""
    if any("_ng_task_index" in record for record in records) or len(records) != len(tasks):
        return records
    return [{**record, "_ng_task_index": task} for task, record in zip(tasks, records, strict=True)]


def compare_task(record: Any, mine: Published) -> Iterator[Pair]:
    if isinstance(record, dict) and "_ng_task_index" in record:
        task = str(record["_ng_task_index"])
        yield from compare(record, mine.by_task.get(task, []), prefix=f"task {task} ")


def compare(record: Record, rows: list[Scored], *, prefix: str) -> Iterator[Pair]:
    ours: dict[str, Any] = dict(field_stats([row.numbers for row in rows]))
    ours.update(score_metrics(rows, record))
    for name, value in record.items():
        if "/" in name and isinstance(value, int | float) and not isinstance(value, bool):
            yield prefix + name, float(value), ours.get(name)


def score_metrics(rows: list[Scored], record: Record) -> dict[str, Any]:
    """The pass@k family of every published score the rows have a field for."""
    out: dict[str, Any] = {}
    published = {key.partition("/")[2].partition("/")[0] for key in record if key.startswith("pass@1")}
    for name in sorted(published):
        field = SCORE_FIELDS.get(name, name)
        scored = gather([row for row in rows if row.numbers.get(field) is not None]).by_task.values()
        scores = [[float(row.numbers[field]) for row in task] for task in scored]
        answers = [[row.answer for row in task] for task in scored]
        family = pass_metrics(scores, name=name, answers=answers if any(a for t in answers for a in t) else None)
        out.update({key: value for key, value in family.items() if isinstance(value, float) and key in record})
    return out


def make_check(file: str, pairs: list[Pair]) -> PublishedCheck:
    known_pairs = [(name, theirs, ours) for name, theirs, ours in pairs if ours is not None]
    different = [
        f"{name}: published {shown(theirs, ours)}, rows give {shown(ours, theirs)}"
        for name, theirs, ours in known_pairs
        if not math.isclose(theirs, ours, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    ]
    unknown = sorted({name for name, _, ours in pairs if ours is None})
    return PublishedCheck(
        file=file, compared=len(known_pairs), different=different[:MAX_LISTED], not_recomputed=unknown[:MAX_LISTED]
    )


def shown(value: float, other: float) -> str:
    """Six digits, or as many as it takes to see that it is not the other value."""
    return f"{value:.6g}" if f"{value:.6g}" != f"{other:.6g}" else f"{value:.12g}"
