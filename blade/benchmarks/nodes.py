"""YAML as a tree that knows where every value was written, read so that no file can do harm.

Values are built from the parser's events, one at a time: nothing is constructed but plain data, nesting and the size
that aliases unfold to are bounded, and a key written twice is an error in place of a silent loss.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from blade.errors import InputError

MAX_BYTES = 1_000_000
MAX_DEPTH = 60
MAX_VALUES = 100_000
"""Values of one file with its aliases unfolded, or of one config with everything included and copied."""
MERGE_KEY = "tag:yaml.org,2002:merge"
PLAIN_COLLECTIONS = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
"""Numbers such as 1e5, which YAML 1.1 takes for a text and every reader of configs for a number."""


class ConfigError(InputError):
    """A config file is missing, malformed, or does not mean anything; the message names file and line."""


class Place(NamedTuple):
    """Where something was written."""

    file: str
    """As messages name it: relative to the root where it can be."""
    line: int
    """From 1."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Node(NamedTuple):
    """A value and its place. A mapping holds nodes by key, a list holds nodes, anything else is a scalar."""

    value: Any
    place: Place
    size: int = 1
    """Values in it, itself included."""

    @property
    def is_map(self) -> bool:
        return isinstance(self.value, dict)

    def get(self, key: str) -> "Node | None":
        """The value of a key; `None` when this is not a mapping or has no such key."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return found if isinstance(found, Node) else None


def make_map(values: dict[str, Node], place: Place) -> Node:
    return Node(values, place, 1 + sum(node.size for node in values.values()))


def make_list(values: list[Node], place: Place) -> Node:
    return Node(values, place, 1 + sum(node.size for node in values))


def plain(node: Node) -> Any:
    """The value without its places."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    return [plain(child) for child in node.value] if isinstance(node.value, list) else node.value


def read_nodes(path: Path, *, name: str | None = None) -> Node:
    """The one document of a YAML file; an empty file is an empty mapping.

    Args:
        name: What messages call the file.
    """
    shown = name or str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{shown}: larger than {MAX_BYTES:,} bytes, which no config is.")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read: {error.strerror or error}.") from error
    return parse_nodes(data, name=shown)


def parse_nodes(data: bytes | str, *, name: str) -> Node:
    """The one document of a YAML text."""
    import yaml

    try:
        # PyYAML takes the two bytes of a UTF-16 mark for an encoding; anything else must be UTF-8.
        return Builder(name).build(yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark is not None else name
        raise ConfigError(f"{where}: not valid YAML: {error.problem or error.context or 'unreadable'}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name}: not valid YAML: {str(error).splitlines()[0]}.") from error


class Builder:
    """Turns events into nodes without recursion, so that depth is ours to bound."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: list[tuple[Any, list[Node]]] = []
        """The collections not yet closed: the event each began with, and what it holds so far."""
        self.anchors: dict[str, Node] = {}
        self.documents: list[Node] = []

    def build(self, events: Any) -> Node:
        import yaml

        for event in events:
            if isinstance(event, yaml.AliasEvent):
                self.add(self.known(event), None)
            elif isinstance(event, yaml.ScalarEvent):
                self.add(Node(scalar(event, self.place(event)), self.place(event)), event.anchor)
            elif isinstance(event, yaml.CollectionStartEvent):
                self.enter(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self.leave()
        if len(self.documents) > 1:
            raise ConfigError(f"{self.documents[1].place}: a second document begins here; a config is one.")
        return self.documents[0] if self.documents else Node({}, Place(self.name, 1))

    def place(self, event: Any) -> Place:
        return Place(self.name, event.start_mark.line + 1)

    def enter(self, event: Any) -> None:
        self.open.append((event, []))
        if len(self.open) > MAX_DEPTH:
            raise ConfigError(f"{self.place(event)}: nested deeper than {MAX_DEPTH} levels.")
        if event.tag not in PLAIN_COLLECTIONS:
            raise ConfigError(f"{self.place(event)}: a collection of type {event.tag} is not a plain mapping or list.")

    def leave(self) -> None:
        import yaml

        event, held = self.open.pop()
        place = self.place(event)
        node = mapping(held, place) if isinstance(event, yaml.MappingStartEvent) else make_list(held, place)
        self.add(node, event.anchor)

    def add(self, node: Node, anchor: str | None) -> None:
        if node.size > MAX_VALUES:
            raise ConfigError(f"{node.place}: unfolds to more than {MAX_VALUES:,} values.")
        if anchor is not None:
            self.anchors[anchor] = node
        (self.open[-1][1] if self.open else self.documents).append(node)

    def known(self, event: Any) -> Node:
        node = self.anchors.get(event.anchor)
        if node is None:
            raise ConfigError(f"{self.place(event)}: *{event.anchor} is not defined before it is used.")
        return node


def mapping(held: list[Node], place: Place) -> Node:
    """A mapping of keys and values that come in turn; what `<<` brings gives way to what is written out."""
    values: dict[str, Node] = {}
    merged: list[Node] = []
    for key, value in zip(held[::2], held[1::2], strict=True):
        if key.value is MERGE_KEY:
            merged += value.value if isinstance(value.value, list) else [value]
        elif isinstance(key.value, dict | list):
            raise ConfigError(f"{key.place}: a key is a word, not a collection.")
        elif str(key.value) in values:
            raise ConfigError(f"{key.place}: the key '{key.value}' is there twice.")
        else:
            values[str(key.value)] = value
    for node in merged:
        if not node.is_map:
            raise ConfigError(f"{node.place}: << needs a mapping.")
        values = {**node.value, **values}
    return make_map(values, place)


def scalar(event: Any, place: Place) -> Any:
    """The plain value of a scalar. Dates stay texts, as in JSON; other people's types are refused."""
    import yaml

    resolver, constructor = scalar_rules()
    tag = event.tag if event.tag not in (None, "!") else resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
    if tag == MERGE_KEY:
        return MERGE_KEY
    if tag == "tag:yaml.org,2002:timestamp":
        return event.value
    if event.implicit[0] and EXPONENT.fullmatch(event.value):
        return float(event.value)
    try:
        value = constructor.construct_object(yaml.ScalarNode(tag, event.value))
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{place}: '{event.value[:40]}' is not a plain value of type {tag}.") from error
    return value if value is None or isinstance(value, str | int | float) else event.value


@cache
def scalar_rules() -> tuple[Any, Any]:
    """What PyYAML knows about scalars: which type one looks like, and how to make it."""
    import yaml

    return yaml.resolver.Resolver(), yaml.constructor.SafeConstructor()
