"""Writing a workspace's files so that a reader never sees half of one and two writers never lose each other's work.

A file is written beside its place and moved over it. Whoever changes `labels.jsonl` holds the workspace's lock, because
a rewrite replaces the file that an append would otherwise still be writing to.
"""

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from blade.errors import InputError
from blade.rollouts.sources import WORKSPACE

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl; there appends are safe by O_APPEND alone
    fcntl = None  # type: ignore[assignment]


def write_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Puts content at a path, all of it or nothing; large content comes in pieces.

    Raises:
        InputError: the folder cannot be written to.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def append_line(path: Path, line: bytes) -> None:
    """Adds one line in one write; a last line that was cut off is ended first, so that only it is lost."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            cut_off = size > 0 and _byte_at(descriptor, size - 1) != b"\n"
            os.write(descriptor, b"\n" * cut_off + line + b"\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from error


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the workspace's lock; waits for whoever has it."""
    place = folder / WORKSPACE / "lock"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = place.open("ab")
    except OSError as error:
        raise InputError(f"{place.parent}: cannot be written: {error.strerror or error}.") from error
    with file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _byte_at(descriptor: int, offset: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, 1)
