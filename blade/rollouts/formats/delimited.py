"""CSV and TSV tables: one record per row, what its columns mean is found out like that of any records."""

import csv
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import bad_line, place
from blade.rollouts.formats.reader import Found, Loose, Probe, Reader
from blade.rollouts.sources import damage_errors, open_stream, plain_name

SEPARATORS = {".csv": ",", ".tsv": "\t"}
LONGEST_CELL = 1 << 24
csv.field_size_limit(LONGEST_CELL)


def recognises(probe: Probe) -> bool:
    """Whether a file is called a table and begins with a line of at least two names."""
    separator = SEPARATORS.get(Path(plain_name(probe.path)).suffix.lower())
    first = probe.head.partition(b"\n")[0]
    return separator is not None and first[:1] not in (b"{", b"[") and separator.encode() in first


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its number."""
    separator = SEPARATORS[Path(plain_name(path)).suffix.lower()]
    number, line = -1, 1
    try:
        with open_stream(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            rows = csv.reader(text, delimiter=separator, strict=True)
            names = next(rows, [])
            line = rows.line_num + 1
            for number, cells in enumerate(rows):
                if cells and len(cells) != len(names):
                    reason = f"has {len(cells)} cells, expected {len(names)} as in the first line"
                    yield bad_line(path, reason, line=line, offset=number)
                elif cells and (wanted is None or number in wanted):
                    record = {name: cell_value(cell) for name, cell in zip(names, cells, strict=True)}
                    yield Loose(record=record, source=place(path, number, line=line))
                line = rows.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        yield bad_line(path, f"cannot be read any further: {error}", line=line, offset=number + 1)
    except damage_errors() as error:
        if number < 0:
            raise InputError(f"{path}: cannot be read: {error}.") from error
        yield bad_line(path, f"cannot be read any further: {error}", line=line, offset=number + 1)


def cell_value(cell: str) -> Any:
    """A cell as a number, a flag, a list or an object where it is one, nothing where it is empty, else its text."""
    if not cell:
        return None
    if cell in ("True", "False"):
        return cell == "True"
    if cell[0] in '-0123456789tf[{"':
        try:
            return msgspec.json.decode(cell)
        except (msgspec.MsgspecError, RecursionError):
            return cell
    return cell


READER = Reader(name="csv", title="CSV and TSV tables (*.csv, *.tsv)", recognises=recognises, read=read)
