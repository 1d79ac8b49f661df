"""Putting a skill where an agent looks for it, again and again, without ever losing what somebody wrote there.

A record beside the installed skills says what was put there. A file that is neither what is to be installed nor what
the record says was edited by somebody; it is kept, and its skill is refused until the user insists.
"""

import contextlib
import hashlib
import secrets
import shutil
from pathlib import Path
from typing import Literal

import msgspec

from blade.errors import InputError
from blade.skillkit.body import is_hidden

Agent = Literal["claude", "codex", "agents"]
Action = Literal["installed", "updated", "unchanged", "refused"]

PROJECT: dict[Agent, str] = {"claude": ".claude/skills", "codex": ".codex/skills", "agents": ".agents/skills"}
USER: dict[Agent, str] = {"claude": ".claude/skills", "codex": ".agents/skills", "agents": ".agents/skills"}
"""Codex reads the shared place of a user; its own, `~/.codex/skills`, is going away."""
RECORD = ".blade-skills.json"
NOT_INSTALLED = ("evals",)
"""Parts of a skill that only its authors need."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one skill in one place."""

    skill: str
    """Its name."""
    place: str
    """The folder it is, or would be, in."""
    action: Action
    """What was done; with a dry run, what would be."""
    changed: list[str] = []
    """Files that were written or removed."""
    kept: list[str] = []
    """Files that somebody edited, for which the skill was refused."""


class Record(msgspec.Struct, kw_only=True):
    """What was installed into a folder of skills."""

    skills: dict[str, dict[str, str]] = {}
    """Skill -> file -> sha256 of what was written."""


def place_for(agent: Agent, *, user: bool, project: Path) -> Path:
    """The folder of skills that an agent reads, of the user or of a project."""
    return Path.home() / USER[agent] if user else project / PROJECT[agent]


def install_skill(source: Path, place: Path, *, force: bool = False, dry_run: bool = False) -> Installed:
    """Puts a skill into a folder of skills.

    Raises:
        InputError: something cannot be read or written.
    """
    target = place / source.name
    try:
        if target.exists() and target.resolve() == source.resolve():  # the agent sees it already, by a link
            return Installed(skill=source.name, place=str(target), action="unchanged")
        return settle(source, target, force=force, dry_run=dry_run)
    except OSError as error:
        raise InputError(f"{error.filename or target}: {error.strerror or error}.") from error


def settle(source: Path, target: Path, *, force: bool, dry_run: bool) -> Installed:
    record = read_record(target.parent / RECORD)
    known = record.skills.get(source.name, {})
    wanted, present = skill_files(source), present_files(target)
    write = [name for name in wanted if present.get(name) != wanted[name]]
    stale = [name for name in known if name not in wanted and digest_of(present, name) == known[name]]
    edited = [name for name in write if name in present and digest_of(present, name) != known.get(name)]
    in_the_way = target.is_symlink() or (target.exists() and not target.is_dir())
    if (edited or in_the_way) and not force:
        kept = edited if not in_the_way else [target.name]
        return Installed(skill=source.name, place=str(target), action="refused", kept=sorted(kept))
    changed = sorted([*write, *stale])
    action: Action = "unchanged" if not changed else "updated" if present else "installed"
    if not dry_run:
        if in_the_way:
            target.unlink()
        put_files(source, target, write, stale)
        record.skills[source.name] = {name: sha256(data) for name, data in wanted.items()}
        write_file(target.parent / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return Installed(skill=source.name, place=str(target), action=action, changed=changed)


def skill_files(folder: Path) -> dict[str, bytes]:
    """The files of a skill that are installed; links are left out, as they may lead anywhere."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    names = [path.relative_to(folder) for path in paths]
    return {
        name.as_posix(): (folder / name).read_bytes()
        for name in names
        if not is_hidden(name) and name.parts[0] not in NOT_INSTALLED
    }


def present_files(target: Path) -> dict[str, bytes]:
    return skill_files(target) if target.is_dir() and not target.is_symlink() else {}


def digest_of(files: dict[str, bytes], name: str) -> str | None:
    return sha256(files[name]) if name in files else None


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def put_files(source: Path, target: Path, write: list[str], stale: list[str]) -> None:
    for name in write:
        write_file(target / name, (source / name).read_bytes())
        shutil.copymode(source / name, target / name)
    for name in stale:
        (target / name).unlink()
        with contextlib.suppress(OSError):  # not empty: somebody has files of their own there
            (target / name).parent.rmdir()


def write_file(path: Path, content: bytes) -> None:
    """Puts content at a path, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_record(path: Path) -> Record:
    """The record of a place; an empty one where there is none."""
    if not path.exists():
        return Record()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: is not a record of installed skills: {error}; remove it and install again."
        ) from error
