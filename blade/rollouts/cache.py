"""Scans kept between runs, in the user's cache directory.

An entry is found by the file's path and by how it is read. It is believed only if size, times and content agree, of a
large file samples from head to tail; when a file has merely grown, the old rows are kept and only the rest is read. A
damaged entry is as good as none.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import platformdirs

from blade._version import __version__
from blade.rollouts.scan import Scan
from blade.rollouts.urls import UrlPath

CACHE_FORMAT = 15
CHECKSUM = 16
"""Bytes at the head of an entry that the rest must hash to: one flipped bit would give another analysis."""
WHOLE = 64 << 20
"""Bytes up to which all of a file's content is compared."""
SAMPLE = 4096
SAMPLES = 64
KEEP_ENTRIES = 200


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a file's bytes the same bytes."""

    size: int
    """Bytes of the file as stored."""
    times: tuple[int, int]
    """When content and inode were last changed, in nanoseconds: the first can be set back, the second cannot."""
    digest: str
    """Hash of the content, of a large file of samples spread from head to tail."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A cached scan and the file it is of."""

    identity: Identity
    """The file when it was scanned."""
    end: int
    """Where its last whole line ended."""
    scan: Scan
    """What was read."""


def cache_dir() -> Path:
    """`$BLADE_CACHE_DIR`, or the platform's place for caches."""
    return Path(os.environ.get("BLADE_CACHE_DIR") or platformdirs.user_cache_dir("blade"))


def identify(path: Path, size: int | None = None) -> Identity:
    """The identity of a file, or of its first `size` bytes; of a remote one, what its store says."""
    if isinstance(path, UrlPath):
        whole, version = path.identity
        return Identity(size=whole, times=(0, 0), digest=version if size in (None, whole) else "")
    stat = path.stat()
    size = stat.st_size if size is None else size
    digest = hashlib.sha256()
    with path.open("rb") as file:
        if size <= WHOLE:
            for piece in iter(lambda: file.read(min(1 << 20, size - file.tell())), b""):
                digest.update(piece)
        for index in range(SAMPLES if size > WHOLE else 0):
            file.seek((size - SAMPLE) * index // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
    return Identity(size=size, times=(stat.st_mtime_ns, stat.st_ctime_ns), digest=digest.hexdigest())


def entry_path(path: Path, reading: Any) -> Path:
    """Where the scan of this file, read this way, is kept."""
    told = msgspec.json.encode(reading, enc_hook=qualified_name)
    key = hashlib.blake2b(told + b"\0" + os.fsencode(str(path.resolve())), digest_size=16)
    key.update(f"{CACHE_FORMAT} {__version__}".encode())
    return cache_dir() / "scans" / f"{key.hexdigest()}.blade"


def qualified_name(function: Any) -> str:
    """What a function goes by, for options that name one."""
    return f"{function.__module__}.{function.__qualname__}"


def load(path: Path) -> Entry | None:
    """The entry in a cache file; anything wrong with it means there is none."""
    import zstandard

    try:
        stored = path.read_bytes()
        if stored[:CHECKSUM] != checksum(stored[CHECKSUM:]):
            return None
        data = zstandard.ZstdDecompressor().decompress(stored[CHECKSUM:])
        return msgspec.msgpack.decode(data, type=Entry, dec_hook=from_stored)
    except (OSError, zstandard.ZstdError, msgspec.MsgspecError, ValueError, TypeError, KeyError, EOFError):
        return None


def save(path: Path, entry: Entry) -> None:
    """Writes an entry whole or not at all; a cache that cannot be written is no reason to fail."""
    import zstandard

    with contextlib.suppress(OSError, OverflowError):
        data = zstandard.ZstdCompressor(level=1).compress(msgspec.msgpack.encode(entry, enc_hook=to_stored))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(checksum(data) + data)
        Path(file.name).replace(path)
        forget_oldest(path.parent)


def checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:CHECKSUM]


def forget_oldest(folder: Path) -> None:
    entries = sorted(folder.glob("*.blade"), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in entries[KEEP_ENTRIES:]:
        old.unlink(missing_ok=True)


def to_stored(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    raise NotImplementedError(f"cannot store {type(value)}")


def from_stored(kind: type, value: Any) -> Any:
    dtype, shape, data = value
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)
