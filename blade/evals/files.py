"""The files of one run, named after its output, and how they are written so that a kill leaves none of them half.

Small files are replaced as a whole. Files of rows only ever grow, line by line; a line that a kill tore is cut off
before the next is written.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from blade.errors import InputError
from blade.rollouts.sources import MANIFEST, SIDECARS, compression, open_stream

ENCODER = msgspec.json.Encoder()


class RunFiles:
    """Where one run's files are; the names are NeMo Gym's, the manifest is ours."""

    def __init__(self, output: Path) -> None:
        self.output = output
        """The rollouts."""
        self.inputs, self.failures, self.aggregate, profile, agent = (
            output.with_name(output.stem + SIDECARS[kind])
            for kind in ("inputs", "failures", "aggregate", "profile", "agent")
        )
        self.manifest = output.with_name(output.stem + MANIFEST)
        """What the run was made with."""
        self.derived = [self.manifest, self.inputs, self.failures, self.aggregate, profile, agent]
        """All but the rollouts, in the order they go when a run begins anew: without a manifest nothing is resumed."""


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file that is either there in full or not at all."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def lines_of(rows: Iterable[Any]) -> Iterator[bytes]:
    """Rows as lines of JSON."""
    for row in rows:
        yield ENCODER.encode(row) + b"\n"


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines of a file that are not empty, numbered from 1."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error


def cut_torn_line(path: Path) -> int:
    """Cuts off what follows the last line end; how many bytes that were."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = last_line_end(file, size)
        if end < size:
            file.truncate(end)
            os.fsync(file.fileno())
    return size - end


def last_line_end(file: Any, size: int, *, step: int = 1 << 16) -> int:
    """The position after the last line end, looked for from the back."""
    while size > 0:
        start = max(0, size - step)
        file.seek(start)
        place = file.read(size - start).rfind(b"\n")
        if place >= 0:
            return int(start + place + 1)
        size = start
    return 0


@contextlib.contextmanager
def movable(path: Path) -> Iterator[IO[bytes]]:
    """A file's plain bytes, which one can move about in."""
    if compression(path) is None:
        with path.open("rb") as file:
            yield file
    else:
        with tempfile.TemporaryFile() as unpacked, open_stream(path) as packed:
            shutil.copyfileobj(packed, unpacked)
            yield unpacked
