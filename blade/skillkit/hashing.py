"""One short name for everything in a folder of skills, the same as NeMo Gym gives it.

It is the sha256 over every regular file below the folder, hidden ones included: the path relative to the folder, a
NUL, the content, a NUL, in the order of path components (so `a/x` comes before `a-b/x`, which plain text order turns
round). The first 12 hex digits are the name. Folders that are links are not followed.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from blade.errors import InputError

DIGITS = 12
MOST_BYTES = 100_000_000
"""What all files of a folder of skills may have together; they are held in memory."""


def hash_folder(folder: Path) -> str:
    """The name of a folder's content."""
    return hash_files(read_files(folder))


def hash_files(files: dict[str, bytes]) -> str:
    """The name of files by their relative paths."""
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.split("/")):
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + files[path] + b"\0")
    return digest.hexdigest()[:DIGITS]


def read_files(folder: Path) -> dict[str, bytes]:
    """Every regular file below a folder by its relative path, in parts separated by `/`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder of skills.")
    try:
        paths = list(regular_files(folder))
        if sum(path.stat().st_size for path in paths) > MOST_BYTES:
            raise InputError(f"{folder}: holds more than {MOST_BYTES // 10**6} MB, which no folder of skills does.")
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}.") from error


def regular_files(folder: Path) -> Iterator[Path]:
    """Files below a folder, links to folders not followed."""
    for place, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(place) / name).is_file())
