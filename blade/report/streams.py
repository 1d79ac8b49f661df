"""Values as JSON piece by piece: what is said of all tasks or rollouts of a large run is never whole in memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

Entry = TypeVar("Entry")
PIECE = 2000
"""Entries of a list that are written at a time."""
FEW = 100
"""Entries that may have much to say each."""


class Made(Sequence[Entry]):
    """A list whose entries are made when they are asked for, from where one begins to where another ends."""

    def __init__(self, length: int, make: Callable[[int, int], list[Entry]]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            first, end, _ = place.indices(self._length)
            return self._make(first, end)
        return self._make(place, place + 1)[0]

    def __iter__(self) -> Iterator[Entry]:
        for first in range(0, self._length, PIECE):
            yield from self._make(first, min(first + PIECE, self._length))


def json_pieces(value: Any, *, indent: int = 0, deep: int = 0) -> Iterator[bytes]:
    """A value's JSON, as `msgspec.json` writes it.

    Args:
        indent: spaces by which entries and fields stand further in than what they belong to; 0 for no line breaks.
        deep: how many spaces the value itself stands in.
    """
    outer = b"\n" + b" " * deep if indent else b""
    inner = outer + b" " * indent
    if is_plain(value):
        sign, colon = b"{", b": " if indent else b":"
        for name, shown in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            if (part := getattr(value, name)) is not msgspec.UNSET:
                yield sign + inner + msgspec.json.encode(shown) + colon
                yield from json_pieces(part, indent=indent, deep=deep + indent)
                sign = b","
        yield outer + b"}"
    elif isinstance(value, list) and len(value) < FEW and any(map(is_plain, value)):
        for number, one in enumerate(value):
            yield (b"," if number else b"[") + inner
            yield from json_pieces(one, indent=indent, deep=deep + indent)
        yield outer + b"]"
    elif isinstance(value, Made | list) and len(value) > PIECE:
        sign = b"["
        for first in range(0, len(value), PIECE):
            yield sign + written(value[first : first + PIECE], indent, outer)[1 : -len(outer) - 1]
            sign = b","
        yield outer + b"]"
    else:
        yield written(value, indent, outer)


def is_plain(value: Any) -> bool:
    """Whether a value is a Struct that is written field by field."""
    config = getattr(value, "__struct_config__", None)
    return config is not None and not config.omit_defaults and not config.array_like


def written(value: Any, indent: int, outer: bytes) -> bytes:
    """The JSON of a value as a whole, its lines as far in as it is itself."""
    said = msgspec.json.encode(value, enc_hook=list)
    return msgspec.json.format(said, indent=indent).replace(b"\n", outer) if indent else said
