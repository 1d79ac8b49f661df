"""What a reader of a foreign format is: how it recognises a file or folder, and how it turns that into rollouts.

A reader is a small module with one `READER`. It yields `Rollout` values with the meaning its format gives them: what
failed, and why, is typed here, because nothing downstream may guess it from words. Third parties add readers through
the entry point group `blade.readers`; each entry names a `Reader`.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.sources import damage_errors, open_stream
from blade.rollouts.values import BadLine, Rollout, Source

HEAD = 1 << 18
SMALL = 1 << 24
TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a source that whoever looks at its numbers must know, such as which of two scorers counts."""

    text: str
    """A sentence without its full stop."""


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a file that has rows but no meaning of its own (a table); what its fields are is found out later."""

    record: dict[str, Any]
    """The row."""
    source: Source
    """Where it stands; its `offset` finds it again."""


Found = Rollout | Loose | BadLine | Note
"""What a reader yields: attempts or plain records, what could not be read, and what must be said."""


class Probe:
    """What a path shows before it is read; every view of it is made once, when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder; a folder has names and no bytes."""
        return self.path.is_dir()

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the entries of a folder; none for a file."""
        return frozenset(entry.name for entry in self.path.iterdir()) if self.is_folder else frozenset()

    @cached_property
    def magic(self) -> bytes:
        """The first bytes as stored, before anything is unpacked."""
        if self.is_folder:
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(16)
        except OSError:
            return b""

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked if the file is compressed; empty for a folder and for what cannot be unpacked."""
        if self.is_folder:
            return b""
        try:
            with open_stream(self.path) as stream:
                return stream.read(HEAD).removeprefix(b"\xef\xbb\xbf")
        except InputError:
            return b""
        except damage_errors():
            return b""

    @cached_property
    def is_array(self) -> bool:
        """Whether the file is one JSON array."""
        return self.head.lstrip()[:1] == b"["

    @cached_property
    def keys(self) -> frozenset[str]:
        """Names in the first JSON object of the file: its own top level, or that of an array's first element.

        Works on the head alone, so a large file costs nothing; names beyond the head are not seen.
        """
        depth, wanted = 0, 2 if self.is_array else 1
        found: list[str] = []
        last: bytes = b""
        for match in TOKENS.finditer(self.head):
            token = match.group()
            if token in (b"{", b"["):
                depth += 1
            elif token in (b"}", b"]"):
                depth -= 1
                if depth < wanted:
                    break
            elif token == b":" and depth == wanted and last[:1] == b'"':
                found.append(decoded_text(last))
            last = token
        return frozenset(found)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The first JSON object of the file, decoded; empty where there is none, or a huge one."""
        text = self.head.lstrip().lstrip(b"[").lstrip()
        first = text.partition(b"\n")[0].rstrip().rstrip(b",")
        for data in (first, self._small_whole):
            try:
                value = msgspec.json.decode(data)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                continue
            if isinstance(value, list):
                value = value[0] if value else None
            if isinstance(value, dict):
                return value
        try:
            value, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def _small_whole(self) -> bytes:
        if self.is_folder or self.path.stat().st_size > SMALL:
            return b""
        try:
            with open_stream(self.path) as stream:
                return stream.read(4 * SMALL)
        except InputError:
            return b""
        except damage_errors():
            return b""


def decoded_text(raw: bytes) -> str:
    try:
        return msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return raw.decode("utf-8", "replace")


def only_itself(path: Path) -> list[Path]:
    """The files of a source that is one file."""
    return [path]


def never(probe: Probe) -> bool:
    """Nothing is passed over."""
    return False


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """One foreign format."""

    name: str
    """What `--format` calls it."""
    title: str
    """What a person calls it, with the names its files have."""
    recognises: Callable[[Probe], bool]
    """Whether a file or folder is in this format, by its content. Must never raise."""
    read: Callable[[Path, Collection[int] | None], Iterator[Found]]
    """The rollouts of a source, in an order that does not change. Each has a `source` whose `offset`, different for
    every rollout, finds it again: given offsets, only those rollouts need be yielded (others are passed over)."""
    files: Callable[[Path], list[Path]] = only_itself
    """The files a source consists of: when none has changed, neither have its rollouts."""
    passes_over: Callable[[Probe], bool] = never
    """Whether a file found in a folder belongs to this format and holds no rollouts (a summary, a configuration)."""
