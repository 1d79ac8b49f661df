"""Finding and opening inputs: files, globs, directories; plain, gzip or zstandard, told apart by their first bytes.

Offsets anywhere in BLADE are offsets of the decompressed stream.
"""

import difflib
import glob
import gzip
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from blade.errors import InputError

SUFFIXES = (".jsonl", ".ndjson", ".json")
COMPRESSED = (".gz", ".zst")
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

SIDECARS = {
    "inputs": "_materialized_inputs.jsonl",
    "failures": "_failures.jsonl",
    "aggregate": "_aggregate_metrics.json",
    "profile": "_reward_profiling.jsonl",
    "agent": "_agent_metrics.json",
}
"""Files that stand beside a rollout file and hold no rollouts themselves: kind, and what follows the stem."""

OURS = frozenset({"analysis.json", "comparison.json", "labels.jsonl", "runs.json"})
"""Files BLADE writes itself; a directory that holds them is not a directory of rollouts because of them."""
WORKSPACE = ".blade"
"""Folder that marks a directory as one BLADE wrote; in it, what is about this machine: where the rollouts are."""


def find_inputs(inputs: Iterable[str]) -> list[Path]:
    """Every rollout file the user meant, each once, in the order given; a directory's files in name order."""
    found: dict[Path, None] = {}
    for text in inputs:
        for path in expand(text):
            found.setdefault(path)
    return list(found)


def expand(text: str) -> list[Path]:
    """The files one argument stands for."""
    path = Path(text)
    if path.is_dir():
        files = [p for p in sorted(path.rglob("*")) if p.is_file() and looks_like_rollouts(p)]
        if not files:
            raise InputError(f"{text}: no rollout files (*.jsonl, *.json, also .gz and .zst) in this directory.")
        return files
    if path.exists():
        return [path]
    if glob.has_magic(text):
        matches = [Path(m) for m in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207 - Path.glob refuses /…
        files = [p for p in matches if p.is_file() and not is_sidecar(p)]
        if not files:
            raise InputError(f"{text}: no file matches this pattern; check it with `ls`.")
        return files
    raise InputError(f"{text}: no such file or directory{did_you_mean(path)}.")


def did_you_mean(path: Path) -> str:
    """A suffix for the error when a neighbour has nearly this name."""
    if not path.parent.is_dir():
        return ""
    close = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1, cutoff=0.75)
    return f"; did you mean {path.with_name(close[0])}" if close else ""


def plain_name(path: Path) -> str:
    """The file's name without a compression suffix."""
    return path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name


def stem(path: Path) -> str:
    """The name sidecars are built from: without compression suffix and without the last suffix."""
    return Path(plain_name(path)).stem


def is_sidecar(path: Path) -> bool:
    """Whether the name says the file stands beside rollouts and is none."""
    return stem(path).endswith(tuple(Path(ending).stem for ending in SIDECARS.values()))


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


def open_stream(path: Path) -> BinaryIO:
    """The decompressed bytes of a file, unbuffered when plain."""
    try:
        kind = compression(path)
        if kind == "gzip":
            return io.BufferedReader(gzip.open(path, "rb"))
        if kind == "zstd":
            return open_zstd(path)
        return path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error


def open_zstd(path: Path) -> BinaryIO:
    import zstandard

    stream = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
    return io.BufferedReader(stream)


def damage_errors() -> tuple[type[Exception], ...]:
    """Exceptions that mean the bytes end here: a truncated archive, a failing disk, a file that went away."""
    import zlib

    import zstandard

    return (OSError, EOFError, zlib.error, zstandard.ZstdError)


def skip(stream: BinaryIO, count: int) -> None:
    for _ in take(stream, count):
        pass


def take(stream: BinaryIO, count: int) -> Iterator[bytes]:
    """The next `count` bytes in pieces; fewer when the stream ends."""
    while count > 0:
        piece = stream.read(min(count, 1 << 20))
        if not piece:
            return
        count -= len(piece)
        yield piece
