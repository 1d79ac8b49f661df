"""Calls that the offered tools do not allow: a tool nobody offered, an argument unknown, missing or of the wrong type.

Only what a schema says plainly is held against a call: names, required arguments, simple types and enumerations. A
call that was made right later was a slip; only what was never made right counts.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from blade.rollouts.formats.calls import call_arguments
from blade.rollouts.layout import ODD_NAME

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
PLAIN_TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": int | float, "boolean": bool, "array": list[Any], "object": dict[str, Any],
}  # fmt: skip
"""What is decoded for them."""


OFTEN = 20
"""Calls of a tool from which on it is worth while to make a decoder for its arguments."""


class Call(NamedTuple):
    """A call of a tool, and where it stands."""

    tool: str
    arguments: str
    position: int


class Offered:
    """The tools that were offered, and which calls they allow."""

    def __init__(self, tools: Iterable[Mapping[str, Any]]) -> None:
        named = [tool for tool in map(function_of, tools) if isinstance(tool.get("name"), str)]
        given = {tool["name"]: tool.get("parameters") for tool in named}
        self.schemas = {name: schema if isinstance(schema, dict) else {} for name, schema in given.items()}
        self._plain: dict[str, msgspec.json.Decoder[Any] | None] = {}
        self._asked: Counter[str] = Counter()

    def allow(self, tool: str, arguments: str) -> bool:
        """Whether a call is one that its tool's schema allows."""
        if tool not in self.schemas:
            return False
        self._asked[tool] += 1
        if self._asked[tool] == OFTEN:
            self._plain[tool] = plain_arguments(self.schemas[tool])
        if (plain := self._plain.get(tool)) is not None:
            with contextlib.suppress(msgspec.MsgspecError, RecursionError):  # a closer look is slower
                plain.decode(arguments)
                if '""' not in arguments:  # an argument without a name
                    return True
        return fault_of(tool, arguments, self.schemas) is None

    def invalid_call(self, calls: Iterable[Call]) -> int | None:
        """Position of the first call that its tool's schema does not allow and that was never made right."""
        if not self.schemas:
            return None
        wrong: list[tuple[str, int]] = []
        right: dict[str, int] = {}
        for tool, arguments, position in calls:
            if self.allow(tool, arguments):
                right[tool] = position
            else:
                wrong.append((tool, position))
        return next((position for tool, position in wrong if right.get(tool, -1) < position), None)


@lru_cache(maxsize=16)
def offered(tools: bytes) -> Offered:
    """What some tools, which most rows of a run share, allow."""
    return Offered(msgspec.json.decode(tools))


def plain_arguments(schema: Mapping[str, Any]) -> msgspec.json.Decoder[Any] | None:
    """A decoder that takes nothing but arguments that a schema allows; `None` of a schema that is not a plain one."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not properties or any(map(ODD_NAME.search, properties)) or "" in properties:
        return None
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    if not needed <= properties.keys():
        return None
    kinds = {name: PLAIN_TYPES[part["type"]] | None for name, part in properties.items() if is_plain(part)}
    if len(kinds) < len(properties):
        return None
    names = sorted(properties, key=lambda name: name not in needed)  # those that are needed come first
    fields: list[Any] = [
        (f"f{at}", kinds[name]) if name in needed else (f"f{at}", kinds[name], None) for at, name in enumerate(names)
    ]
    renamed = {f"f{at}": name for at, name in enumerate(names)}
    is_closed = schema.get("additionalProperties") is False
    made = msgspec.defstruct("Arguments", fields, rename=renamed, forbid_unknown_fields=is_closed, gc=False)
    return msgspec.json.Decoder(made)


def is_plain(schema: Any) -> bool:
    """Whether a schema says nothing of a value but its type."""
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("type"), str)
        and schema["type"] in PLAIN_TYPES
        and not isinstance(schema.get("enum"), list)
    )


def function_of(tool: Any) -> Mapping[str, Any]:
    """What a tool says of its function, in either dialect of the API; nothing of a built-in or malformed tool."""
    if not isinstance(tool, Mapping):
        return {}
    if isinstance(tool.get("function"), dict):
        return dict(tool["function"])
    return tool if tool.get("type") == "function" else {}


def fault_of(tool: str, arguments: str, schemas: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong with a call, in a few words; `None` of one that its schema allows."""
    schema = schemas.get(tool)
    if schema is None:
        return f"no tool {tool} was offered"
    given = call_arguments(arguments)
    if "" in given:
        return "its arguments are not an object"
    known = schema.get("properties")
    properties = known if isinstance(known, dict) else {}
    required = needed if isinstance(needed := schema.get("required"), list) else []
    missing = [name for name in required if isinstance(name, str) and name not in given]
    if missing:
        return f"{missing[0]} is missing"
    unknown = [name for name in given if name not in properties]
    if unknown and properties and schema.get("additionalProperties") is False:
        return f"{unknown[0]} is unknown"
    return next((said for name in given if (said := mismatch(name, given[name], properties.get(name)))), None)


def mismatch(name: str, value: Any, schema: Any) -> str | None:
    """How a value differs from what its schema plainly says."""
    if not isinstance(schema, dict) or value is None:
        return None
    allowed = schema.get("type")
    names = [allowed] if isinstance(allowed, str) else allowed if isinstance(allowed, list) else []
    if (
        names
        and all(isinstance(kind, str) and kind in TYPES for kind in names)
        and not any(is_a(value, kind) for kind in names)
    ):
        return f"{name} is {type(value).__name__}, expected {' or '.join(names)}"
    choices = schema.get("enum")
    return f"{name} is none of its choices" if isinstance(choices, list) and value not in choices else None


def is_a(value: Any, kind: str) -> bool:
    """Whether a value has a JSON type; true and false are not numbers, and 2.0 is an integer."""
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and kind == "integer":
        return value.is_integer()
    return isinstance(value, TYPES[kind])
