"""Reading one file: how it is laid out, what format it is in, what is already known of it, and the rest.

A file that was read before is taken from the cache, and one that has grown since is read from where it grew.
"""

import contextlib
import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts import cache, documents, formats
from blade.rollouts.decoding import Plan, collector_paused, whole_rows
from blade.rollouts.fields import learn
from blade.rollouts.formats import Format, json_tables
from blade.rollouts.formats.reader import Reader
from blade.rollouts.identity import PER_ROLLOUT
from blade.rollouts.lines import (
    BOM,
    CHUNK,
    Chunk,
    LayoutName,
    Record,
    layout_of,
    line_records,
    read_chunks,
    read_records,
    skip_mark,
)
from blade.rollouts.ranges import Progress, last_line, no_progress, scan_lines, scan_ranges, split_ranges
from blade.rollouts.scan import BadRecord, Scan, first_rows, join_scans
from blade.rollouts.scanner import Scanner, settled
from blade.rollouts.sources import compression, damage_errors, fill, open_stream, plain_name

SAMPLE_RECORDS = 64
LONGEST_SAMPLE = 1 << 20
SHOWN_BINARY = 64
"""First bytes of a file among which a zero byte shows that it is not text."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The options that change what a scan holds."""

    format: str | None = None
    """Name of the format, or `None` to detect it."""
    output: str | None = None
    """Path of the output, when the user says where it is."""
    fields: tuple[str, ...] = ()
    """Paths the user named; they are read whatever they look like."""
    features: bool = True
    """Whether trajectories are looked at."""
    records: str | None = None
    """Path of the list that holds the records of a JSON document, when the user says where it is."""
    observer: Any = None
    """What looks at whole rows while they are read (an `Observer`), or nobody."""


class FileScan(msgspec.Struct, frozen=True, kw_only=True):
    """A file's scan, and how it was read."""

    path: Path
    """The file."""
    format: Format
    """The format it is in."""
    scan: Scan
    """What it holds."""
    reader: Reader | None = None
    """What read it, when its format is a foreign one."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What the first records of a file tell about it."""

    layout: LayoutName
    """How records are laid out."""
    records: str | None
    """Path of the list that holds them, inside of a JSON document."""
    plan: Plan
    """How they are read."""
    seekable: bool
    """Whether lines can be reached by their offset: a plain file of lines."""


def scan_file(
    path: Path, reading: Reading, *, jobs: int = 1, use_cache: bool = True, progress: Progress = no_progress
) -> FileScan:
    """Everything the table needs of one file."""
    opening = open_file(path, reading)
    identity = cache.identify(path)
    place = cache.entry_path(path, [reading, opening.layout, opening.records, opening.plan])
    old = cache.load(place) if use_cache else None
    if old is not None and old.identity == identity:
        return FileScan(path=path, format=opening.plan.format, scan=settled(old.scan, opening.plan))
    if opening.seekable:
        kept = known_part(old, path, identity)
        scan = scan_plain(path, opening.plan, kept, end=identity.size, jobs=jobs, progress=progress)
    else:
        scan = scan_stream(path, opening, progress=progress)
    if use_cache:
        entry = cache.Entry(identity=identity, end=last_line(path, identity.size), scan=scan)
        cache.save(place, entry)
    return FileScan(path=path, format=opening.plan.format, scan=settled(scan, opening.plan))


def open_file(path: Path, reading: Reading) -> Opening:
    """Layout, format and fields, from the first records."""
    head = read_head(path).removeprefix(BOM)
    layout = layout_of(head)
    samples = list(whole_rows(itertools.islice(first_records(path, layout, head), SAMPLE_RECORDS)))
    records = reading.records
    if records is None and reading.format not in formats.FORMATS and is_document(path, layout, samples):
        table = json_tables.table_of(samples[0])
        records = documents.records_path(path, samples[0], reading.fields, has_table=table is not None)
    if records is not None:
        layout = "wrapped"
        samples = list(whole_rows(wrapped_records(path, records)[:SAMPLE_RECORDS]))
    plan = plan_for(samples, reading)
    if plan.format.output is None and plan.format.name == "records" and layout == "lines" and compression(path) is None:
        plan = plan_for(samples, reading, more=spread_samples(path))
    return Opening(layout=layout, records=records, plan=plan, seekable=layout == "lines" and compression(path) is None)


def is_document(path: Path, layout: LayoutName, samples: list[Any]) -> bool:
    """Whether a file is one JSON object, and not JSON Lines that has one line so far."""
    lone = len(samples) == 1 and isinstance(samples[0], dict)
    named_lines = plain_name(path).endswith((".jsonl", ".ndjson"))
    return lone and (layout == "objects" or (layout == "lines" and not named_lines))


