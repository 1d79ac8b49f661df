"""Rules about a skill's frontmatter: those of the specification, then ours.

The specification: https://agentskills.io/specification. Ours come from what agents and packagers do with the fields:
some refuse angle brackets, some cut long descriptions, and all choose a skill by its description alone.
"""

import re
from collections.abc import Iterator
from typing import Any

from blade.errors import Problem
from blade.skillkit.skill import Parts

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""All a skill may say about itself."""
NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
HOUSE_DESCRIPTION = 900
"""What leaves room in the listings of agents, which cut long ones."""
RESERVED = ("anthropic", "claude")
"""Words that a skill's name may not hold where Anthropic publishes it."""
THIRD_PERSON = re.compile(r"(?!This\b|Is\b|Does\b|Always\b)[A-Z][a-z]+s\b")
USE_WHEN = re.compile(r"\bUse (?:it |this |this skill )?(?:when|before|after)\b")


def spec_problems(parts: Parts, folder: str) -> Iterator[Problem]:
    """What breaks the specification; places are lines."""
    said = parts.fields
    for field in said:
        if field not in FIELDS:
            yield at(parts, field, f"unknown field {field!r}", f"a skill has {', '.join(FIELDS)}")
    yield from name_problems(parts, folder)
    yield from length_problems(parts, "description", MAX_DESCRIPTION, required=True)
    yield from length_problems(parts, "compatibility", MAX_COMPATIBILITY)
    yield from length_problems(parts, "license", MAX_COMPATIBILITY)
    yield from length_problems(parts, "allowed-tools", MAX_DESCRIPTION)
    yield from metadata_problems(parts)


def name_problems(parts: Parts, folder: str) -> Iterator[Problem]:
    name = parts.fields.get("name")
    if not isinstance(name, str) or not name:
        yield at(parts, "name", f"name is {excerpt(name)}, expected a text", f"write `name: {folder}`")
    elif not NAME.fullmatch(name):
        form = f"1 to {MAX_NAME} lowercase letters, digits and single hyphens, none at the ends"
        yield at(parts, "name", f"name is {excerpt(name)}, expected {form}", "rename the skill and its folder")
    elif name != folder:
        yield at(parts, "name", f"name is {name!r}, its folder is {folder!r}", "they must be the same; rename one")


def length_problems(parts: Parts, field: str, most: int, *, required: bool = False) -> Iterator[Problem]:
    value = parts.fields.get(field)
    if field not in parts.fields and not required:
        return
    if not isinstance(value, str) or not value.strip():
        yield at(parts, field, f"{field} is {excerpt(value)}, expected a text", f"write `{field}: ...`")
    elif len(value) > most:
        yield at(parts, field, f"{field} has {len(value)} characters, expected at most {most}", "shorten it")


def metadata_problems(parts: Parts) -> Iterator[Problem]:
    metadata = parts.fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield at(parts, "metadata", f"metadata is {excerpt(metadata)}, expected keys with texts", "write `key: text`")
        return
    for key, value in metadata.items():
        if not isinstance(value, str):
            yield at(parts, "metadata", f"metadata.{key} is {excerpt(value)}, expected a text", "put it in quotes")


def house_problems(parts: Parts) -> Iterator[Problem]:
    """What breaks our own rules about a frontmatter that the specification allows."""
    name, description = parts.fields.get("name"), parts.fields.get("description")
    if isinstance(name, str) and (words := [word for word in RESERVED if word in name]):
        yield at(parts, "name", f"name holds {words[0]!r}, which is reserved", "choose another name")
    if isinstance(description, str) and description.strip():
        yield from description_problems(parts, description.strip())


def description_problems(parts: Parts, text: str) -> Iterator[Problem]:
    if HOUSE_DESCRIPTION < len(text) <= MAX_DESCRIPTION:
        said = f"description has {len(text)} characters, expected at most {HOUSE_DESCRIPTION}"
        yield at(parts, "description", said, "agents cut long ones in their listings; shorten it")
    for sign in ("<", ">", "---"):
        if sign in text:
            yield at(parts, "description", f"description holds {sign!r}", "packagers refuse it or split there; drop it")
    if not THIRD_PERSON.match(text):
        first = text.split()[0]
        said = f"description begins with {first!r}, expected a verb in the third person"
        yield at(parts, "description", said, "begin with what the skill does, as in 'Explains why ...'")
    if not USE_WHEN.search(text):
        hint = "say in the user's words when an agent should open it"
        yield at(parts, "description", "description has no 'Use when ...'", hint)


def at(parts: Parts, field: str, message: str, hint: str) -> Problem:
    """A problem on the line of a field, or on the first."""
    return Problem(where=str(parts.lines.get(field, 1)), message=message, hint=hint)


def excerpt(value: Any) -> str:
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
