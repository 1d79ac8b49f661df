"""Going back to the files for the rows somebody wants to see whole."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from blade.errors import InputError
from blade.rollouts.rows import Rows
from blade.rollouts.sources import compression, damage_errors, open_stream, skip, take


def fetch(paths: Sequence[Path], rows: Rows, chosen: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Each chosen row's number and bytes, file by file in offset order, so that even an archive is read once."""
    wanted = np.asarray(sorted(set(chosen)), dtype=np.int64)
    for file in np.unique(rows.file[wanted]).tolist():
        mine = wanted[rows.file[wanted] == file]
        yield from fetch_from(paths[file], rows, mine[np.argsort(rows.offset[mine], kind="stable")].tolist())


def fetch_from(path: Path, rows: Rows, ordered: list[int]) -> Iterator[tuple[int, bytes]]:
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
