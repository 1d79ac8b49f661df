"""Calls that a task lists as its solution: formats name the list differently, but its entries are alike."""

from typing import Any

import msgspec

from blade.rollouts.values import ExpectedCall


def listed_calls(value: Any) -> list[ExpectedCall] | None:
    """A list of objects that each name a tool, as calls; `None` for anything else."""
    if not isinstance(value, list):
        return None
    calls = [call for entry in value if (call := listed_call(entry)) is not None]
    return calls if len(calls) == len(value) else None


def listed_call(entry: Any) -> ExpectedCall | None:
    """One call: `{"name", "arguments"}` or `{"name", "kwargs"}`, its arguments as an object or as JSON text."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    compared, requestor = entry.get("compare_args"), entry.get("requestor")
    return ExpectedCall(
        name=entry["name"],
        arguments=call_arguments(entry.get("kwargs", entry.get("arguments"))),
        compared=[str(name) for name in compared] if isinstance(compared, list) else None,
        requestor=requestor if isinstance(requestor, str) else None,
    )


def call_arguments(value: Any) -> dict[str, Any]:
    """Arguments as an object; a text that is not a JSON object stands under an empty name."""
    if isinstance(value, str):
        try:
            decoded = msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            decoded = None
        return decoded if isinstance(decoded, dict) else {"": value} if value.strip() else {}
    return value if isinstance(value, dict) else {}
