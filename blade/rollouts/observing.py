"""What an observer notes about rows while they are read, so that no later stage has to read them again.

An observer is a function of one row and nothing else; whoever diagnoses names it, and the reader calls it wherever it
reads, in any process. What it notes about a range of rows is a `Sightings`: numbered observations per row and a note
per row, both kept once however often they are made. Ranges join in order, whatever their number and size.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.columns import join
from blade.rollouts.formats import Format

Words = tuple[str, ...]
"""An observation: what kind, about what, which words."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """What was noted about one row."""

    seen: Mapping[Any, int]
    """Observations, each with the position of the first item it was made at, -1 for none."""
    note: bytes
    """Anything else, encoded."""


Observer = Callable[[bytes, Format], Sighting]

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
    """Collects sightings row by row."""

    def __init__(self) -> None:
        self._observations: dict[Words, int] = {}
        self._notes: dict[bytes, int] = {}
        self._ids, self._items, self._note, self._ends = array("i"), array("i"), array("i"), array("q")

    def add(self, found: Sighting) -> None:
        """Takes in what was noted about the next row."""
        known = self._observations
        self._ids.extend([known.setdefault(words, len(known)) for words in found.seen])
        self._items.extend(found.seen.values())
        self._ends.append(len(self._ids))
        self._note.append(self._notes.setdefault(found.note, len(self._notes)))

    def finish(self) -> Sightings:
        """Everything so far."""
        return Sightings(
            observations=list(self._observations),
            ids=np.asarray(self._ids, dtype=np.int32),
            items=np.asarray(self._items, dtype=np.int32),
            ends=np.asarray(self._ends, dtype=np.int64),
            notes=list(self._notes),
            note=np.asarray(self._note, dtype=np.int32),
        )


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
