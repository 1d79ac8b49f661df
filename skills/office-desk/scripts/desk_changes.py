#!/usr/bin/env python3
"""Say what failing office_desk rollouts did to the desk, field by field, and which passes took a short
cut.

Reads JSONL rows with `state_diff` and `tools_called`. A missing row and an unexpected one of the
same table are put together, and the fields that differ are counted (`events.start`); what is left
was not done, or nobody asked for it. Passes that send mail to an address that was neither looked up
nor given in the request are listed: it was guessed.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/desk_changes.py rollouts.jsonl --limit 15

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
LINE = re.compile(r"(\w+): (missing|unexpected) (.*)", re.DOTALL)
FIELD = re.compile(r"(?:^|, )(\w+)=")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=15, help="rollouts listed at most (default 15)")
    options = parser.parse_args()
    try:
        rows, bad = read_rows(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not rows:
        return fail("no row has state_diff and tools_called; this script reads office_desk rollouts")
    failing = [entry(row) for row in rows if row["state_diff"]]
    guessed = [key_of(row) for row in rows if row.get("reward") == 1 and guesses(row)]
    document = {
        "bad_lines": bad,
        "rollouts": len(rows),
        "desk_not_as_expected": len(failing),
        "fields_that_differ": dict(
            Counter(name for one in failing for name in one["differ"]).most_common(options.limit)
        ),
        "not_done": dict(Counter(name for one in failing for name in one["not_done"])),
        "not_asked_for": dict(Counter(name for one in failing for name in one["not_asked_for"])),
        "passes_with_a_guessed_address": guessed[: options.limit],
        "passes_with_a_guessed_address_in_all": len(guessed),
        "by_rollout": failing[: options.limit],
        "not_listed": max(0, len(failing) - options.limit),
    }
    print(json.dumps(document, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"desk_changes: {message}", file=sys.stderr)
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
            if isinstance(row, dict) and isinstance(row.get("state_diff"), list) and "tools_called" in row:
                rows.append(row)
    return rows, bad


def entry(row: dict[str, Any]) -> dict[str, Any]:
    """What is different, not done and not asked for in one rollout."""
    parsed = [match.groups() for line in row["state_diff"] if (match := LINE.fullmatch(str(line)))]
    missing = [(table, fields_of(said)) for table, word, said in parsed if word == "missing"]
    extra = [(table, fields_of(said)) for table, word, said in parsed if word == "unexpected"]
    differ: list[str] = []
    not_done: list[str] = []
    for table, wanted in missing:
        twin = closest(table, wanted, extra)
        if twin is None:
            not_done.append(table)
            continue
        extra.remove((table, twin))
        differ += [f"{table}.{name}" for name in wanted if wanted[name] != twin.get(name)]
    return {
        "rollout": key_of(row),
        "task": row.get("task_id"),
        "differ": differ,
        "not_done": not_done,
        "not_asked_for": [table for table, _ in extra],
        "wrong_calls": row.get("wrong_calls", [])[:3],
    }


def fields_of(said: str) -> dict[str, str]:
    """`a=1, b=two words` as a mapping."""
    parts = FIELD.split(said)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def closest(table: str, wanted: dict[str, str], extra: list[tuple[str, dict[str, str]]]) -> dict[str, str] | None:
    """The unexpected row of a table that shares most with a missing one: its id, or at least half of its fields."""
    rows = [found for name, found in extra if name == table]
    same_id = [found for found in rows if "id" in wanted and found.get("id") == wanted["id"]]
    alike = [found for found in rows if 2 * sum(found.get(k) == v for k, v in wanted.items()) >= len(wanted)]
    ranked = sorted(same_id or alike, key=lambda found: -sum(found.get(k) == v for k, v in wanted.items()))
    return ranked[0] if ranked else None


def guesses(row: dict[str, Any]) -> bool:
    """Whether mail was sent before any contact, event or mail was looked up, and the request names no address."""
    tools = row["tools_called"]
    prompt = (row.get("responses_create_params") or {}).get("input") or [{}]
    if "@" in json.dumps(prompt if isinstance(prompt, str) else prompt[-1]):
        return False
    lookups = [place for place, name in enumerate(tools) if name in ("find_contact", "list_events", "read_mail")]
    return "send_mail" in tools and (not lookups or tools.index("send_mail") < lookups[0])


def key_of(row: dict[str, Any]) -> str:
    return f"{row.get('_ng_task_index')}:{row.get('_ng_rollout_index')}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
