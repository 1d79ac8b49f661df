"""Scores in one place, trajectories in another, joined by a field.

The rows with scores decide which rollouts there are. Of several trajectories with one key, the first belongs to the
first row with that key, the second to the second. A row without a trajectory stays, and is counted.
"""

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import BladeError, UsageError
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.finding import find_inputs
from blade.rollouts.foreign import JOINED
from blade.rollouts.formats import own, value_at
from blade.rollouts.formats.building import Attempts
from blade.rollouts.formats.reader import Found, Loose, Note, Probe, Reader
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.lines import Record
from blade.rollouts.reader import Reading, open_file, records_in
from blade.rollouts.sources import damage_errors, open_stream, plain_name, skip, take
from blade.rollouts.trajectory import read_items
from blade.rollouts.values import BadLine, Item, Rollout, Source

BY_FILE, BY_FOLDER = "file", "folder"
PROMPT, OUTPUT = "prompt", "output"
"""Where a joined row keeps its trajectory, in the form of our own rows."""


ALL_OF_IT = -1
"""Length of a trajectory that is the whole file: its messages stand in it with nothing around them."""


class Place(NamedTuple):
    """A trajectory: its source and what finds it there again."""

    path: Path
    offset: int
    length: int


class Join:
    """Finds the trajectories of rows."""

    def __init__(self, trajectories: tuple[str, ...], fields: str, reading: Reading) -> None:
        self.inputs = trajectories
        self.left, _, right = fields.partition("=")
        self.right = right or self.left
        self.reading = reading

    def reader(self) -> Reader:
        """Reads a source of scores together with its trajectories."""
        return Reader(
            name=JOINED,
            title="Scores joined with trajectories",
            recognises=never,
            read=self.read,
            files=lambda path: [path, *self.sources],
        )

    @cached_property
    def sources(self) -> list[Path]:
        """Where trajectories are."""
        return find_inputs(self.inputs)

    @cached_property
    def index(self) -> dict[str, list[Place]]:
        """Places of trajectories by key.

        Raises:
            UsageError: no trajectory has the field.
        """
        found: dict[str, list[Place]] = defaultdict(list)
        for path in self.sources:
            for record, place in all_trajectories(path, whole=self.right in (BY_FILE, BY_FOLDER)):
                key = self.key_of(record, path)
                if key is not None:
                    found[key].append(place)
        if not found:
            raise UsageError(
                f"--join {self.left}={self.right}: no trajectory has a field {self.right!r}; "
                "name one, or `file` or `folder` for the name of the file or its folder."
            )
        return found

    def key_of(self, record: Any, path: Path) -> str | None:
        """What a trajectory is joined by."""
        if self.right == BY_FOLDER:
            return path.parent.name
        value = record_value(record, self.right)
        if value is None and self.right == BY_FILE:
            value = plain_name(path).partition(".")[0]
        return None if value is None else str(value)

    def read(self, path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
        """Every row with scores, with the items of its trajectory.

        Raises:
            UsageError: no row has one.
        """
        attempts = Attempts()
        missing, used, keyed = 0, set[Place](), False
        for found in all_rows(path, self.reading, self.reading.format):
            if isinstance(found, BadLine | Note):
                yield found
                continue
            key = record_value(found.record if isinstance(found, Loose) else found, self.left)
            keyed = keyed or key is not None
            places = [] if key is None else self.index.get(str(key), [])
            number = attempts.next(str(key))
            place = places[number] if number < len(places) else places[-1] if len(places) == 1 else None
            missing += place is None
            if place is not None:
                used.add(place)
            if wanted is None or (found.source is not None and found.source.offset in wanted):
                yield with_items(found, [] if place is None else items_at(place))
        if wanted is None and not used:
            seen = f"no value of it is the {self.right} of a trajectory" if keyed else "no row has this field"
            raise UsageError(f"--join {self.left}={self.right}: no row of {path} has a trajectory: {seen}.")
        if wanted is None:
            yield from self.notes(missing, len(used))

    def notes(self, missing: int, used: int) -> Iterator[Note]:
        """What was left over on either side."""
        there = sum(map(len, self.index.values()))
        if missing:
            have = "row has" if missing == 1 else "rows have"
            yield Note(text=f"{missing} {have} no trajectory with the same {self.left}")
        if used < there:
            yield Note(text=f"{there - used} of {there} trajectories belong to no row")


def never(probe: Probe) -> bool:
    return False


def record_value(record: Any, name: str) -> Any:
    """A field of a record or of a rollout."""
    if isinstance(record, Rollout):
        value = value_at(record.fields, name)
        return getattr(record, name, None) if value is None and name in ("task", "model", "run", "repeat") else value
    return value_at(record, name)


def all_rows(path: Path, reading: Reading, form: str | None = None) -> Iterator[Found]:
    """The rows of a source of any format."""
    reader = reader_for(path, form)
    if reader is not None:
        yield from reader.read(path, None)
        return
    try:
        with open_stream(path) as stream:
            for record in records_in(path, open_file(path, reading), stream):
                place = Source(file=str(path), line=record.line, offset=record.offset, length=len(record.data))
                yield loose(record, place)
    except damage_errors() as error:
        yield BadLine(file=str(path), line=1, offset=0, reason=f"cannot be read any further: {error}")


def loose(record: Record, place: Source) -> Loose | BadLine:
    """A record as it is, or why it is none."""
    try:
        row = decode_any(record.data)
    except BadRow as error:
        return BadLine(file=place.file, line=place.line, offset=place.offset, reason=str(error))
    if isinstance(row, dict):
        return Loose(record=row, source=place)
    return BadLine(file=place.file, line=place.line, offset=place.offset, reason="is not an object")


def all_trajectories(path: Path, *, whole: bool) -> Iterator[tuple[Any, Place]]:
    """The records of a source of trajectories; what cannot be read is passed over, and its row will lack it.

    Args:
        whole: whether a file of messages is one trajectory, as it is when it is joined by its name.
    """
    with contextlib.suppress(BladeError):
        for found in all_rows(path, trajectory_reading(path)):
            if isinstance(found, Rollout | Loose) and found.source is not None:
                record = found.record if isinstance(found, Loose) else found
                if whole and isinstance(record, dict) and isinstance(record.get("role"), str):
                    yield record, Place(path, found.source.offset, ALL_OF_IT)
                    return
                yield record, Place(path, found.source.offset, found.source.length)


def trajectory_reading(path: Path) -> Reading:
    """How a file of trajectories is read: a single object is one, whatever lists are in it."""
    try:
        open_file(path, Reading(features=False))
    except UsageError:
        return Reading(format="records", features=False)
    return Reading(features=False)


def items_at(place: Place) -> list[Item]:
    """The items of one trajectory."""
    reader = reader_for(place.path)
    if reader is not None:
        found = reader.read(place.path, {place.offset})
        mine = (r for r in found if isinstance(r, Rollout) and r.source and r.source.offset == place.offset)
        return next((rollout.items for rollout in mine), [])
    form = open_file(place.path, trajectory_reading(place.path)).plan.format
    if place.length == ALL_OF_IT:
        rows = all_rows(place.path, trajectory_reading(place.path))
        messages = [row.record for row in rows if isinstance(row, Loose)]
        return read_items({"messages": messages}, msgspec.structs.replace(form, prompt=None, output="messages"))
    with open_stream(place.path) as stream:
        skip(stream, place.offset)
        row = decode_any(b"".join(take(stream, place.length)))
    return read_items(row, form) if isinstance(row, dict) else []


def with_items(found: Rollout | Loose, items: list[Item]) -> Rollout | Loose:
    """A row with scores and the items of its trajectory."""
    if not items:
        return found
    if isinstance(found, Rollout):
        return msgspec.structs.replace(found, items=items)
    prompt = own.stored_items(item for item in items if item.prompt)
    output = own.stored_items(item for item in items if not item.prompt)
    return msgspec.structs.replace(found, record={**found.record, PROMPT: prompt, OUTPUT: output})
