#!/usr/bin/env python3
"""Show where patches were made: files and functions, passing against failing rollouts of one task.

Reads JSONL rows with `model_patch` (a unified diff). Prints one JSON document with an entry per
task: the places only passing patches touch, those only failing ones touch, and per rollout the size
of its patch and what looks odd about it (no patch, tests changed, files that are usually generated,
new files at the top of the repository).
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/patch_places.py rollouts.jsonl --task django__django-10973

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
FILE = re.compile(r"^diff --git a/(.+?) b/(.+)$")
HUNK = re.compile(r"^@@ [^@]+ @@ ?(.*)$")
TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec)/|(?:^|/)(?:test_[^/]+|[^/]+_test|[^/]+\.(?:test|spec))\.\w+$"
)
GENERATED = re.compile(r"(?:\.lock|\.min\.js|\.pyc|\.orig|\.rej|\.log|lexer\.c|parser\.c|/dist/.*|/build/.*)$")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--task", help="only this task, by its id or index")
    parser.add_argument("--limit", type=int, default=10, help="tasks listed at most (default 10)")
    options = parser.parse_args()
    try:
        found, bad = read_patches(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    found = [said for said in found if options.task in (None, said["task"])]
    if not found:
        return fail("no row with model_patch, or none of that task; this script reads software-engineering rollouts")
    tasks = sorted({said["task"] for said in found})
    shown = [about(task, [said for said in found if said["task"] == task]) for task in tasks[: options.limit]]
    print(json.dumps({"bad_lines": bad, "tasks": shown, "not_listed": max(0, len(tasks) - options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"patch_places: {message}", file=sys.stderr)
    return 3


def read_patches(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """One entry per row that knows of a patch, and how many lines are not JSON."""
    found: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and "model_patch" in row:
                found.append(entry(row))
    return found, bad


def entry(row: dict[str, Any]) -> dict[str, Any]:
    patch = row.get("model_patch") or ""
    files, places, added, removed = read_patch(patch)
    ids = [row[key] for key in ("_ng_task_index", "instance_id", "task_id") if row.get(key) is not None]
    return {
        "task": str(ids[0]) if ids else "?",
        "repeat": row.get("_ng_rollout_index"),
        "passed": row.get("resolved", row.get("reward") == 1),
        "files": files,
        "places": places,
        "added": added,
        "removed": removed,
        "odd": oddities(patch, files),
    }


def read_patch(patch: str) -> tuple[list[str], list[str], int, int]:
    """Files, `file: function` places, and lines added and removed of a unified diff."""
    files: list[str] = []
    places: list[str] = []
    added = removed = 0
    for line in patch.splitlines():
        if match := FILE.match(line):
            files.append(match[2])
        elif (match := HUNK.match(line)) and files:
            places.append(f"{files[-1]}: {match[1].strip()[:80] or '(top of the file)'}")
        added += line.startswith("+") and not line.startswith("+++")
        removed += line.startswith("-") and not line.startswith("---")
    return files, list(dict.fromkeys(places)), added, removed


def oddities(patch: str, files: list[str]) -> list[str]:
    top = [name for name in re.findall(r"^diff --git a/\S+ b/(\S+)\nnew file", patch, re.MULTILINE) if "/" not in name]
    tests = any(TEST.search(name) for name in files)
    generated = any(GENERATED.search(name) for name in files)
    facts = {
        "no patch": not patch.strip(),
        "changes tests": tests,
        "changes generated files": generated,
        "new files at the top": bool(top),
    }
    return [name for name, holds in facts.items() if holds]


def about(task: str, mine: list[dict[str, Any]]) -> dict[str, Any]:
    passing = {place for said in mine if said["passed"] for place in said["places"]}
    failing = {place for said in mine if not said["passed"] for place in said["places"]}
    return {
        "task": task,
        "passed": sum(bool(said["passed"]) for said in mine),
        "rollouts": len(mine),
        "only_in_passing": sorted(passing - failing)[:20],
        "only_in_failing": sorted(failing - passing)[:20],
        "in_both": sorted(passing & failing)[:20],
        "patches": [{key: said[key] for key in ("repeat", "passed", "added", "removed", "odd")} for said in mine[:20]],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
