"""The OpenAI Chat Completions API, which most servers of open models speak: items become messages and back.

Reasoning is sent back only to servers that gave it, and only within the turn: they want it between tool calls, and
the vendor's own API knows no such field.
"""

from typing import Any

import msgspec

from blade.llm.client import Endpoint
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
from blade.llm.responses import OpenAiWire, detail, json_schema

Message = dict[str, Any]

CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Reasons to stop that leave an answer incomplete, in the words of the Responses API."""


class Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str | dict[str, Any] | None = None


class ToolCall(msgspec.Struct, frozen=True):
    function: Function
    id: str | None = None


class Said(msgspec.Struct, frozen=True):
    content: str | list[dict[str, Any]] | None = None
    """A text; some servers give it in parts, thoughts among them."""
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCall] | None = None


class Choice(msgspec.Struct, frozen=True):
    message: Said
    finish_reason: str | None = None


class Tokens(msgspec.Struct, frozen=True):
    prompt_tokens: Any = None
    completion_tokens: Any = None
    total_tokens: Any = None
    prompt_tokens_details: Any = None
    completion_tokens_details: Any = None


class Body(msgspec.Struct, frozen=True):
    choices: list[Choice]
    id: str | None = ""
    model: str | None = None
    usage: Tokens | None = None


DECODER = msgspec.json.Decoder(Body)


class ChatWire(OpenAiWire):
    """Speaks /chat/completions."""

    path = "/chat/completions"

    def payload(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        limit = "max_completion_tokens" if endpoint.is_vendors else "max_tokens"  # the older name is known everywhere
        settings = {
            "tools": [chat_tool(tool) for tool in request.tools] or None,
            "temperature": request.sampling.temperature,
            "top_p": request.sampling.top_p,
            limit: request.sampling.max_output_tokens,
            "seed": request.sampling.seed,
            "response_format": request.schema and {"type": "json_schema", "json_schema": json_schema(request.schema)},
        }
        given = {name: value for name, value in settings.items() if value is not None}
        messages = chat_messages(request, with_reasoning=not endpoint.is_vendors)
        return {"model": endpoint.model, "messages": messages, **given}

    def reply(self, body: bytes, payload: dict[str, Any]) -> Reply:
        found = DECODER.decode(body)
        if not found.choices:
            raise msgspec.ValidationError("it holds no choice")
        choice = found.choices[0]
        items = items_of(choice.message, found.id or "")
        if not items and choice.finish_reason is None:
            raise msgspec.ValidationError("it holds neither words nor a reason to stop")
        return Reply(
            id=found.id or "",
            model=found.model or "",
            items=items,
            usage=usage_of(found.usage) if found.usage else None,
            incomplete=CUT.get(choice.finish_reason or ""),
        )


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A Responses function tool as chat declares it; `strict` only when it was set."""
    names = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {name: tool[name] for name in names if tool.get(name) is not None}}


def chat_messages(request: Request, *, with_reasoning: bool) -> list[Message]:
    """The conversation as chat messages: what the assistant does in one go is one message."""
    messages: list[Message] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    for item in request.input:
        if item.get("type") == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": str(item.get("output", ""))})
        elif (role := item.get("role", "assistant")) != "assistant":
            messages.append({"role": role, "content": message_text(item)})
        else:
            add_to_assistant(messages, item, with_reasoning=with_reasoning)
    return messages


def add_to_assistant(messages: list[Message], item: Item, *, with_reasoning: bool) -> None:
    """Adds one of the assistant's items to the message it belongs to."""
    kind = item.get("type", "message")
    if kind == "reasoning" and not with_reasoning:
        return
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    last = messages[-1]
    if kind == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        last.setdefault("tool_calls", []).append({"id": item["call_id"], "type": "function", "function": function})
    elif kind == "reasoning":
        thought = "\n".join(part.get("text", "") for part in item.get("summary") or [])
        last["reasoning_content"] = last.get("reasoning_content", "") + thought
    else:
        last["content"] = (last["content"] or "") + message_text(item)


def items_of(said: Said, id: str) -> list[Item]:
    """What a chat message holds, as Responses items."""
    items: list[Item] = []
    if thought := said.reasoning_content or said.reasoning:
        items.append(reasoning_item(thought, id=f"rs_{id}"))
    if text := message_text({"content": said.content}) or said.refusal:
        items.append(assistant_message(text, id=f"msg_{id}"))
    for number, call in enumerate(said.tool_calls or []):
        given = call.function.arguments
        arguments = given if isinstance(given, str) else msgspec.json.encode(given or {}).decode()
        items.append(function_call(call.function.name, arguments, call_id=call.id or f"call_{id}_{number}"))
    return items


def usage_of(tokens: Tokens) -> Usage:
    return Usage(
        input_tokens=token_count(tokens.prompt_tokens),
        output_tokens=token_count(tokens.completion_tokens),
        total_tokens=token_count(tokens.total_tokens),
        cached_tokens=detail(tokens.prompt_tokens_details, "cached_tokens"),
        reasoning_tokens=detail(tokens.completion_tokens_details, "reasoning_tokens"),
    )
