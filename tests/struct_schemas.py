"""JSON Schemas generated from the Structs that write and read a file; `blade/schemas` holds them.

The line under each field of a Struct becomes the field's description, so the schema explains itself.
"""

import ast
import inspect
import itertools
import textwrap
from typing import Any

import msgspec
from msgspec.inspect import DataclassType, StructType, type_info


def described_schema(kind: type, title: str) -> dict[str, Any]:
    """What a file of this kind must look like."""
    schema = msgspec.json.schema(kind)
    for struct in structs_in(type_info(kind), set()):
        properties = schema["$defs"][struct.__name__]["properties"]
        for name, sentence in field_docs(struct).items():
            properties[name] = {"description": sentence, **properties[name]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def schema_text(schema: dict[str, Any]) -> str:
    """A schema as a file in `blade/schemas` holds it."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def structs_in(info: Any, found: set[type]) -> set[type]:
    """Every Struct a type is made of, itself included; a comparison holds comparisons, so each is looked into once."""
    if isinstance(info, StructType | DataclassType):
        if info.cls in found:
            return found
        found.add(info.cls)
        parts: list[Any] = [field.type for field in info.fields]
    else:
        parts = [getattr(info, name, None) for name in ("item_type", "key_type", "value_type")]
        parts += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    for part in parts:
        if part is not None:
            structs_in(part, found)
    return found


def field_docs(struct: type) -> dict[str, str]:
    """The line under each field of a Struct."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(struct))).body
    assert isinstance(node, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, doc in itertools.pairwise(node.body):
        if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            docs[ast.unparse(field.target)] = " ".join(str(doc.value.value).split())
    return docs
