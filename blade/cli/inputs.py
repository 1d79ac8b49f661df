"""What the user names as input: standard input and pipes, kept in the output folder so that they can be shown later.

A device never ends, and a pipe that nobody writes to never begins: neither is read, but standard input always is.
"""

import io
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import typer

from blade.errors import InputError
from blade.rollouts.sources import PIECE

STDIN = "-"
SPOOL = "stdin.jsonl"
WAIT = 5.0
"""Seconds in which somebody must open a pipe for writing."""


@contextmanager
def resolved_inputs(inputs: Sequence[str], out: Path) -> Iterator[list[str]]:
    """The inputs with `-` and pipes replaced by files that hold what came in.

    What an earlier diagnosis was made from is put back when this one fails.
    """
    named = list(dict.fromkeys(inputs))
    spooled = {text: out / spool_name(text) for text in named if text == STDIN or is_pipe(text)}
    before = {place: place.with_name(f".{place.name}.before") for place in spooled.values() if place.is_file()}
    for place, kept in before.items():
        shutil.copyfile(place, kept)
    try:
        yield [str(spool(out, text)) if text in spooled else text for text in named]
    except BaseException:
        for place, kept in before.items():
            kept.replace(place)
        raise
    finally:
        for kept in before.values():
            kept.unlink(missing_ok=True)


def spool_name(text: str) -> str:
    return SPOOL if text == STDIN else f"pipe-{Path(text).name}.jsonl"


def is_pipe(text: str) -> bool:
    """Whether a path can be read only once, as `<(command)` and `/dev/stdin` can."""
    path = Path(text)
    return path.exists() and not path.is_file() and not path.is_dir()


def spool(out: Path, text: str = STDIN) -> Path:
    """Copies standard input or a pipe into the folder; a copy that fails leaves what was there before."""
    if text == STDIN and sys.stdin.isatty():
        typer.echo("blade: reading standard input; end it with Ctrl-D", err=True)
    name = spool_name(text)
    place, draft = out / name, out / f".{name}.tmp"
    try:
        out.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            copy_stream(text, file)
            size = file.tell()
        if size:
            draft.replace(place)
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)
    if not size:
        if text != STDIN:
            raise InputError(f"{text}: is empty; expected rollouts.")
        raise InputError("standard input is empty; pipe rollouts into it, or name a file instead of -.")
    return place


def copy_stream(text: str, file: BinaryIO) -> None:
    if text == STDIN:
        shutil.copyfileobj(sys.stdin.buffer, file)
        return
    for piece in pieces_of(Path(text)):
        file.write(piece)


def pieces_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file or a pipe; raises `InputError` for a device, and for a pipe that nobody writes to."""
    try:
        stream = io.FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    with stream:
        status = os.fstat(stream.fileno())
        if stat.S_ISFIFO(status.st_mode) and path.resolve().exists():
            # A pipe among the files may still find somebody to write to it; that of `<(command)` had its writer.
            yield first_piece(path, stream)
        elif not stat.S_ISFIFO(status.st_mode) and not stat.S_ISREG(status.st_mode) and not is_standard_input(status):
            raise InputError(f"{path}: is neither a file nor a pipe; name a file, or - for standard input.")
        os.set_blocking(stream.fileno(), True)
        while piece := stream.read(PIECE):
            yield piece


def is_standard_input(status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, os.fstat(0))
    except OSError:
        return False


def first_piece(path: Path, stream: io.FileIO) -> bytes:
    """What a pipe holds already, as soon as it has a writer: without one it reads as ended, else as `None` at worst."""
    end = time.monotonic() + WAIT
    while (piece := stream.read(PIECE)) == b"":
        if time.monotonic() >= end:
            raise InputError(f"{path}: nothing is written to this pipe; start the program that writes to it first.")
        time.sleep(0.05)
    return piece or b""


def read_text(path: Path, *, errors: str = "strict") -> str:
    """The text of a file or a pipe."""
    try:
        return b"".join(pieces_of(path)).decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text; expected a report in Markdown.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
