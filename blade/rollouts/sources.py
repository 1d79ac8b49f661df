"""Opening inputs: plain, gzip or zstandard, told apart by their first bytes; and what their names say.

Offsets anywhere in BLADE are offsets of the decompressed stream.
"""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blade.errors import InputError

SUFFIXES = (".jsonl", ".ndjson", ".json", ".eval", ".parquet", ".csv", ".tsv")
COMPRESSED = (".gz", ".zst")
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE_MAGIC = b"\x2a\x4d\x18"
SKIPPABLE_FIRST = frozenset(bytes([first]) for first in range(0x50, 0x60))
PIECE = 1 << 20

SIDECARS = {
    "inputs": "_materialized_inputs.jsonl",
    "failures": "_failures.jsonl",
    "aggregate": "_aggregate_metrics.json",
    "profile": "_reward_profiling.jsonl",
    "agent": "_agent_metrics.json",
}
"""Files that stand beside a rollout file and hold no rollouts themselves: kind, and what follows the stem."""
MANIFEST = "_manifest.json"
"""What follows the stem in the name of the file that says what a run of ours was made with."""

OURS = frozenset({"analysis.json", "claims.json", "comparison.json", "labels.jsonl", "runs.json"})
"""Files BLADE writes itself; a directory that holds them is not a directory of rollouts because of them."""
WORKSPACE = ".blade"
"""Folder that marks a directory as one BLADE wrote; in it, what is about this machine: where the rollouts are."""


def plain_name(path: Path) -> str:
    """The file's name without a compression suffix."""
    return path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name


def stem(path: Path) -> str:
    """The name sidecars are built from: without compression suffix and without the last suffix."""
    return Path(plain_name(path)).stem


def is_sidecar(path: Path) -> bool:
    """Whether the name says the file stands beside rollouts and is none."""
    return stem(path).endswith(tuple(Path(ending).stem for ending in (*SIDECARS.values(), MANIFEST)))


def looks_like_rollouts(path: Path) -> bool:
    """Whether a file met in a directory may hold rollouts, by its name alone."""
    hidden = any(part.startswith(".") for part in path.parts if part not in (".", ".."))
    name = plain_name(path)
    written = name in OURS or (path.parent / WORKSPACE).is_dir()
    return name.endswith(SUFFIXES) and not hidden and not is_sidecar(path) and not written


def compression(path: Path) -> str | None:
    """`gzip`, `zstd` or `None`, by content."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == GZIP_MAGIC:
        return "gzip"
    return "zstd" if magic == ZSTD_MAGIC else None


def open_stream(path: Path) -> io.BufferedReader:
    """The decompressed bytes of a file."""
    try:
        kind = compression(path)
        if kind == "gzip":
            return io.BufferedReader(Unpacked(gzip.open(path, "rb")))
        return io.BufferedReader(Unpacked(open_zstd(path), zstd=path)) if kind == "zstd" else path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error


def open_zstd(path: Path) -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)


class Unpacked(io.RawIOBase):
    """A compressed stream that gives what one step of decompression gives, so that damage costs nothing before it."""

    def __init__(self, source: Any, *, zstd: Path | None = None) -> None:
        self.source = source
        self.zstd = zstd
        self.unpacked = 0
        self._room = memoryview(bytearray(PIECE if zstd else 0))
        self._ready = self._room[:0]

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        try:
            count = int(self.source.readinto1(view)) if self.zstd is None else self._from_zstd(view, self.zstd)
        except EOFError as error:
            raise EOFError(f"{error}; {self.unpacked:,} bytes were unpacked before that") from None
        self.unpacked += count
        return count

    def _from_zstd(self, view: Any, path: Path) -> int:
        """Unpacks in steps of one size, whatever is asked for: where a file is cut, the library drops what is left of
        a block that it has read, so that readers in other steps would see other ends."""
        if not self._ready and len(view):
            self._ready = self._room[: self.source.readinto1(self._room)]
            if not self._ready:
                check_frames(path)  # the library takes any end for the end
        count = min(len(view), len(self._ready))
        view[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        self.source.close()
        super().close()


def check_frames(path: Path) -> None:
    """Raises `EOFError` unless a zstandard file reaches the end of its last frame, as the heads of its blocks tell."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            skip_frame(file)
            if file.tell() > size:
                raise EOFError("Compressed file ended before its last frame did")


def skip_frame(file: io.BufferedReader) -> None:
    """Goes to where a frame ends by its own account, which may be beyond the file (RFC 8878, section 3.1)."""
    head = file.read(8)
    if len(head) < 5:
        file.seek(8, io.SEEK_CUR)
        return
    if head[1:4] == SKIPPABLE_MAGIC and head[:1] in SKIPPABLE_FIRST:
        file.seek(int.from_bytes(head[4:8], "little"), io.SEEK_CUR)
        return
    if head[:4] != ZSTD_MAGIC:
        file.seek(0, io.SEEK_END)  # bytes after the last frame are the library's to judge
        return
    flags = head[4]
    single = flags >> 5 & 1
    content = (single, 2, 4, 8)[flags >> 6]
    file.seek(5 - 8 + (1 - single) + (0, 1, 2, 4)[flags & 3] + content, io.SEEK_CUR)
    last = False
    while not last:
        block = file.read(3)
        number = int.from_bytes(block, "little")
        last = bool(number & 1) or len(block) < 3
        length = 1 if number >> 1 & 3 == 1 else number >> 3
        file.seek(length if len(block) == 3 else 4, io.SEEK_CUR)
    file.seek(4 if flags >> 2 & 1 else 0, io.SEEK_CUR)


def damage_errors() -> tuple[type[Exception], ...]:
    """Exceptions that mean the bytes end here: a truncated archive, a failing disk, a file that went away."""
    import zlib

    import zstandard

    return (OSError, EOFError, zlib.error, zstandard.ZstdError)


def fill(stream: io.BufferedReader, view: memoryview) -> tuple[int, Exception | None]:
    """Reads until `view` is full; how many bytes came, and the damage that kept more from coming.

    One raw read after the other, because a larger one that meets damage loses what stood before it; `readinto1` may
    add a raw read to what was buffered, which costs a whole file nothing.
    """
    done = 0
    read = stream.readinto1 if not isinstance(stream.raw, Unpacked) else lambda room: read_into(stream, room)
    try:
        while done < len(view) and (count := read(view[done:])):
            done += count
    except damage_errors() as error:
        return done, error
    return done, None


def read_into(stream: io.BufferedReader, view: memoryview) -> int:
    piece = stream.read1(len(view))
    view[: len(piece)] = piece
    return len(piece)


def skip(stream: io.BufferedReader, count: int) -> None:
    for _ in take(stream, count):
        pass


def take(stream: io.BufferedReader, count: int) -> Iterator[bytes]:
    """The next `count` bytes in pieces; fewer when the stream ends."""
    buffer = memoryview(bytearray(min(count, PIECE)))
    while count > 0:
        done, damage = fill(stream, buffer[:count])
        yield bytes(buffer[:done])
        count -= done
        if damage is not None and count > 0:
            raise damage
        if not done:
            return
