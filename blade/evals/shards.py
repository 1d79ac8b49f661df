"""Shards of one run put together: rollouts in the order of their keys, with their inputs and failures.

Rows are indexed first and copied by their place afterwards, so memory holds a key per row and no row. Shards that each
hold a part of the tasks are simply joined. Shards that each hold one more seed of the same tasks number their repeats
from 0 every time; with `seed_shards` the repeats of a file go on where those of the files before it ended.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from blade.errors import ProblemsFound, UsageError
from blade.evals.aggregate import sidecar
from blade.evals.counted import REPEAT, Key, Task, counted_key, key_of, rank, raw_fields, read_lines
from blade.evals.files import movable, write_whole
from blade.evals.scored import Duplicates, collision
from blade.rollouts.conform import BadRow
from blade.rollouts.sidecars import beside


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What came of merging."""

    output: Path
    """The merged rollouts."""
    shards: int
    """Files they come from."""
    rollouts: int
    """Rows written."""
    notes: list[str]
    """What a reader should know."""


class Place(NamedTuple):
    """Where a row stands, and the repeat it is given."""

    shard: int
    line: int
    offset: int
    length: int
    digest: bytes
    repeat: int | None
    """None when the row is copied as it is."""


class Shard(NamedTuple):
    """One file and how its repeats are moved."""

    path: Path
    shift: dict[Task, int]
    """Per task: what is added to a repeat."""


Index = dict[Key, Place]


def merge_shards(
    paths: Sequence[Path],
    output: Path,
    *,
    duplicates: Duplicates = "error",
    seed_shards: bool = False,
    overwrite: bool = False,
) -> Merged:
    """Writes the rollouts of several files as one, sorted, with merged inputs and failures beside it."""
    check_output(paths, output, overwrite=overwrite)
    notes: list[str] = []
    shards = shifted_shards(paths) if seed_shards else [Shard(path, {}) for path in paths]
    index = read_index(shards, duplicates=duplicates, notes=notes)
    if not index:
        raise ProblemsFound(f"{len(paths)} files hold no rollouts{f': {notes[0]}' if notes else ''}.")
    write_index(index, [shard.path for shard in shards], output)
    merge_inputs(shards, sidecar(output, "inputs"), notes)
    merge_failures(shards, sidecar(output, "failures"))
    return Merged(output=output, shards=len(paths), rollouts=len(index), notes=notes)


def check_output(paths: Sequence[Path], output: Path, *, overwrite: bool) -> None:
    if any(path.resolve() == output.resolve() for path in paths):
        raise UsageError(f"{output} is one of the shards; merge them into another file.")
    if output.exists() and not overwrite:
        raise UsageError(f"{output} exists; name another --output, or replace it with --overwrite.")


def shifted_shards(paths: Sequence[Path]) -> list[Shard]:
    """Shards whose repeats follow each other: a task's go on after the last one asked for, or seen, before."""
    shards: list[Shard] = []
    ends: dict[Task, int] = {}
    for path in paths:
        shift = dict(ends)
        for file in filter(None, (path, beside(path, "inputs"), beside(path, "failures"))):
            for task, repeat in keys_in(file):
                ends[task] = max(ends.get(task, 0), shift.get(task, 0) + repeat + 1)
        shards.append(Shard(path, shift))
    return shards


def keys_in(path: Path) -> Iterator[Key]:
    for line in read_lines(path):
        with contextlib.suppress(BadRow):
            key = key_of(raw_fields(line.data))
            if key is not None:
                yield key


def read_index(shards: Sequence[Shard], *, duplicates: Duplicates, notes: list[str]) -> Index:
    """Where the row of every key stands."""
    index: Index = {}
    counter: dict[str, int] = {}
    surplus, bad = 0, []
    for number, shard in enumerate(shards):
        for line in read_lines(shard.path):
            try:
                fields = raw_fields(line.data)
                key = key_of(fields)
                task, repeat = key or counted_key(fields, counter)
            except BadRow as error:
                bad.append(f"{shard.path.name}:{line.number}: {error}")
                continue
            moved = shard.shift.get(task, 0) if key else 0
            digest = blake2b(line.data.strip(), digest_size=12).digest()
            place = Place(number, line.number, line.offset, len(line.data), digest, repeat + moved if moved else None)
            surplus += put(index, (task, repeat + moved), place, shards, duplicates=duplicates)
    notes += [f"{surplus} rows have the key of another row and were left out"] if surplus else []
    notes += [f"{len(bad)} lines are not rollouts and were left out; the first is {bad[0]}"] if bad else []
    return index


def put(index: Index, key: Key, place: Place, shards: Sequence[Shard], *, duplicates: Duplicates) -> bool:
    """Gives a key its place; whether one of two rows is thereby left out."""
    before = index.get(key)
    if before is None or (duplicates == "last" and before.digest != place.digest):
        index[key] = place
    elif before.digest != place.digest and duplicates == "error":
        here, there = (f"{shards[one.shard].path.name}:{one.line}" for one in (place, before))
        raise ProblemsFound(collision(key, there, here, across=place.shard != before.shard))
    return before is not None


def write_index(index: Index, paths: Sequence[Path], output: Path) -> None:
    """Copies every row of an index, in the order of keys."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(movable(path)) for path in paths]
        order = sorted(index.items(), key=lambda entry: (rank(entry[0][0]), entry[0][1]))
        write_whole(output, (copied(place, files[place.shard]) for _, place in order))


def copied(place: Place, file: IO[bytes]) -> bytes:
    """A row as it is, or with another repeat."""
    file.seek(place.offset)
    data = file.read(place.length)
    return data.rstrip(b"\r\n") + b"\n" if place.repeat is None else with_repeat(data, place.repeat)


def with_repeat(data: bytes, repeat: int) -> bytes:
    return msgspec.json.encode({**raw_fields(data), REPEAT: repeat}) + b"\n"


def merge_inputs(shards: Sequence[Shard], output: Path, notes: list[str]) -> None:
    """What was asked for in all shards; nothing is claimed unless every shard says it."""
    found = [(shard, beside(shard.path, "inputs")) for shard in shards]
    lacking = [shard.path.name for shard, path in found if path is None]
    if lacking:
        remove(output)
        known = len(lacking) < len(shards)
        notes += [f"{lacking[0]} has no materialized inputs, so nobody says what was expected in all"] if known else []
        return
    inputs = [Shard(path, shard.shift) for shard, path in found if path is not None]
    write_index(read_index(inputs, duplicates="first", notes=[]), [shard.path for shard in inputs], output)


def merge_failures(shards: Sequence[Shard], output: Path) -> None:
    """Failed attempts of all shards, one file after the other."""
    found = [(shard, beside(shard.path, "failures")) for shard in shards]
    if all(path is None for _, path in found):
        remove(output)
        return
    lines = (failure_lines(path, shard) for shard, path in found if path is not None)
    write_whole(output, itertools.chain.from_iterable(lines))


def failure_lines(path: Path, shard: Shard) -> Iterator[bytes]:
    for line in read_lines(path):
        data = line.data.rstrip(b"\r\n") + b"\n"
        with contextlib.suppress(BadRow):
            key = key_of(raw_fields(line.data))
            if key is not None and shard.shift.get(key[0]):
                data = with_repeat(line.data, key[1] + shard.shift[key[0]])
        yield data


def remove(path: Path) -> None:
    """Takes away what an earlier merge left, which would speak of other rollouts."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
