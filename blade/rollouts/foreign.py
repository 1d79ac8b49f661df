"""Sources in a foreign format: recognised by a reader, scanned and fetched as rows of our own form."""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from blade.errors import InputError
from blade.rollouts import cache
from blade.rollouts.decoding import Plan, collector_paused, whole_rows
from blade.rollouts.fields import learn
from blade.rollouts.formats import own
from blade.rollouts.formats.reader import Note, Reader
from blade.rollouts.lines import Record
from blade.rollouts.ranges import Progress
from blade.rollouts.reader import SAMPLE_RECORDS, FileScan, Reading
from blade.rollouts.scan import BadRecord, Scan
from blade.rollouts.scanner import Scanner
from blade.rollouts.values import BadLine, Rollout


def scan_source(
    path: Path, reader: Reader, reading: Reading, *, use_cache: bool = True, progress: Progress
) -> FileScan:
    """Everything the table needs of one source.

    Raises:
        InputError: the source as a whole cannot be read.
    """
    form = msgspec.structs.replace(own.FORMAT, name=reader.name)
    identity = identify(reader.files(path))
    place = cache.entry_path(path, msgspec.json.encode([reader.name, reading, form]))
    entry = cache.load(place) if use_cache else None
    if entry is None or entry.identity != identity:
        scan = scan_rollouts(path, reader, reading, size=identity.size, progress=progress)
        entry = cache.Entry(identity=identity, end=0, scan=scan)
        if use_cache:
            cache.save(place, entry)
    return FileScan(path=path, format=form, scan=entry.scan, reader=reader)


def identify(files: list[Path]) -> cache.Identity:
    """What makes the bytes of several files the same bytes."""
    each = [cache.identify(file) for file in files]
    digest = hashlib.blake2b(digest_size=16)
    for file, one in zip(files, each, strict=True):
        digest.update(msgspec.msgpack.encode([str(file), one]))
    newest = max((one.times for one in each), default=(0, 0))
    return cache.Identity(size=sum(one.size for one in each), times=newest, digest=digest.hexdigest())


def scan_rollouts(path: Path, reader: Reader, reading: Reading, *, size: int, progress: Progress) -> Scan:
    """One pass over a source."""
    bad: list[BadRecord] = []
    notes: list[str] = []
    records = own_records(path, reader, bad, notes)
    first = [record for record, _ in zip(records, range(SAMPLE_RECORDS), strict=False)]
    scanner = Scanner(
        Plan(
            learned=learn(whole_rows(first)),
            format=msgspec.structs.replace(own.FORMAT, name=reader.name),
            features=reading.features,
            hash_inputs=False,
            fields=reading.fields,
        )
    )
    with collector_paused():
        scanner.add_records(first)
        scanner.add_records(records)
    scanner.bad += bad
    progress(size, size)
    return msgspec.structs.replace(scanner.finish(), notes=notes)


def own_records(path: Path, reader: Reader, bad: list[BadRecord], notes: list[str]) -> Iterator[Record]:
    """Each rollout as a row of ours; what could not be read and what must be said are set aside."""
    for found in reader.read(path, None):
        if isinstance(found, BadLine):
            within = "" if Path(found.file) == path else f"{Path(found.file).name}: "
            bad.append(BadRecord(found.line, found.offset, within + found.reason))
        elif isinstance(found, Note):
            notes.append(found.text)
        else:
            yield own_record(found)


def own_record(rollout: Rollout) -> Record:
    place = rollout.source
    if place is None:
        raise InputError(f"rollout {rollout.task}:{rollout.repeat} has no source; its reader must give it one.")
    return Record(own.encoded(rollout), place.offset, place.line)


def fetch_rollouts(path: Path, reader: Reader, offsets: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """The rows of ours at some offsets, each with its offset, in the order of the source."""
    wanted = set(offsets)
    for found in reader.read(path, wanted):
        if isinstance(found, Rollout) and found.source is not None and found.source.offset in wanted:
            wanted.discard(found.source.offset)
            yield found.source.offset, own.encoded(found)
            if not wanted:
                return
    raise InputError(f"{path}: {len(wanted)} rollouts are not there any more; run diagnose again.")
