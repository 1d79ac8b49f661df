"""Python values as JSON, and back to plain values only: what comes out of the sandbox has no behaviour of its own.

Plain texts, numbers that JSON has, booleans and None are themselves. Everything else is an object with one tag.
"""

import json
import math
from collections.abc import Callable
from typing import Any

MOST_REPR = 200


def pack(value: Any) -> Any:
    """A value as JSON can hold it; what is no plain value is told by its type and how it shows itself."""
    if value is None or isinstance(value, bool | str):
        return value if type(value) in (bool, str, type(None)) else str(value)
    if isinstance(value, int):
        return {"int": hex(value)} if abs(value) >= 2**53 else int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, dict):
        return {"dict": [[pack(key), pack(inner)] for key, inner in value.items()]}
    for tag, kind in (("list", list), ("tuple", tuple), ("frozenset", frozenset), ("set", set)):
        if isinstance(value, kind):
            return {tag: [pack(inner) for inner in value]}
    return {"other": [type(value).__name__, repr(value)[:MOST_REPR]]}


class Other:
    """Something that is no plain value: equal to nothing."""

    def __init__(self, parts: Any) -> None:
        kind, shown = parts
        self.shown = f"{kind}: {shown}"

    def __repr__(self) -> str:
        return f"<{self.shown}>"


UNPACK: dict[str, Callable[[Any], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "bytes": bytes.fromhex,
    "dict": lambda pairs: {unpack(key): unpack(inner) for key, inner in pairs},
    "list": lambda inner: [unpack(value) for value in inner],
    "tuple": lambda inner: tuple(unpack(value) for value in inner),
    "frozenset": lambda inner: frozenset(unpack(value) for value in inner),
    "set": lambda inner: {unpack(value) for value in inner},
    "other": Other,
}


def unpack(packed: Any) -> Any:
    """The value that was packed; raises `ValueError` or `TypeError` for what `pack` never gives."""
    if not isinstance(packed, dict):
        if isinstance(packed, list):
            raise ValueError("a list without a tag")
        return packed
    ((tag, inner),) = packed.items()
    if tag not in UNPACK:
        raise ValueError("an unknown tag")
    return UNPACK[tag](inner)


def line(message: dict[str, Any]) -> bytes:
    """A message as one line of ASCII."""
    return json.dumps(message).encode("ascii") + b"\n"
