#!/usr/bin/env python3
"""Sort wrong facts by what was done to them: made up, left out, or taken from the wrong place.

Reads JSONL rows of fact_forms with `expected` and `extracted_answer` (the JSON that was read, as
text). Prints one JSON document: counts by kind of error and by field, and the wrong values
themselves.

  made_up       the text says nothing (expected null), and a value was given
  left_out      a value was expected, and null or nothing was given
  in_the_text   another value, but one that stands in the text: taken from the wrong place
  other_type    a text for a number, a number for a text, ...
  other_value   none of these
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/wrong_values.py rollouts.jsonl --limit 15

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
KINDS = ("made_up", "left_out", "in_the_text", "other_type", "other_value")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=20, help="wrong values and fields listed at most (default 20)")
    options = parser.parse_args()
    try:
        rows, bad = read_rows(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not rows:
        return fail("no row has expected and extracted_answer as JSON; this script reads fact_forms rollouts")
    found = [wrong for row in rows for wrong in wrong_values(row)]
    fields = Counter(f"{wrong['field']}: {wrong['kind']}" for wrong in found)
    document = {
        "bad_lines": bad,
        "rollouts_with_json": len(rows),
        "wrong_values": len(found),
        "kinds": {kind: sum(wrong["kind"] == kind for wrong in found) for kind in KINDS},
        "fields": dict(fields.most_common(options.limit)),
        "examples": found[: options.limit],
        "not_listed": max(0, len(found) - options.limit),
    }
    print(json.dumps(document, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"wrong_values: {message}", file=sys.stderr)
    return 3


def read_rows(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Rows whose answer is JSON, with it decoded under `given`; and how many lines are not JSON."""
    rows: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
                if isinstance(row, dict) and "expected" in row and isinstance(row.get("extracted_answer"), str):
                    rows.append({**row, "given": json.loads(row["extracted_answer"])})
            except ValueError:
                bad += bool(line.strip())
    return rows, bad


def wrong_values(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Leaves of the expected object that the answer has otherwise, lists of plain values taken as one."""
    for path, expected in leaves(row["expected"]):
        given = value_at(row["given"], path)
        if plain(given) != plain(expected):
            yield {
                "rollout": f"{row.get('_ng_task_index')}:{row.get('_ng_rollout_index')}",
                "task": row.get("task_id"),
                "field": ".".join(str(step) for step in path if isinstance(step, str)),
                "kind": kind_of(expected, given, str(row.get("text", ""))),
                "expected": expected,
                "given": json.dumps(given)[:80],
            }


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    """What stands at a path, nothing being None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def plain(value: Any) -> Any:
    """A value without differences the verifier overlooks."""
    if isinstance(value, str):
        return " ".join(value.casefold().split()).rstrip(".!")
    if isinstance(value, list):
        return sorted(json.dumps(plain(inner)) for inner in value)
    return str(value) if isinstance(value, bool) else value


def kind_of(expected: Any, given: Any, text: str) -> str:
    if expected is None:
        return "made_up"
    if given is None:
        return "left_out"
    if (
        isinstance(given, str | int | float)
        and not isinstance(given, bool)
        and str(given).casefold() in text.casefold()
    ):
        return "in_the_text"
    same = isinstance(given, bool) == isinstance(expected, bool) and isinstance(given, str) == isinstance(expected, str)
    return "other_value" if same else "other_type"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
