"""Cutting a stream of bytes into records without holding more than a chunk of it.

A file is JSON Lines, one JSON array, or JSON objects written over several lines. Lines come in whole chunks, so that
a decoder can take many at once; the other layouts are cut by their brackets and come one record at a time.
"""

import io
import os
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.sources import fill

CHUNK = 1 << 21
MAX_CHUNK = 1 << 23
FEW_LINES = 16
FEW_BYTES = 16_000
LONGEST_LINE = 256
"""MiB of one line or record, far above real rows; `$BLADE_MAX_LINE_MB` sets another; 8 are always read."""
OVERLONG = b"\0overlong\n"
"""What stands in a chunk for a line that is too long to read."""
BOM = b"\xef\xbb\xbf"

LayoutName = Literal["lines", "array", "objects", "wrapped"]


class Record(NamedTuple):
    """One record's bytes and place."""

    data: bytes
    offset: int
    line: int


class Chunk(NamedTuple):
    """Whole lines: the first `size` bytes of a buffer, and where in the file they begin."""

    buffer: bytes | bytearray
    size: int
    offset: int

    @property
    def view(self) -> memoryview:
        """The bytes of the lines."""
        return memoryview(self.buffer)[: self.size]


def layout_of(head: bytes) -> LayoutName:
    """How records are laid out, from the first bytes of a file."""
    text = head.removeprefix(BOM).lstrip()
    first, _, rest = text.partition(b"\n")
    following = rest.lstrip()[:1]
    if text[:1] == b"[":
        return "lines" if is_json(first) and following == b"{" else "array"
    if text[:1] == b"{" and not is_json(first) and following in (b'"', b"}", b""):
        return "objects" if rest else "lines"
    return "lines"


def is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def skip_mark(stream: io.BufferedReader) -> int:
    """Goes past a byte order mark at the beginning of a stream; how many bytes that were."""
    return len(stream.read(len(BOM))) if stream.peek(len(BOM)).startswith(BOM) else 0


