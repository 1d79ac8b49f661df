"""Going back to the file for what the table does not hold, each row once and only the fields that rules name."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from blade.diagnosis.packs.columns import Sample
from blade.metrics.values import Bools, Ints
from blade.rollouts.formats import Format
from blade.rollouts.table import Run
from blade.rollouts.trajectory import read_items, read_record
from blade.rollouts.values import Item

SAMPLED = 32


class WholeRow:
    """One row as the file has it; its items are read when they are asked for."""

    def __init__(self, record: dict[str, Any], form: Format) -> None:
        self.record = record
        self._form = form
        self._items: list[Item] | None = None

    @property
    def items(self) -> list[Item]:
        """The trajectory, prompt first."""
        if self._items is None:
            self._items = read_items(self.record, self._form)
        return self._items


class Wanted:
    """Decodes some of the fields of a row and skips the others at full speed."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        fields = [(f"f{index}", Any, None) for index in range(len(self.names))]
        renamed = {f"f{index}": name for index, name in enumerate(self.names)}
        self._decoder: Any = msgspec.json.Decoder(msgspec.defstruct("Wanted", fields, rename=renamed))

    def read(self, data: bytes) -> dict[str, Any]:
        """The wanted fields of a row; raises `BadRow` when it is no row any more."""
        try:
            found = msgspec.structs.astuple(self._decoder.decode(data))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            record = read_record(data)
            return {name: record.get(name) for name in self.names}
        return dict(zip(self.names, found, strict=True))


def trajectory_fields(run: Run) -> set[str]:
    """Names of the rows' own fields that hold prompt and output."""
    paths = [path for file in run.files for path in (file.format.prompt, file.format.output)]
    return {path.split(".")[0] for path in paths if path}


def read_whole(run: Run, rows: Iterable[int], names: Iterable[str]) -> Iterator[tuple[int, WholeRow]]:
    """Each row's number and the named fields of it, in the order that is cheapest to read."""
    for row, record in run.read(rows, Wanted(names).read):
        yield row, WholeRow(record, run.format_of(row))


def read_sample(run: Run, preferred: Bools) -> Sample:
    """Some of the rows decoded whole, spread evenly over the run, most of them from the preferred ones."""
    chosen = [*spread(np.flatnonzero(preferred), SAMPLED), *spread(np.flatnonzero(~preferred), SAMPLED // 4)]
    return Sample([record for _, record in run.read(chosen, read_record)])


def spread(rows: Ints, most: int) -> list[int]:
    """At most so many of some rows, evenly spaced."""
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return [int(row) for row in rows]
