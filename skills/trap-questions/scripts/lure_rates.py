#!/usr/bin/env python3
"""Say whether wrong answers are walks into the trap or guesses, in trap_questions rollouts.

Reads JSONL rows with `took_lure`, `extracted_answer`, `expected_answer` and `options`. Prints one
JSON document: for all rows and for every kind how many answers were right, the lure, or another
option, and whether the lure is taken more often than guessing among the wrong options would. The
test takes the first wrong answer of every task.
"""

import argparse
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/lure_rates.py rollouts.jsonl --by kind

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument(
        "--by", metavar="FIELD", default="kind", help="count by the values of this field (default kind)"
    )
    parser.add_argument(
        "--limit", type=int, default=20, help="tasks that always take the lure listed at most (default 20)"
    )
    options = parser.parse_args()
    try:
        rows, bad = read_rows(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not rows:
        return fail("no row has took_lure and expected_answer; this script reads trap_questions rollouts")
    groups = sorted({str(row.get(options.by)) for row in rows})
    document = {
        "bad_lines": bad,
        **counts(rows),
        "by": {name: counts([row for row in rows if str(row.get(options.by)) == name]) for name in groups},
        **always(rows, options.limit),
    }
    print(json.dumps(document, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"lure_rates: {message}", file=sys.stderr)
    return 3


def read_rows(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Rows of the benchmark, and how many lines are not JSON."""
    rows: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and "took_lure" in row and "expected_answer" in row:
                rows.append(row)
    return rows, bad


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    right = sum(row.get("extracted_answer") == row["expected_answer"] for row in rows)
    lured = sum(bool(row["took_lure"]) for row in rows)
    unread = sum(row.get("extracted_answer") is None for row in rows)
    return {
        "rollouts": len(rows),
        "right": right,
        "lure": lured,
        "other_option": len(rows) - right - lured - unread,
        "no_option_read": unread,
        "test": test(rows),
    }


def test(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How likely so many lures are when wrong answers are guesses among the wrong options."""
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.get("extracted_answer") not in (None, row["expected_answer"]):
            first.setdefault(task_of(row), row)
    lured = sum(bool(row["took_lure"]) for row in first.values())
    chances = [1 / (len(row.get("options") or "ABCDE") - 1) for row in first.values()]
    known = len(chances) >= 5
    return {
        "tasks_answered_wrongly": len(first),
        "first_wrong_answer_is_the_lure": lured,
        "expected_by_guessing": round(sum(chances), 2),
        "p_value": round(at_least(lured, chances), 4) if known else None,
    }


def at_least(count: int, chances: list[float]) -> float:
    """The chance that at least so many of independent events happen."""
    happen = [1.0]  # chance of 0, 1, 2, ... events among those seen so far
    for chance in chances:
        none, one = [p * (1 - chance) for p in happen], [p * chance for p in happen]
        happen = [a + b for a, b in zip([*none, 0.0], [0.0, *one], strict=True)]
    return min(1.0, math.fsum(happen[count:]))


def always(rows: list[dict[str, Any]], limit: int) -> dict[str, Any]:
    """Tasks of which every rollout takes the lure."""
    tasks: dict[str, list[bool]] = {}
    for row in rows:
        tasks.setdefault(task_of(row), []).append(bool(row["took_lure"]))
    caught = sorted(task for task, taken in tasks.items() if all(taken))
    return {"always_the_lure": caught[:limit], "always_the_lure_not_listed": max(0, len(caught) - limit)}


def task_of(row: dict[str, Any]) -> str:
    return str(row.get("task_id", row.get("_ng_task_index")))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
