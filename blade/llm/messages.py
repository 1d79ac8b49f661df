"""The Anthropic Messages API: items become content blocks and back.

A reasoning item keeps the signature of its thinking block in `encrypted_content`; without one the API would refuse
the block, so such reasoning is left out of what is sent.
"""

import os
from types import ModuleType
from typing import Any, Literal, cast

import anthropic
import msgspec

from blade.llm.bodies import BOUNDED
from blade.llm.client import NO_KEY, Endpoint
from blade.llm.model import (
    Item,
    Reply,
    Request,
    Usage,
    assistant_message,
    function_call,
    message_text,
    reasoning_item,
    token_count,
)

Block = dict[str, Any]

ENOUGH = 16_384
"""Tokens an answer may take when nobody says; this API insists on a number, and thinking counts."""
CUT = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "refusal": "content_filter",
}
"""Reasons to stop that leave an answer incomplete, in the words of the Responses API."""


class Tokens(msgspec.Struct, frozen=True):
    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None


class Body(msgspec.Struct, frozen=True):
    type: Literal["message"]
    content: list[Block]
    id: str = ""
    model: str | None = None
    stop_reason: str | None = None
    usage: Tokens | None = None


DECODER = msgspec.json.Decoder(Body)


class ToolUse(msgspec.Struct, frozen=True):
    """What a call must have to be carried out."""

    id: str
    name: str
    input: dict[str, Any] = {}


class MessagesWire:
    """Speaks /v1/messages."""

    sdk: ModuleType = anthropic

    def open(self, endpoint: Endpoint) -> anthropic.AsyncAnthropic:
        key = os.environ.get("ANTHROPIC_API_KEY") or NO_KEY
        # This SDK adds /v1 itself, and people name their servers with it.
        base = endpoint.base_url and endpoint.base_url.rstrip("/").removesuffix("/v1")
        carrier = anthropic.DefaultAsyncHttpxClient(event_hooks=BOUNDED)
        return anthropic.AsyncAnthropic(
            api_key=key, base_url=base, timeout=endpoint.timeout, max_retries=0, http_client=carrier
        )

    def payload(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        settings = {
            "system": system_text(request) or None,
            "tools": [messages_tool(tool) for tool in request.tools] or None,
            "extra_body": beside(request, endpoint) or None,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        limit = request.sampling.max_output_tokens or ENOUGH
        return {"model": endpoint.model, "max_tokens": limit, "messages": turns(request.input), **given}

    async def send(self, client: anthropic.AsyncAnthropic, payload: dict[str, Any]) -> bytes:
        raw = await client.messages.with_raw_response.create(**payload)
        return cast(bytes, raw.http_response.content)

    def reply(self, body: bytes, payload: dict[str, Any]) -> Reply:
        found = DECODER.decode(body)
        if not found.content and found.stop_reason is None:
            raise msgspec.ValidationError("it holds neither content nor a reason to stop")
        blocks = enumerate(found.content)
        return Reply(
            id=found.id,
            model=found.model or "",
            items=[item for place, block in blocks if (item := item_of(block, f"{found.id}_{place}")) is not None],
            usage=usage_of(found.usage) if found.usage else None,
            incomplete=CUT.get(found.stop_reason or ""),
        )

    async def close(self, client: anthropic.AsyncAnthropic) -> None:
        await client.close()


def beside(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """Parameters that not every version of the SDK has a name for; the server decides whether it takes them."""
    form = request.schema and {"format": {"type": "json_schema", "schema": request.schema}}
    settings = {
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "seed": None if endpoint.is_vendors else request.sampling.seed,
        "output_config": form,
    }
    return {name: value for name, value in settings.items() if value is not None}


def system_text(request: Request) -> str:
    """All that the system says, which this API takes apart from the conversation."""
    inside = [message_text(item) for item in request.input if item.get("role") in ("system", "developer")]
    return "\n\n".join(text for text in (request.instructions or "", *inside) if text)


def messages_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A Responses function tool as this API declares it."""
    schema = tool.get("parameters") or {"type": "object", "properties": {}}
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"name": tool["name"], **described, "input_schema": schema}


def turns(items: list[Item]) -> list[dict[str, Any]]:
    """The conversation as turns that alternate between user and assistant."""
    found: list[dict[str, Any]] = []
    for item in items:
        placed = block_of(item)
        if placed is None:
            continue
        role, block = placed
        if found and found[-1]["role"] == role:
            found[-1]["content"].append(block)
        else:
            found.append({"role": role, "content": [block]})
    return found


def block_of(item: Item) -> tuple[str, Block] | None:
    """The content block of an item and whose turn it stands in; `None` for what is said elsewhere or not at all."""
    kind = item.get("type", "message")
    if kind == "function_call":
        block = {"type": "tool_use", "id": item["call_id"], "name": item["name"], "input": parsed(item["arguments"])}
        return "assistant", block
    if kind == "function_call_output":
        return "user", {"type": "tool_result", "tool_use_id": item["call_id"], "content": str(item.get("output", ""))}
    if kind == "reasoning":
        return thinking_block(item)
    text, role = message_text(item), item.get("role")
    if role in ("system", "developer") or not text:
        return None
    return ("assistant" if role == "assistant" else "user"), {"type": "text", "text": text}


def thinking_block(item: Item) -> tuple[str, Block] | None:
    """Reasoning as the block it came from."""
    sealed = item.get("encrypted_content")
    if not sealed:
        return None
    thought = "\n".join(part.get("text", "") for part in item.get("summary") or [])
    if not thought:
        return "assistant", {"type": "redacted_thinking", "data": sealed}
    return "assistant", {"type": "thinking", "thinking": thought, "signature": sealed}


def parsed(arguments: str) -> dict[str, Any]:
    """The arguments of a call as an object; what is none is handed over as the text it is."""
    try:
        value = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}


def item_of(block: Block, id: str) -> Item | None:
    """A content block as a Responses item; `None` for kinds that carry nothing a rollout keeps."""
    kind = block.get("type")
    if kind == "text":
        return assistant_message(str(block.get("text", "")), id=f"msg_{id}")
    if kind == "tool_use":
        call = msgspec.convert(block, ToolUse)
        return function_call(call.name, msgspec.json.encode(call.input).decode(), call_id=call.id)
    if kind == "thinking":
        return reasoning_item(str(block.get("thinking", "")), id=f"rs_{id}", encrypted=block.get("signature") or None)
    if kind == "redacted_thinking":
        return reasoning_item("", id=f"rs_{id}", encrypted=str(block.get("data", "")))
    if not isinstance(kind, str):
        raise msgspec.ValidationError("a content block has no type")
    return None


def usage_of(tokens: Tokens) -> Usage:
    """The cost; here the input comes without what was cached, and no sum is given."""
    fresh, made = token_count(tokens.input_tokens), token_count(tokens.output_tokens)
    cached, written = token_count(tokens.cache_read_input_tokens), token_count(tokens.cache_creation_input_tokens)
    read = None if fresh is None else fresh + (cached or 0) + (written or 0)
    total = None if read is None or made is None else read + made
    return Usage(input_tokens=read, output_tokens=made, total_tokens=total, cached_tokens=cached)
