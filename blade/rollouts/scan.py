"""What one file holds: a narrow table of its rows and a list of its bad lines.

Nothing in it depends on how rows are identified or scored later, so that it can be cached and used again. Pieces of a
file that were read apart are joined here.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.columns import Column, concat, join, unknown
from blade.rollouts.observing import Sightings, join_sightings

INPUT_HASH = "input_hash"
FIRST_TOOL = "first_tool"
PROVIDER_ERROR = "provider_error"
"""Columns the reader makes itself: a name for the prompt, the first tool that was called, and the type of a provider's
error that stands where the answer should."""
MODEL = "response.model"
"""A column whose texts are kept whatever their length: some runners write the path of a checkpoint here."""
RESPONSE_ID = "response.id"
"""A column of which only the ends of its texts are of use."""


class BadRecord(NamedTuple):
    """A record that could not be used."""

    line: int
    offset: int
    reason: str


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or a piece of it, holds."""

    line: npt.NDArray[np.int64]
    """1-based line of each row."""
    offset: npt.NDArray[np.int64]
    """Byte offset of each row."""
    length: npt.NDArray[np.int64]
    """Bytes of each row."""
    columns: dict[str, Column]
    """Scalar fields by dotted path."""
    facts: npt.NDArray[np.int32]
    """One row per rollout, one column per name in `FACTS`; no columns when trajectories were not looked at."""
    bad: list[BadRecord]
    """Records that could not be used."""
    lines: int
    """Line breaks seen."""
    notes: list[str] = []
    """What the reader of a foreign format has to say about its source."""
    sightings: Sightings | None = None
    """What an observer noted about each row; `None` when there was none."""

    def __len__(self) -> int:
        return len(self.line)


def join_scans(scans: list[Scan]) -> Scan:
    """Pieces of one file, in order, as one scan; line numbers of later pieces are moved."""
    if len(scans) == 1:
        return scans[0]
    lines = np.cumsum([0, *(scan.lines for scan in scans)])
    return Scan(
        line=join([scan.line + lines[i] for i, scan in enumerate(scans)], np.int64),
        offset=join([scan.offset for scan in scans], np.int64),
        length=join([scan.length for scan in scans], np.int64),
        columns=join_columns(scans),
        facts=join_facts([scan.facts for scan in scans]),
        bad=[bad._replace(line=bad.line + int(lines[i])) for i, scan in enumerate(scans) for bad in scan.bad],
        lines=int(lines[-1]),
        sightings=join_sightings([scan.sightings for scan in scans if scan.sightings is not None])
        if all(scan.sightings is not None for scan in scans)
        else None,
    )


Facts = npt.NDArray[np.int32]


def join_facts(parts: Sequence[Facts]) -> Facts:
    """Facts end to end; where all rows have the same, as those without a trajectory do, they are stored once."""
    ones = [part[:1] for part in parts if len(part)]
    if ones and all(np.array_equal(one, ones[0]) for one in ones) and all((part == ones[0]).all() for part in parts):
        return np.broadcast_to(ones[0].copy(), (sum(map(len, parts)), ones[0].shape[1]))
    return join(parts, np.int32)


def take_facts(facts: Facts, chosen: npt.NDArray[np.int64]) -> Facts:
    """The facts of some rows."""
    if len(facts) and not facts.strides[0]:
        return np.broadcast_to(facts[:1], (len(chosen), facts.shape[1]))
    return facts[chosen]


def join_columns(scans: list[Scan]) -> dict[str, Column]:
    paths = dict.fromkeys(path for scan in scans for path in scan.columns)
    return {path: concat([scan.columns.get(path) or unknown(len(scan)) for scan in scans]) for path in paths}


def first_rows(scan: Scan, *, before: int) -> Scan:
    """The part of a scan that stands before a byte offset."""
    count = int(np.searchsorted(scan.offset, before))
    return Scan(
        line=scan.line[:count],
        offset=scan.offset[:count],
        length=scan.length[:count],
        columns={path: column.take(np.arange(count)) for path, column in scan.columns.items()},
        facts=scan.facts[:count],
        bad=[bad for bad in scan.bad if bad.offset < before],
        lines=scan.lines,
        sightings=None if scan.sightings is None else scan.sightings.first(count),
    )
