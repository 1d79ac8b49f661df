"""Reads the rows of a set: JSON lines, a JSON array, or CSV with or without a head; gzipped or not.

A line that is no row is kept with what is wrong with it, so that one bad line costs itself and not the file.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError

MMLU_HEAD = ["question", "A", "B", "C", "D", "answer"]
ENDINGS = (".csv", ".json", ".jsonl")
SPLIT = re.compile(r"_(?:test|val|dev|train)$")
MOST_CELL = 10_000_000
"""Characters of one cell of a CSV; the standard library stops at 131,072, which a long question may have."""


class Row(NamedTuple):
    """A row and where it stands."""

    line: int
    """From 1; in a JSON array, the number of the element."""
    fields: dict[str, Any]
    fault: str | None = None
    """Why it is no row; `None` when it is one."""
    source: str | None = None
    """The file of the folder it comes from; `None` when one file was named."""


def read_rows(path: Path) -> list[Row]:
    """All rows of a file, or of the files of a folder; raises `InputError` when one cannot be read or holds nothing."""
    if path.is_dir():
        return folder_rows(path)
    text = read_text(path)
    name = path.name.removesuffix(".gz")
    try:
        rows = list(csv_rows(text) if name.endswith(".csv") else json_rows(path, text))
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}.") from error
    if not rows:
        raise InputError(f"{path}: holds no rows.")
    return rows


def folder_rows(folder: Path) -> list[Row]:
    """Rows of all sets in a folder, as MMLU comes: a file per subject, which its name tells."""
    files = [path for path in sorted(folder.iterdir()) if path.name.removesuffix(".gz").endswith(ENDINGS)]
    if not files:
        raise InputError(f"{folder}: holds no file that ends in {', '.join(ENDINGS)}.")
    return [
        row._replace(source=stem(file), fields={"subject": SPLIT.sub("", stem(file)), **row.fields})
        for file in files
        for row in read_rows(file)
    ]


def stem(path: Path) -> str:
    return path.name.split(".")[0]


def read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: is no whole gzip file: {error}.") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        hint = "; Parquet must be exported as JSON lines first" if data.startswith(b"PAR1") else ""
        raise InputError(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}{hint}.") from error


def json_rows(path: Path, text: str) -> Iterator[Row]:
    if text.lstrip().startswith("["):
        try:
            values = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise InputError(f"{path}: is no JSON array ({error}).") from error
        yield from (as_row(number, value) for number, value in enumerate(values, 1))
        return
    # Only a line feed ends a line: texts hold other signs that Python would break them at.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield as_row(number, msgspec.json.decode(line))
            except (msgspec.DecodeError, UnicodeEncodeError) as error:
                yield Row(number, {}, f"line {number} is no JSON ({error})")


def as_row(number: int, value: Any) -> Row:
    return Row(number, value) if isinstance(value, dict) else Row(number, {}, f"line {number} is no JSON object")


def csv_rows(text: str) -> Iterator[Row]:
    """Rows of a CSV; without a head, columns are question, A, B, C, D and answer, as MMLU's files have them."""
    csv.field_size_limit(MOST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""))
    names: list[str] = []
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if not names:
            names, is_head = columns(cells)
            if is_head:
                continue
        fault = f"it has {len(cells)} cells where {len(names)} are expected"
        fields = dict(zip(names, cells, strict=False))
        yield Row(reader.line_num, fields, None if len(cells) == len(names) else fault)


def columns(first: list[str]) -> tuple[list[str], bool]:
    """What the columns are called, and whether the first row says so."""
    head = [cell.strip() for cell in first]
    if {"question", "answer"} <= {cell.lower() for cell in head}:
        return [cell if len(cell) == 1 else cell.lower() for cell in head], True
    return MMLU_HEAD, False
