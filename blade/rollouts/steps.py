"""The steps of a trajectory: one item is one step, whatever dialect it was stored in.

The table's facts and the full items of `trajectory` both number what `expanded` returns, so a position found by one
is the same step for the other. Texts stay undecoded: decoding them all would cost more than everything else.
"""

import contextlib
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.layout import RawItem
from blade.rollouts.values import ItemKind

MESSAGE, REASONING, CALL, RESULT, ENVIRONMENT = range(5)
KINDS: tuple[ItemKind, ...] = ("message", "reasoning", "tool_call", "tool_result", "environment")
PLAIN_KINDS = {"function_call": CALL, "function_call_output": RESULT, "reasoning": REASONING}
"""Kinds that follow from the stored type alone."""

TYPE, ARGUMENTS, CONTENT, OUTPUT, SUMMARY = map(attrgetter, ("type", "arguments", "content", "output", "summary"))

BLANK = frozenset({b"", b"null", b'""', b"[]"})
LONGEST_BLANK = 4

Trajectory = list[RawItem] | str | None


class ChatFunction(msgspec.Struct):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class ChatCall(msgspec.Struct):
    id: str | None = None
    function: ChatFunction | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class TextPart(msgspec.Struct, gc=False):
    text: str | None = None


class FullPart(msgspec.Struct, gc=False):
    text: str


CHAT_CALLS = msgspec.json.Decoder(list[ChatCall])
Content = str | list[str | TextPart] | TextPart | None
CONTENT_DECODER: msgspec.json.Decoder[Content] = msgspec.json.Decoder(Content)
USUAL_DECODER: msgspec.json.Decoder[list[Content]] = msgspec.json.Decoder(list[str | list[str | TextPart] | None])
UNDECODABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def expanded(items: Trajectory, *, prompt: bool) -> list[RawItem]:
    """One item per step: a plain text is a message, a chat message with tool calls is the message and its calls."""
    if items is None:
        return []
    if isinstance(items, str):
        return [RawItem(role="user" if prompt else "assistant", content=msgspec.Raw(msgspec.json.encode(items)))]
    if not any(item.tool_calls for item in items):
        return items
    return [step for item in items for step in message_and_calls(item)]


def message_and_calls(item: RawItem) -> list[RawItem]:
    """The message, unless it is nothing but its calls, and the calls as items of their own."""
    if kind_of(item.type, item.role, prompt=False) != MESSAGE or is_blank(item.tool_calls):
        return [item]
    calls = chat_calls(item.tool_calls)
    return calls if calls and is_blank(item.content) else [item, *calls]


def chat_calls(raw: msgspec.Raw) -> list[RawItem]:
    try:
        calls = CHAT_CALLS.decode(raw)
    except UNDECODABLE:
        return [RawItem(type="function_call", arguments=raw)]
    return [call_item(call, call.function or call) for call in calls]


def call_item(call: ChatCall, function: ChatFunction | ChatCall) -> RawItem:
    return RawItem(type="function_call", name=function.name, arguments=function.arguments, call_id=call.id)


def kind_of(stored: str | None, role: str | None, *, prompt: bool) -> int:
    """What a step of a stored type is. Who speaks decides: what is not the agent's is a tool's or the environment's."""
    if stored in PLAIN_KINDS:
        return PLAIN_KINDS[stored]
    if stored in (None, "message"):
        if role in (None, "assistant"):
            return MESSAGE
        if role in ("tool", "function"):
            return RESULT
    elif stored.endswith("_output"):
        return RESULT
    elif stored.endswith("_call"):
        return CALL
    return MESSAGE if prompt else ENVIRONMENT


def kinds_of(items: Sequence[RawItem]) -> npt.NDArray[np.int64]:
    """What each step of an output is."""
    kinds = np.fromiter(map(PLAIN_KINDS.get, map(TYPE, items), repeat(-1)), dtype=np.int64, count=len(items))
    others = np.flatnonzero(kinds < 0)
    kinds[others] = [kind_of(items[at].type, items[at].role, prompt=False) for at in others.tolist()]
    return kinds


def payload_of(item: RawItem, kind: int) -> msgspec.Raw:
    """The undecoded text of a step."""
    return payloads_of([item], kind)[0]


def payloads_of(items: Sequence[RawItem], kind: int) -> list[msgspec.Raw]:
    """The undecoded texts of steps of one kind."""
    if kind == CALL:
        return list(map(ARGUMENTS, items))
    if kind == RESULT:
        outputs = list(map(OUTPUT, items))
        return outputs if all(outputs) else [raw or item.content for raw, item in zip(outputs, items, strict=True)]
    if kind == REASONING:
        raws = list(map(SUMMARY, items))
        if min(map(len, raws), default=0) > LONGEST_BLANK:
            return raws
        return [item.content if is_blank(raw) else raw for raw, item in zip(raws, items, strict=True)]
    return list(map(CONTENT, items))


def name_of(item: RawItem, kind: int) -> str | None:
    """The tool a step calls; a built-in tool goes by the type of its call."""
    return item.name or (item.type if kind == CALL and item.type != "function_call" else None)


def split_prompt(items: Trajectory) -> tuple[Trajectory, Trajectory]:
    """A whole conversation as what came before the agent acted and what came after."""
    if not isinstance(items, list):
        return None, items
    split = next((index for index, item in enumerate(items) if is_acting(item)), len(items))
    return items[:split], items[split:]


def is_acting(item: RawItem) -> bool:
    return item.type not in (None, "message") or item.role in ("assistant", "tool", "function", None)


def is_blank(raw: msgspec.Raw) -> bool:
    """Whether an undecoded value holds nothing."""
    return len(raw) <= LONGEST_BLANK and bytes(raw) in BLANK


def is_longer(raw: msgspec.Raw, size: int) -> bool:
    """Whether the text of a content is sure to have more characters than so many; short ones are not worth a look."""
    if len(raw) <= size or len(raw) > 12 * size + 2:
        return len(raw) > size and bytes(memoryview(raw)[:1]) == b'"'
    data = bytes(raw)
    # An escape takes six bytes for a character at most, or twelve where there are two; others up to four.
    fewest = len(data) - 2 - 6 * data.count(b"\\")
    return data[:1] == b'"' and (fewest if data.isascii() else fewest // 4) > size


def text_of(raw: msgspec.Raw) -> str:
    """The text of a stored content: a string, a list of parts, or something else as its JSON; nothing for nothing."""
    if not raw:
        return ""
    try:
        content = CONTENT_DECODER.decode(raw)
    except UNDECODABLE:
        return json_text(raw)
    return json_text(raw) if isinstance(content, TextPart) and content.text is None else plain_text(content)


def json_text(raw: msgspec.Raw) -> str:
    """A value as its JSON; one that cannot be decoded as it stands."""
    try:
        return msgspec.json.encode(decode_any(bytes(raw))).decode()
    except BadRow:
        return bytes(raw).decode("utf-8", "replace")


def texts_of(raws: Sequence[msgspec.Raw]) -> list[str]:
    """The texts of many contents, decoded together where all are of the usual forms."""
    if all(raws):
        with contextlib.suppress(*UNDECODABLE):
            return list(map(plain_text, USUAL_DECODER.decode(b"[" + b",".join(raws) + b"]")))
    return list(map(text_of, raws))


def plain_text(content: Content) -> str:
    """The words of a decoded content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join([part if isinstance(part, str) else part.text or "" for part in content])
    return "" if content is None else content.text or ""
