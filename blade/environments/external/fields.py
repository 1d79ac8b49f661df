"""Fields of a row by any of the names that editions of a set give them."""

import json
from collections.abc import Mapping
from typing import Any


class NotATask(Exception):
    """A row must be left out; the message is the reason."""


def first_of(row: Mapping[str, Any], *names: str) -> Any:
    """The first of some fields that a row has; `None` when it has none."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def decoded(value: Any, name: str) -> Any:
    """A value that an edition may keep as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise NotATask(f"its {name} is not JSON") from None
