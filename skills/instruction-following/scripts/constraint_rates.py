#!/usr/bin/env python3
"""Count, per kind of instruction, how often it was kept and how often it alone made a rollout fail.

Reads JSONL rows with `instruction_id_list` and `follow_instruction_list`, which stand in the same
order. Prints one JSON document. `alone_to_blame` counts rollouts in which every other instruction
was kept: mending this one would pass them.
"""

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/constraint_rates.py rollouts.jsonl --limit 15

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=40, help="instructions listed at most (default 40)")
    options = parser.parse_args()
    try:
        checks, uneven, bad = read_checks(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not checks:
        return fail("no row has instruction_id_list and follow_instruction_list of one length")
    print(json.dumps({"bad_lines": bad, "uneven_rows": uneven, **summary(checks, options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"constraint_rates: {message}", file=sys.stderr)
    return 3


def read_checks(paths: list[Path]) -> tuple[list[list[tuple[str, bool]]], int, int]:
    """Per rollout its instructions and whether each was kept; rows with lists of different length; bad lines."""
    checks: list[list[tuple[str, bool]]] = []
    uneven = bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            names, kept = (row.get(f) if isinstance(row, dict) else None for f in FIELDS)
            if not isinstance(names, list) or not isinstance(kept, list):
                continue
            if len(names) == len(kept):
                checks.append([(str(name), bool(flag)) for name, flag in zip(names, kept, strict=True)])
            else:
                uneven += 1
    return checks, uneven, bad


FIELDS = ("instruction_id_list", "follow_instruction_list")


def summary(checks: list[list[tuple[str, bool]]], limit: int) -> dict[str, Any]:
    asked = Counter(name for rollout in checks for name, _ in rollout)
    kept = Counter(name for rollout in checks for name, flag in rollout if flag)
    missed = [[name for name, flag in rollout if not flag] for rollout in checks]
    alone = Counter(names[0] for names in missed if len(names) == 1)
    order = sorted(asked, key=lambda name: (-alone[name], kept[name] - asked[name], name))
    return {
        "rollouts": len(checks),
        "all_kept": sum(not names for names in missed),
        "by_number_of_instructions": by_number(checks),
        "instructions": [
            {
                "id": name,
                "asked": asked[name],
                "kept": kept[name],
                "rate": round(kept[name] / asked[name], 4),
                "alone_to_blame": alone[name],
            }
            for name in order[:limit]
        ],
        "instructions_not_listed": max(0, len(order) - limit),
    }


def by_number(checks: list[list[tuple[str, bool]]]) -> list[dict[str, Any]]:
    """How rollouts fare by the number of instructions they carry, beside what independence would give."""
    lines: list[dict[str, Any]] = []
    for number in sorted({len(rollout) for rollout in checks}):
        mine = [rollout for rollout in checks if len(rollout) == number]
        flags = [flag for rollout in mine for _, flag in rollout]
        rate = sum(flags) / len(flags) if flags else None
        lines.append(
            {
                "instructions": number,
                "rollouts": len(mine),
                "all_kept": sum(all(flag for _, flag in rollout) for rollout in mine),
                "kept_rate": None if rate is None else round(rate, 4),
                "all_kept_if_independent": None if rate is None else round(len(mine) * rate**number, 2),
            }
        )
    return lines


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
