"""What rows say beyond the columns of their table: long texts, lists of objects, and fields of a meaning of their own.

It is taken from rows as they were decoded for the table, so that no byte is decoded twice. A row that was decoded for
less than all it says is decoded again.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.decoding import Decoded
from blade.rollouts.fields import Leaf, Tree
from blade.rollouts.formats import Format, tau_bench
from blade.rollouts.meaning import BESIDE
from blade.rollouts.steps import is_blank
from blade.rollouts.trajectory import TOP, read_beside

SHORT = {Leaf.NULL, Leaf.NUMBER, Leaf.FLAG}
"""Leaves of which the table holds all."""
LONGEST_KEPT = 1 << 16
"""Bytes of a value that is worth keeping for other rows."""
SILENT: dict[str, Any] = {}
"""What a row says of which the table holds everything."""


def told_by(decoded: Decoded, form: Format, names: Collection[str]) -> list[dict[str, Any]]:
    """What each row says beyond its table; fields of some names whatever they hold, and what holds the trajectory by
    what stands beside it."""
    # How a conversation of tau-bench ended is told by its words.
    if not decoded.layout.is_whole or decoded.mended or form.name == tau_bench.FORMAT.name:
        return [read_beside(decoded.data(row), form) for row in range(len(decoded.rows))]
    found = [SILENT] * len(decoded.rows)
    for row, name, value in all_told(decoded, form, names):
        if found[row] is SILENT:
            found[row] = {}
        found[row][name] = value
    return found


def all_told(decoded: Decoded, form: Format, names: Collection[str]) -> Iterator[tuple[int, str, Any]]:
    """Row, name and value of everything told."""
    paths = [path for path in (form.prompt, form.output) if path is not None]
    holders = {path.split(".")[0] for path in paths if "." in path}
    for index, (name, node) in enumerate(decoded.layout.tree.items()):
        if name in paths:
            continue
        if name in holders and isinstance(node, dict):
            yield from told_beside(decoded, name, node, f"f{index}")
        elif name in names or not is_short(node):
            values = list(map(attrgetter(f"f{index}"), decoded.rows))
            is_word = node is Leaf.WORD and name not in names
            if not is_word or max(map(len, filter(None, values)), default=0) > MAX_TEXT:
                yield from told_values(decoded, name, values, is_wanted=name in names)


def is_short(node: Tree | Leaf) -> bool:
    """Whether a field holds nothing but what the table holds of it."""
    return all(map(is_short, node.values())) if isinstance(node, dict) else node in SHORT


def told_beside(decoded: Decoded, name: str, tree: Tree, attribute: str) -> Iterator[tuple[int, str, Any]]:
    """What an object that holds a trajectory says beside it."""
    looked_at = [(key, attrgetter(f"f{at}")) for at, key in enumerate(tree) if key in BESIDE.get(name, ())]
    for row, holder in enumerate(map(attrgetter(attribute), decoded.rows)):
        if isinstance(holder, msgspec.Struct):
            parts = ((key, get(holder)) for key, get in looked_at)
            said = {key: value_of(msgspec.json.encode(part)) for key, part in parts if not is_nothing(part)}
            if said:
                yield row, name, said


def is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, msgspec.Raw) and is_blank(value))


def value_of(raw: bytes) -> Any:
    """An undecoded value, and the same object for the same bytes: most rows of a run are offered the same tools."""
    return recent_value(raw) if len(raw) <= LONGEST_KEPT else decoded_value(raw)


def decoded_value(raw: bytes) -> Any:
    try:
        return decode_any(raw)
    except BadRow:
        return None


recent_value = lru_cache(maxsize=32)(decoded_value)


def told_values(
    decoded: Decoded, name: str, values: Sequence[Any], *, is_wanted: bool
) -> Iterator[tuple[int, str, Any]]:
    """Those values of a field that say more than its column."""
    for row, value in enumerate(values):
        if is_wanted and (value is None or isinstance(value, msgspec.Struct)):
            # A Struct knows neither the order of its fields nor what is null from what is missing.
            if (raw := raw_at(decoded.data(row), name)) is not None:
                yield row, name, value_of(raw)
        elif isinstance(value, str):
            if is_wanted or len(value) > MAX_TEXT:
                yield row, name, value
        elif isinstance(value, msgspec.Struct | msgspec.Raw):
            raw = msgspec.json.encode(value)
            if raw and (is_wanted or len(raw) > MAX_TEXT or b"[" in raw):
                yield row, name, value_of(raw)
        elif is_wanted or isinstance(value, list):
            yield row, name, value


def raw_at(data: bytes, name: str) -> bytes | None:
    """What a row says under a name, undecoded; `None` where it says nothing."""
    found = TOP.decode(data).get(name) if name.encode() in data else None
    return None if found is None else bytes(found)
