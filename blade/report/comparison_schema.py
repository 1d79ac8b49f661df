"""The JSON Schema of `comparison.json`, generated from the Structs that write and read it."""

from typing import Any

import msgspec
from msgspec.inspect import StructType, type_info

from blade.comparison.comparison import SCHEMA_VERSION, Comparison
from blade.report.schema import DIALECT, field_docs


def comparison_schema() -> dict[str, Any]:
    """What a `comparison.json` must look like; the line under each field is the field's description."""
    schema = msgspec.json.schema(Comparison)
    found: set[type] = set()
    collect_structs(type_info(Comparison), found)
    for cls in found:
        properties = schema["$defs"][cls.__name__]["properties"]
        for name, sentence in field_docs(cls).items():
            properties[name] = {"description": sentence, **properties[name]}
    return {"$schema": DIALECT, "title": f"BLADE comparison {SCHEMA_VERSION}", **schema}


def comparison_schema_text() -> str:
    """The schema as the file in `blade/schemas` holds it."""
    return msgspec.json.format(msgspec.json.encode(comparison_schema()), indent=2).decode() + "\n"


def collect_structs(info: Any, found: set[type]) -> None:
    """Adds every Struct a type is made of; a comparison holds comparisons, so each is looked into once."""
    if isinstance(info, StructType):
        if info.cls in found:
            return
        found.add(info.cls)
        parts: list[Any] = [field.type for field in info.fields]
    else:
        parts = [getattr(info, name, None) for name in ("item_type", "key_type", "value_type")]
        parts += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    for part in parts:
        if part is not None:
            collect_structs(part, found)
