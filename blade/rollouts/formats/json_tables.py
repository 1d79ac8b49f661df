"""Tables that are no list: records under the names of their tasks, values in columns, a file for each rollout.

What the columns mean is found out like that of any records. A document is taken for a table unasked only where its
shape leaves no other reading; `--format json-table` takes whatever has rows at all.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.documents import is_scored, lists_in
from blade.rollouts.formats import detect, records
from blade.rollouts.formats.building import bad_line, place
from blade.rollouts.formats.files import decode_lenient, read_bytes, subfolders
from blade.rollouts.formats.reader import Found, Loose, Probe, Reader
from blade.rollouts.sources import looks_like_rollouts

TASK = "task_id"
LEAST = 3
"""Members that an object has, or files a folder has, before their shape says anything."""
ALIKE = 0.5
"""Share of their names that records of one shape have in common."""
SAMPLED = 8
"""Files of a folder that are looked at to recognise it."""
Row = dict[str, Any]


class Table(msgspec.Struct, frozen=True):
    """The rows of a document."""

    rows: list[Row]
    """One record each."""
    sure: bool
    """Whether they can be nothing else."""


def table_of(document: Any) -> Table | None:
    """The rows of a document, in whichever of the shapes it has; `None` where it has none of them."""
    if not isinstance(document, dict) or detect([document]).name != "records":
        return None
    columns = column_table(document)
    if columns is not None:
        return columns
    places = [document, *(value for value in document.values() if isinstance(value, dict))]
    found = [table for place in places if (table := keyed_table(place)) is not None]
    if len(found) == 1:
        return found[0]
    return None


def column_table(document: Row) -> Table | None:
    """Rows of names and lists (`columns`, `data`), of one list per column, or of one object of numbered cells each."""
    names, data = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(data, list) and data and all(isinstance(name, str) for name in names):
        fits = all(isinstance(cells, list) and len(cells) == len(names) for cells in data)
        return Table([dict(zip(names, cells, strict=True)) for cells in data], True) if fits else None
    columns = {name: cells_of(value) for name, value in document.items()}
    sizes = {None if cells is None else len(cells) for cells in columns.values()}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or size < LEAST or len(columns) < 2:
        return None
    usual = {*records.FORMAT.task_fields, *records.FORMAT.reward_fields}
    cells = zip(*(value for value in columns.values() if value is not None), strict=True)
    return Table([dict(zip(columns, row, strict=True)) for row in cells], not usual.isdisjoint(columns))


def cells_of(value: Any) -> list[Any] | None:
    """The cells of a column: a list, or an object whose names count from 0."""
    if isinstance(value, dict) and list(value) == list(map(str, range(len(value)))):
        value = list(value.values())
    return value if isinstance(value, list) and not any(isinstance(cell, dict) for cell in value) else None


def keyed_table(members: Row) -> Table | None:
    """Rows of an object whose members are records of one shape, or lists of such records: attempts."""
    lists = [value if isinstance(value, list) else [value] for value in members.values()]
    rows = [row for attempts in lists for row in attempts]
    if len(members) < 2 or not all(lists) or not all(isinstance(row, dict) and row for row in rows):
        return None
    shape = set(rows[0])
    if any(len(shape & set(row)) < ALIKE * len(shape | set(row)) for row in rows) or "role" in shape:
        return None
    named = {id(row): key for key, attempts in zip(members, lists, strict=True) for row in attempts}
    single = all(len(attempts) == 1 for attempts in lists)
    repeated = all(named[id(row)] in (value for value in row.values() if isinstance(value, str)) for row in rows)
    # Rows of nothing but numbers, and scores that are shares, are what summaries of runs or sets hold.
    mixed = any(not isinstance(value, int | float) or isinstance(value, bool) for value in rows[0].values())
    scores = [row[name] for name in records.FORMAT.reward_fields for row in rows if name in row]
    verdicts = all(isinstance(score, str | list) or score in (0, 1, None) for score in scores)
    if not repeated:
        rows = [{"key" if TASK in row else TASK: named[id(row)], **row} for row in rows]
    return Table(rows, len(members) >= LEAST and (single or repeated) and mixed and verdicts)


def recognises(probe: Probe) -> bool:
    """Whether a file is one JSON object that holds a table for certain, or a folder holds an object per rollout."""
    if probe.is_folder:
        return bool(rollout_files(probe.path))
    if probe.head.lstrip()[:1] != b"{" or probe.path.name.endswith((".jsonl", ".ndjson")):
        return False
    table = table_of(probe.record)
    return table is not None and table.sure


def rollout_files(folder: Path) -> list[Path]:
    """The files of a folder that hold one object per rollout: all of its own, or one of the same name per subfolder."""
    try:
        own = sorted(entry for entry in folder.iterdir() if entry.is_file() and looks_like_rollouts(entry))
    except OSError:
        return []
    if not own:
        names = [{entry.name for entry in inner.glob("*.json")} for inner in subfolders(folder)]
        common = set.intersection(*names) if names else set()
        groups = [[inner / name for inner in subfolders(folder)] for name in sorted(common)]
    else:
        groups = [own]
    found = [group for group in groups if are_rollouts(group)]
    return found[0] if len(found) == 1 else []


def are_rollouts(files: list[Path]) -> bool:
    """Whether files hold one object each, of one shape, that is no summary and in no format of its own."""
    from blade.rollouts.formats.registry import READERS  # which lists this module's reader

    if len(files) < LEAST or any(file.suffix != ".json" or not looks_like_rollouts(file) for file in files):
        return False
    probes = [Probe(file) for file in files[:SAMPLED]]
    if any(reader.recognises(probe) for probe in probes for reader in READERS):
        return False
    lone = [probe.record for probe in probes if probe.record]
    if any(probe.is_array for probe in probes) or any(detect([row]).name != "records" for row in lone):
        return False
    if any(is_scored(rows, ()) for row in lone for rows in lists_in(row).values()):
        return False
    table = keyed_table({str(number): row for number, row in enumerate(lone)})
    return table is not None and table.sure


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its number."""
    if path.is_dir():
        yield from read_folder(path, wanted)
        return
    table = table_of(decode_lenient(read_bytes(path)))
    if table is None:
        raise InputError(f"{path}: holds no table: neither records of one shape under their tasks nor columns.")
    for number, row in enumerate(table.rows):
        if wanted is None or number in wanted:
            yield Loose(record=row, source=place(path, number, line=number + 1))


def read_folder(folder: Path, wanted: Collection[int] | None) -> Iterator[Found]:
    """The object of each file, with the file's name where none of its fields names the task."""
    files = rollout_files(folder)
    for number, file in enumerate(files):
        if wanted is not None and number not in wanted:
            continue
        row = decode_lenient(read_bytes(file))
        if not isinstance(row, dict):
            yield bad_line(file, "is not a JSON object")
            continue
        name = file.stem if file.parent == folder else file.parent.name
        named = detect([row]).output is not None or any(task in row for task in records.FORMAT.task_fields)
        yield Loose(record={"file": name, **row} if named else {TASK: name, **row}, source=place(file, number))


def files(path: Path) -> list[Path]:
    """The files of a source."""
    return rollout_files(path) if path.is_dir() else [path]


READER = Reader(
    name="json-table",
    title="Tables in one JSON document, by task or in columns; folders with a JSON object per rollout",
    recognises=recognises,
    read=read,
    files=files,
)
