"""Prompt files: a system text, examples, and a user text with `{field}` places that a task fills.

Doubled braces are literal ones. A place takes a field's text as it is and anything else as JSON; nothing in it is
evaluated, because tasks come from files of others. Examples are literal.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError

PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that was answered well."""

    user: str
    """What was asked."""
    assistant: str
    """What was answered."""


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a task becomes a conversation."""

    user: str
    """Template of the question."""
    system: str | None = None
    """Template of the system text."""
    examples: list[Example] = []
    """Exchanges shown before the question."""


def read_prompt(path: Path) -> Prompt:
    """A prompt file."""
    import yaml

    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Prompt)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{path}: {said}; a prompt has `user`, and may have `system` and `examples`.") from error


def conversation(prompt: Prompt, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages that put a task to a model."""
    messages = [message("system", fill(prompt.system, task))] if prompt.system else []
    for example in prompt.examples:
        messages += [message("user", example.user), message("assistant", example.assistant)]
    return [*messages, message("user", fill(prompt.user, task))]


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def fill(template: str, task: Mapping[str, Any]) -> str:
    """A template with a task's fields in its places."""

    def value_at(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        field = match[1]
        if field is None:
            raise InputError(f"the prompt has a lone {match[0]!r}; write it twice to mean the sign itself.")
        if field not in task:
            there = ", ".join(sorted(name for name in task if not name.startswith("_")))
            raise InputError(f"the prompt asks for field {field!r}, which the task does not have; it has {there}.")
        value = task[field]
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()

    return PLACE.sub(value_at, template)
