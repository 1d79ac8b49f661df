"""Going back to the files for the rows somebody wants to see whole."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from blade.errors import InputError
from blade.rollouts.foreign import fetch_rollouts
from blade.rollouts.formats.reader import Reader
from blade.rollouts.rows import Rows
from blade.rollouts.sources import compression, damage_errors, open_stream, skip, take


class ReadFile(Protocol):
    """A file of a run."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def reader(self) -> Reader | None:
        """What reads it, when its format is a foreign one."""


def fetch(files: Sequence[ReadFile], rows: Rows, chosen: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Each chosen row's number and bytes, file by file in offset order, so that even an archive is read once."""
    wanted = np.asarray(sorted(set(chosen)), dtype=np.int64)
    for index in np.unique(rows.file[wanted]).tolist():
        mine = wanted[rows.file[wanted] == index]
        ordered = mine[np.argsort(rows.offset[mine], kind="stable")].tolist()
        file = files[index]
        if file.reader is None:
            yield from fetch_from(file.path, rows, ordered)
            continue
        row_at = {int(rows.offset[row]): row for row in ordered}
        for offset, data in fetch_rollouts(file.path, file.reader, row_at):
            yield row_at[offset], data


def fetch_from(path: Path, rows: Rows, ordered: list[int]) -> Iterator[tuple[int, bytes]]:
    """Rows of a file of records, in offset order."""
    try:
        seekable = compression(path) is None
        with open_stream(path) as stream:
            place = 0
            for row in ordered:
                offset, length = int(rows.offset[row]), int(rows.length[row])
                if seekable:
                    stream.seek(offset)
                else:
                    skip(stream, offset - place)
                yield row, b"".join(take(stream, length))
                place = offset + length
    except damage_errors() as error:
        raise InputError(f"{path}: cannot be read any more: {error}.") from error
