"""Inputs that are not on this machine: whatever fsspec reaches, as paths like any other.

A file of plain lines is read where it is, range by range as bytes are asked for; any other file is copied once into the
cache and read from there, so `os.fspath` of a URL is the place of its copy. A file is the same file as long as its
store says so: its etag or checksum, its size and its time.
"""

import functools
import hashlib
import io
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from blade.errors import InputError, UsageError

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
RANGED = (".jsonl", ".ndjson")
"""What the names of files end in that are read where they are."""
BUFFER = 1 << 16
HEAD = 1 << 21
"""Bytes at the beginning of a file that are asked for once: whoever finds out what a file is begins there."""
COPIES = 64 << 30
"""Bytes of copies that are kept; the oldest go first."""
DRIVERS = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "az": "adlfs", "abfs": "adlfs"}


def as_path(text: str) -> Path:
    """A path as the user wrote it, or a URL as one."""
    if not URL.match(text):
        return Path(text)
    scheme, _, rest = text.partition("://")
    return Path(rest) if scheme.lower() in ("file", "local") else UrlPath(text)


class UrlPath(type(Path())):  # type: ignore[misc]
    """A file or folder behind a URL; what a path of this machine can be asked, it can be asked."""

    def __str__(self) -> str:
        return str(super().__str__()).replace(":/", "://", 1)

    def __repr__(self) -> str:
        return f"UrlPath({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return UrlPath, (str(self),)

    def __fspath__(self) -> str:
        return str(self._copy)

    def absolute(self) -> "UrlPath":
        return self

    def resolve(self, strict: bool = False) -> "UrlPath":
        return self

    @property
    def _where(self) -> tuple[Any, str]:
        """The file system and the name it has for this path; asked for anew, because a forked process needs its own."""
        return file_system(str(self))

    @functools.cached_property
    def _info(self) -> dict[str, Any] | None:
        system, name = self._where
        try:
            found = system.info(name)
        except FileNotFoundError:
            return None
        except Exception as error:  # every store has its own
            raise unreadable(str(self), error) from error
        return {**found, "ukey": str(system.ukey(name)) if found["type"] == "file" else ""}

    @property
    def identity(self) -> tuple[int, str]:
        """Size, and a text that changes with the content: etag, checksum or time, as the store has it."""
        found = self._known()
        return int(found["size"] or 0), f"{found['ukey']} {found.get('ETag') or found.get('mtime') or ''}"

    def _known(self) -> dict[str, Any]:
        if self._info is None:
            raise FileNotFoundError(2, "No such file", str(self))
        return self._info

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        kind = stat.S_IFREG if self.is_file() else stat.S_IFDIR
        return os.stat_result((kind | 0o444, 0, 0, 1, 0, 0, int(self._known()["size"] or 0), 0, 0, 0))

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return self._info is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._info is not None and self._info["type"] == "file"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._info is not None and self._info["type"] == "directory"

    def is_symlink(self) -> bool:
        return False

    def iterdir(self) -> Iterator["UrlPath"]:
        system, name = self._where
        found = (UrlPath(system.unstrip_protocol(entry)) for entry in sorted(system.ls(name, detail=False)))
        return (entry for entry in found if entry.name != self.name)

    def glob(self, pattern: str, **_: Any) -> Iterator[Path]:
        return iter(matching(f"{self}/{pattern}"))

    def rglob(self, pattern: str, **_: Any) -> Iterator[Path]:
        return self.glob(f"**/{pattern}")

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> IO[Any]:
        """The bytes where they are, for a file of lines; else those of its copy."""
        if mode != "rb" or not self.name.endswith(RANGED):
            return self._copy.open(mode, *args, **kwargs)
        return io.BufferedReader(Ranges(self), BUFFER)

    def write(self, data: Iterator[bytes]) -> None:
        """Writes a file; a store shows it when all of it is there."""
        system, name = self._where
        try:
            with system.open(name, "wb") as file:
                for piece in data:
                    file.write(piece)
        except Exception as error:
            raise InputError(f"{self}: cannot be written: {in_short(error)}.") from error

    @functools.cached_property
    def _head(self) -> bytes:
        system, name = self._where
        return bytes(system.cat_file(name, start=0, end=min(HEAD, self.identity[0])))

    @functools.cached_property
    def _copy(self) -> Path:
        """The file on this machine, fetched once for each version of it."""
        from blade.rollouts.cache import cache_dir

        key = hashlib.blake2b(repr((str(self), self.identity)).encode(), digest_size=16).hexdigest()
        place: Path = cache_dir() / "remote" / key / self.name
        if not place.exists():
            system, name = self._where
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=place.parent, suffix=".tmp", delete=False) as file:
                try:
                    with system.open(name, "rb") as source:
                        shutil.copyfileobj(source, file, 1 << 23)
                except Exception as error:
                    Path(file.name).unlink()
                    raise unreadable(str(self), error) from error
            Path(file.name).replace(place)
            forget_oldest(place)
        return place


