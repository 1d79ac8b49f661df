"""One row read in full: its trajectory as a flat list of typed items, and everything else it says.

Positions are numbered over prompt and output together, by the same `steps` that the table's facts use, so a
citation made from the table points at the right item.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from blade.rollouts.conform import BadRow, decode_any, mended_items
from blade.rollouts.conversations import among_agents
from blade.rollouts.formats import Format
from blade.rollouts.steps import CALL, KINDS, MESSAGE, REASONING, RESULT, kind_of
from blade.rollouts.values import Item

ERROR_OBJECT = re.compile(r'\{\s*"error"\s*:')
Stored = list[dict[str, Any]] | str | None
"""Items as a row keeps them, a text in their place, or nothing."""


def read_record(data: bytes) -> dict[str, Any]:
    """The row's JSON; a row that stopped being an object since it was indexed raises `BadRow`."""
    record = decode_any(data)
    if not isinstance(record, dict):
        raise BadRow("is not an object any more; run diagnose again")
    return record


def read_items(record: dict[str, Any], form: Format) -> list[Item]:
    """The trajectory of a decoded row, prompt first."""
    prompt, output = stored_items(record, form.prompt), stored_items(record, form.output)
    if form.prompt is None and isinstance(output, list):
        split = next((index for index, item in enumerate(output) if is_acting(item)), len(output))
        prompt, output = output[:split], output[split:]
    names: dict[str, str | None] = {}
    made = [make_item(item, names, position, prompt=True) for position, item in enumerate(steps(prompt, prompt=True))]
    after = enumerate(steps(output, prompt=False), len(made))
    made += [make_item(item, names, position, prompt=False) for position, item in after]
    return among_agents([with_error(item, form.error_opening) for item in made])


def stored_items(record: dict[str, Any], path: str | None) -> Stored:
    """The stored items at a path, flat and with names that are texts; nothing where they are something else."""
    value: Any = record if path else None
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    try:
        return mended_items(value, path=str(path))
    except BadRow:
        return None


def is_acting(item: dict[str, Any]) -> bool:
    """Whether the agent has begun: what came before is its prompt."""
    return item.get("type") not in (None, "message") or item.get("role") in ("assistant", "tool", "function", None)


def steps(items: Stored, *, prompt: bool) -> Iterator[dict[str, Any]]:
    """One item per step: a plain text is a message, a chat message with tool calls is the message and its calls."""
    if isinstance(items, str):
        yield {"role": "user" if prompt else "assistant", "content": items}
        return
    for item in items or ():
        stored = item.get("tool_calls")
        if stored in (None, "", []) or kind_of(item.get("type"), item.get("role"), prompt=False) != MESSAGE:
            yield item
            continue
        calls = chat_calls(stored)
        if not calls or item.get("content") not in (None, "", []):
            yield item
        yield from calls


def chat_calls(stored: Any) -> list[dict[str, Any]]:
    """The calls of a chat message as items; what is no list of calls is one call with all of it."""
    if not isinstance(stored, list) or not all(isinstance(call, dict) for call in stored):
        return [{"type": "function_call", "arguments": stored}]
    calls: list[dict[str, Any]] = []
    for call in stored:
        inner = call.get("function")
        function = inner if isinstance(inner, dict) else call
        name, call_id = function.get("name"), call.get("id")
        calls.append(
            {
                "type": "function_call",
                "name": name if isinstance(name, str) else None,
                "arguments": function.get("arguments"),
                "call_id": call_id if isinstance(call_id, str) else None,
            }
        )
    return calls


def make_item(item: dict[str, Any], names: dict[str, str | None], position: int, *, prompt: bool) -> Item:
    """A stored item as a value; `names` remembers which tool each call is of, for the results that follow."""
    stored = item.get("type")
    kind = kind_of(stored, item.get("role"), prompt=prompt)
    call_id, name = item.get("call_id") or item.get("tool_call_id"), item.get("name")
    role = None
    if kind == CALL:
        name = name or (stored if stored != "function_call" else None)
        payload = item.get("arguments")
        if call_id is not None:
            names[call_id] = item.get("name")
    elif kind == RESULT:
        name = name or names.get(call_id or "")
        payload = item.get("output", item.get("content"))
    else:
        role = item.get("role")
        payload = item.get("content")
        if kind == REASONING and item.get("summary") not in (None, "", []):
            payload = item["summary"]
    error, agent = item.get("error"), item.get("agent")
    return Item(
        position=position,
        kind=KINDS[kind],
        role=role,
        name=name,
        text=payload if isinstance(payload, str) else text_of(payload),
        call_id=call_id,
        prompt=prompt,
        error=None if error is None else text_of(error) or None,
        agent=None if agent is None else text_of(agent) or None,
    )


def text_of(content: Any) -> str:
    """The text of a content: a string, a list of parts, or something else as its JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    if isinstance(content, list) and all(isinstance(part, str | dict) for part in content):
        texts = [part if isinstance(part, str) else part.get("text") for part in content]
        if all(text is None or isinstance(text, str) for text in texts):
            return "\n".join([text or "" for text in texts])
    return text_of_json(content)


def with_error(item: Item, opening: str | None) -> Item:
    """A tool result with its error, where its form says that the call failed: the opening, or `{"error": …}`."""
    if item.kind != "tool_result" or item.error is not None:
        return item
    text = item.text.lstrip()
    if opening is not None and text.startswith(opening):
        return msgspec.structs.replace(item, error=text.split("\n", 1)[0])
    error = stated_error(text) if ERROR_OBJECT.match(text) else None
    return item if error is None else msgspec.structs.replace(item, error=error)


def stated_error(text: str) -> str | None:
    """What a JSON object says under `error`; `None` where that is nothing."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return None if error in (None, "", False, [], {}) else error if isinstance(error, str) else text_of_json(error)


def text_of_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
