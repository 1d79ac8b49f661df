"""Rows of one or more scanned files, pooled, before anybody has said which task each belongs to."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.columns import Column, concat, join, nothing, unknown, whole_column
from blade.rollouts.features import FACTS
from blade.rollouts.scan import Scan, join_facts, take_facts
from blade.rollouts.values import BadLine, Source

Ints = npt.NDArray[np.int64]
MODEL_FIELDS = ("response.model", "model", "model_name", "model_id")
"""Fields that say which model answered, best first."""


class Rows(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Columns over the rows of several files."""

    file: Ints
    """Per row: index of its file."""
    line: Ints
    """Per row: 1-based line."""
    offset: Ints
    """Per row: byte offset."""
    length: Ints
    """Per row: bytes."""
    number: Ints
    """Per row: which one of its file's it is."""
    columns: dict[str, Column]
    """Scalar fields by dotted path."""
    facts: npt.NDArray[np.int32]
    """Per row: one value per name in `FACTS`; without columns when trajectories were not looked at."""

    def __len__(self) -> int:
        return len(self.file)

    def take(self, chosen: Ints) -> "Rows":
        """Some of the rows, in the order given."""
        if len(chosen) == len(self) and (chosen[1:] > chosen[:-1]).all():  # all of them, as they are
            known = {path: column for path, column in self.columns.items() if column.known().any()}
            return msgspec.structs.replace(self, columns=known)
        columns = {path: column.take(chosen) for path, column in self.columns.items()}
        return Rows(
            file=self.file[chosen],
            line=self.line[chosen],
            offset=self.offset[chosen],
            length=self.length[chosen],
            number=self.number[chosen],
            columns={path: column for path, column in columns.items() if column.known().any()},
            facts=take_facts(self.facts, chosen),
        )

    def numbers(self, *paths: str) -> npt.NDArray[np.float64]:
        """Per row: the first known number among some fields; nan where none is."""
        values = nothing(len(self))
        for number, path in enumerate(path for path in paths if path in self.columns):
            more = self.columns[path].numbers()
            values = np.where(np.isnan(values), more, values) if number else more
        return values

    def column(self, *paths: str) -> Column:
        """The first of some fields that exists."""
        return next((self.columns[path] for path in paths if path in self.columns), unknown(len(self)))

    def fact(self, name: str) -> npt.NDArray[np.int32]:
        """Per row: one fact about the trajectory, or `output_items` after its prompt; -1 when it was not looked at."""
        if not self.facts.shape[1]:
            return np.full(len(self), -1, dtype=np.int32)
        if name == "output_items":
            return self.fact("items") - self.fact("prompt_items")
        return self.facts[:, FACTS.index(name)]


def pool(scans: Sequence[Scan]) -> Rows:
    """The rows of several files, file after file."""
    if len(scans) == 1:
        return join_rows(scans, file=np.broadcast_to(np.int64(0), (len(scans[0]),)))
    return join_rows(scans, file=np.repeat(np.arange(len(scans)), [len(scan) for scan in scans]))


def append(rows: Rows, more: Rows, *, file: int) -> Rows:
    """Rows followed by those of one further file, which gets the index `file`."""
    return join_rows([rows, more], file=np.concatenate([rows.file, np.full(len(more), file)]))


def join_rows(parts: Sequence[Scan | Rows], *, file: Ints) -> Rows:
    """Rows one after the other; `file` is per row of all."""
    paths = dict.fromkeys(path for part in parts for path in part.columns)
    return Rows(
        file=file,
        line=join([part.line for part in parts], np.int64),
        offset=join([part.offset for part in parts], np.int64),
        length=join([part.length for part in parts], np.int64),
        number=np.concatenate([part.number if isinstance(part, Rows) else np.arange(len(part)) for part in parts]),
        columns={p: whole_column(concat([part.columns.get(p) or unknown(len(part)) for part in parts])) for p in paths},
        facts=join_facts([part.facts for part in parts]),
    )


def source_of(rows: Rows, row: int, files: Sequence[str | Path]) -> Source:
    """Where a row stands."""
    return Source(
        file=str(files[int(rows.file[row])]),
        line=int(rows.line[row]),
        offset=int(rows.offset[row]),
        length=int(rows.length[row]),
    )


def bad_line(rows: Rows, row: int, files: Sequence[str], reason: str) -> BadLine:
    """A row that was read but cannot be used."""
    place = source_of(rows, row, files)
    return BadLine(file=place.file, line=place.line, offset=place.offset, reason=reason)
