#!/usr/bin/env python3
"""Count right, wrong and withheld answers, and how good the answers are that were given.

Reads JSONL rows with `is_correct` and `is_incorrect` (and `is_not_attempted`, `is_abstain` or
`is_partial` where they exist). Prints one JSON document, for all rows and for each value of a field
given with --by. `right_of_attempted` is what a user meets who gets an answer; `f` is the harmonic
mean of it and the share of right answers.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/attempt_rates.py rollouts.jsonl --by topic --limit 20

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--by", metavar="FIELD", help="also count by the values of this field")
    parser.add_argument("--limit", type=int, default=20, help="values listed at most (default 20)")
    options = parser.parse_args()
    try:
        rows, bad = read_rows(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not rows:
        return fail("no row has is_correct and is_incorrect; this script reads graded short answers")
    print(json.dumps({"bad_lines": bad, **counts(rows), **by_value(rows, options.by, options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"attempt_rates: {message}", file=sys.stderr)
    return 3


def read_rows(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Rows of the family, and how many lines are not JSON."""
    rows: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and "is_correct" in row and "is_incorrect" in row:
                rows.append(row)
    return rows, bad


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    right = sum(bool(row["is_correct"]) for row in rows)
    wrong = sum(bool(row["is_incorrect"]) for row in rows)
    partly = sum(bool(row.get("is_partial")) for row in rows)
    attempted = right + wrong + partly
    share, given = right / len(rows), right / attempted if attempted else None
    return {
        "rollouts": len(rows),
        "right": right,
        "wrong": wrong,
        "partly_right": partly,
        "withheld": len(rows) - attempted,
        "right_share": round(share, 4),
        "right_of_attempted": None if given is None else round(given, 4),
        "f": None if not given else round(2 * share * given / (share + given), 4),
    }


def by_value(rows: list[dict[str, Any]], field: str | None, limit: int) -> dict[str, Any]:
    if field is None:
        return {}
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(json.dumps(row.get(field)), []).append(row)
    largest = sorted(groups, key=lambda value: (-len(groups[value]), value))
    shown = {value.strip('"'): counts(groups[value]) for value in largest[:limit]}
    return {"by": field, "values": shown, "values_not_listed": max(0, len(groups) - limit)}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
