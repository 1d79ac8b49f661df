"""Agent Skills in a run: a catalog in the system text, a tool that opens their files, and a record of what was read.

All files are read once, when the run begins. So what the model is shown is what the hash names, even when somebody
edits the folder meanwhile; that is noted at the end.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from blade.environments import Session
from blade.environments.answering import readable
from blade.errors import InputError
from blade.llm.model import Item
from blade.rollouts.skills import CATALOG_START, SKILL_TOOL
from blade.skillkit.skill import SKILL_FILE, Skill, find_skills, hash_files, read_files, read_skill

TOOL = SKILL_TOOL
LONGEST = 40_000
"""Characters of a file that are shown at once."""
LISTED = 100
"""Files of a folder that are listed."""
TURNS = 8
"""Replies a rollout may take beyond its benchmark's limit, to read skills with."""

DECLARATION = {
    "type": "function",
    "name": TOOL,
    "description": "Read a file of a skill, such as the SKILL.md in the list of skills, or list a folder of one.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path as listed, e.g. some-skill/SKILL.md"}},
        "required": ["path"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of one run, with all their files."""

    given: str
    """The folder as the user named it."""
    folder: Path
    """Where it is."""
    hash: str
    """The name of its content."""
    skills: dict[str, Skill]
    """By the path of their SKILL.md."""
    files: dict[str, bytes]
    """By the path a model asks for."""

    @property
    def reference(self) -> dict[str, Any]:
        """What every row says about the skills it was made with."""
        names = ("name", "description", "version")
        skills = [{name: getattr(skill, name) for name in names} for skill in self.skills.values()]
        return {"path": self.given, "hash": self.hash, "skills": skills}

    @property
    def catalog(self) -> str:
        """What the system text says about them."""
        listed = [
            f"- {skill.name} ({path}): {' '.join(skill.description.split())}" for path, skill in self.skills.items()
        ]
        return "\n".join(
            [
                f"{CATALOG_START} instructions for some kinds of tasks. When one fits the task, read it with {TOOL} "
                "before you begin, and follow it.",
                "Skills:",
                *listed,
            ]
        )

    def open(self, path: str) -> str:
        """What a model is shown of a file or folder; what is not there is said, never raised."""
        wanted = path.strip().removeprefix("./").rstrip("/")
        data = self.files.get(wanted)
        if data is None:
            return self._list(wanted)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return f"{wanted} is not a text ({len(data)} bytes)."
        rest = len(text) - LONGEST
        return text if rest <= 0 else f"{text[:LONGEST]}\n[{rest} more characters are not shown]"

    def _list(self, wanted: str) -> str:
        below = [path for path in self.files if not wanted or wanted == "." or path.startswith(f"{wanted}/")]
        if not below:
            return f"Error: no file is named {wanted!r}; there are {', '.join(self.skills)}."
        more = f"\n… and {len(below) - LISTED} more" if len(below) > LISTED else ""
        return readable("\n".join(sorted(below)[:LISTED]) + more)

    def has_changed(self) -> bool:
        """Whether the folder is no longer what it was when the run began."""
        try:
            return hash_files(read_files(self.folder)) != self.hash
        except InputError:
            return True


def read_library(given: str) -> Library:
    """The skills of a folder; it may also be a single skill.

    Raises:
        InputError: there are none, or one of them cannot be read.
    """
    folder = Path(given)
    files = read_files(folder)
    check_links(folder, files)
    is_single = SKILL_FILE in files
    if not is_single:
        check_folders(folder)
    start = f"{folder.resolve().name}/" if is_single else ""
    found = {f"{place.resolve().name}/{SKILL_FILE}": place for place in find_skills(folder)}
    return Library(
        given=given,
        folder=folder,
        hash=hash_files(files),
        skills={path: read_skill(place) for path, place in found.items()},
        files={start + path: data for path, data in files.items()},
    )


def check_links(folder: Path, files: Iterable[str]) -> None:
    """Raises when a file is a link to one outside: what a model may open is sent to its server."""
    inside = folder.resolve()
    for path in files:
        if not (folder / path).resolve().is_relative_to(inside):
            raise InputError(
                f"{folder / path}: leads out of the folder, and would be shown to the model; put a copy there."
            )


def check_folders(folder: Path) -> None:
    """Raises when a folder among the skills is none."""
    for place in sorted(folder.iterdir()):
        is_nothing = not place.is_dir() or place.is_symlink() or place.name.startswith(".")
        if not is_nothing and not (place / SKILL_FILE).is_file():
            raise InputError(f"{place}: has no {SKILL_FILE}; every folder in a folder of skills is a skill.")


class SkillSession:
    """The tools of a rollout with the one that opens skills beside them."""

    def __init__(self, library: Library, inner: Session | None) -> None:
        self._library = library
        self._inner = inner
        self.read: list[str] = []
        """Files that were opened, in the order of their first opening."""

    def call(self, name: str, arguments: str) -> str:
        """Opens a file of a skill, or passes the call on."""
        if name != TOOL:
            return (
                f"Error: there is no tool named {name}." if self._inner is None else self._inner.call(name, arguments)
            )
        try:
            path = msgspec.json.decode(arguments, type=dict[str, str])["path"]
        except (msgspec.MsgspecError, KeyError):
            return f'Error: {TOOL} takes {{"path": "some-skill/SKILL.md"}}.'
        wanted = path.strip().removeprefix("./")
        if wanted in self._library.files and wanted not in self.read:
            self.read.append(wanted)
        return self._library.open(path)


def without_skill_calls(items: list[Item]) -> list[Item]:
    """Output items as a verifier sees them: opening a skill is no part of a task."""
    opened = {item.get("call_id") for item in items if item.get("type") == "function_call" and item.get("name") == TOOL}
    kinds = ("function_call", "function_call_output")
    return [item for item in items if item.get("type") not in kinds or item.get("call_id") not in opened]


def with_skills(request: dict[str, Any], library: Library) -> dict[str, Any]:
    """A request with the catalog in its system text and the tool among its tools."""
    asked = request["input"]
    messages = [{"type": "message", "role": "user", "content": asked}] if isinstance(asked, str) else list(asked)
    first = messages[0]
    if first.get("role") == "system" and isinstance(first.get("content"), str):
        messages[0] = {**first, "content": f"{first['content']}\n\n{library.catalog}"}
    else:
        messages.insert(0, {"type": "message", "role": "system", "content": library.catalog})
    return {**request, "input": messages, "tools": [*(request.get("tools") or []), DECLARATION]}
