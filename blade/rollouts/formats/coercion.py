"""Values of foreign JSON taken for what they are meant to be: words, numbers, objects, or nothing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

SHORT = 200
"""Characters of a text that is still a value and not prose."""


def content_text(content: Any) -> str:
    """The words of a content in any of the usual forms; anything else as its JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(content_text, content)))
    if isinstance(content, dict):
        for key in ("text", "content", "value"):
            if isinstance(content.get(key), str | list):
                return content_text(content[key])
        if content.get("type") in ("image", "image_url", "input_image", "audio", "input_audio", "document", "file"):
            return f"[{content['type']}]"
    return json_text(content)


def arguments_text(arguments: Any) -> str:
    """A call's arguments as the JSON text they are cited by."""
    return arguments if isinstance(arguments, str) else "" if arguments is None else json_text(arguments)


def json_text(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def part(value: dict[str, Any], name: str | None) -> dict[str, Any]:
    """An object within an object; empty where there is none."""
    inner = value.get(name) if name is not None else None
    return inner if isinstance(inner, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def scalars(values: dict[str, Any]) -> dict[str, Any]:
    """Single values as they are, others as JSON, what is unknown not at all."""
    return {
        name: value if isinstance(value, str | int | float) else json_text(value)
        for name, value in values.items()
        if value is not None
    }


def short_values(values: Any) -> dict[str, Any]:
    """What an object says in single values and few words, for fields."""
    return {
        name: value
        for name, value in (values.items() if isinstance(values, dict) else ())
        if (isinstance(value, str) and 0 < len(value) <= SHORT) or number_or_none(value) is not None
    }


def text_or_none(value: Any) -> str | None:
    """A text as it is, other single values as text, nothing for nothing."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else content_text(value)


def first_line(text: str, most: int = 200) -> str:
    """The first words of an error, for its name."""
    stripped = text.strip()
    return (stripped.splitlines()[0] if stripped else "error")[:most]


def number_or_none(value: Any) -> float | None:
    """A finite number or flag as a float; nothing for anything else."""
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None


def whole(*values: Any) -> int | None:
    """The first of these that is a count, such as of tokens."""
    known = (number_or_none(value) for value in values)
    return next((int(number) for number in known if number is not None and number >= 0), None)


def summed(values: Iterable[Any]) -> Any:
    """The sum of what is known; nothing when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def as_dict(value: Any) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def seconds_between(begun: Any, ended: Any) -> float | None:
    """The time between two moments in ISO 8601."""
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    except (TypeError, ValueError):
        return None
