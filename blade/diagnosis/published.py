"""Metrics somebody else published about a run, recomputed from its rows.

Only values the rows can give are compared; the others are named, not guessed.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from blade.diagnosis.analysis import MAX_LISTED, PublishedCheck
from blade.metrics.gym import field_stats, pass_metrics
from blade.rollouts.columns import Column
from blade.rollouts.sidecars import read_published
from blade.rollouts.table import Run, known

TOLERANCE = 1e-6
USAGE = "response.usage."
PUBLISHED = ("aggregate", "profile", "agent")
SCORES = {
    "accuracy": "reward",
    "symbolic_accuracy": "library_reward",
    "passing_base_tests": "is_correct",
    "passing_plus_tests": "is_correct_plus",
}
"""Names servers publish scores under, and the field each is made of; any other score is a field's own name."""
ANSWERS = ("extracted_answer", "pred_text", "extracted_sql", "extracted_model_code", "extracted_judgement")
"""Fields servers count missing answers by."""

Record = Mapping[str, Any]


Pair = tuple[str, float, float | None]
"""Name, published value, and the value the rows give or `None`."""


def check_published(run: Run) -> list[PublishedCheck]:
    """One check per published metrics file of the run."""
    checks: list[PublishedCheck] = []
    published = [(k, path) for file in run.files for k, path in file.sidecars.found() if k in PUBLISHED]
    rows = numeric_rows(run) if published else []
    for kind, path in published:
        records = read_published(path)
        if kind == "profile":
            records = numbered(records, run.table.tasks)
        pairs = [pair for record in records for pair in comparisons(record, kind, rows)]
        checks.append(make_check(path.name, pairs))
    return checks


def numeric_rows(run: Run) -> list[dict[str, Any]]:
    """Every scored row's numbers by name; usage overrides a field of the same name, as Gym has it."""
    table = run.table
    columns = {path: column for path, column in table.rows.columns.items() if column.kind in ("number", "flag")}
    plain = {path: column for path, column in columns.items() if "." not in path}
    usage = {path.removeprefix(USAGE): column for path, column in columns.items() if path.startswith(USAGE)}
    answers = answer_column(run)
    out: list[dict[str, Any]] = []
    for row in range(len(table)):
        if run.files[int(table.rows.file[row])].failed:
            continue
        numbers = {name: column.at(row) for name, column in {**plain, **usage}.items() if "." not in name}
        numbers["task"], numbers["agent"] = table.tasks[int(table.task[row])], table.agent.at(row)
        if run.reward_field is not None:
            # One reward that is no number makes the whole column mixed; the table has the numbers.
            numbers[run.reward_field] = known(table.reward[row])
        numbers["answer"] = None if answers is None else answers.at(row)
        out.append(numbers)
    return out


def answer_column(run: Run) -> Column | None:
    """The answers, if every row has a short one: a long one is left in the file and would look like none."""
    columns = run.table.rows.columns
    found = next((columns[name] for name in ANSWERS if name in columns), None)
    return found if found is not None and found.known().all() else None


def comparisons(record: Record, kind: str, rows: list[dict[str, Any]]) -> Iterator[Pair]:
    """Name, published value and recomputed value (or `None`) of every number in a published record."""
    agent = (record.get("agent_ref") or {}).get("name") if isinstance(record.get("agent_ref"), dict) else None
    mine = [row for row in rows if agent is None or row["agent"] in (agent, None)] or rows
    if kind == "aggregate":
        overall = record.get("agent_metrics")
        yield from compare(overall if isinstance(overall, dict) else {}, mine, prefix="")
        groups = record.get("group_level_metrics")
        for group in groups if isinstance(groups, list) else []:
            yield from compare_task(group, mine)
    elif kind == "profile":
        yield from compare_task(record, mine)
    else:
        yield from compare(record, mine, prefix="")


def numbered(records: list[dict[str, Any]], tasks: list[str]) -> list[dict[str, Any]]:
    """Profile records with their task; older files have none and list tasks in ascending order."""
    if any("_ng_task_index" in record for record in records) or len(records) != len(tasks):
        return records
    return [{**record, "_ng_task_index": task} for task, record in zip(tasks, records, strict=True)]


def compare_task(record: Any, rows: list[dict[str, Any]]) -> Iterator[Pair]:
    if isinstance(record, dict) and "_ng_task_index" in record:
        task = str(record["_ng_task_index"])
        yield from compare(record, [row for row in rows if row["task"] == task], prefix=f"task {task} ")


def compare(record: Record, rows: list[dict[str, Any]], *, prefix: str) -> Iterator[Pair]:
    ours: dict[str, Any] = dict(field_stats([without_keys(row) for row in rows]))
    ours.update(score_metrics(rows, record))
    for name, value in record.items():
        if "/" in name and isinstance(value, int | float) and not isinstance(value, bool):
            yield prefix + name, float(value), ours.get(name)


def without_keys(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("task", "agent", "answer")}


def score_metrics(rows: list[dict[str, Any]], record: Record) -> dict[str, Any]:
    """The pass@k family of every published score the rows have a field for."""
    out: dict[str, Any] = {}
    published = {key.partition("/")[2].partition("/")[0] for key in record if key.startswith("pass@1")}
    for name in sorted(published):
        field = SCORES.get(name, name)
        by_task: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row.get(field) is not None:
                by_task.setdefault(row["task"], []).append(row)
        scores = [[float(row[field]) for row in task] for task in by_task.values()]
        answers = [[row["answer"] for row in task] for task in by_task.values()]
        family = pass_metrics(scores, name=name, answers=answers if any(a for t in answers for a in t) else None)
        out.update({key: value for key, value in family.items() if isinstance(value, float) and key in record})
    return out


def make_check(file: str, pairs: list[Pair]) -> PublishedCheck:
    known = [(name, theirs, ours) for name, theirs, ours in pairs if ours is not None]
    different = [
        f"{name}: published {theirs:.6g}, rows give {ours:.6g}"
        for name, theirs, ours in known
        if ours is not None and not math.isclose(theirs, ours, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    ]
    unknown = sorted({name for name, _, ours in pairs if ours is None})
    return PublishedCheck(
        file=file, compared=len(known), different=different[:MAX_LISTED], not_recomputed=unknown[:MAX_LISTED]
    )
