"""Going back to the file for what the table does not hold, each row once and only the fields that rules name."""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from blade.diagnosis.packs.columns import Sample
from blade.metrics.values import Bools, Ints
from blade.rollouts.table import Run
from blade.rollouts.trajectory import read_record

SAMPLED = 32


class Wanted:
    """Decodes some of the fields of a row and skips the others at full speed."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        fields = [(f"f{index}", Any, None) for index in range(len(self.names))]
        renamed = {f"f{index}": name for index, name in enumerate(self.names)}
        self._decoder: Any = msgspec.json.Decoder(msgspec.defstruct("Wanted", fields, rename=renamed))

    def read(self, data: bytes) -> dict[str, Any]:
        """The wanted fields of a row; raises `BadRow` when it is not a row any more."""
        try:
            found = msgspec.structs.astuple(self._decoder.decode(data))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            record = read_record(data)
            return {name: record.get(name) for name in self.names}
        return dict(zip(self.names, found, strict=True))


def read_sample(run: Run, preferred: Bools) -> Sample:
    """Some of the rows decoded whole, spread evenly over the run, most of them from the preferred ones."""
    chosen = [*spread(np.flatnonzero(preferred), SAMPLED), *spread(np.flatnonzero(~preferred), SAMPLED // 4)]
    return Sample([record for _, record in run.read(chosen, read_record)])


def spread(rows: Ints, most: int) -> list[int]:
    """At most so many of some rows, evenly spaced."""
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return [int(row) for row in rows]
