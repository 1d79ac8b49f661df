"""Tools for models that were never taught to call any: described in the system text, called by writing a line.

A wrapper around a model: whoever asks still hands over function tools and still gets `function_call` items back, so an
agent loop cannot tell the difference. The model sees

    CALL find_contact {"name": "Jun Park"}

as the form of a call, and `RESULT …` as what a tool answers. What it writes before the call stays a message; what it
writes after it is dropped, because a tool must speak first.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from blade.llm.model import Item, Model, Reply, Request, assistant_message, function_call, message_text, user_message

CALL = re.compile(r"^[ \t>*`]*CALL[: \t]+`?(?P<name>[A-Za-z_][\w.-]*)`?[ \t(]*(?P<rest>.*)", re.MULTILINE | re.DOTALL)
ToolStyle = Literal["native", "text"]
"""How a model calls tools: as its API has it, or by lines of text."""
DECODER = json.JSONDecoder()

HOW = """\
You have tools. To use one, write a single line with CALL, the tool's name and its arguments as JSON, and stop there:
CALL tool_name {"argument": "value"}
The next message then begins with RESULT and holds what the tool answered. Call one tool at a time. When everything is \
done, answer without CALL.

Tools:
"""


class TextToolModel:
    """A model that calls tools in plain text."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._model.name

    async def ask(self, request: Request) -> Reply:
        """The reply, with a line that calls a tool turned into a function call."""
        if not request.tools:
            return await self._model.ask(request)
        reply = await self._model.ask(in_text(request))
        return in_items(reply)

    async def close(self) -> None:
        """Lets go of connections."""
        await self._model.close()


def in_text(request: Request) -> Request:
    """The same request without tools in it: their list in the system text, calls and results as messages."""
    system = [item for item in request.input if item.get("role") == "system"]
    rest = [item for item in request.input if item.get("role") != "system"]
    said = "\n\n".join([request.instructions or "", *map(message_text, system)]).strip()
    return msgspec.structs.replace(
        request,
        instructions=f"{said}\n\n{HOW}{describe(request.tools)}".strip(),
        input=merged([as_message(item) for item in rest]),
        tools=[],
    )


def describe(tools: Sequence[Mapping[str, Any]]) -> str:
    """One line a tool: its name, its arguments and what it does."""
    lines = []
    for tool in tools:
        properties = (tool.get("parameters") or {}).get("properties") or {}
        arguments = ", ".join(f"{name} ({kind_of(value)})" for name, value in properties.items()) or "no arguments"
        lines.append(f"- {tool['name']}: {arguments}. {tool.get('description') or ''}".rstrip())
    return "\n".join(lines)


def kind_of(schema: Mapping[str, Any]) -> str:
    """What an argument may be, in a few words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = schema.get("type", "value")
    return "/".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def as_message(item: Item) -> Item:
    """A call or a result as the message it would have been in text; messages as they are."""
    if item.get("type") == "function_call":
        return {"type": "message", "role": "assistant", "content": f"CALL {item['name']} {item['arguments']}"}
    if item.get("type") == "function_call_output":
        return user_message(f"RESULT {item['output']}")
    return {"type": "message", "role": item.get("role", "assistant"), "content": message_text(item)}


def merged(messages: Sequence[Item]) -> list[Item]:
    """Neighbouring messages of one speaker as one; templates of small models know only turns."""
    turns: list[Item] = []
    for message in messages:
        if turns and turns[-1]["role"] == message["role"]:
            both = f"{turns[-1]['content']}\n{message['content']}".strip()
            turns[-1] = {**turns[-1], "content": both}
        elif message["content"]:
            turns.append(message)
    return turns


def in_items(reply: Reply) -> Reply:
    """The reply with the call its text makes, if it makes one."""
    match = CALL.search(reply.text)
    if match is None:
        return reply
    before = reply.text[: match.start()].strip()
    call = function_call(match["name"], arguments_in(match["rest"]), call_id=f"call_{reply.id}")
    thought = [item for item in reply.items if item.get("type") == "reasoning"]
    said = [assistant_message(before, id=f"msg_{reply.id}")] if before else []
    # An answer that was cut behind a whole call was not cut short of anything.
    return msgspec.structs.replace(reply, items=[*thought, *said, call], incomplete=None)


def arguments_in(text: str) -> str:
    """The first JSON object of a text; where there is none, its first line, for the tool to refuse."""
    start = text.find("{")
    if 0 <= start <= len(text.partition("\n")[0]):
        try:
            value, _ = DECODER.raw_decode(text, start)
            return json.dumps(value, ensure_ascii=False)
        except json.JSONDecodeError:
            pass
    return text.partition("\n")[0].strip().rstrip(")`") or "{}"
