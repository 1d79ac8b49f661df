"""Skills that can be had: those that come with BLADE, or those of another checkout."""

import difflib
from pathlib import Path
from typing import Any

from blade.diagnosis.packs.load import TAXONOMY, skills_folder
from blade.errors import InputError, Problem, UsageError
from blade.skillkit.scripts import script_files
from blade.skillkit.skill import SKILL_FILE, Skill, find_skills, read_skill

PLACES = ("skills", ".agents/skills", ".claude/skills", ".codex/skills")
"""Where a checkout keeps its skills; the first that is there is meant."""


def read_shelf(root: Path | None = None) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The skills of a checkout and what could not be read; without one, those that come with BLADE."""
    entries: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for folder in find_skills(shelf_folder(root)):
        try:
            entries.append(describe(read_skill(folder)))
        except InputError as error:
            problems.append(Problem(where=str(folder / SKILL_FILE), message=str(error)))
    return entries, problems


def shelf_folder(root: Path | None) -> Path:
    """The folder that holds the skills."""
    if root is None:
        return skills_folder()
    places = [root / place for place in PLACES if (root / place).is_dir()]
    return places[0] if places else root


def describe(skill: Skill) -> dict[str, Any]:
    """A skill in a list of them, with whether it brings a taxonomy pack, which `blade diagnose --pack NAME` takes."""
    return {
        "name": skill.name,
        "description": skill.description,
        "version": skill.version,
        "taxonomy": (skill.folder / TAXONOMY).is_file(),
        "scripts": [path.relative_to(skill.folder).as_posix() for path in script_files(skill.folder)],
        "path": str(skill.folder),
    }


def find_skill(name: str, root: Path | None = None) -> Path:
    """The folder of a skill, by its name or by its path.

    Raises:
        UsageError: there is none of that name.
    """
    if (Path(name) / SKILL_FILE).is_file():
        return Path(name).resolve()
    folders = {folder.name: folder for folder in find_skills(shelf_folder(root))}
    if name in folders:
        return folders[name]
    close = difflib.get_close_matches(name, folders, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(folders)}."
    raise UsageError(f"no skill {name!r}; {hint}")
