"""BFCL, the Berkeley function calling leaderboard: a project folder with `result/MODEL/…` and `score/MODEL/…`.

Results hold what every model answered; score files hold an accuracy and only what failed. So an entry passed when its
category has a score file that does not name it, and has no score when there is none. A model is a run.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.bfcl_entry import Entry
from blade.rollouts.formats.building import bad_line, decode_lenient, json_lines, place, text_or_none
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine

RESULT = re.compile(r"BFCL_v\d+_(?P<category>.+)_result\.json")
SCORE = re.compile(r"BFCL_v\d+_(?P<category>.+)_score\.json")
RESULTS, SCORES = "result", "score"
HEADER_KEYS = frozenset({"accuracy", "correct_count", "total_count"})
FILE_ROOM = 1 << 40
"""Places kept for each file, so that places differ between files."""


class Category(NamedTuple):
    """What one model answered to one category of tests."""

    model: str
    name: str
    results: Path
    scores: Path | None


def recognises(probe: Probe) -> bool:
    """Whether a path is a project folder, a file of results, or a file of scores."""
    if probe.is_folder:
        return {RESULTS, SCORES} <= probe.names and any(
            True for _ in (probe.path / RESULTS).rglob("BFCL_v*_result.json")
        )
    if RESULT.fullmatch(probe.path.name):
        return {"id", "result"} <= probe.keys
    return SCORE.fullmatch(probe.path.name) is not None and probe.keys >= HEADER_KEYS


def categories(path: Path) -> list[Category]:
    """The categories a path stands for, with their scores if they have been scored."""
    if path.is_dir():
        found = sorted(file for file in (path / RESULTS).rglob("BFCL_v*_result.json") if RESULT.fullmatch(file.name))
        return [category_of(file, path / RESULTS) for file in found]
    if SCORE.fullmatch(path.name):
        results = across(path, SCORES, RESULTS)
        if results is None:
            raise InputError(
                f"{path}: lists failures only; its results are needed too, at {RESULTS}/ beside {SCORES}/."
            )
        path = results
    root = next((folder for folder in path.parents if folder.name == RESULTS), path.parent.parent)
    return [category_of(path, root)]


def category_of(results: Path, root: Path) -> Category:
    match = RESULT.fullmatch(results.name)
    inside = results.relative_to(root).parts
    return Category(
        model=inside[0] if len(inside) > 1 else root.name,
        name=match["category"] if match else results.stem,
        results=results,
        scores=across(results, RESULTS, SCORES),
    )


def across(file: Path, here: str, there: str) -> Path | None:
    """The file that belongs to this one in the other of the two folders."""
    for folder in file.parents:
        if folder.name == here:
            other = folder.parent / there / file.relative_to(folder)
            found = other.with_name(re.sub(f"_{here}\\.json$", f"_{there}.json", file.name))
            return found if found.is_file() else None
    return None


def files(path: Path) -> list[Path]:
    """Results and scores."""
    return [file for one in categories(path) for file in (one.results, one.scores) if file is not None] or [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every entry of every category of every model; its place is that of its line among the results."""
    found = categories(path)
    several = len({one.model for one in found}) > 1
    for number, category in enumerate(found):
        base = number * FILE_ROOM
        within = None if wanted is None else {at - base for at in wanted if 0 <= at - base < FILE_ROOM}
        if within is None or within:
            yield from read_category(category, base, within, several=several)


def read_category(category: Category, base: int, wanted: set[int] | None, *, several: bool) -> Iterator[Found]:
    """The entries of one file of results, held against its scores."""
    failed = failures(category.scores) if category.scores is not None else None
    if failed is None:
        yield Note(text=f"{category.name} has not been scored: run `bfcl evaluate`")
    for line in json_lines(category.results):
        if isinstance(line, BadLine):
            yield msgspec.structs.replace(line, offset=base + line.offset)
            continue
        if wanted is not None and line.offset not in wanted:
            continue
        row = decode_lenient(line.data)
        task = text_or_none(row.get("id")) if isinstance(row, dict) else None
        if not isinstance(row, dict) or task is None or "result" not in row:
            yield bad_line(category.results, "is not a result of BFCL", line=line.line, offset=base + line.offset)
            continue
        entry = Entry(row, category.name, None if failed is None else failed.get(task), scored=failed is not None)
        where = place(category.results, base + line.offset, line=line.line, length=len(line.data))
        rollout = entry.rollout(task, category.model)
        yield msgspec.structs.replace(rollout, source=where, run=category.model if several else None)


def failures(scores: Path) -> dict[str, dict[str, Any]] | None:
    """The entries that failed, by their id; nothing when the file is broken, for then nobody knows who passed."""
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(json_lines(scores)):
        row = None if isinstance(line, BadLine) else decode_lenient(line.data)
        if not isinstance(row, dict):
            return None
        task = text_or_none(row.get("id"))
        if task is not None and row.get("valid") is not True:
            found[task] = row
        elif number == 0 and not row.keys() >= HEADER_KEYS:
            return None
    return found


READER = Reader(
    name="bfcl",
    title="Berkeley function calling leaderboard (a folder with result/ and score/)",
    recognises=recognises,
    read=read,
    files=files,
)
