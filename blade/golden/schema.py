"""The JSON Schema of anchor facts, generated from the values that read and write them."""

from typing import Any

import msgspec

from blade.golden.facts import Check, Fact, FactsFile
from blade.report.schema import DIALECT, field_docs


def facts_schema() -> dict[str, Any]:
    """What a file of anchor facts must look like; tools may add fields of their own to the file."""
    schema = msgspec.json.schema(FactsFile)
    for kind in (FactsFile, Fact, Check):
        properties = schema["$defs"][kind.__name__]["properties"]
        for name, sentence in field_docs(kind).items():
            properties[name] = {"description": sentence, **properties[name]}
    return {"$schema": DIALECT, "title": "BLADE anchor facts", **schema}


def schema_text() -> str:
    """The schema as the file in `blade/schemas` holds it."""
    return msgspec.json.format(msgspec.json.encode(facts_schema()), indent=2).decode() + "\n"
