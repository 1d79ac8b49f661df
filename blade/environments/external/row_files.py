"""Reads the rows of a set as it lies on disk: JSON lines, a JSON array, CSV with or without a head, Parquet or Arrow.

A folder may be a clone, a copy of the Hugging Face hub's cache, or what `save_to_disk` wrote; one split of it is read.
A line that is no row is kept with what is wrong with it, so that one bad line costs itself and not the file.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError


class NotATask(Exception):
    """A row must be left out; the message is the reason."""


def first_of(row: Mapping[str, Any], *names: str) -> Any:
    """The first of some fields that a row has; `None` when it has none."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def decoded(value: Any, name: str) -> Any:
    """A value that an edition may keep as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise NotATask(f"its {name} is not JSON") from None


MMLU_HEAD = ["question", "A", "B", "C", "D", "answer"]
TABLES = (".parquet", ".arrow")
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", *TABLES)
SPLIT = re.compile(r"(?:^|(?<=[/._-]))(test|validation|valid|val|dev|train)(?=[/._-]|$)")
SPLITS = ("test", "validation", "dev", "train")
"""The order in which a split is taken where none is asked for."""
SAME = {"valid": "validation", "val": "validation"}
CONFIGS = ("all", "main", "default")
"""Folders that hold the whole of a set, where it comes in several configurations."""
NOT_ROWS = re.compile(r"^(?:dataset_infos?|dataset_dict|state|config|.*tables)\.json$")
"""Files that datasets keep beside their rows; text-to-SQL sets have their schemas in `tables.json`."""
KEYS_BESIDE = "possible_answer"
MOST_CELL = 10_000_000
"""Characters of one cell of a CSV; the standard library stops at 131,072, which a long question may have."""


class Row(NamedTuple):
    """A row and where it stands."""

    line: int
    """From 1; in a JSON array or a table, the number of the element."""
    fields: dict[str, Any]
    fault: str | None = None
    """Why it is not a row; `None` when it is one."""
    source: str | None = None
    """The file of the folder it comes from; `None` when there is only one."""


def read_rows(path: Path, *, split: str | None = None) -> list[Row]:
    """All rows of a file, or of one split of a folder; raises `InputError` when there are none to be read."""
    if path.is_dir():
        files = split_files(path, split)
        rows = [in_file(row, file, alone=len(files) == 1) for file in files for row in file_rows(file)]
    elif path.exists() and not path.is_file():
        raise InputError(f"{path}: is neither a file nor a folder.")
    else:
        rows = list(file_rows(path))
    if not rows:
        raise InputError(f"{path}: holds no rows.")
    return rows


def in_file(row: Row, file: Path, *, alone: bool) -> Row:
    """A row of a folder: MMLU comes with a file per subject, which its name tells."""
    name = file.name.split(".")[0]
    subject = re.sub(r"_(?:test|val|dev|train)$", "", name)
    return row._replace(source=None if alone else name, fields={"subject": subject, **row.fields})


def split_files(folder: Path, split: str | None) -> list[Path]:
    """The files of one split and one configuration of a folder."""
    base = snapshot_of(folder)
    found = [
        path
        for path in sorted(base.rglob("*"))
        if plain_name(path).endswith(ENDINGS) and path.is_file() and is_data(path.relative_to(base))
    ]
    if not found:
        raise InputError(f"{folder}: holds no file that ends in {', '.join(ENDINGS)}.")
    by_split: dict[str | None, list[Path]] = {}
    for path in found:
        by_split.setdefault(split_of(path.relative_to(base)), []).append(path)
    return one_config(folder, base, by_split[chosen_split(folder, by_split, split)])


def snapshot_of(folder: Path) -> Path:
    """Where the files are: a folder of the hub's cache keeps them by revision."""
    snapshots = folder / "snapshots"
    if not snapshots.is_dir():
        return folder
    main = folder / "refs" / "main"
    revision = snapshots / main.read_text(encoding="utf-8").strip() if main.is_file() else None
    there = sorted(path for path in snapshots.iterdir() if path.is_dir())
    if revision in there or len(there) == 1:
        return revision if revision in there and revision else there[0]
    names = ", ".join(path.name for path in there) or "none"
    raise InputError(f"{folder}: name one of its snapshots ({names}).")


