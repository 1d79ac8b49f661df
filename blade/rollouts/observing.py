"""What an observer notes about rows while they are read, so that no later stage has to read them again.

An observer is a function of some rows that looks at each by itself; whoever diagnoses names it, and the reader calls
it wherever it reads, in any process. What it notes about a range of rows is a `Sightings`: numbered observations per
row and a note per row, both kept once however often they are made. Ranges join in order, whatever their number and
size.
"""

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import Batch
from blade.rollouts.columns import join
from blade.rollouts.formats import Format

Ints = npt.NDArray[np.int64]
Words = tuple[str, ...]
"""An observation: what kind, about what, which words."""


class Rows(NamedTuple):
    """Rows as they were decoded, for whoever looks at them."""

    form: Format
    """How they are stored."""
    batch: Batch
    """Their trajectories."""
    told: Callable[[Collection[str]], Sequence[dict[str, Any]]]
    """Given names of fields that are wanted whatever they hold: what each row says beyond its table."""


Observer = Callable[[Rows], "Sightings"]

_registered: list[Observer] = []


def register(observer: Observer) -> Observer:
    """Makes a function the one that looks at rows where a diagnosis asks for it."""
    _registered[:] = [observer]
    return observer


def registered() -> Observer | None:
    """The function that looks at rows; `None` when nobody diagnoses."""
    return _registered[0] if _registered else None


class Sightings(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What was noted about the rows of a file, or of a range of it."""

    observations: list[Words]
    """Every observation that was made, once."""
    ids: npt.NDArray[np.int32]
    """Row after row: which observations were made."""
    items: npt.NDArray[np.int32]
    """At which item each was made."""
    ends: npt.NDArray[np.int64]
    """Per row: where its observations end."""
    notes: list[bytes]
    """Every note, once."""
    note: npt.NDArray[np.int32]
    """Per row: its note."""

    def __len__(self) -> int:
        return len(self.ends)

    def first(self, count: int) -> "Sightings":
        """The sightings of the first rows."""
        size = int(self.ends[count - 1]) if count else 0
        return msgspec.structs.replace(
            self, ids=self.ids[:size], items=self.items[:size], ends=self.ends[:count], note=self.note[:count]
        )


class SightingsBuilder:
    """Collects what is seen in some rows, in any order; the first item that an observation was made at is kept."""

    def __init__(self) -> None:
        self._observations: dict[Words, int] = {}
        self._parts: list[tuple[Sequence[int] | Ints, Sequence[int] | Ints, Sequence[int] | Ints]] = []
        self._single: tuple[array[int], array[int], array[int]] = (array("q"), array("q"), array("q"))
        self._parts.append(self._single)

    def add(self, words: Words, row: int, item: int = -1) -> None:
        """Takes in an observation made in a row, at an item or at none."""
        ids, rows, items = self._single
        ids.append(self._observations.setdefault(words, len(self._observations)))
        rows.append(row)
        items.append(item)

    def add_all(self, words: Mapping[str, Words], keys: Sequence[str], rows: Ints, items: Ints) -> None:
        """Takes in many at once, each by its key."""
        known = self._observations
        ids = {key: known.setdefault(one, len(known)) for key, one in words.items()}
        self._parts.append((list(map(ids.__getitem__, keys)), rows, items))

    def finish(self, notes: Sequence[bytes]) -> Sightings:
        """Everything so far, with the note of each row."""
        ids, rows, items = (np.concatenate([*map(as_ints, column)]) for column in zip(*self._parts, strict=True))
        by_row = np.argsort(rows, kind="stable")
        _, first = np.unique(rows[by_row] * (len(self._observations) + 1) + ids[by_row], return_index=True)
        kept = by_row[np.sort(first)]
        # Numbered as they are met row by row, so that nothing depends on how many rows were looked at together.
        met, place = np.unique(ids[kept], return_index=True)
        met = met[np.argsort(place)]
        table = np.zeros(len(self._observations), dtype=np.int32)
        table[met] = np.arange(len(met))
        words = list(self._observations)
        numbers = dict[bytes, int]()
        note = [numbers.setdefault(one, len(numbers)) for one in notes]
        return Sightings(
            observations=[words[number] for number in met.tolist()],
            ids=table[ids[kept]],
            items=items[kept].astype(np.int32),
            ends=np.cumsum(np.bincount(rows[kept], minlength=len(notes))),
            notes=list(numbers),
            note=np.asarray(note, dtype=np.int32),
        )


def as_ints(values: Sequence[int] | Ints) -> Ints:
    return np.asarray(values, dtype=np.int64)


def join_sightings(parts: Sequence[Sightings]) -> Sightings:
    """The sightings of one range after the other as those of one."""
    observations, notes = dict[Words, int](), dict[bytes, int]()
    sizes = np.cumsum([0, *(len(part.ids) for part in parts)])
    return Sightings(
        ids=join([renumbered(part.ids, part.observations, observations) for part in parts], np.int32),
        items=join([part.items for part in parts], np.int32),
        ends=join([part.ends + size for part, size in zip(parts, sizes, strict=False)], np.int64),
        note=join([renumbered(part.note, part.notes, notes) for part in parts], np.int32),
        observations=list(observations),
        notes=list(notes),
    )


def renumbered(ids: npt.NDArray[np.int32], own: Sequence[Any], shared: dict[Any, int]) -> npt.NDArray[np.int32]:
    """The numbers of a part in a shared numbering, which grows as needed."""
    table = np.asarray([shared.setdefault(value, len(shared)) for value in own], dtype=np.int32)
    return np.asarray(table[ids]) if len(own) else ids
