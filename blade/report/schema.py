"""The JSON Schema of `analysis.json`, generated from the Structs that write and read it.

The line under each field of a Struct becomes the field's description, so the schema explains itself.
"""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.inspect import StructType, type_info

from blade.diagnosis.analysis import SCHEMA_VERSION, Analysis

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def analysis_schema() -> dict[str, Any]:
    """What an `analysis.json` must look like."""
    schema = msgspec.json.schema(Analysis)
    for struct in {found.cls: found for found in structs_in(type_info(Analysis))}.values():
        properties = schema["$defs"][struct.cls.__name__]["properties"]
        for name, sentence in field_docs(struct.cls).items():
            properties[name] = {"description": sentence, **properties[name]}
    return {"$schema": DIALECT, "title": f"BLADE analysis {SCHEMA_VERSION}", **schema}


def schema_text() -> str:
    """The schema as the file in `blade/schemas` holds it."""
    return msgspec.json.format(msgspec.json.encode(analysis_schema()), indent=2).decode() + "\n"


def structs_in(info: Any) -> Iterator[StructType]:
    """Every Struct a type is made of, itself included."""
    if isinstance(info, StructType):
        yield info
        parts: Any = [field.type for field in info.fields]
    else:
        parts = [getattr(info, name, None) for name in ("item_type", "key_type", "value_type")]
        parts += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    for part in parts:
        if part is not None:
            yield from structs_in(part)


def field_docs(cls: type) -> dict[str, str]:
    """The line under each field of a Struct."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, doc in itertools.pairwise(node.body):
        if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            docs[ast.unparse(field.target)] = " ".join(str(doc.value.value).split())
    return docs
