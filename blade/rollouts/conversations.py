"""Conversations of several agents: the name of a message says who speaks, whatever its role.

Such logs are written from one agent's side, where all the others are `user`. One that runs the others' code is no
agent: its messages are results, and AutoGen's say by their form whether the code failed.
"""

import re
from collections.abc import Sequence

import msgspec

from blade.rollouts.values import Item

EXECUTED = re.compile(r"exitcode: (-?\d+) \(")
"""How AutoGen reports that it ran code."""


def among_agents(items: Sequence[Item]) -> list[Item]:
    """The items with their speakers as agents, where messages carry at least two names."""
    spoken = [item for item in items if item.kind in ("message", "environment") and item.name and not item.prompt]
    if len({item.name for item in spoken}) < 2:
        return list(items)
    executors = {item.name for item in spoken if EXECUTED.match(item.text)}
    named = {id(item) for item in spoken}
    return [as_spoken(item, executors) if id(item) in named else item for item in items]


def as_spoken(item: Item, executors: set[str | None]) -> Item:
    if item.name not in executors:
        return msgspec.structs.replace(item, kind="message", agent=item.agent or item.name, name=None)
    ran = EXECUTED.match(item.text)
    error = item.text.strip().splitlines()[-1] if ran is not None and ran[1] != "0" else None
    return msgspec.structs.replace(item, kind="tool_result", role=None, error=item.error or error)
