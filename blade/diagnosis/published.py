"""Metrics somebody else published about a run, recomputed from its rows.

Only values the rows can give are compared; the others are named, not guessed.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, PublishedCheck
from blade.metrics.gym import field_stats, pass_metrics
from blade.metrics.recipes import ANSWERS, SCORE_FIELDS, SUBSET_FIELDS
from blade.rollouts.columns import Column
from blade.rollouts.sidecars import read_published
from blade.rollouts.table import Run, known

TOLERANCE = 1e-6
USAGE = "response.usage."
PUBLISHED = ("aggregate", "profile", "agent")
SUBSET = re.compile(r"(?P<value>.+?)/(?P<key>(?:pass|majority)@\d.*)")
Record = Mapping[str, Any]
Pair = tuple[str, float, float | None]
"""Name, published value, and the value the rows give or `None`."""


class Scored(NamedTuple):
    """A row of the rollout file as whoever published its metrics saw it."""

    task: str
    agent: str | None
    answer: Any
    numbers: dict[str, Any]
    place: int
    """Its row in the run's columns."""


class Published(NamedTuple):
    """The rows of one agent, all of them and by task."""

    rows: list[Scored]
    by_task: dict[str, list[Scored]]
    columns: Mapping[str, Column]
    """The run's, for what is not a number."""


def check_published(run: Run) -> list[PublishedCheck]:
    """One check per published metrics file of the run, by the rows of the rollout file it stands beside."""
    checks: list[PublishedCheck] = []
    for index, file in enumerate(run.files):
        published = [(kind, path) for kind, path in file.sidecars.found() if kind in PUBLISHED]
        if published:
            rows = numeric_rows(run, np.flatnonzero(run.table.rows.file == index).tolist())
            by_agent: dict[str | None, Published] = {None: gather(rows, run.table.rows.columns)}
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
        out.append(Scored(table.tasks[int(table.task[row])], table.agent.at(row), answer, numbers, row))
    return out


def answer_column(run: Run) -> Column | None:
    """The answers, if every row has a short one: a long one is left in the file and would look like none."""
    columns = run.table.rows.columns
    found = next((columns[name] for name in ANSWERS if name in columns), None)
    return found if found is not None and found.known().all() else None


def gather(rows: list[Scored], columns: Mapping[str, Column]) -> Published:
    by_task: dict[str, list[Scored]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    return Published(rows, by_task, columns)


def rows_of(record: Record, by_agent: dict[str | None, Published]) -> Published:
    """The rows of the agent a record is about; all of them when none is of that agent."""
    reference = record.get("agent_ref")
    agent = reference.get("name") if isinstance(reference, dict) else None
    name = agent if isinstance(agent, str) else None
    if name not in by_agent:
        mine = [row for row in by_agent[None].rows if row.agent in (name, None)]
        by_agent[name] = gather(mine, by_agent[None].columns) if mine else by_agent[None]
    return by_agent[name]


def comparisons(record: Record, kind: str, mine: Published) -> Iterator[Pair]:
    """Name, published value and recomputed value (or `None`) of every number in a published record."""
    if kind == "profile":
        yield from compare_task(record, mine)
        return
    overall = record.get("agent_metrics") if kind == "aggregate" else record
    metrics = overall if isinstance(overall, dict) else {}
    yield from compare(metrics, mine.rows, prefix="", subsets=subset_metrics(metrics, mine, subset_fields(record)))
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


def compare(
    record: Record, rows: list[Scored], *, prefix: str, subsets: Mapping[str, Any] | None = None
) -> Iterator[Pair]:
    ours: dict[str, Any] = {**field_stats([row.numbers for row in rows]), **(subsets or {})}
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
        scored = gather([row for row in rows if row.numbers.get(field) is not None], {}).by_task.values()
        scores = [[float(row.numbers[field]) for row in task] for task in scored]
        answers = [[row.answer for row in task] for task in scored]
        family = pass_metrics(scores, name=name, answers=answers if any(a for t in answers for a in t) else None)
        out.update({key: value for key, value in family.items() if isinstance(value, float) and key in record})
    return out


def subset_fields(record: Record) -> list[str]:
    """Fields a publisher grouped tasks by: those it names, else those servers are known to."""
    own = record.get("blade")
    named = own.get("subsets") if isinstance(own, dict) else None
    return [field for field in named if isinstance(field, str)] if isinstance(named, list) else SUBSET_FIELDS


def subset_metrics(record: Record, mine: Published, fields: list[str]) -> dict[str, Any]:
    """The same family over tasks that share a value, as in `hard/pass@1/accuracy`."""
    out: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in record.items():
        match = SUBSET.fullmatch(name)
        if match is not None:
            parts.setdefault(match["value"], {})[match["key"]] = value
    columns = [mine.columns[field] for field in fields if field in mine.columns]
    for value, part in parts.items():
        # A task belongs where its first rollout does.
        tasks = [rows for rows in mine.by_task.values() if any(str(c.at(rows[0].place)) == value for c in columns)]
        family = score_metrics([row for rows in tasks for row in rows], part)
        out.update({f"{value}/{key}": number for key, number in family.items()})
    return out


def make_check(file: str, pairs: list[Pair]) -> PublishedCheck:
    known_pairs = [(name, theirs, ours) for name, theirs, ours in pairs if ours is not None]
    different = [
        f"{name}: published {telling_digits(theirs, ours)}, rows give {telling_digits(ours, theirs)}"
        for name, theirs, ours in known_pairs
        if not math.isclose(theirs, ours, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    ]
    unknown = sorted({name for name, _, ours in pairs if ours is None})
    return PublishedCheck(
        file=file, compared=len(known_pairs), different=different[:MAX_LISTED], not_recomputed=unknown[:MAX_LISTED]
    )


def telling_digits(value: float, other: float) -> str:
    """Six digits, or as many as it takes to see that it is not the other value."""
    return f"{value:.6g}" if f"{value:.6g}" != f"{other:.6g}" else f"{value:.12g}"