def spread_samples(path: Path) -> list[Any]:
    """Rows from all over a file of lines, for what the first of them may lack."""
    size = path.stat().st_size
    found: list[Any] = []
    with path.open("rb") as file:
        for place in range(size // SAMPLE_RECORDS, size, max(size // SAMPLE_RECORDS, 1)):
            file.seek(place)
            file.readline(LONGEST_SAMPLE)
            line = file.readline(LONGEST_SAMPLE)
            found += whole_rows([Record(line, 0, 0)] if line.strip() else [])
    return found


def plan_for(samples: list[Any], reading: Reading, *, more: list[Any] | None = None) -> Plan:
    """How rows like these are read; `more` rows only help to find the output."""
    rows = samples + (more or [])
    form = formats.named(reading.format, rows) if reading.format in formats.FORMATS else formats.detect(rows)
    if reading.output:
        form = msgspec.structs.replace(form, output=reading.output, prompt=None)
    return Plan(
        learned=learn(samples),
        format=form,
        features=reading.features,
        hash_inputs=needs_prompt(samples, form),
        fields=reading.fields,
        observer=reading.observer,
    )


def read_head(path: Path) -> bytes:
    """The first bytes of a file; as many as can be read of a damaged one."""
    head = bytearray(CHUNK)
    with open_stream(path) as stream:
        count, damage = fill(stream, memoryview(head))
    if damage is not None and not count:
        raise InputError(f"{path}: cannot be read: {damage}.") from damage
    data = bytes(memoryview(head)[:count])
    if not data and compression(path) == "zstd":  # its reader takes a missing end for an end
        raise InputError(f"{path}: nothing in it can be unpacked: it is cut short, or empty.")
    if is_wide(data):
        raise InputError(
            f"{path}: is UTF-16 or UTF-32 text; convert it to UTF-8, for example with `iconv -f UTF-16 -t UTF-8`."
        )
    if b"\0" in data[:SHOWN_BINARY]:
        raise InputError(
            f"{path}: is a binary file of an unknown format; expected JSON records, one per line or in an array, or a "
            "table as CSV, as which a spreadsheet can be saved."
        )
    if not data or data.isspace():
        raise InputError(f"{path}: is empty; expected JSON records, one per line or in an array.")
    return data


def is_wide(head: bytes) -> bool:
    """Whether characters take two or four bytes: by the mark at the beginning, or because every other byte is zero."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        b"\0\0" in (head[0:4:2], head[1:4:2]) and head[:4].strip(b"\0")[:1] in (b"{", b"[")
    )


def first_records(path: Path, layout: LayoutName, head: bytes) -> Iterator[Record]:
    """The first records of a file: all whole lines of its head, or one if the first line is longer than that."""
    cut = head.rfind(b"\n") + 1
    if layout == "lines" and cut:
        yield from line_records(Chunk(head, cut, 0), line=1)
        return
    with open_stream(path) as stream, contextlib.suppress(*damage_errors()):
        skip_mark(stream)
        if layout == "lines":
            for chunk in itertools.islice(read_chunks(stream), 1):
                yield from line_records(chunk, line=1)
        else:
            yield from read_records(stream, layout)


def wrapped_records(path: Path, where: str) -> list[Record]:
    """The records of a list inside of a JSON document."""
    with open_stream(path) as stream:
        data = b"".join(iter(lambda: stream.read(CHUNK), b""))
    return documents.records_at(data, where)


def needs_prompt(samples: list[Any], form: Format) -> bool:
    """Whether rows may have to be told apart by what was asked: they lack the format's own ids.

    Of a conversation that holds its own prompt, only when no field names the task for certain.
    """
    if form.input_field is None:
        named = [path for path in form.task_fields if formats.bare(path) not in PER_ROLLOUT]
        rows = [sample for sample in samples if isinstance(sample, dict)]
        return form.output is not None and not any(
            all(formats.value_at(row, path) is not None for row in rows) for path in named
        )
    return not has_indices(samples, form)


def has_indices(samples: list[Any], form: Format) -> bool:
    """Whether every sampled row carries the format's own ids."""
    if form.indices is None:
        return False
    rows = [sample for sample in samples if isinstance(sample, dict)]
    return all(formats.value_at(row, path) is not None for row in rows for path in form.indices)


def known_part(old: cache.Entry | None, path: Path, identity: cache.Identity) -> cache.Entry | None:
    """The old entry, if the file is that same file with more lines at its end."""
    if old is None or identity.size <= old.identity.size:
        return None
    return old if cache.identify(path, size=old.identity.size).digest == old.identity.digest else None


def scan_plain(path: Path, plan: Plan, kept: cache.Entry | None, *, end: int, jobs: int, progress: Progress) -> Scan:
    """The rows of a plain file of lines; those that are known already are not read again."""
    start = 0 if kept is None else kept.end
    ranges = split_ranges(path, start, end, jobs=jobs)
    scan = scan_ranges(path, plan, ranges, jobs=jobs, progress=progress)
    return scan if kept is None else join_scans([first_rows(kept.scan, before=kept.end), scan])


def scan_stream(path: Path, opening: Opening, *, progress: Progress) -> Scan:
    """The rows of a file that can only be read from front to back."""
    scanner = Scanner(opening.plan)
    with collector_paused(), open_stream(path) as stream:
        if opening.layout == "lines":
            scan_lines(stream, scanner, start=skip_mark(stream), end=None, progress=progress)
            return scanner.finish()
        try:
            scanner.add_records(records_in(path, opening, stream))
        except damage_errors() as error:
            scanner.bad.append(BadRecord(1, 0, f"the file cannot be read any further: {error}"))
    return scanner.finish()


def records_in(path: Path, opening: Opening, stream: io.BufferedReader) -> Iterator[Record]:
    """The records of a file, one at a time; the stream stands at its beginning."""
    if opening.records is not None:
        yield from wrapped_records(path, opening.records)
    elif opening.layout != "lines":
        yield from read_records(stream, opening.layout)
    else:
        line = 1
        for chunk in read_chunks(stream, offset=skip_mark(stream)):
            yield from line_records(chunk, line=line)
            line += bytes(chunk.view).count(b"\n")
