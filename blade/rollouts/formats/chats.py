"""Messages, however a tracer wrote them down, in the chat dialect."""

from collections.abc import Iterator
from typing import Any

from blade.rollouts.formats.coercion import arguments_text, content_text, json_text, text_or_none
from blade.rollouts.formats.files import ANYTHING, BROKEN


def calls_of(message: dict[str, Any]) -> Iterator[tuple[str | None, str | None, str]]:
    """The calls a message makes: id, tool and arguments."""
    for call in message.get("tool_calls") or ():
        if isinstance(call, dict):
            inner = call.get("function")
            function = inner if isinstance(inner, dict) else call
            yield (
                text_or_none(call.get("id")),
                text_or_none(function.get("name")),
                arguments_text(function.get("arguments")),
            )


def key_of(message: dict[str, Any]) -> str:
    """What makes two messages the same: who says what and calls what."""
    made = [(name, arguments) for _, name, arguments in calls_of(message)]
    return json_text([message.get("role"), content_text(message.get("content")), made])


def decoded(value: Any) -> Any:
    """A value that may be JSON in a text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return ANYTHING.decode(value)
    except BROKEN:
        return value


def chat(value: Any, role: str) -> list[dict[str, Any]]:
    """Messages, however a tracer wrote them down: a list of them, a request or response around them, a text."""
    value = decoded(value)
    if isinstance(value, dict):
        for key in ("messages", "input", "choices", "generations", "output"):
            if isinstance(value.get(key), list):
                return chat(value[key], role)
        inner = value.get("message")
        if isinstance(inner, dict):
            return chat(inner, role)
        if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
            return [from_langchain(value)]
        if "role" in value or ("type" in value and "content" in value):
            return [one_message(value, role)]
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        if value and all(isinstance(each, dict | list) for each in value):
            return [message for each in value for message in chat(each, role)]
        return [{"role": role, "content": value}] if value else []
    return [{"role": role, "content": value}] if value not in (None, "") else []


LANGCHAIN = {"human": "user", "ai": "assistant", "aimessagechunk": "assistant", "chat": "user", "function": "tool"}
PARTS = {"text", "image_url", "input_text", "output_text", "image"}


def from_langchain(value: dict[str, Any]) -> dict[str, Any]:
    """A message as LangChain serialises it: the class in `id`, what it holds in `kwargs`."""
    kwargs = value["kwargs"]
    name = str(kwargs.get("type") or (value["id"][-1] if value["id"] else "")).lower().removesuffix("message")
    return one_message({**kwargs, "role": LANGCHAIN.get(name, name)}, "user")


def one_message(value: dict[str, Any], role: str) -> dict[str, Any]:
    """One message in the chat dialect; also LangChain's flat form (`type`, `args`) and the parts of GenAI spans."""
    spoken = value.get("role") or LANGCHAIN.get(str(value.get("type")), value.get("type"))
    if spoken in PARTS:
        return {"role": role, "content": [value]}
    if isinstance(value.get("parts"), list):
        return from_parts(value, str(spoken or role))
    calls = [
        {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")} if "args" in call else call
        for call in value.get("tool_calls") or ()
        if isinstance(call, dict)
    ]
    return {**value, "role": spoken or role, "tool_calls": calls}


def from_parts(value: dict[str, Any], role: str) -> dict[str, Any]:
    """A message of the GenAI conventions: text, reasoning, calls and answers are parts of it."""
    content: list[Any] = []
    calls: list[dict[str, Any]] = []
    for part in value["parts"]:
        if not isinstance(part, dict):
            continue
        kind = part.get("type")
        if kind == "tool_call":
            calls.append({"id": part.get("id"), "name": part.get("name"), "arguments": part.get("arguments")})
        elif kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            return {"role": "tool", "tool_call_id": part.get("id"), "content": content_text(answer)}
        elif kind == "reasoning":
            content.append({"type": "reasoning", "reasoning": content_text(part.get("content"))})
        else:
            content.append({"type": "text", "text": content_text(part.get("content", part))})
    return {"role": role, "content": content, "tool_calls": calls}
