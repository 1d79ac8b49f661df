"""Reading foreign files: JSON with its place, what cannot be read as a bad line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from blade.errors import InputError
from blade.rollouts.lines import Record, line_records, read_chunks, skip_mark
from blade.rollouts.sources import GZIP_MAGIC, ZSTD_MAGIC, damage_errors, open_stream
from blade.rollouts.values import BadLine

Decoded = TypeVar("Decoded")
BROKEN = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
OBJECT = msgspec.json.Decoder(dict[str, Any])
ANYTHING = msgspec.json.Decoder()


def read_bytes(path: Path) -> bytes:
    """A whole file, unpacked.

    Raises:
        InputError: it cannot be read, or ends before it should.
    """
    try:
        # Opened once: folders of foreign formats hold many small files.
        data = path.read_bytes()
        if not data.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            return data
        with open_stream(path) as stream:
            return stream.read()
    except damage_errors() as error:
        raise InputError(f"{path}: cannot be read: {error}.") from error


def read_json(path: Path, decoder: "msgspec.json.Decoder[Decoded]") -> Decoded:
    """A file that holds one JSON value.

    Raises:
        InputError: it is not JSON, or not of the shape that is expected.
    """
    try:
        return decoder.decode(read_bytes(path))
    except BROKEN as error:
        raise InputError(f"{path}: {error}; is the file complete?") from error


def decode_lenient(data: bytes) -> Any:
    """The JSON value in some bytes; `None` when there is none. Python writes NaN and Infinity, which JSON has not."""
    try:
        return msgspec.json.decode(data)
    except BROKEN:
        if b"NaN" not in data and b"Infinity" not in data:
            return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def json_lines(path: Path) -> Iterator[Record | BadLine]:
    """The non-blank lines of a file, undecoded, with their places; what cannot be unpacked ends it as a bad line."""
    line, offset = 1, 0
    try:
        with open_stream(path) as stream:
            offset = skip_mark(stream)
            for chunk in read_chunks(stream, offset=offset):
                yield from line_records(chunk, line=line)
                line += bytes(chunk.view).count(b"\n")
                offset = chunk.offset + chunk.size
    except damage_errors() as error:
        yield BadLine(file=str(path), line=line, offset=offset, reason=f"cannot be read any further: {error}")


def json_objects(path: Path) -> Iterator[tuple[Record, dict[str, Any]] | BadLine]:
    """The objects of a file that has one on each line, each with its place; what is none is a bad line."""
    for record in json_lines(path):
        if isinstance(record, BadLine):
            yield record
            continue
        try:
            row = OBJECT.decode(record.data)
        except BROKEN as error:
            yield BadLine(file=str(path), line=record.line, offset=record.offset, reason=str(error))
        else:
            yield record, row


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name; none where it cannot be read."""
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def is_at(path: Path) -> bool:
    """Whether a file or folder is there; none is where a row names one that no file system could hold."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
