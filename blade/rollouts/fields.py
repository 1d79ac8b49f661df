"""Which fields a file has, learned from its own rows.

Nobody knows the names beforehand: verifiers add whatever they like. So the first rows are decoded in full, what is
in them becomes a tree, and when a field turns up later, the tree grows. `layout` decodes what the tree names.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any

from blade.rollouts.columns import MAX_LIST, MAX_TEXT

MAX_DEPTH = 4
MAX_KEYS = 64  # an object with more keys is a map from ids to things, not a record
MAX_FIELDS = 400
OWN = "\ue001"
"""Name under which a branch keeps that some rows have a single value in its place; no field is called that."""


class Leaf(Enum):
    """How the value at the end of a path is decoded."""

    __hash__ = object.__hash__  # an Enum's own is a Python function, and every column of every chunk is looked up

    NULL = "null"
    """Nothing but null so far; anything else makes the tree grow."""
    NUMBER = "number"
    FLAG = "flag"
    WORD = "word"
    """A text short enough for a table, now and then a long one."""
    SCALAR = "scalar"
    """Now one of these, now another."""
    LIST = "list"
    """A short list of scalars."""
    ANY = "any"
    """Of any shape: scalars are kept as they are, of lists and objects the first words."""
    TEXT = "text"
    """Of any shape: the first words are kept."""
    LONG = "long"
    """Texts too long for a table so far."""
    PRESENT = "present"
    """Only whether there is anything at all."""
    SKIP = "skip"
    """Nothing a table could hold."""
    ITEMS = "items"
    """A trajectory."""


Tree = dict[str, "Tree | Leaf"]
SCALARS = frozenset({Leaf.NUMBER, Leaf.FLAG, Leaf.WORD, Leaf.SCALAR})
SINGLE = SCALARS | {Leaf.LONG}
BEFORE_BRANCH = SINGLE | {Leaf.NULL, None}
KEPT = SCALARS | {Leaf.LIST, Leaf.ANY, Leaf.TEXT, Leaf.PRESENT, Leaf.ITEMS}


def learn(samples: Iterable[Any], tree: Tree | None = None) -> Tree:
    """The tree of everything that occurs in the sampled rows, on top of what was known."""
    grown: Tree = {} if tree is None else tree
    for sample in samples:
        if isinstance(sample, dict):
            grow(grown, sample, depth=1)
    return pruned(grown, [MAX_FIELDS])


def grow(tree: Tree, record: dict[str, Any], *, depth: int) -> None:
    """Adds to `tree` what one record shows. What is an object in one row is a branch; single values stand beside it."""
    for key, value in record.items():
        seen = tree.get(key)
        if value is None and seen is not None:
            continue
        if isinstance(value, dict) and depth < MAX_DEPTH and (isinstance(seen, dict) or seen in BEFORE_BRANCH):
            if not isinstance(seen, dict):
                seen = tree[key] = {OWN: Leaf.SCALAR} if seen in SINGLE else {}
            grow(seen, value, depth=depth + 1)
        elif not isinstance(seen, dict):
            tree[key] = widened(seen, leaf_for(value))
        elif leaf_for(value) in SINGLE:
            seen[OWN] = Leaf.SCALAR


PLAIN_LEAVES = {type(None): Leaf.NULL, bool: Leaf.FLAG, int: Leaf.NUMBER, float: Leaf.NUMBER}


def leaf_for(value: Any) -> Leaf:
    """The leaf a single value calls for."""
    plain = PLAIN_LEAVES.get(type(value))
    if plain is not None:
        return plain
    if isinstance(value, str):
        return Leaf.WORD if len(value) <= MAX_TEXT else Leaf.LONG
    if isinstance(value, list) and len(value) <= MAX_LIST and all(map(is_short_scalar, value)):
        return Leaf.LIST
    return Leaf.SKIP


def is_short_scalar(value: Any) -> bool:
    """Whether a list of such values may stand in a table."""
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= MAX_TEXT)


def widened(seen: Leaf | None, new: Leaf) -> Leaf:
    """The leaf that serves both what was seen before and what is seen now."""
    if seen in (None, Leaf.NULL, new):
        return new
    assert seen is not None
    if new is Leaf.NULL:
        return seen
    if {seen, new} == {Leaf.WORD, Leaf.LONG}:
        return Leaf.WORD
    if {seen, new} <= SINGLE:
        return Leaf.SCALAR
    return Leaf.SKIP if {seen, new} == {Leaf.LONG, Leaf.SKIP} else Leaf.ANY


def pruned(tree: Tree, budget: list[int]) -> Tree:
    """The tree with maps and everything past `budget` leaves skipped."""
    kept: Tree = {}
    for key, node in tree.items():
        if isinstance(node, dict):
            kept[key] = pruned(node, budget) if len(node) <= MAX_KEYS else Leaf.SKIP
        else:
            budget[0] -= node in KEPT
            kept[key] = node if budget[0] >= 0 else Leaf.SKIP
    return kept


def graft(tree: Tree, path: str, leaf: Leaf) -> None:
    """Puts a leaf at a dotted path, whatever stood there; what it is in must be an object."""
    *parents, last = path.split(".")
    for name in parents:
        child = tree.get(name)
        if not isinstance(child, dict):
            child = tree[name] = {}
        child.pop(OWN, None)
        tree = child
    tree[last] = leaf


def retype(tree: Tree, path: str, leaf: Leaf) -> None:
    """Changes how a path is decoded, unless it was always null or is some scalar already where one is wanted."""
    *parents, last = path.split(".")
    node: Tree | Leaf | None = tree
    for name in parents:
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        return
    good = SCALARS | {Leaf.NULL} if leaf is Leaf.SCALAR else {Leaf.NULL}
    seen = node.get(last, Leaf.NULL)
    if isinstance(seen, dict) or seen not in good:
        node[last] = leaf


def is_kept(tree: Tree, path: str) -> bool:
    """Whether a dotted path ends in a leaf the table holds, or in a branch of such leaves."""
    node: Tree | Leaf | None = tree
    for name in path.split("."):
        node = node.get(name) if isinstance(node, dict) else None
    return isinstance(node, dict) or node in KEPT