class Ranges(io.RawIOBase):
    """A remote file whose every read is one request for the bytes asked for, and none for its head."""

    def __init__(self, path: UrlPath) -> None:
        self.path = path
        self.size = path.identity[0]
        self.place = 0

    @functools.cached_property
    def source(self) -> Any:
        """The store's own file, which refuses to go on where another one has taken its place."""
        system, name = self.path._where
        return system.open(name, "rb", cache_type="none")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + (0, self.place, self.size)[whence]
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, view: Any) -> int:
        count = min(len(view), self.size - self.place)
        if count <= 0:
            return 0
        try:
            if self.place < HEAD:
                data = self.path._head[self.place : self.place + count]
            else:
                self.source.seek(self.place)
                data = self.source.read(count)
        except Exception as error:  # a store that is away now has its file tomorrow: no reason to analyse a part of it
            raise unreadable(str(self.path), error) from error
        view[: len(data)] = data
        self.place += len(data)
        return len(data)


def file_system(url: str) -> tuple[Any, str]:
    """What fsspec reads a URL with, and the URL's name there.

    Raises:
        UsageError: nothing that is installed reads such URLs.
    """
    scheme = url.partition(":")[0]
    try:
        import fsspec

        system, name = fsspec.url_to_fs(url)
    except ImportError as error:
        driver = DRIVERS.get(scheme, "s3fs")
        wanted = "'blade-diagnostics[remote]'" if driver == "s3fs" else f"'blade-diagnostics[remote]' {driver}"
        raise UsageError(f"{url}: reading {scheme}:// needs more packages: pip install {wanted}.") from error
    except ValueError as error:
        raise UsageError(f"{url}: no URLs of this kind can be read: {in_short(error)}.") from error
    return system, str(name)


def matching(url: str) -> list[Path]:
    """Files behind a URL with `*`, `?` or `[…]`, by name."""
    system, name = file_system(url)
    try:
        system.invalidate_cache()
        found = system.glob(name)
    except FileNotFoundError:
        return []
    except Exception as error:
        raise unreadable(url, error) from error
    return [UrlPath(system.unstrip_protocol(one)) for one in sorted(found)]


def unreadable(url: str, error: Exception) -> InputError:
    return InputError(f"{url}: cannot be read: {in_short(error)}.")


def in_short(error: Exception) -> str:
    """What a library says went wrong, on one line."""
    said = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return " ".join(said.split())[:200].rstrip(".")


def forget_oldest(newest: Path) -> None:
    """Removes copies beyond what is kept."""
    copies = sorted(newest.parent.parent.glob("*/*"), key=lambda file: file.stat().st_mtime, reverse=True)
    room = COPIES
    for file in copies:
        room -= file.stat().st_size
        if room < 0 and file != newest:
            file.unlink(missing_ok=True)
