"""Putting a narrative where reports find it: `narrative.md`, unless somebody has written or edited the one there.

What the analyst wrote is known by its digest, kept beside the request. Anything else in that place is a person's work
and stays.
"""

import hashlib
from pathlib import Path

import msgspec

from blade.analyst.agent import DIAGNOSIS
from blade.analyst.narrating import Story
from blade.audit.narrated import Standard, sound_part
from blade.report.files import locked, write_file
from blade.report.narrative import FrontMatter, Narrative, NarrativeError, parse_narrative, written_out
from blade.report.workspace import NARRATIVE, Workspace
from blade.rollouts.sources import WORKSPACE

DIGEST = f"{WORKSPACE}/narrative.sha256"
UNREADABLE = "narrative.md as a whole"


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a narrative."""

    written: list[str]
    """Sections that hold."""
    not_written: dict[str, str] = {}
    """Sections that do not, and why."""
    is_kept: bool = False
    """Whether a narrative of somebody else is there and was left alone."""


KEPT = Published(written=[], is_kept=True)


def has_foreign_narrative(folder: Path) -> bool:
    """Whether there is a narrative that the analyst did not write, or that was edited since."""
    place, record = folder / NARRATIVE, folder / DIGEST
    if not place.is_file():
        return False
    return not record.is_file() or record.read_text("utf-8").strip() != digest(place.read_bytes())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def publish_story(workspace: Workspace, story: Story, *, author: str) -> Published:
    """Writes what a model wrote."""
    front = FrontMatter(author=author, model=workspace.analysis.inputs.run, not_written=story.not_written)
    lines = dict.fromkeys(story.sections, 1)
    return publish(workspace, Narrative(where=NARRATIVE, front=front, sections=story.sections, lines=lines))


def publish(workspace: Workspace, narrative: Narrative) -> Published:
    """Writes what of a narrative holds; when nothing does, an earlier one of the analyst stays."""
    sound = sound_part(narrative, Standard(workspace))
    content = written_out(sound.front, sound.sections).encode()
    with locked(workspace.folder):
        if has_foreign_narrative(workspace.folder):
            return KEPT
        is_better = bool(sound.sections) or not (workspace.folder / NARRATIVE).exists()
        if is_better and (sound.sections or sound.front.not_written):
            write_file(workspace.folder / NARRATIVE, content)
            write_file(workspace.folder / DIGEST, digest(content).encode())
    return Published(written=list(sound.sections), not_written=sound.front.not_written)


def publish_from_agent(workspace: Workspace, place: Path, *, author: str) -> Published | None:
    """Takes over the narrative an agent left in its folder, under the agent's name; `None` when it left none."""
    left = place / DIAGNOSIS / NARRATIVE
    if has_foreign_narrative(workspace.folder):
        return KEPT
    if not left.is_file() or is_same(left, workspace.folder / NARRATIVE):
        return None
    try:
        narrative = parse_narrative(left.read_text(encoding="utf-8"), where=NARRATIVE)
    except (NarrativeError, OSError, UnicodeDecodeError) as error:
        return Published(written=[], not_written={UNREADABLE: str(error)})
    front = msgspec.structs.replace(narrative.front, author=author, model=workspace.analysis.inputs.run)
    return publish(workspace, msgspec.structs.replace(narrative, front=front))


def is_same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()
