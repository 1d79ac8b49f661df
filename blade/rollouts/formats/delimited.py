"""CSV and TSV tables: one record per row, what its columns mean is found out like that of any records."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import bad_line, place
from blade.rollouts.formats.reader import Found, Loose, Note, Probe, Reader
from blade.rollouts.sources import damage_errors, open_stream, plain_name

SUFFIXES = (".csv", ".tsv")
SEPARATORS = ",;\t|"
LONGEST_CELL = 1 << 24
csv.field_size_limit(LONGEST_CELL)
WIDE = (b"\xff\xfe", b"\xfe\xff")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def recognises(probe: Probe) -> bool:
    """Whether a file is called a table and begins with a line of at least two names."""
    named = Path(plain_name(probe.path)).suffix.lower() in SUFFIXES
    return named and probe.head[:1] not in (b"{", b"[") and separator_of(first_line(probe)) is not None


def encoding_of(probe: Probe) -> str:
    """UTF-8, or what spreadsheets call Unicode text."""
    return "utf-16" if probe.head[:2] in WIDE else "utf-8-sig"


def first_line(probe: Probe) -> str:
    return probe.head.decode(encoding_of(probe), "replace").partition("\n")[0]


def separator_of(header: str) -> str | None:
    """What separates the names of a header: whichever of the usual characters stands there most often."""
    count, separator = max((header.count(each), each) for each in reversed(SEPARATORS))
    return separator if count else None


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its number."""
    probe = Probe(path)
    separator = separator_of(first_line(probe)) or ","
    number, line, unreadable = -1, 1, False
    try:
        with (
            open_stream(path) as stream,
            io.TextIOWrapper(stream, encoding=encoding_of(probe), errors="replace", newline="") as text,
        ):
            rows = csv.reader(text, delimiter=separator, strict=True)
            names, notes = column_names(next(rows, []))
            yield from notes if wanted is None else ()
            line = rows.line_num + 1
            for number, cells in enumerate(rows):
                if cells and len(cells) != len(names):
                    reason = f"has {len(cells)} cells, expected {len(names)} as in the first line"
                    yield bad_line(path, reason, line=line, offset=number)
                elif cells and (wanted is None or number in wanted):
                    unreadable = unreadable or any("\ufffd" in cell for cell in cells)
                    record = {
                        name: cell_value(cell, separator) for name, cell in zip(names, cells, strict=True) if name
                    }
                    yield Loose(record=record, source=place(path, number, line=line))
                line = rows.line_num + 1
    except csv.Error as error:
        yield bad_line(path, f"cannot be read any further: {error}", line=line, offset=number + 1)
    except damage_errors() as error:
        if number < 0:
            raise InputError(f"{path}: cannot be read: {error}.") from error
        yield bad_line(path, f"cannot be read any further: {error}", line=line, offset=number + 1)
    if number < 0:
        raise InputError(f"{path}: has a header and no rows.")
    if unreadable and wanted is None:
        yield Note(text="some cells are not UTF-8 and are read with � in them; save the table as UTF-8")


def column_names(header: list[str]) -> tuple[list[str], list[Note]]:
    """Names of the columns. None of several with one name is taken for granted: each gets a number to call it by."""
    counts = Counter(header)
    seen: Counter[str] = Counter()
    names: list[str] = []
    for name in header:
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if name and counts[name] > 1 else name)
    twice = [name for name, count in counts.items() if name and count > 1]
    called = [f"several columns are called `{name}`; they are read as `{name} (1)`, `{name} (2)`" for name in twice]
    return names, [Note(text=text) for text in called]


def cell_value(cell: str, separator: str = ",") -> Any:
    """A cell as a number, a flag, a list or an object where it is one, nothing where it is empty, else its text.

    Where semicolons separate cells, a comma separates decimals.
    """
    text = cell.strip()
    if not text:
        return None
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if separator == ";" and DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if text[0] in '-0123456789[{"':
        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return cell
    return cell


READER = Reader(name="csv", title="CSV and TSV tables (*.csv, *.tsv)", recognises=recognises, read=read)
