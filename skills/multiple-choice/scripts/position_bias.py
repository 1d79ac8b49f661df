#!/usr/bin/env python3
"""Say whether a model prefers options by their letter, in multiple-choice rollouts.

Reads JSONL rows with `expected_answer` and `extracted_answer` (or `parsed_option`) and prints one
JSON document: per letter how often it was right, chosen and hit; which wrong letter replaces which
right one; and a test of whether wrong answers fall evenly on the other letters. The test takes one
wrong answer per task, because repeats of a task share a distractor.
"""

import argparse
import hashlib
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/position_bias.py rollouts.jsonl --limit 10

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
DRAWS = 5000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=10, help="confusions listed at most (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the simulated test (default 0)")
    options = parser.parse_args()
    try:
        rows, bad = read_rows(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not rows:
        return fail("no row has expected_answer and extracted_answer; this script reads multiple-choice rollouts")
    print(json.dumps({"bad_lines": bad, **summary(rows, options.limit, options.seed)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"position_bias: {message}", file=sys.stderr)
    return 3


def read_rows(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Rows of the family as task, expected and chosen letter and number of options; and lines that are not JSON."""
    rows: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and ("extracted_answer" in row or "parsed_option" in row):
                rows += as_choice(row)
    return rows, bad


def as_choice(row: dict[str, Any]) -> list[dict[str, Any]]:
    expected = row.get("expected_answer")
    chosen = row.get("extracted_answer", row.get("parsed_option"))
    if not isinstance(expected, str) or len(expected.strip()) != 1:
        return []
    options = row.get("options")
    return [
        {
            "task": task_of(row),
            "expected": expected.strip().upper(),
            "chosen": chosen.strip().upper()[:1] if isinstance(chosen, str) and chosen.strip() else None,
            "options": len(options) if isinstance(options, list) else None,
        }
    ]


def task_of(row: dict[str, Any]) -> str:
    """The task's id, or its prompt where it has none."""
    ids = [row[key] for key in ("_ng_task_index", "task_id", "id", "uuid") if row.get(key) is not None]
    asked = json.dumps(row.get("responses_create_params"), sort_keys=True)
    return str(ids[0]) if ids else hashlib.sha256(asked.encode()).hexdigest()[:12]


def summary(rows: list[dict[str, Any]], limit: int, seed: int) -> dict[str, Any]:
    answered = [row for row in rows if row["chosen"]]
    letters = sorted({str(row[key]) for row in rows for key in ("expected", "chosen") if row[key]})
    confusions = Counter((str(r["expected"]), str(r["chosen"])) for r in answered if r["expected"] != r["chosen"])
    return {
        "rollouts": len(rows),
        "no_letter_read": len(rows) - len(answered),
        "letters": [letter_line(letter, answered) for letter in letters],
        "confusions": [{"right": a, "chosen": b, "rollouts": n} for (a, b), n in confusions.most_common(limit)],
        "confusions_not_listed": max(0, len(confusions) - limit),
        "bias": bias(answered, letters, seed),
    }


def letter_line(letter: str, answered: list[dict[str, Any]]) -> dict[str, Any]:
    expected = sum(row["expected"] == letter for row in answered)
    chosen = sum(row["chosen"] == letter for row in answered)
    hit = sum(row["expected"] == row["chosen"] == letter for row in answered)
    return {
        "letter": letter,
        "expected": expected,
        "chosen": chosen,
        "right": hit,
        "found_when_right": round(hit / expected, 4) if expected else None,
        "right_when_chosen": round(hit / chosen, 4) if chosen else None,
    }


def bias(answered: list[dict[str, Any]], letters: list[str], seed: int) -> dict[str, Any]:
    """A simulated test on the first wrong answer of every task."""
    first: dict[str, dict[str, Any]] = {}
    for row in answered:
        if row["expected"] != row["chosen"]:
            first.setdefault(str(row["task"]), row)
    wrong = list(first.values())
    if len(wrong) < 5:
        return {"tasks": len(wrong), "p_value": None, "why": "fewer than 5 tasks with a wrong letter"}
    offered = [others(row, letters) for row in wrong]
    expected: dict[str, float] = {}
    for choices in offered:
        for letter in choices:
            expected[letter] = expected.get(letter, 0.0) + 1 / len(choices)
    seen = distance(Counter(str(row["chosen"]) for row in wrong), expected)
    rng = random.Random(seed)
    as_far = sum(distance(Counter(map(rng.choice, offered)), expected) >= seen - 1e-9 for _ in range(DRAWS))
    return {
        "tasks": len(wrong),
        "chosen": dict(sorted(Counter(str(row["chosen"]) for row in wrong).items())),
        "expected_if_even": {letter: round(value, 2) for letter, value in sorted(expected.items())},
        "p_value": round((as_far + 1) / (DRAWS + 1), 4),
        "why": "share of simulated runs, wrong answers spread evenly, that are as uneven as this one",
    }


def others(row: dict[str, Any], letters: list[str]) -> list[str]:
    """The letters a wrong answer could have been."""
    count = row["options"]
    known = [chr(ord("A") + i) for i in range(count)] if isinstance(count, int) and 2 <= count <= 26 else letters
    choices = [letter for letter in known if letter != row["expected"]]
    chosen = str(row["chosen"])
    return choices if chosen in choices else [*choices, chosen]


def distance(counts: Counter[str], expected: dict[str, float]) -> float:
    """Pearson's chi-squared distance."""
    return sum((counts[letter] - value) ** 2 / value for letter, value in expected.items() if value)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
