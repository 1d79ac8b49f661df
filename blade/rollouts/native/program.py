"""A layout as the compiled half of the reader takes it: arrays of keys, and what to do with the value of each."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.decoding import Plan
from blade.rollouts.fields import OWN, Leaf, Tree
from blade.rollouts.formats import Format
from blade.rollouts.layout import ODD_NAME, Layout
from blade.rollouts.native.library import FIELD, NODE
from blade.rollouts.scan import INPUT_HASH, MODEL, RESPONSE_ID

SKIP, NOTHING, NUMBER, FLAG, WORD, SCALAR, LIST, RAW, PRESENCE, BRANCH, PROMPT, OUTPUT = range(12)
ACTIONS = {
    Leaf.NULL: NOTHING, Leaf.NUMBER: NUMBER, Leaf.FLAG: FLAG, Leaf.WORD: WORD, Leaf.SCALAR: SCALAR, Leaf.LIST: LIST,
    Leaf.ANY: RAW, Leaf.TEXT: RAW, Leaf.PRESENT: PRESENCE, Leaf.LONG: SKIP, Leaf.SKIP: SKIP,
}  # fmt: skip
"""How the value at the end of a path is read; those of trajectories depend on the path."""
LONGEST = 1 << 16
"""A row with a longer list, or a longer text in a field that is kept whatever its length, is left to others."""
LONGEST_INPUT = 1 << 20
"""The same of a prompt that is hashed."""
TOO_LONG = 12 * MAX_TEXT + 2
"""Bytes of a text that no column keeps: a character takes up to twelve, in two escapes."""


class Slot(NamedTuple):
    """A column that is filled."""

    path: str
    leaf: Leaf | None
    """How its values are kept; `None` where only the presence of a branch is noted. Of items there is only a hash."""
    branch: int
    """The slot that says which rows have the branch it is in; -1 for all rows."""


class Program:
    """What to read of every row."""

    def __init__(self, tree: Tree, form: Format, *, whole: Collection[str], hashed: str | None) -> None:
        self.slots: list[Slot] = []
        self.splits_output = form.prompt is None
        """Whether a prompt is the beginning of the output."""
        self._form = form
        self._whole = whole
        self._hashed = hashed
        self._keys = bytearray()
        self._fields: list[tuple[int, ...]] = []
        self._nodes: list[tuple[int, int]] = []
        self._add_node(tree, "", branch=-1)
        self.fields: npt.NDArray[np.void] = np.array(self._fields, dtype=FIELD)
        self.nodes: npt.NDArray[np.void] = np.array(self._nodes, dtype=NODE)
        self.keys: npt.NDArray[np.uint8] = np.frombuffer(bytes(self._keys) + b"\0", dtype=np.uint8)

    def _add_node(self, tree: Tree, prefix: str, *, branch: int) -> int:
        """The fields of one object stand side by side, its branches behind them; slots are in the order of the tree."""
        names = [name for name in tree if name != OWN]
        number, first = len(self._nodes), len(self._fields)
        self._nodes.append((first, len(names)))
        self._fields += [()] * len(names)
        for at, name in enumerate(names):
            key = name.encode()
            self._keys += key
            place = len(self._keys) - len(key)
            path = prefix + name
            self._fields[first + at] = (place, len(key), *self._field(tree[name], path, branch), path in self._whole)
        return number

    def _field(self, node: Tree | Leaf, path: str, branch: int) -> tuple[int, int, int, int]:
        """Action, slot, node and limit of a field."""
        limit = LONGEST if path in self._whole else TOO_LONG
        if isinstance(node, dict):
            own = self._add_slot(Slot(path, Leaf.SCALAR if OWN in node else None, branch))
            return BRANCH, own, self._add_node(node, f"{path}.", branch=own), limit if OWN in node else 0
        if node is Leaf.ITEMS and path == self._form.output:
            return OUTPUT, -1, -1, 0
        if node is Leaf.ITEMS:
            return PROMPT, self._add_slot(Slot(path, node, branch)) if path == self._hashed else -1, -1, LONGEST_INPUT
        action = ACTIONS[node]
        slot = -1 if action in (SKIP, NOTHING) else self._add_slot(Slot(path, node, branch))
        if action in (LIST, RAW):
            limit = LONGEST_INPUT if path == self._hashed else LONGEST
        return action, slot, -1, limit

    def _add_slot(self, slot: Slot) -> int:
        self.slots.append(slot)
        return len(self.slots) - 1

    def is_hashed(self, slot: Slot) -> bool:
        """Whether it is the field by which tasks without an id are told apart."""
        return slot.path == self._hashed


def program_for(layout: Layout, plan: Plan) -> Program | None:
    """What the compiled half does for a layout; `None` where the layout asks for more than it can do."""
    paths = list(layout.paths())
    if not layout.strict or has_odd_name(layout.tree) or len({*paths, INPUT_HASH}) <= len(paths):
        return None
    if plan.hash_inputs and plan.format.input_field is None:
        return None  # the prompt has to be found in the conversation first
    hashed = plan.format.input_field if plan.hash_inputs else None
    return Program(layout.tree, plan.format, whole={*plan.fields, MODEL, RESPONSE_ID}, hashed=hashed)


def has_odd_name(tree: Tree) -> bool:
    return any(ODD_NAME.search(name) or (isinstance(node, dict) and has_odd_name(node)) for name, node in tree.items())
