"""A tree of fields made decodable: the Struct for a row, and how columns are taken out of decoded rows.

The Struct refuses fields and types the tree has not heard of, which is how new ones are noticed. Long texts and lists
of objects are skipped at full speed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import astuple

from blade.rollouts.fields import KEPT, OWN, SCALARS, Leaf, Tree

Scalar = int | float | bool | str | None
ColumnValues = tuple[str, Leaf, Sequence[Any]]
FEW_ATTRIBUTES = 2
MAX_WIDTH = 2000
"""A row with more fields is a map from ids to things; what is not kept of it is passed over."""
ODD_NAME = re.compile(r'["\\\x00-\x1f]')
"""Field names no decoder can be told to look for; such fields are passed over."""


class RawItem(msgspec.Struct, gc=False):
    """One stored item of a trajectory, in the Responses or the chat dialect; texts stay undecoded."""

    type: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()
    summary: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    call_id: str | None = None
    tool_call_id: str | None = None
    error: msgspec.Raw = msgspec.Raw()
    agent: msgspec.Raw = msgspec.Raw()


RAW = msgspec.Raw()
LEAF_TYPES: dict[Leaf, Any] = {
    Leaf.NULL: None,
    Leaf.NUMBER: int | float | None,
    Leaf.FLAG: bool | None,
    Leaf.WORD: str | None,
    Leaf.SCALAR: Scalar,
    Leaf.LIST: list[Scalar] | None,
    Leaf.ITEMS: list[RawItem] | str | None,
}
"""Types of the leaves that are decoded; the others stay undecoded bytes."""


class Layout:
    """A tree made decodable: the Struct for a row, and how to take columns out of decoded rows.

    Attributes of the Struct are numbered, because field names of foreign files may be anything. A strict layout
    refuses rows with fields or types the tree does not know; a lenient one takes scalars of any type.
    """

    def __init__(self, tree: Tree, *, strict: bool = True) -> None:
        # A Struct has room for every field in every row, so of a wide row only what is kept may have any.
        strict = strict and width(tree) <= MAX_WIDTH
        self.tree = tree if strict else relaxed(tree)
        self.strict = strict
        self.is_whole = strict and not has_odd_names(tree)
        """Whether a decoded row holds all that its bytes say."""
        self.decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(build_struct(self.tree, strict=strict))
        self._root = Branch(self.tree)

    def columns(self, rows: Sequence[Any]) -> Iterator[ColumnValues]:
        """Dotted path, kind and values over the rows of every kept leaf; branches no row has are left out."""
        return self._root.columns(rows)

    def paths(self) -> Iterator[str]:
        """Dotted path of every kept leaf, in the order of the tree."""
        return self._root.paths()


class Branch:
    """One level of a tree: which attributes of its Struct hold something kept, and what."""

    def __init__(self, tree: Tree, prefix: str = "") -> None:
        self.own = prefix.removesuffix(".") if OWN in tree else None
        parts = {at: part_of(node, prefix + name) for at, (name, node) in enumerate(tree.items()) if name != OWN}
        self.parts = {at: part for at, part in parts.items() if part is not None}
        # All attributes of a Struct at once are had three times faster than one by one, but not one or two of them.
        few = len(self.parts) <= FEW_ATTRIBUTES
        self._getters = {at: attrgetter(f"f{at}") for at in self.parts} if few else None

    def columns(self, rows: Sequence[Any]) -> Iterator[ColumnValues]:
        """Path, kind and values of everything on this level and below it."""
        taken = self._taken(rows)
        for at, part in self.parts.items():
            values = taken[at]
            if not isinstance(part, Branch):
                yield *part, values
                continue
            if part.own is not None:
                yield part.own, Leaf.SCALAR, [None if isinstance(v, msgspec.Struct) else v for v in values]
                values = [v if isinstance(v, msgspec.Struct) else None for v in values]
            if all(values):  # a Struct is always true; `None not in` would compare them all
                yield from part.columns(values)
            elif any(values):
                yield from part.columns_with_holes(values)

    def paths(self) -> Iterator[str]:
        """Path of everything on this level and below it."""
        for part in self.parts.values():
            if isinstance(part, Branch):
                yield from (part.own,) if part.own is not None else ()
                yield from part.paths()
            else:
                yield part[0]

    def _taken(self, rows: Sequence[Any]) -> Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]]:
        if self._getters is None:
            return list(zip(*map(astuple, rows), strict=True))
        return {at: list(map(get, rows)) for at, get in self._getters.items()}

    def columns_with_holes(self, rows: Sequence[Any]) -> Iterator[ColumnValues]:
        """The same over rows some of which lack this branch."""
        filled = list(compress(range(len(rows)), rows))
        for path, leaf, values in self.columns([rows[index] for index in filled]):
            spread: list[Any] = [None] * len(rows)
            for index, value in zip(filled, values, strict=True):
                spread[index] = value
            yield path, leaf, spread


def part_of(node: Tree | Leaf, path: str) -> Branch | tuple[str, Leaf] | None:
    """What a node adds to the columns; `None` for nothing."""
    if isinstance(node, Leaf):
        return (path, node) if node in KEPT else None
    branch = Branch(node, f"{path}.")
    return branch if branch.parts or branch.own is not None else None


def has_odd_names(tree: Tree) -> bool:
    """Whether any field has a name that no decoder can be told to look for."""
    return any(ODD_NAME.search(name) or (isinstance(node, dict) and has_odd_names(node)) for name, node in tree.items())


def width(tree: Tree) -> int:
    """How many fields a tree has, on all levels."""
    return sum(1 + width(node) if isinstance(node, dict) else 1 for node in tree.values())


def relaxed(tree: Tree) -> Tree:
    """The tree with every scalar open to any type, and without what is not kept where that is much."""
    narrow = width(tree) <= MAX_WIDTH
    out: Tree = {}
    for name, node in tree.items():
        if isinstance(node, dict):
            branch = relaxed(node)
            if branch or narrow:
                out[name] = branch
        elif narrow or node in KEPT:
            out[name] = Leaf.SCALAR if node in SCALARS | {Leaf.NULL} else node
    return out


def build_struct(tree: Tree, *, strict: bool) -> type[msgspec.Struct]:
    """A Struct with one optional attribute per branch of the tree."""
    fields: list[tuple[str, Any, Any]] = []
    for index, node in enumerate(tree.values()):
        if isinstance(node, dict):
            own = Scalar if OWN in node else None
            fields.append((f"f{index}", build_struct(node, strict=strict) | own, None))
        elif node in LEAF_TYPES:
            fields.append((f"f{index}", LEAF_TYPES[node], None))
        else:
            fields.append((f"f{index}", msgspec.Raw, RAW))
    odd = any(ODD_NAME.search(name) for name in tree)
    names = {f"f{index}": f"\ue000{index}" if ODD_NAME.search(name) else name for index, name in enumerate(tree)}
    closed = strict and not odd
    # Without `omit_defaults` what is missing would be written as an empty value, which is not JSON.
    return msgspec.defstruct("Row", fields, rename=names, gc=False, forbid_unknown_fields=closed, omit_defaults=True)
