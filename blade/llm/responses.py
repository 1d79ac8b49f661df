"""The OpenAI Responses API, whose items are our own: requests and answers pass as they are."""

import os
from types import ModuleType
from typing import Any

import msgspec
import openai

from blade.llm.bodies import BOUNDED
from blade.llm.client import NO_KEY, Endpoint
from blade.llm.model import Item, Reply, Request, Usage, token_count


class Tokens(msgspec.Struct, frozen=True):
    input_tokens: Any = None
    output_tokens: Any = None
    total_tokens: Any = None
    input_tokens_details: Any = None
    output_tokens_details: Any = None


class Incomplete(msgspec.Struct, frozen=True):
    reason: str | None = None


class Body(msgspec.Struct, frozen=True):
    """What we need of a response; without an output it is none."""

    output: list[Item]
    id: str | None = ""
    model: str | None = None
    status: str | None = None
    error: dict[str, Any] | None = None
    incomplete_details: Incomplete | None = None
    usage: Tokens | None = None


class Call(msgspec.Struct, frozen=True):
    """What a call must have to be carried out."""

    name: str
    arguments: str
    call_id: str


DECODER = msgspec.json.Decoder(Body)


class OpenAiWire:
    """What the APIs of OpenAI's SDK share."""

    sdk: ModuleType = openai
    path: str

    def open(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        """The SDK's client; a key only from the environment, and none needed for somebody else's server."""
        key = os.environ.get("OPENAI_API_KEY") or NO_KEY
        carrier = openai.DefaultAsyncHttpxClient(event_hooks=BOUNDED)
        return openai.AsyncOpenAI(
            api_key=key, base_url=endpoint.base_url, timeout=endpoint.timeout, max_retries=0, http_client=carrier
        )

    async def send(self, client: openai.AsyncOpenAI, payload: dict[str, Any]) -> bytes:
        """The bytes of an answer, without what the SDK does to bodies of known types: a sixth of the time."""
        answer = await client.post(self.path, body=payload, cast_to=openai.HttpxBinaryResponseContent)
        return answer.content

    async def close(self, client: openai.AsyncOpenAI) -> None:
        await client.close()


class ResponsesWire(OpenAiWire):
    """Speaks /responses."""

    path = "/responses"

    def payload(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        settings = {
            "instructions": request.instructions,
            "tools": request.tools or None,
            "temperature": request.sampling.temperature,
            "top_p": request.sampling.top_p,
            "max_output_tokens": request.sampling.max_output_tokens,
            "text": request.schema and {"format": {"type": "json_schema", **json_schema(request.schema)}},
            "seed": None if endpoint.is_vendors else request.sampling.seed,  # its own API has none and refuses it
        }
        given = {name: value for name, value in settings.items() if value is not None}
        return {"model": endpoint.model, "input": request.input, **given}

    def reply(self, body: bytes, payload: dict[str, Any]) -> Reply:
        found = DECODER.decode(body)
        if found.status == "failed" or found.error:
            raise msgspec.ValidationError(f"it says that it failed: {found.error}")
        if not found.output and found.status is None:
            raise msgspec.ValidationError("it holds neither output nor status")
        for item in found.output:
            check_item(item)
        usage = usage_of(found.usage) if found.usage else None
        incomplete = found.incomplete_details.reason if found.incomplete_details else None
        return Reply(
            id=found.id or "",
            model=found.model or "",
            items=found.output,
            usage=usage,
            incomplete=incomplete or at_limit(usage, payload.get("max_output_tokens")),
        )


def at_limit(usage: Usage | None, limit: int | None) -> str | None:
    """Says that an answer was cut when it is as long as it may be: llama.cpp's server calls such answers complete."""
    is_full = limit is not None and usage is not None and (usage.output_tokens or 0) >= limit
    return "max_output_tokens" if is_full else None


def check_item(item: Item) -> None:
    """Raises when an output item cannot be used."""
    if not isinstance(item.get("type"), str):
        raise msgspec.ValidationError("an output item has no type")
    if item["type"] == "function_call":
        msgspec.convert(item, Call)


def usage_of(tokens: Tokens) -> Usage:
    return Usage(
        input_tokens=token_count(tokens.input_tokens),
        output_tokens=token_count(tokens.output_tokens),
        total_tokens=token_count(tokens.total_tokens),
        cached_tokens=detail(tokens.input_tokens_details, "cached_tokens"),
        reasoning_tokens=detail(tokens.output_tokens_details, "reasoning_tokens"),
    )


def detail(details: Any, name: str) -> int | None:
    """A count among the details, when there is one."""
    return token_count(details.get(name)) if isinstance(details, dict) else None


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
