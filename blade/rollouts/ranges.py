"""Reading a plain file of lines by byte ranges, in this process or wherever an engine has workers.

Ranges are cut at line breaks, so that every line belongs to exactly one. A large file has more ranges than there are
processes, which lets progress be shown; a small one does not, since every range has to learn its odd fields anew.
"""

import io
import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from blade.engine import engine_for
from blade.rollouts.decoding import Plan, collector_paused
from blade.rollouts.lines import read_chunks, skip_mark
from blade.rollouts.scan import BadRecord, Scan, join_scans
from blade.rollouts.scanner import Scanner
from blade.rollouts.sources import damage_errors, open_stream

MIN_RANGE = 8 << 20
LARGE_RANGE = 256 << 20
STRIDE = 1 << 16

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""

Range = tuple[int, int]


def split_ranges(path: Path, start: int, end: int, *, jobs: int) -> list[Range]:
    """Byte ranges from `start` to `end`, cut at line breaks; a single one for one job."""
    jobs = engine_for(jobs).workers
    size = end - start
    pieces = 1 if jobs <= 1 else min(jobs * max(1, size // (jobs * LARGE_RANGE)), max(1, size // MIN_RANGE))
    cuts = [start]
    with path.open("rb") as file:
        for index in range(1, pieces):
            cut = next_line(file, start + size * index // pieces, end)
            if cut > cuts[-1]:
                cuts.append(cut)
    cuts.append(end)
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def next_line(file: BinaryIO, offset: int, end: int) -> int:
    """Where the first line after `offset` begins."""
    file.seek(offset)
    while offset < end:
        piece = file.read(STRIDE)
        found = piece.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(piece) or end
    return end


def last_line(path: Path, end: int) -> int:
    """Where the line that byte `end` stands in begins; it may still be being written."""
    with path.open("rb") as file:
        while end > 0:
            start = max(0, end - STRIDE)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0


def scan_ranges(path: Path, plan: Plan, ranges: list[Range], *, jobs: int, progress: Progress) -> Scan:
    """The scan of all ranges together."""
    if len(ranges) == 1 or engine_for(jobs).workers <= 1:
        return join_scans([scan_range(path, plan, piece, progress=progress) for piece in ranges])

    def done(count: int) -> None:
        progress(ranges[count - 1][1], ranges[-1][1])

    return engine_for(jobs).reduce(partial(scan_range, path, plan), ranges, join_scans, done=done)


def no_progress(_done: int, _total: int) -> None:
    """For when nobody watches."""


def scan_range(path: Path, plan: Plan, piece: Range, *, progress: Progress = no_progress) -> Scan:
    """The lines of one byte range; line numbers start at 1 within the range."""
    start, end = piece
    scanner = Scanner(plan)
    with collector_paused(), open_stream(path) as stream:
        stream.seek(start)
        start += skip_mark(stream) if start == 0 else 0
        scan_lines(stream, scanner, start=start, end=end, progress=progress)
    return scanner.finish()


def scan_lines(stream: io.BufferedReader, scanner: Scanner, *, start: int, end: int | None, progress: Progress) -> None:
    """Feeds a stream of lines to a scanner; where the bytes cannot be read further, that is recorded."""
    done, line = start, 1
    try:
        for chunk in read_chunks(stream, offset=start, end=end):
            scanner.add_chunk(chunk)
            done, line = chunk.offset + chunk.size, 1 + scanner.lines
            progress(done, end or done)
    except damage_errors() as error:
        scanner.bad.append(BadRecord(line, done, f"the file cannot be read any further: {error}"))
