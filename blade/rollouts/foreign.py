"""Sources in a foreign format: recognised by a reader, scanned and fetched as rows of our own form."""

import hashlib
import itertools
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from blade.errors import InputError
from blade.rollouts import cache
from blade.rollouts.decoding import collector_paused, whole_rows
from blade.rollouts.formats import own
from blade.rollouts.formats.reader import Loose, Note, Reader
from blade.rollouts.lines import Record
from blade.rollouts.ranges import Progress
from blade.rollouts.reader import SAMPLE_RECORDS, FileScan, Reading, plan_for
from blade.rollouts.scan import BadRecord
from blade.rollouts.scanner import Scanner, settled
from blade.rollouts.values import BadLine, Rollout

JOINED = "joined"
"""Name of the reader that adds trajectories to rows of scores."""


def scan_source(
    path: Path, reader: Reader, reading: Reading, *, use_cache: bool = True, progress: Progress
) -> FileScan:
    """Everything the table needs of one source.

    Raises:
        InputError: the source as a whole cannot be read.
    """
    bad: list[BadRecord] = []
    notes: list[str] = []
    records = own_records(path, reader, bad, notes)
    first = list(itertools.islice(records, SAMPLE_RECORDS))
    plan = plan_for(list(whole_rows(first)), msgspec.structs.replace(reading, format=None))
    if reader.name == JOINED and plan.format.name == "records":
        plan = msgspec.structs.replace(
            plan, format=msgspec.structs.replace(plan.format, prompt=own.FORMAT.prompt, output=own.FORMAT.output)
        )
    if plan.format.name == own.FORMAT.name:
        plan = msgspec.structs.replace(plan, format=msgspec.structs.replace(plan.format, name=reader.name))
    identity = identify(reader.files(path))
    place = cache.entry_path(path, [reader.name, reading, plan])
    entry = cache.load(place) if use_cache else None
    if entry is None or entry.identity != identity:
        scanner = Scanner(plan)
        with collector_paused():
            scanner.add_records(first)
            scanner.add_records(records)
        scanner.bad += bad
        scan = msgspec.structs.replace(scanner.finish(), notes=notes)
        entry = cache.Entry(identity=identity, end=0, scan=scan)
        if use_cache:
            cache.save(place, entry)
    progress(identity.size, identity.size)
    return FileScan(path=path, format=plan.format, scan=settled(entry.scan, plan), reader=reader)


def identify(files: list[Path]) -> cache.Identity:
    """What makes the bytes of several files the same bytes."""
    each = [cache.identify(file) for file in files]
    digest = hashlib.blake2b(digest_size=16)
    for file, one in zip(files, each, strict=True):
        digest.update(msgspec.msgpack.encode([str(file), one]))
    newest = max((one.times for one in each), default=(0, 0))
    return cache.Identity(size=sum(one.size for one in each), times=newest, digest=digest.hexdigest())


def own_records(path: Path, reader: Reader, bad: list[BadRecord], notes: list[str]) -> Iterator[Record]:
    """Each rollout as a row of ours; what could not be read and what must be said are set aside."""
    for found in reader.read(path, None):
        if isinstance(found, BadLine):
            within = "" if Path(found.file) == path else f"{place_within(Path(found.file), path)}: "
            bad.append(BadRecord(found.line, found.offset, within + found.reason))
        elif isinstance(found, Note):
            notes.append(found.text)
        else:
            yield own_record(found)


def place_within(file: Path, source: Path) -> Path:
    """A file of a source by its place in it; reports leave the machine, so nothing above the source is named."""
    folder = source if source.is_dir() else source.parent
    return file.relative_to(folder) if file.is_relative_to(folder) else Path(file.name)


def own_record(found: Rollout | Loose) -> Record:
    """A rollout as a row of ours, or a record as it is."""
    place = found.source
    if place is None:
        raise InputError("a rollout has no source; its reader must give it one.")
    data = own.encoded(found) if isinstance(found, Rollout) else msgspec.json.encode(found.record)
    return Record(data, place.offset, place.line)


def fetch_rollouts(path: Path, reader: Reader, offsets: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """The rows of ours at some offsets, each with its offset, in the order of the source."""
    wanted = set(offsets)
    for found in reader.read(path, wanted):
        if isinstance(found, Rollout | Loose) and (record := own_record(found)).offset in wanted:
            wanted.discard(record.offset)
            yield record.offset, record.data
            if not wanted:
                return
    raise InputError(f"{path}: {len(wanted)} rollouts no longer exist; run diagnose again.")
