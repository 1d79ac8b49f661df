"""JSON Schemas for answers: what the APIs call strict, and the name they insist on."""

from typing import Any

NAME = "answer"


def json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema as the OpenAI APIs take it; strict only where it meets their rules, or they refuse the request."""
    return {"name": NAME, "schema": schema, "strict": is_strict(schema)}


def is_strict(schema: Any) -> bool:
    """Whether every object in it is closed and requires all its properties."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", {})):
            return False
    return all(is_strict(part) for part in schema.values())
