"""BLADE's own row: a rollout as one JSON object.

Readers of foreign formats hand over rollouts; written in this form they go through the same table as every other row.
A runner may also write it itself, one object per line, and is then read without any guessing.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from blade.rollouts.formats.format import Format
from blade.rollouts.values import Item, Rollout

RESERVED = frozenset({
    "task", "repeat", "run", "variant", "reward", "scores", "ending", "model", "agent", "usage", "seconds", "answer",
    "expected", "tests", "settings", "tools", "prompt", "output", "fields",
})  # fmt: skip

FORMAT = Format(
    name="blade",
    prompt="prompt",
    output="output",
    tools="tools",
    texts=("answer", "ending.message"),
    scalars=("task", "repeat", "run", "variant", "reward", "model", "agent"),
    skip=("expected", "tests"),
    indices=("task", "repeat"),
    task_fields=("task",),
    repeat_fields=("repeat",),
    reward_fields=("reward",),
)

TYPES = {"tool_call": "function_call", "tool_result": "function_call_output", "reasoning": "reasoning"}
TEXT_KEYS = {"tool_call": "arguments", "tool_result": "output", "reasoning": "summary"}


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row is one of our own."""
    return "task" in row and isinstance(row.get("ending"), dict) and isinstance(row.get("output"), list)


def encoded(rollout: Rollout) -> bytes:
    """A rollout as a row. Other fields stand beside ours; one whose name is taken stands in `fields`."""
    free = {name: value for name, value in rollout.fields.items() if name not in RESERVED}
    taken = {name: value for name, value in rollout.fields.items() if name in RESERVED}
    row: dict[str, Any] = {
        "task": rollout.task,
        "repeat": rollout.repeat,
        "run": rollout.run,
        "variant": rollout.variant,
        "reward": rollout.reward,
        "scores": rollout.scores,
        "ending": rollout.ending,
        "model": rollout.model,
        "agent": rollout.agent,
        "usage": rollout.usage,
        "seconds": rollout.seconds,
        "answer": rollout.answer,
        "settings": rollout.settings,
        **free,
        "expected": rollout.expected,
        "tests": rollout.tests,
        "tools": rollout.tools,
        "prompt": stored_items(item for item in rollout.items if item.prompt),
        "output": stored_items(item for item in rollout.items if not item.prompt),
    }
    if taken:
        row["fields"] = taken
    return msgspec.json.encode(row)


def stored_items(items: Iterable[Item]) -> list[dict[str, Any]]:
    return [stored_item(item) for item in items]


def stored_item(item: Item) -> dict[str, Any]:
    """An item in the dialect of trajectories; only what it has."""
    stored: dict[str, Any] = {"type": TYPES.get(item.kind, "message"), TEXT_KEYS.get(item.kind, "content"): item.text}
    if item.kind in ("message", "environment"):
        stored["role"] = item.role or ("assistant" if item.kind == "message" else "user")
        if item.kind == "environment" and stored["role"] == "assistant":
            stored["role"] = "environment"
    for key in ("name", "call_id", "error", "agent"):
        if getattr(item, key) is not None:
            stored[key] = getattr(item, key)
    return stored
