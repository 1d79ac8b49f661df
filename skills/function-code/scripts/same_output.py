#!/usr/bin/env python3
"""Sort wrong answers of programs by how the output differs from the expected one.

Reads JSONL rows of a test runner that keeps `metadata.output` and `metadata.expected` of the first
failed test. Prints one JSON document: counts by kind, and the rollouts of each kind.

  same_words      equal but for line breaks and blanks: a strict comparison, or a layout that was asked for
  same_numbers    equal once 1, 1.0 and 1e0 are the same
  nothing         no output at all: the code was not called, or waits for input
  cut_short       the expected output begins with what was printed
  more_than_asked what was printed contains the expected output, and more
  different       none of these
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/same_output.py rollouts.jsonl --limit 5

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
KINDS = ("same_words", "same_numbers", "nothing", "cut_short", "more_than_asked", "different")
ANY_ANSWER = re.compile(
    r"print any|output any|any of them|any valid|any proper|(?:several|multiple|many) (?:\w+ )?(?:answers|solutions)",
    re.I,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=20, help="rollouts listed per kind at most (default 20)")
    options = parser.parse_args()
    try:
        found, bad = read_failures(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not found:
        return fail("no row has metadata.output and metadata.expected; nothing to compare")
    print(json.dumps({"bad_lines": bad, **summary(found, options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"same_output: {message}", file=sys.stderr)
    return 3


def read_failures(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Every row with both outputs, and how many lines are not JSON."""
    found: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            said = row.get("metadata") if isinstance(row, dict) else None
            if isinstance(said, dict) and isinstance(said.get("output"), str) and isinstance(said.get("expected"), str):
                found.append(compare(row, said, f"{path.name}:{number}"))
    return found, bad


def compare(row: dict[str, Any], said: dict[str, str], line: str) -> dict[str, Any]:
    several = bool(ANY_ANSWER.search(json.dumps(row.get("responses_create_params"))))
    entry: dict[str, Any] = {"line": line, "kind": kind_of(said["output"], said["expected"])}
    if "_ng_task_index" in row:
        entry["rollout"] = f"{row['_ng_task_index']}:{row.get('_ng_rollout_index', 0)}"
    return {
        **entry,
        "several_answers_allowed": several,
        "output": said["output"][:80],
        "expected": said["expected"][:80],
    }


def kind_of(output: str, expected: str) -> str:
    """How an output differs from the expected one."""
    given, wanted = output.split(), expected.split()
    if given == wanted:
        return "same_words"
    if [number(word) for word in given] == [number(word) for word in wanted]:
        return "same_numbers"
    if not given:
        return "nothing"
    if wanted[: len(given)] == given:
        return "cut_short"
    return "more_than_asked" if holds(given, wanted) else "different"


def number(word: str) -> object:
    try:
        return float(word)
    except ValueError:
        return word


def holds(given: list[str], wanted: list[str]) -> bool:
    """Whether the wanted words stand in a row somewhere in the given ones."""
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))


def summary(found: list[dict[str, Any]], limit: int) -> dict[str, Any]:
    groups = {kind: [entry for entry in found if entry["kind"] == kind] for kind in KINDS}
    return {
        "compared": len(found),
        "kinds": {kind: len(group) for kind, group in groups.items()},
        "several_answers_allowed": sum(bool(entry["several_answers_allowed"]) for entry in found),
        "rollouts": {kind: group[:limit] for kind, group in groups.items() if group},
        "not_listed": {kind: len(group) - limit for kind, group in groups.items() if len(group) > limit},
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