def read_chunks(stream: io.BufferedReader, *, offset: int = 0, end: int | None = None) -> Iterator[Chunk]:
    """Chunks of whole lines from the stream's current place up to byte `end`. A chunk's memory is reused.

    When the bytes cannot be read any further, the whole lines before that come first and then the error.
    """
    buffer = bytearray(CHUNK)
    used = 0
    while True:
        room = len(buffer) - used if end is None else min(len(buffer) - used, end - offset - used)
        count, damage = fill(stream, memoryview(buffer)[used : used + room])
        used += count
        over = damage is None and (count < room or used < len(buffer))
        cut = used if over else buffer.rfind(b"\n", 0, used) + 1
        if cut:
            yield Chunk(buffer, cut, offset)
            offset += cut
            rest = bytes(memoryview(buffer)[cut:used])
            buffer[: len(rest)] = rest
            used = len(rest)
        if damage is not None:
            raise damage
        if over:
            return
        if used == len(buffer) >= longest_line():
            yield Chunk(OVERLONG, len(OVERLONG), offset)
            offset, begun = pass_line(stream, buffer, offset=offset + used, end=end)
            if begun is None:
                return
            buffer[: len(begun)] = begun
            used = len(begun)
        elif used == len(buffer) or (used > len(buffer) // 8 and len(buffer) < MAX_CHUNK):
            # A row larger than the buffer, or rows so long that their torn ends are often copied: a larger buffer,
            # which is a new one, since a view of the old one may still be held.
            buffer = buffer + bytearray(len(buffer))


def longest_line() -> int:
    """Bytes a line may have."""
    told = os.environ.get("BLADE_MAX_LINE_MB", "")
    return (int(told) if told.isdigit() and int(told) else LONGEST_LINE) << 20


def pass_line(
    stream: io.BufferedReader, buffer: bytearray, *, offset: int, end: int | None
) -> tuple[int, bytes | None]:
    """Goes past the rest of a line; where the next one begins, and what of it was read already, `None` at the end."""
    while True:
        room = len(buffer) if end is None else min(len(buffer), end - offset)
        count, damage = fill(stream, memoryview(buffer)[:room])
        cut = buffer.find(b"\n", 0, count) + 1
        if cut:
            rest = bytes(memoryview(buffer)[cut:count])
            return offset + cut, rest
        offset += count
        if damage is not None:
            raise damage
        if count < room or not room:
            return offset, None


class Lines(NamedTuple):
    """Where the non-blank lines of a chunk stand, relative to the chunk."""

    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    breaks: int


def split_lines(chunk: Chunk) -> Lines:
    """The non-blank lines of a chunk."""
    raw = np.frombuffer(chunk.view, dtype=np.uint8)
    breaks = line_breaks(chunk, raw)
    ends = breaks if chunk.size == 0 or raw[-1] == 10 else np.append(breaks, chunk.size)
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    lengths = ends - starts
    filled = lengths > 0
    # A line that begins with white space may be nothing else.
    for index in np.flatnonzero(filled & (raw[np.minimum(starts, chunk.size - 1)] <= 32)):
        filled[index] = bool(bytes(chunk.view[starts[index] : ends[index]]).strip())
    numbers = np.flatnonzero(filled)
    return Lines(starts[numbers], lengths[numbers], numbers, len(breaks))


def line_breaks(chunk: Chunk, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Where the line breaks are."""
    find, size = chunk.buffer.find, chunk.size
    breaks: list[int] = []
    at = -1
    while (at := find(b"\n", at + 1, size)) >= 0:
        breaks.append(at)
        if at < FEW_BYTES and len(breaks) == FEW_LINES:
            # Many short lines are found faster all at once; long ones by leaping from break to break (12 % of a pass).
            return np.flatnonzero(raw == 10)
    return np.array(breaks, dtype=np.int64)


def line_records(chunk: Chunk, *, line: int) -> Iterator[Record]:
    """The chunk's lines one at a time, for when they cannot be decoded together; `line` is the number of the first."""
    lines = split_lines(chunk)
    for start, length, number in zip(*(a.tolist() for a in lines[:3]), strict=True):
        yield Record(bytes(chunk.view[start : start + length]), chunk.offset + start, line + number)


# Everything up to the next bracket: scalars, commas, whole strings. Possessive, so that it never backtracks.
PLAIN_RUN = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)


def read_records(stream: io.BufferedReader, layout: LayoutName) -> Iterator[Record]:
    """Records of an `array` or of `objects`, cut by their brackets. Scalars between them come as records too."""
    cutter = Cutter(base_depth=1 if layout == "array" else 0)
    buffer = memoryview(bytearray(CHUNK))
    damage = None
    while damage is None:
        count, damage = fill(stream, buffer)
        yield from cutter.feed(bytes(buffer[:count]))
        if len(cutter.buffer) > longest_line():
            raise OSError(f"a record is longer than {longest_line() >> 20} MiB; BLADE_MAX_LINE_MB allows more")
        if damage is None and count < CHUNK:
            yield from cutter.close()
            return
    raise damage


class Cutter:
    """Follows brackets and strings through a stream; keeps only the unfinished record."""

    def __init__(self, *, base_depth: int) -> None:
        self.base = base_depth
        self.depth = 0
        self.buffer = b""
        self.offset = 0
        self.line = 1
        self.position = 0
        self.start: int | None = None

    def feed(self, piece: bytes) -> Iterator[Record]:
        """The records that end within `piece`."""
        self.buffer += piece
        while True:
            match = PLAIN_RUN.match(self.buffer, self.position)
            end = match.end() if match else self.position
            if end == len(self.buffer) or self.buffer[end : end + 1] == b'"':
                break  # a string may go on in the next piece
            if self.start is None:
                yield from self._loose(self.position, end)
            yield from self._bracket(end)
            self.position = end + 1
        self._forget()

    def _bracket(self, at: int) -> Iterator[Record]:
        opening = self.buffer[at : at + 1] in (b"[", b"{")
        if opening:
            if self.depth == self.base and self.start is None:
                self.start = at
            self.depth += 1
            return
        self.depth = max(self.depth - 1, 0)
        if self.depth == self.base and self.start is not None:
            yield self._record(self.start, at + 1)
            self.start = None

    def _loose(self, begin: int, end: int) -> Iterator[Record]:
        """Scalars that stand where a record should."""
        if self.depth != self.base:
            return
        place = begin
        for token in self.buffer[begin:end].split(b","):
            if token.strip():
                yield self._record(place + len(token) - len(token.lstrip()), place + len(token.rstrip()))
            place += len(token) + 1

    def _record(self, begin: int, end: int) -> Record:
        return Record(self.buffer[begin:end], self.offset + begin, self.line + self.buffer.count(b"\n", 0, begin))

    def _forget(self) -> None:
        """Drops what is done with, so that memory stays at one record."""
        done = self.position if self.start is None else self.start
        self.line += self.buffer.count(b"\n", 0, done)
        self.buffer = self.buffer[done:]
        self.offset += done
        self.position -= done
        self.start = None if self.start is None else 0

    def close(self) -> Iterator[Record]:
        """What is left when the stream ends inside a record."""
        rest = self.buffer[self.start :] if self.start is not None else self.buffer[self.position :]
        begin = len(self.buffer) - len(rest)
        if self.depth >= self.base and (rest.strip(b" \t\r\n,") or self.depth > 0):
            yield self._record(begin, len(self.buffer))
