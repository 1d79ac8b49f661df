#!/usr/bin/env python3
"""Pull the telling lines out of the long logs of RTL simulations.

Reads JSONL rows with `container_services` (per service its exit code and log). Prints one JSON
document with an entry per rollout: per service the exit code, tests run, passed and failed, and the
first lines that say why; and the tasks that no design could have passed because a service has no
image.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/service_report.py rollouts.jsonl --limit 10

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
TESTS = re.compile(r"TESTS=(\d+) PASS=(\d+) FAIL=(\d+)")
FAILED_OF = re.compile(r"Failed (\d+) of (\d+) tests")
TELLING = re.compile(
    r"^.*(?:: syntax error|%Error|: error:|I give up|AssertionError: .*|no (?:child )?object named"
    r"|returned non-zero exit status|timed out after|No image).*$",
    re.MULTILINE,
)
NO_IMAGE = re.compile(r"^No image defined for service|__VERIF_EDA_IMAGE__", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=20, help="rollouts listed at most (default 20)")
    options = parser.parse_args()
    try:
        found, bad = read_entries(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not found:
        return fail("no row has container_services; this script reads RTL rollouts")
    impossible = sorted({entry["task"] for entry in found if any(s["no_image"] for s in entry["services"])})
    document = {
        "bad_lines": bad,
        "rollouts": len(found),
        "cannot_pass": impossible,
        "by_rollout": found[: options.limit],
        "not_listed": max(0, len(found) - options.limit),
    }
    print(json.dumps(document, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"service_report: {message}", file=sys.stderr)
    return 3


def read_entries(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """One entry per row with services, and how many lines are not JSON."""
    found: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and isinstance(row.get("container_services"), list):
                found.append(entry(row))
    return found, bad


def entry(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "task": str(row.get("task_id", row.get("_ng_task_index"))),
        "rollout": f"{row['_ng_task_index']}:{row.get('_ng_rollout_index', 0)}" if "_ng_task_index" in row else None,
        "category": row.get("category"),
        "reward": row.get("reward"),
        "services": [service(said) for said in row["container_services"] if isinstance(said, dict)],
    }


def service(said: dict[str, Any]) -> dict[str, Any]:
    log = str(said.get("stderr") or "")
    tests = TESTS.search(log)
    failed = FAILED_OF.search(log)
    lines = [" ".join(line.split())[:200] for line in TELLING.findall(log)]
    return {
        "service": said.get("service"),
        "exit_code": said.get("exit_code"),
        "tests": int(tests[1]) if tests else int(failed[2]) if failed else None,
        "failed": int(tests[3]) if tests else int(failed[1]) if failed else None,
        "no_image": bool(NO_IMAGE.search(log)),
        "why": list(dict.fromkeys(lines))[:3],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
