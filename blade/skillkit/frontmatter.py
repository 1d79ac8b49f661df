"""SKILL.md split into its frontmatter and its body, each with the lines it stands on."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from blade.diagnosis.packs.document import Refused, parse_document
from blade.errors import InputError

SKILL_FILE = "SKILL.md"
FENCE = re.compile(r"---[ \t]*")
MAX_BYTES = 1_000_000
COLON = "mapping values are not allowed"
"""What the YAML parser says of a text with a colon in it that is not quoted."""


class Parts(NamedTuple):
    """A SKILL.md taken apart."""

    fields: dict[str, Any]
    """The frontmatter, as plain values."""
    lines: dict[str, int]
    """Line of each of its fields."""
    body: str
    """What follows the frontmatter."""
    body_line: int
    """Line the body begins on."""


def read_parts(path: Path) -> Parts:
    """A SKILL.md taken apart.

    Raises:
        InputError: the file cannot be read, or its frontmatter is not YAML between two lines of `---`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}:1: a skill's instructions have at most {MAX_BYTES // 1000} KB.")
    try:
        return take_apart(data)
    except Refused as refused:
        raise InputError(f"{path}:{refused.line}: {refused}.") from refused


def take_apart(data: bytes) -> Parts:
    """The parts of some bytes; raises `Refused`."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise Refused(f"invalid UTF-8 at byte {error.start}", 1 + data.count(b"\n", 0, error.start)) from error
    if not lines or not FENCE.fullmatch(lines[0]):
        raise Refused("has no frontmatter; the first line must be ---", 1)
    end = next((at for at, line in enumerate(lines[1:], start=1) if FENCE.fullmatch(line)), None)
    if end is None:
        raise Refused("has frontmatter without an end; close it with a line of ---", 1)
    fields, places = parse_fields("\n".join(lines[1:end]))
    body = lines[end + 1 :]
    blank = next((at for at, line in enumerate(body) if line.strip()), len(body))
    return Parts(fields, places, "\n".join(body[blank:]), end + 2 + blank)


def parse_fields(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The fields between the fences, and their lines in the file."""
    try:
        document = parse_document(f"\n{text}".encode(), "frontmatter")  # a blank line where the opening fence is
    except Refused as refused:
        hint = "; put the text in quotes, or write it below `description: >-`" if COLON in str(refused) else ""
        raise Refused(f"{refused}{hint}", refused.line) from refused
    if not isinstance(document.value, dict):
        raise Refused("has frontmatter that is not a mapping; write `name: ...` and `description: ...`", 2)
    return document.value, {name: document.line((name,)) for name in document.value}
