"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, because decoding every text would cost more than everything else. The
positions are those of `trajectory.items`: both number the steps with `steps`.
"""

import re
from typing import Any, NamedTuple

import msgspec

from blade.rollouts.fields import RawItem
from blade.rollouts.patterns import codes_in

MESSAGE, REASONING, CALL, RESULT, ENVIRONMENT = range(5)
KINDS = ("message", "reasoning", "tool_call", "tool_result", "environment")

FACTS = (
    "items", "prompt_items", "messages", "reasoning", "tool_calls", "tool_results", "environment_turns",
    "text_bytes", "repeated_calls", "repeated_at", "tool_errors", "error_at", "ended_on_error", "final_kind",
    "final_at", "answer_bytes", "refused",
)  # fmt: skip
"""Columns of facts. Positions are -1 when there is none; `final_kind` is an index into `KINDS`, -1 for no output."""

BLANK = frozenset({b"", b"null", b'""', b"[]"})

TOOL_ERROR = re.compile(
    rb"""["\s]*(?:
        \{\s*\\*"(?:error|errors|exception|error_message)\\*"\s*:\s*(?!null|false|0|\\*"\\*"|\[\s*\]|\{\s*\})
      | [^\w"{]{0,4}(?:error|exception|traceback|fatal)\b
      | <tool_use_error>
      | exit\s+code:?\s*[1-9]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a tool's answer begins when the tool failed."""

REFUSAL = re.compile(
    r"""\b(?:
        i(?:['’]m|\sam)\s+sorry,?\s+(?:but\s+)?i\s+(?:can(?:no|['’])t|am\s+(?:unable|not\s+able))\s+
            (?:help|assist|comply|provide|fulfil|do\s+that|to\s+(?:help|assist|provide))
      | i\s+(?:can(?:no|['’])t|won['’]t|will\s+not)\s+(?:help\s+(?:you\s+)?with|assist|comply|fulfil)
      | i(?:['’]m|\sam)\s+(?:unable|not\s+able)\s+to\s+(?:help|assist|comply)
      | as\s+an\s+ai\b[^.]{0,40}\bi\s+can(?:no|['’])t
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""A final answer that declines the task; only its opening is looked at."""
REFUSAL_WINDOW = 300
REFUSAL_WORDS = ("sorry", "cannot", "can't", "can’t", "won't", "won’t", "will not", "unable", "not able")
"""One of these is in every refusal; looking for them first spares most answers the expression."""


class ChatFunction(msgspec.Struct):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class ChatCall(msgspec.Struct):
    id: str | None = None
    function: ChatFunction | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


Step = tuple[int, str | None, msgspec.Raw, RawItem | ChatCall | None]
"""Kind, tool name, undecoded text, and the stored item it comes from."""


class TextPart(msgspec.Struct):
    text: str | None = None


CHAT_CALLS = msgspec.json.Decoder(list[ChatCall])
CONTENT = msgspec.json.Decoder(str | list[str | TextPart] | TextPart | None)


class Mark(NamedTuple):
    """Item `item` of row `row` says what pattern `code` looks for."""

    row: int
    code: int
    item: int


def steps(items: list[RawItem] | str | None, *, prompt: bool) -> list[Step]:
    """Kind, tool name and undecoded text of every step; a chat message with tool calls is several steps."""
    if not isinstance(items, list):
        return [] if items is None else [(MESSAGE, None, msgspec.Raw(msgspec.json.encode(items)), None)]
    out: list[Step] = []
    for item in items:
        kind = item.type
        if kind is None or kind == "message":
            out.extend(chat_steps(item, prompt=prompt))
        elif kind == "function_call":
            out.append((CALL, item.name, item.arguments, item))
        elif kind == "function_call_output":
            out.append((RESULT, item.name, item.output, item))
        elif kind == "reasoning":
            out.append(
                (REASONING, None, item.content if bytes(item.summary) in BLANK else item.summary, item)
            )
        elif kind.endswith("_output"):
            out.append((RESULT, item.name, item.output, item))
        elif kind.endswith("_call"):
            out.append((CALL, item.name or kind, item.arguments, item))
        else:
            out.append((MESSAGE if prompt else ENVIRONMENT, item.name, item.content, item))
    return out


def chat_steps(item: RawItem, *, prompt: bool) -> list[Step]:
    """A message, and the tool calls a chat-style assistant message carries."""
    if item.role in ("tool", "function"):
        return [(RESULT, item.name, item.content, item)]
    if item.role not in ("assistant", None):
        return [(MESSAGE if prompt else ENVIRONMENT, None, item.content, item)]
    calls = chat_calls(item.tool_calls)
    if calls and bytes(item.content) in BLANK:
        return calls
    return [(MESSAGE, None, item.content, item), *calls]


def chat_calls(raw: msgspec.Raw) -> list[Step]:
    if bytes(raw) in BLANK:
        return []
    try:
        calls = CHAT_CALLS.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return [(CALL, None, raw, None)]
    return [call_step(call) for call in calls]


def call_step(call: ChatCall) -> Step:
    function = call.function
    if function is None:
        return (CALL, call.name, call.arguments, call)
    return (CALL, function.name, function.arguments, call)


def leading_prompt(items: list[RawItem] | str | None) -> int:
    """How many items of a whole conversation came before the agent acted."""
    if not isinstance(items, list):
        return 0
    for index, item in enumerate(items):
        if item.type not in (None, "message") or item.role in ("assistant", "tool", "function", None):
            return index
    return len(items)


class Facts(NamedTuple):
    """What is known of one row's trajectory."""

    values: tuple[int, ...]
    first_tool: str | None


NO_FACTS = Facts((0,) * 9 + (-1, 0, -1, 0, -1, -1, 0, 0), None)


def facts_of(prompt: list[Step], output: list[Step]) -> Facts:
    """Counts and endings of one trajectory, in the order of `FACTS`."""
    counts = [0] * len(KINDS)
    text = errors = 0
    error_at = last_result = last_error = repeated_at = -1
    repeated = 0
    answer: msgspec.Raw | None = None
    first_tool: str | None = None
    seen: dict[tuple[str | None, bytes], int] = {}
    position = len(prompt)
    for kind, name, payload, _ in output:
        counts[kind] += 1
        if kind == CALL:
            call = (name, bytes(payload))
            times = seen[call] = seen.get(call, 0) + 1
            if times > repeated:
                repeated, repeated_at = times, position
            if first_tool is None:
                first_tool = name
        elif kind == RESULT:
            last_result = position
            if TOOL_ERROR.match(bytes(memoryview(payload)[:120])):
                errors += 1
                last_error = position
                error_at = position if error_at < 0 else error_at
        elif kind != ENVIRONMENT:
            text += len(memoryview(payload))
            if kind == MESSAGE:
                answer = payload
        position += 1
    ended_on_error = int(
        last_error >= 0 and last_error == last_result and not called_after(output, last_error - len(prompt))
    )
    final = output[-1][0] if output else -1
    size, refused = answer_facts(answer)
    values = (
        position, len(prompt), *counts, text, repeated, repeated_at, errors, error_at, ended_on_error, final,
        position - 1 if output else -1, size, refused,
    )  # fmt: skip
    return Facts(values, first_tool)


def called_after(output: list[Step], index: int) -> bool:
    return any(kind == CALL for kind, _, _, _ in output[index + 1 :])


def answer_facts(answer: msgspec.Raw | None) -> tuple[int, int]:
    """Length of the final answer without its thinking, and whether it declines the task."""
    if answer is None or len(memoryview(answer)) <= 2:
        return 0, 0
    said = split_thinking(text_of(answer))[1].strip()
    return len(said.encode("utf-8", "replace")), int(is_refusal(said))


def is_refusal(said: str) -> bool:
    """Whether an answer opens by declining the task."""
    opening = said[:REFUSAL_WINDOW].lower()
    return any(word in opening for word in REFUSAL_WORDS) and REFUSAL.search(opening) is not None


def text_of(raw: Any) -> str:
    """The text of a stored content: a string, a list of parts, or something else as its JSON."""
    data = bytes(raw)
    try:
        content = CONTENT.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return loose_text(data)
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(part if isinstance(part, str) else part.text or "" for part in parts)


def loose_text(data: bytes) -> str:
    """The JSON itself, for contents that are neither text nor parts."""
    return data.decode("utf-8", "replace")


def split_thinking(text: str) -> tuple[str, str]:
    """The thought inside `<think>` tags and the answer after it.

    A missing opening tag was eaten by a chat template; a missing closing tag means the thought never ended.
    """
    before, closed, after = text.rpartition("</think>")
    if closed:
        return before.replace("<think>", "", 1).strip(), after
    answer, opened, thought = text.partition("<think>")
    return (thought.strip(), answer) if opened else ("", text)


def marks_of(output: list[Step], codes: set[int], *, row: int, first: int) -> list[Mark]:
    """The items of the output that confirm a pattern: what tools and the environment said, and short messages."""
    found: list[Mark] = []
    for position, (kind, _, payload, _) in enumerate(output, start=first):
        if kind in (RESULT, ENVIRONMENT, MESSAGE):
            for code in codes_in(memoryview(payload), codes, message=kind == MESSAGE):
                found.append(Mark(row, code, position))
    return found
