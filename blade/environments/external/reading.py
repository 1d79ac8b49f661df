"""Reads the rows of a set: JSON lines, a JSON array, or CSV with or without a head."""

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError

MMLU_HEAD = ["question", "A", "B", "C", "D", "answer"]


class Row(NamedTuple):
    """A row and where it stands."""

    line: int
    """From 1; in a JSON array, the number of the element."""
    fields: dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of a file; raises `InputError` when it cannot be read or holds something else than rows."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}.") from error
    rows = csv_rows(text) if path.suffix == ".csv" else json_rows(path, text)
    if not rows:
        raise InputError(f"{path}: holds no rows.")
    return rows


def json_rows(path: Path, text: str) -> list[Row]:
    if text.lstrip().startswith("["):
        parts = [(number, msgspec.json.encode(value)) for number, value in enumerate(decode(path, 1, text.encode()), 1)]
    else:
        parts = [(number, line.encode()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = [Row(number, decode(path, number, part)) for number, part in parts]
    for row in rows:
        if not isinstance(row.fields, dict):
            raise InputError(f"{path}: line {row.line} is no JSON object; one row per line is expected.")
    return rows


def decode(path: Path, line: int, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InputError(f"{path}: line {line} is no JSON ({error}); one object per line is expected.") from error


def csv_rows(text: str) -> list[Row]:
    """Rows of a CSV; without a head, columns are question, A, B, C, D and answer, as MMLU's files have them."""
    reader = csv.reader(io.StringIO(text, newline=""))
    rows = [(reader.line_num, cells) for cells in reader if cells]
    if not rows:
        return []
    head = [cell.strip() for cell in rows[0][1]]
    named = {"question", "answer"} <= {cell.lower() for cell in head}
    names = [cell if len(cell) == 1 else cell.lower() for cell in head] if named else MMLU_HEAD
    return [Row(line, dict(zip(names, cells, strict=False))) for line, cells in rows[1 if named else 0 :]]
