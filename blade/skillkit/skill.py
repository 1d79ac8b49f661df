"""A skill: its SKILL.md taken apart with the lines of each part, as a value, and the skills below a folder."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

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


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill says about itself, and what it tells an agent."""

    folder: Path
    """Where it is."""
    name: str
    """Its name, which should be the folder's too."""
    description: str
    """What it does and when to use it; all that an agent sees before it opens the skill."""
    license: str | None = None
    """Its licence, or the name of a file that holds it."""
    compatibility: str | None = None
    """What it needs to run."""
    metadata: dict[str, str] = {}
    """Anything else its author wanted to say."""
    allowed_tools: str | None = None
    """Tools that are approved beforehand, separated by blanks."""
    body: str
    """The instructions."""

    @property
    def version(self) -> str | None:
        """Its version, where its metadata names one."""
        return self.metadata.get("version")


def read_skill(folder: Path) -> Skill:
    """The skill in a folder.

    Raises:
        InputError: there is none, or its frontmatter does not say what it must.
    """
    path = folder / SKILL_FILE
    parts = read_parts(path)
    said: dict[str, Any] = {key.replace("-", "_"): value for key, value in parts.fields.items()}
    known = {name: value for name, value in said.items() if name in Skill.__struct_fields__}
    try:
        return msgspec.convert({**known, "folder": folder, "body": parts.body}, Skill)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {error}; see it all with `blade skill validate`.") from error


def find_skills(place: Path) -> list[Path]:
    """Folders of the skills a path means: a skill, its SKILL.md, or a folder of skills, in the order of their names.

    Raises:
        InputError: there is no skill.
    """
    if place.name == SKILL_FILE and place.is_file():
        return [place.parent]
    if (place / SKILL_FILE).is_file():
        return [place]
    found = sorted(file.parent for file in place.glob(f"*/{SKILL_FILE}"))
    if not found:
        said = f"holds no {SKILL_FILE}, and no folder with one" if place.is_dir() else "is not a folder of a skill"
        raise InputError(f"{place}: {said}.")
    return found


DIGITS = 12
MOST_BYTES = 100_000_000
"""What all files of a folder of skills may have together; they are held in memory."""


def hash_folder(folder: Path) -> str:
    """The name of a folder's content."""
    return hash_files(read_files(folder))


def hash_files(files: dict[str, bytes]) -> str:
    """One short name for files by their relative paths, the same as NeMo Gym gives it.

    It is the sha256 over the path, a NUL, the content and a NUL of each, in the order of path components (so `a/x`
    comes before `a-b/x`, which plain text order turns round).
    """
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.split("/")):
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + files[path] + b"\0")
    return digest.hexdigest()[:DIGITS]


def read_files(folder: Path) -> dict[str, bytes]:
    """Every regular file below a folder by its relative path, in parts separated by `/`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder of skills.")
    try:
        paths = list(regular_files(folder))
        if sum(path.stat().st_size for path in paths) > MOST_BYTES:
            raise InputError(f"{folder}: holds more than {MOST_BYTES // 10**6} MB, which no folder of skills does.")
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}.") from error


def regular_files(folder: Path) -> Iterator[Path]:
    """Files below a folder, links to folders not followed."""
    for place, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(place) / name).is_file())
