"""A skill as a value, and the skills below a folder."""

from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.skillkit.frontmatter import SKILL_FILE, read_parts


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
