"""Whole diagnoses kept between runs: the same content, read in the same way by the same BLADE, gives the same files.

What a diagnosis rests on goes into the name of its entry: every file with its size, times and samples, the options, and
BLADE's own sources. An entry is believed only if its checksum holds. Folders in which somebody has written are left to
be made anew, because what they hold is joined with what people said.
"""

import contextlib
import hashlib
import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import zstandard

from blade.errors import BladeError
from blade.rollouts import ReadOptions, cache
from blade.rollouts.finding import find_inputs
from blade.rollouts.formats.registry import all_readers, reader_for
from blade.rollouts.sources import WORKSPACE, stem
from blade.rollouts.urls import UrlPath

MOST_BYTES = 1 << 30
"""Of one diagnosis; larger ones are not kept."""
ROOM = 2 << 30
"""Bytes of all that are kept; the oldest go first."""
LOCK = f"{WORKSPACE}/lock"
WRITTEN = {"report.md", "appendix.md", "reading_list.md"}
"""Texts of ours that `claims.json` speaks for."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry says of a diagnosis before its files."""

    folders: list[str]
    """Where its runs are below its folder; a dot for the folder itself."""
    several: bool
    """Whether each run has a folder of its own."""
    comparison: str | None
    """What the comparison of the runs says."""


class Kept(NamedTuple):
    """A diagnosis that was kept."""

    head: Head
    files: Iterator[tuple[str, Iterator[bytes]]]
    """By path below its folder, in pieces; each is read before the next."""


PIECE = 1 << 20
HEAD = ".head"
"""The first member of an entry, a compressed tar archive behind its checksum."""
DECODER = msgspec.json.Decoder(Head)


def place_of(inputs: Sequence[str], read: ReadOptions, options: msgspec.Struct) -> Path | None:
    """Where the diagnosis of these inputs is kept, as they are now; `None` when something cannot be looked at."""
    read = msgspec.structs.replace(read, jobs=1)
    told = list(inputs), str(Path.cwd()), read, options, os.environ.get("BLADE_MAX_LINE_MB")
    key = hashlib.blake2b(msgspec.msgpack.encode(told, enc_hook=cache.qualified_name), digest_size=16)
    try:
        for part in [own_sources(), *(stated(path, read.format) for path in looked_at(inputs, read, options))]:
            key.update(msgspec.msgpack.encode(part))
    except (OSError, BladeError):
        return None
    return cache.cache_dir() / "diagnoses" / f"{key.hexdigest()}.blade"


def looked_at(inputs: Sequence[str], read: ReadOptions, options: Any) -> Iterator[Path]:
    """Everything that a diagnosis reads and the user named."""
    yield from find_inputs(inputs, read.format)
    yield from find_inputs(read.trajectories)
    yield from (Path(name) for name in (options.prices, options.pack) if name and Path(name).is_file())


def stated(path: Path, form: str | None) -> list[Any]:
    """A source's files with what makes them the same, and what stands beside it."""
    reader = reader_for(path, form)
    files = [path] if reader is None else reader.files(path)
    parts: list[Any] = [(str(file), cache.identify(file)) for file in files]
    if isinstance(path, UrlPath):
        return parts
    if path.is_dir():
        return [*parts, *(standing(file) for file in sorted(path.rglob("*")) if file.is_file())]
    near = sorted(path.parent.iterdir())
    return [*parts, *(standing(file) for file in near if file.name.startswith(stem(path)) and file.is_file())] + [
        file.name for file in near if reader is not None and file.is_file()
    ]


def standing(path: Path) -> tuple[str, int, int, int]:
    """A file's name, size and times."""
    found = path.stat()
    return str(path), found.st_size, found.st_mtime_ns, found.st_ctime_ns


def own_sources() -> list[Any]:
    """This BLADE, file by file, and the readers that others add."""
    home = Path(cache.__file__).parents[1]
    own = [standing(path) for path in sorted(home.rglob("*")) if path.suffix != ".pyc" and path.is_file()]
    return [*own, *sorted(all_readers())]


def is_ours(out: Path) -> bool:
    """Whether nobody has written into a folder, or into those of its runs."""
    for folder in [out, *(place.parent for place in out.glob("*/labels.jsonl"))]:
        labels, claims = folder / "labels.jsonl", folder / "claims.json"
        if (folder / "narrative.md").exists():
            return False
        if labels.is_file() and any(word in labels.read_bytes() for word in (b'"human:', b'"llm:')):
            return False
        if claims.is_file() and not {*json.loads(claims.read_bytes()).get("texts", {})} <= WRITTEN:
            return False
    return True


def load(place: Path) -> Kept | None:
    """The diagnosis that is kept at a place; anything wrong with it means there is none."""
    try:
        stored = place.read_bytes()
        if stored[: cache.CHECKSUM] != cache.checksum(stored[cache.CHECKSUM :]):
            return None
        members = unpacked(stored)
        found = Kept(DECODER.decode(b"".join(next(members)[1])), members)
        os.utime(place)
    except (OSError, msgspec.MsgspecError):
        return None
    return found


def unpacked(stored: bytes) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The members of an entry, one at a time."""
    inner = zstandard.ZstdDecompressor().stream_reader(memoryview(stored)[cache.CHECKSUM :])
    with inner, tarfile.open(fileobj=inner, mode="r|", bufsize=PIECE) as archive:
        for member in archive:
            if (content := archive.extractfile(member)) is not None:
                yield member.name, iter(partial(content.read, PIECE), b"")


def save(place: Path, out: Path, *, since: float, folders: Sequence[Path], several: bool, said: str | None) -> None:
    """Keeps what was written into a folder since a time; what cannot be kept is no reason to fail."""
    with contextlib.suppress(OSError):
        new = [path for path in out.rglob("*") if path.is_file() and path.stat().st_mtime >= since]
        new = [path for path in new if not path.match(LOCK)]
        if sum(path.stat().st_size for path in new) > MOST_BYTES:
            return
        below = [folder.relative_to(out).as_posix() for folder in folders]
        head = msgspec.json.encode(Head(folders=below, several=several, comparison=said))
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, suffix=".tmp", delete=False) as file:
            file.write(bytes(cache.CHECKSUM))
            compressor = zstandard.ZstdCompressor(level=1)
            with (
                compressor.stream_writer(file, closefd=False) as outer,
                tarfile.open(fileobj=outer, mode="w|", bufsize=PIECE) as tar,
            ):
                about = tarfile.TarInfo(HEAD)
                about.size = len(head)
                tar.addfile(about, io.BytesIO(head))
                for path in sorted(new):
                    tar.add(path, path.relative_to(out).as_posix(), recursive=False)
            file.seek(cache.CHECKSUM)
            digest = cache.checksum(file.read())
            file.seek(0)
            file.write(digest)
        Path(file.name).replace(place)
        forget_oldest(place.parent)


def forget_oldest(folder: Path) -> None:
    room = ROOM
    for path in sorted(folder.glob("*.blade"), key=lambda path: path.stat().st_mtime, reverse=True):
        room -= path.stat().st_size
        if room < 0:
            path.unlink(missing_ok=True)


def now() -> float:
    """The time, as file systems tell it: a little late."""
    return time.time() - 0.05
