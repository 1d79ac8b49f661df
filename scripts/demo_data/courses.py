"""What an assistant does from a request to its last word.

Each family of tasks (`mails.py`, `events.py`, `records.py`) knows its request, the right course of tool calls, and one
mistake to plant.
"""

from typing import Any, NamedTuple


class Call(NamedTuple):
    """A tool call and what the tool returned."""

    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]


class Course(NamedTuple):
    """What the assistant thinks, does and says."""

    thought: str
    calls: list[Call]
    says: str
    answer: str
    """What the verifier would extract from its end."""
