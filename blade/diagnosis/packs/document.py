"""A pack's YAML file as plain values, with the line of every one of them.

Packs come from strangers, as does a skill's frontmatter, which is read here too. So the file is small, shallow and made
of plain texts, numbers and flags: anchors, aliases and tags are refused, and the values are built here, event by event,
without ever calling a YAML constructor. Only `true`, `false`, `null` and numbers are anything but text: the language
code `no` stays `no`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from blade.errors import InputError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NODES = 20_000

WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,15}\.[0-9]{0,15}|\.[0-9]{1,15}|[0-9]{1,15}(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?")

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Only its parser is used."""

Keys = tuple[str | int, ...]
"""Where a value stands: the keys and positions that lead to it."""


class Document(NamedTuple):
    """What a file says, and where it says it."""

    value: Any
    lines: dict[Keys, int]

    def line(self, keys: Keys) -> int:
        """The 1-based line of a value; of its nearest surroundings when it is not there."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)


class Refused(Exception):
    """The file is not a document a pack may be; `line` says where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_document(path: Path) -> Document:
    """The document in a file; what cannot be one raises `InputError` with its line."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r}: is not a file name.") from error
    try:
        return parse_document(data)
    except Refused as refused:
        raise InputError(f"{path}:{refused.line}: {refused}.") from refused


def parse_document(data: bytes, what: str = "a pack") -> Document:
    """The document in some bytes, called `what` when it is refused; raises `Refused`."""
    if len(data) > MAX_BYTES:
        raise Refused(f"{what} has at most {MAX_BYTES // 1024} KB", 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"invalid UTF-8 at byte {error.start}", 1 + data.count(b"\n", 0, error.start)) from error
    builder = Builder(what)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.add(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join((error.problem or error.context or "cannot be parsed").split())
        raise Refused(f"is not YAML: {said}", mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        raise Refused("is not YAML: it holds a character that texts may not hold", 1) from error
    return Document(builder.value, builder.lines)


class Builder:
    """Puts values together from the parser's events, and stops at the first that a pack may not hold."""

    def __init__(self, what: str = "a pack") -> None:
        self.what = what
        self.value: Any = None
        self.lines: dict[Keys, int] = {}
        self._open: list[tuple[Keys, dict[str, Any] | list[Any]]] = []
        self._key: str | None = None
        self._nodes = 0
        self._documents = 0

    def add(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Refused(f"{self.what} is one document; remove the second '---'", line)
        elif isinstance(event, yaml.AliasEvent):
            raise Refused(f"aliases (*name) are not allowed in {self.what}; write the text again", line)
        elif isinstance(event, yaml.NodeEvent):
            self._node(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()

    def _node(self, event: Any, line: int) -> None:
        self._nodes += 1
        if event.anchor is not None:
            raise Refused(f"anchors (&name) are not allowed in {self.what}", line)
        if event.tag is not None:
            raise Refused(f"tags are not allowed in {self.what}, found {event.tag[:60]!r}", line)
        if self._nodes > MAX_NODES:
            raise Refused(f"{self.what} has at most {MAX_NODES} values", line)
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(resolve(event.value) if event.implicit[0] else event.value, event.value, line)
            return
        if len(self._open) >= MAX_DEPTH:
            raise Refused(f"{self.what} is at most {MAX_DEPTH} levels deep", line)
        if self._awaits_key():
            raise Refused("a key must be a text", line)
        child: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append((self._put(child, line), child))

    def _scalar(self, value: Any, text: str, line: int) -> None:
        if not self._awaits_key():
            self._put(value, line)
            return
        where, parent = self._open[-1]
        if text in parent:
            first = self.lines[(*where, text)]
            raise Refused(f"the key {text[:60]!r} stands twice, first on line {first}", line)
        self._key = text
        self.lines[(*where, text)] = line

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][1], dict) and self._key is None

    def _put(self, value: Any, line: int) -> Keys:
        """Puts a value where it belongs and returns that place."""
        if not self._open:
            self.value = value
            self.lines[()] = line
            return ()
        where, parent = self._open[-1]
        if isinstance(parent, list):
            parent.append(value)
            here: Keys = (*where, len(parent) - 1)
            self.lines[here] = line
        else:
            assert self._key is not None
            parent[self._key] = value
            here = (*where, self._key)
            self._key = None
        return here


def resolve(text: str) -> Any:
    """What an unquoted text means."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


def walk(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Every value of a document with its place, outermost first."""
    yield keys, value
    if isinstance(value, dict):
        for name, child in value.items():
            yield from walk(child, (*keys, name))
    elif isinstance(value, list):
        for position, child in enumerate(value):
            yield from walk(child, (*keys, position))
