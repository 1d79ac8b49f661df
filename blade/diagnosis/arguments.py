"""Calls that the offered tools do not allow: a tool nobody offered, an argument unknown, missing or of the wrong type.

Only what a schema says plainly is held against a call: names, required arguments, simple types and enumerations. A
call that was made right later was a slip; only what was never made right counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blade.rollouts import Item
from blade.rollouts.formats.calls import call_arguments

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def invalid_call(items: Sequence[Item], tools: Iterable[Mapping[str, Any]]) -> int | None:
    """Position of the first call that its tool's schema does not allow and that was never made right."""
    named = [tool for tool in map(function_of, tools) if isinstance(tool.get("name"), str)]
    schemas = {tool["name"]: given if isinstance(given := tool.get("parameters"), dict) else {} for tool in named}
    calls = [item for item in items if item.kind == "tool_call" and not item.prompt and item.name]
    if not schemas:
        return None
    wrong = [item for item in calls if fault_of(item, schemas) is not None]
    right = {item.name: item.position for item in calls if item not in wrong}
    return next((item.position for item in wrong if right.get(item.name, -1) < item.position), None)


def function_of(tool: Any) -> Mapping[str, Any]:
    """What a tool says of its function, in either dialect of the API; nothing of a built-in or malformed tool."""
    if not isinstance(tool, Mapping):
        return {}
    if isinstance(tool.get("function"), dict):
        return dict(tool["function"])
    return tool if tool.get("type") == "function" else {}


def fault_of(item: Item, schemas: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong with a call, in a few words; `None` of one that its schema allows."""
    schema, given = schemas.get(item.name or ""), call_arguments(item.text)
    if schema is None:
        return f"no tool {item.name} was offered"
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
