#!/usr/bin/env python3
"""Compare the calls an agent made with the calls its task expects, for tau-bench and tau2 rollouts.

Reads tau-bench files (a JSON array with `traj` and `info.task.actions`) or JSONL rows of tau2
(`result.messages` and `result.reward_info.action_checks`). Prints one JSON document with a line per
rollout: expected calls that were made as they should be, those made with other arguments (and which
arguments), those never made, and changes nobody asked for. Calls that a tool refused count as not
made. Rollouts that passed are left out unless --all is given.
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
  python scripts/action_diff.py gpt-4o-airline.json --task 12
  python scripts/action_diff.py rollouts.jsonl --limit 10

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
CHANGES = re.compile(
    r"^(?:book|cancel|update|send|exchange|return|modify|change|enable|disable|refuel|suspend|resume|transfer)_"
)
"""Tools that change something; all others only look, which no verdict depends on."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="tau-bench JSON or tau2 JSONL files")
    parser.add_argument("--task", help="only this task, by its id or index")
    parser.add_argument("--reads", action="store_true", help="expected calls that only look something up as well")
    parser.add_argument("--all", action="store_true", help="rollouts that passed as well")
    parser.add_argument("--limit", type=int, default=10, help="rollouts listed at most (default 10)")
    options = parser.parse_args()
    try:
        rows = [row for path in options.rollouts for row in read_rows(path)]
    except (OSError, ValueError) as error:
        return fail(str(error))
    found = [entry(row, reads=options.reads) for row in rows if options.all or row.get("reward") != 1]
    found = [said for said in found if options.task in (None, said["task"])]
    if not rows:
        return fail("no row has info.task.actions or result.reward_info; this script reads tau rollouts")
    print(json.dumps(summary(found, len(rows), options.limit), indent=2))
    return 0


def fail(message: str) -> int:
    print(f"action_diff: {message}", file=sys.stderr)
    return 3


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of the family in a file, be it an array or lines."""
    text = path.read_text(encoding="utf-8", errors="replace")
    rows = (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(x) for x in text.splitlines() if x.strip()]
    )
    return [row for row in rows if isinstance(row, dict) and expected_calls(row) is not None]


def expected_calls(row: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The calls a task expects, each with name and arguments; `None` when the row is of another kind."""
    if "traj" in row:
        actions = ((row.get("info") or {}).get("task") or {}).get("actions")
        return None if actions is None else [{"name": a["name"], "arguments": a.get("kwargs", {})} for a in actions]
    info = (row.get("result") or {}).get("reward_info")
    if info is None:
        return None
    checks = [check["action"] for check in info.get("action_checks") or []]
    return [{"name": a["name"], "arguments": compared(a)} for a in checks if a.get("requestor") != "user"]


def compared(action: dict[str, Any]) -> dict[str, Any]:
    """The arguments the verifier looks at: all of them, unless the task says which."""
    wanted = action.get("compare_args")
    given: dict[str, Any] = action.get("arguments") or {}
    return given if wanted is None else {name: given.get(name) for name in wanted}


def made_calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The agent's calls, each with whether its tool refused it."""
    messages = row.get("traj") or (row.get("result") or {}).get("messages") or []
    refused = {m.get("tool_call_id") or m.get("id") for m in messages if m.get("role") == "tool" and is_refusal(m)}
    calls = [call for m in messages if m.get("role") == "assistant" for call in m.get("tool_calls") or []]
    return [{**as_call(call.get("function") or call), "refused": call.get("id") in refused} for call in calls]


def is_refusal(message: dict[str, Any]) -> bool:
    return bool(message.get("error")) or str(message.get("content") or "").startswith("Error")


def as_call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"unreadable": arguments}
    return {"name": call.get("name"), "arguments": arguments if isinstance(arguments, dict) else {}}


def entry(row: dict[str, Any], *, reads: bool) -> dict[str, Any]:
    """What was expected and what was done in one rollout."""
    made = made_calls(row)
    as_wanted, otherwise, never = [], [], []
    for wanted in expected_calls(row) or []:
        if not reads and not CHANGES.match(wanted["name"]):
            continue
        call = closest([call for call in made if not call["refused"]], wanted)
        if call is None:
            never.append(wanted)
            continue
        made.remove(call)
        if differs := differences(call, wanted):
            otherwise.append({"name": wanted["name"], "differs": differs})
        else:
            as_wanted.append(wanted["name"])
    return {
        "task": str(row.get("_ng_task_index", row.get("task_id"))),
        "repeat": row.get("_ng_rollout_index", row.get("trial")),
        "reward": row.get("reward"),
        "as_expected": as_wanted,
        "with_other_arguments": otherwise,
        "never_made": never,
        "not_asked_for": [call for call in made if CHANGES.match(str(call["name"])) and not call["refused"]],
        "refused": sum(call["refused"] for call in made),
    }


def closest(made: list[dict[str, Any]], wanted: dict[str, Any]) -> dict[str, Any] | None:
    """The call of the same tool with the fewest other arguments."""
    same = [call for call in made if call["name"] == wanted["name"]]
    return min(same, key=lambda call: len(differences(call, wanted)), default=None)


def differences(call: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in wanted["arguments"] if call["arguments"].get(name) != wanted["arguments"][name]]
    return {name: {"expected": wanted["arguments"][name], "given": call["arguments"].get(name)} for name in names}


def shown(said: dict[str, Any]) -> dict[str, Any]:
    """An entry with its values short enough to read."""
    differs = {f"{d['name']}.{a}": v for d in said["with_other_arguments"] for a, v in d["differs"].items()}
    return {
        **said,
        "with_other_arguments": {name: {side: clip(v[side]) for side in v} for name, v in differs.items()},
        "never_made": [f"{call['name']} {clip(call['arguments'])}" for call in said["never_made"]],
        "not_asked_for": [f"{call['name']} {clip(call['arguments'])}" for call in said["not_asked_for"]],
    }


def clip(value: Any, most: int = 200) -> str:
    text = json.dumps(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def summary(found: list[dict[str, Any]], rows: int, limit: int) -> dict[str, Any]:
    wrong = Counter(f"{d['name']}.{a}" for e in found for d in e["with_other_arguments"] for a in d["differs"])
    return {
        "rows": rows,
        "rollouts": len(found),
        "never_made": dict(Counter(c["name"] for e in found for c in e["never_made"]).most_common(limit)),
        "other_arguments": dict(wrong.most_common(limit)),
        "not_asked_for": dict(Counter(c["name"] for e in found for c in e["not_asked_for"]).most_common(limit)),
        "every_expected_call_made": sum(not e["never_made"] and not e["with_other_arguments"] for e in found),
        "by_rollout": [shown(said) for said in found[:limit]],
        "not_listed": max(0, len(found) - limit),
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