def is_data(path: Path) -> bool:
    hidden = any(part.startswith(".") or part == KEYS_BESIDE for part in path.parts)
    return not hidden and not NOT_ROWS.match(path.name)


def plain_name(path: Path) -> str:
    return path.name.removesuffix(".gz").lower()


def split_of(path: Path) -> str | None:
    """The split a path names last, so that a set called `dev` has a split `test` in `dev/test.jsonl`."""
    found = SPLIT.findall(str(path.with_name(plain_name(path))).replace("_", "-").lower())
    return SAME.get(found[-1], found[-1]) if found else None


def chosen_split(folder: Path, there: dict[str | None, list[Path]], wanted: str | None) -> str | None:
    names = ", ".join(sorted(name for name in there if name)) or "none"
    if wanted is not None:
        if (asked := SAME.get(wanted, wanted)) not in there:
            raise InputError(f"{folder}: has no split '{wanted}'; its splits are: {names}.")
        return asked
    return next((name for name in SPLITS if name in there), None)


def one_config(folder: Path, base: Path, files: list[Path]) -> list[Path]:
    """The files of one configuration: shards and subjects stand together, configurations in folders of their own."""
    configs: dict[str, list[Path]] = {}
    for path in files:
        parts = [part for part in path.relative_to(base).parts[:-1] if not SPLIT.fullmatch(part)]
        configs.setdefault("/".join(parts), []).append(path)
    if len(configs) == 1:
        return files
    whole = next((configs[name] for name in CONFIGS if name in configs), None)
    if whole is None:
        raise InputError(f"{folder}: holds several sets; name one of its folders: {', '.join(sorted(configs))}.")
    return whole


def file_rows(path: Path) -> Iterator[Row]:
    """Rows of a file, by its ending."""
    name = plain_name(path)
    if name.endswith(TABLES):
        yield from table_rows(path)
        return
    text = read_text(path)
    try:
        if name.endswith((".csv", ".tsv")):
            yield from csv_rows(text, "\t" if name.endswith(".tsv") else ",")
        else:
            yield from json_rows(path, text)
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}.") from error


def table_rows(path: Path) -> Iterator[Row]:
    """Rows of a Parquet file, or of an Arrow file as `datasets` writes them, some at a time."""
    try:
        import pyarrow as arrow
        import pyarrow.ipc as ipc
        import pyarrow.parquet as parquet
    except ModuleNotFoundError as error:
        raise InputError(f"{path}: needs pyarrow; run: pip install 'blade-diagnostics[parquet]'") from error
    number = 0
    try:
        if path.suffix.lower() == ".parquet":
            batches = parquet.ParquetFile(path).iter_batches(batch_size=256)
        else:
            stream = arrow.memory_map(str(path))
            is_file = stream.read(6) == b"ARROW1"
            stream.seek(0)
            reader = ipc.open_file(stream) if is_file else ipc.open_stream(stream)
            batches = (reader.get_batch(n) for n in range(reader.num_record_batches)) if is_file else iter(reader)
        for batch in batches:
            for fields in batch.to_pylist():
                number += 1
                yield Row(number, fields)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as {path.suffix[1:].capitalize()}: {error}.") from error


def read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: is not a complete gzip file: {error}.") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}.") from error


def json_rows(path: Path, text: str) -> Iterator[Row]:
    if text.lstrip().startswith("["):
        try:
            values = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise InputError(f"{path}: is not a JSON array ({error}).") from error
        yield from (as_row(number, value) for number, value in enumerate(values, 1))
        return
    # Only a line feed ends a line: texts hold other signs that Python would break them at.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield as_row(number, msgspec.json.decode(line))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
                yield Row(number, {}, f"it is not JSON ({error})")


def as_row(number: int, value: Any) -> Row:
    return Row(number, value) if isinstance(value, dict) else Row(number, {}, "it is not a JSON object")


def csv_rows(text: str, delimiter: str) -> Iterator[Row]:
    """Rows of a CSV; without a head, columns are question, A, B, C, D and answer, as MMLU's files have them."""
    csv.field_size_limit(MOST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
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
    low = {cell.lower() for cell in head}
    if low & {"question", "problem", "prompt"} and low & {"answer", "label", "correct answer", "sql", "query"}:
        return [cell if len(cell) == 1 else cell.lower() for cell in head], True
    return MMLU_HEAD, False
