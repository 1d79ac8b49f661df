"""Finds the JSON in what a model says: the whole text, a fenced block, or the first object that opens in it."""

import json
import re
from typing import Any, NamedTuple, NoReturn

FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
MOST_STARTS = 50
"""Opening braces that are tried: where fifty of them begin no object, none was meant."""


class Read(NamedTuple):
    """A value that was read from a text."""

    value: Any
    alone: bool
    """Whether the text holds nothing else, a fence around it aside."""


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def read_json(text: str) -> Read | None:
    """The JSON a text gives as its answer; `None` when it holds none."""
    bare = text.strip()
    fenced = FENCE.fullmatch(bare)
    whole = decode(fenced[1] if fenced else bare)
    if whole is not None:
        return Read(whole[0], True)
    parts = [block[1] for block in FENCE.finditer(bare)] + [bare[start:] for start in opening_places(bare)]
    found = next((read for part in parts if (read := decode(part, whole=False)) is not None), None)
    return None if found is None else Read(found[0], False)


def opening_places(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[{\[]", text)][:MOST_STARTS]


def decode(text: str, *, whole: bool = True) -> tuple[Any] | None:
    """The value a text begins with, in a tuple because it may be null; what follows it must be space if `whole`."""
    try:
        value, end = DECODER.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return None if whole and text.lstrip()[end:].strip() else (value,)
