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
    twice: bool = False
    """Whether an object in it gives one name two values, so that readers could take either; here, the last is taken."""


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class Whole(NamedTuple):
    """A value, and whether a name is given twice in it."""

    value: Any
    twice: bool


def read_json(text: str) -> Read | None:
    """The JSON a text gives as its answer; `None` when it holds none."""
    bare = text.strip()
    fenced = FENCE.fullmatch(bare)
    whole = decode(fenced[1] if fenced else bare)
    if whole is not None:
        return Read(whole.value, True, whole.twice)
    parts = [block[1] for block in FENCE.finditer(bare)] + [bare[start:] for start in opening_places(bare)]
    found = next((read for part in parts if (read := decode(part, whole=False)) is not None), None)
    return None if found is None else Read(found.value, False, found.twice)


def opening_places(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[{\[]", text)][:MOST_STARTS]


def decode(text: str, *, whole: bool = True) -> Whole | None:
    """The value a text begins with; what follows it must be space if `whole`."""
    twice = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        twice.append(len(made) < len(pairs))
        return made

    decoder = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=object_of)
    try:
        value, end = decoder.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return None if whole and text.lstrip()[end:].strip() else Whole(value, any(twice))
