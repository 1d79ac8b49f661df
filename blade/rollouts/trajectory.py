"""One row read in full: its trajectory as a flat list of typed items, and everything else it says.

Positions are numbered over prompt and output together, by the same `steps` that the table's facts use, so a
citation made from the table points at the right item.
"""

import contextlib
import functools
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from blade.rollouts.conform import BadRow, decode_any, mended_items
from blade.rollouts.formats import Format
from blade.rollouts.layout import RawItem
from blade.rollouts.steps import (
    CALL,
    CHAT_CALLS,
    KINDS,
    PLAIN_KINDS,
    REASONING,
    RESULT,
    UNDECODABLE,
    FullPart,
    Trajectory,
    expanded,
    is_blank,
    kind_of,
    name_of,
    split_prompt,
)
from blade.rollouts.values import Item

EXECUTED = re.compile(r"exitcode: (-?\d+) \(")
"""How AutoGen reports that it ran code."""
ERROR_OBJECT = re.compile(r'\{\s*"error"\s*:')


class Beside(msgspec.Struct, omit_defaults=True):
    """What is looked at of the objects that hold prompt and output: a request and a response."""

    error: Any = None
    incomplete_details: Any = None
    tools: Any = None


Text = str | list[FullPart]


class WholeItem(msgspec.Struct, gc=False):
    """A stored item of the usual form, decoded with its texts; of any other form, `RawItem` leaves them undecoded."""

    type: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: Text | None = None
    output: Text | msgspec.UnsetType = msgspec.UNSET
    summary: Text | None = None
    tool_calls: None = None
    call_id: str | None = None
    tool_call_id: str | None = None
    error: str | None = None
    agent: str | None = None


ANY = msgspec.json.Decoder(Any)
BESIDE: msgspec.json.Decoder[Beside | None] = msgspec.json.Decoder(Beside | None)
WHOLE: msgspec.json.Decoder[list[WholeItem]] = msgspec.json.Decoder(list[WholeItem])
ITEMS: msgspec.json.Decoder[Trajectory] = msgspec.json.Decoder(list[RawItem] | str | None)
TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
USUAL: msgspec.json.Decoder[str | list[FullPart]] = msgspec.json.Decoder(str | list[FullPart])
Stored = list[dict[str, Any]] | str | None
"""Items as a row keeps them, a text in their place, or nothing."""


def read_record(data: bytes) -> dict[str, Any]:
    """The row's JSON; a row that stopped being an object since it was indexed raises `BadRow`."""
    record = decode_any(data)
    if not isinstance(record, dict):
        raise BadRow("is not an object any more; run diagnose again")
    return record


def read_row(data: bytes, form: Format) -> tuple[dict[str, Any], list[Item]]:
    """A row without its trajectory, and the trajectory, prompt first.

    Of the objects that hold prompt and output only what a diagnosis looks at is decoded; a row in an unusual shape is
    decoded whole.
    """
    if form.prompt is None and form.output is None:
        return read_record(data), []
    try:
        fields = TOP.decode(data)
        record: dict[str, Any] = {}
        items: dict[str, Any] = {}
        for path in filter(None, (form.prompt, form.output)):
            top, dot, _ = path.partition(".")
            if dot and top in fields:
                record[top], items[path] = held(fields[top], path)
            else:
                items[path] = items_at(fields, path)
        prompt, output = items.get(form.prompt or ""), items.get(form.output or "")
        if form.prompt is None:
            prompt, output = split_prompt(output)
        for name, raw in fields.items():
            # A format of conversations may tell their end by its words.
            if name not in record and (name not in items or form.prompt is None):
                record[name] = ANY.decode(raw)
        return record, typed_items(prompt, output, form)
    except UNDECODABLE:
        record = read_record(data)
        return record, read_items(record, form)


def held(raw: msgspec.Raw, path: str) -> tuple[Any, Any]:
    """What is looked at of an object that holds items, and the items, in one look where they are of the usual form."""
    top, _, name = path.partition(".")
    if "." not in name and name not in Beside.__struct_fields__:
        with contextlib.suppress(*UNDECODABLE):
            whole = holder(name).decode(raw)
            return {
                key: value for key in Beside.__struct_fields__ if (value := getattr(whole, key)) is not None
            }, whole.items
    return msgspec.to_builtins(BESIDE.decode(raw)), items_at({top: raw}, path)


@functools.cache
def holder(name: str) -> msgspec.json.Decoder[Any]:
    """A decoder of objects that hold items of the usual form under a name."""
    items = ("items", list[WholeItem] | str | None, None)
    return msgspec.json.Decoder(msgspec.defstruct("Holder", [items], bases=(Beside,), rename={"items": name}))


def items_at(fields: dict[str, msgspec.Raw], path: str) -> Any:
    """The items at a path, whole where all are of the usual form; a path that leads nowhere leads to none."""
    *above, last = path.split(".")
    for name in above:
        if name not in fields:
            return None
        fields = TOP.decode(fields[name]) or {}
    if last not in fields:
        return None
    with contextlib.suppress(*UNDECODABLE):
        return WHOLE.decode(fields[last])
    items = ITEMS.decode(fields[last])
    for item in items if isinstance(items, list) else ():
        if not is_blank(item.tool_calls):
            CHAT_CALLS.decode(item.tool_calls)  # odd ones are mended where rows are decoded whole
    return items


def typed_items(prompt: Any, output: Any, form: Format) -> list[Item]:
    """Stored steps as values; the texts of half-decoded ones are decoded here."""
    names: dict[str, str | None] = {}
    before = expanded(prompt, prompt=True)
    made = [typed_item(item, names, position, True) for position, item in enumerate(before)]
    after = enumerate(expanded(output, prompt=False), len(made))
    made += [typed_item(item, names, position, False) for position, item in after]
    return among_agents([with_error(item, form.error_opening) if item.kind == "tool_result" else item for item in made])


def typed_item(item: Any, names: dict[str, str | None], position: int, prompt: bool) -> Item:
    """A stored step, whole or half decoded, as a value.

    `names` remembers which tool each call is of, for the results that follow.
    """
    kind = PLAIN_KINDS.get(item.type or "")
    if kind is None:
        kind = kind_of(item.type, item.role, prompt=prompt)
    call_id, name, role, payload = item.call_id or item.tool_call_id, item.name, item.role, item.content
    if kind == CALL:
        if call_id is not None:
            names[call_id] = name
        name, role, payload = name_of(item, kind), None, item.arguments
    elif kind == RESULT:
        name, role, payload = (
            name or names.get(call_id or ""),
            None,
            item.output if item.output or item.output in ("", []) else payload,
        )
    elif kind == REASONING:
        summary = item.summary
        blank = is_blank(summary) if isinstance(summary, msgspec.Raw) else not summary
        payload = payload if blank else summary
    return Item(
        position=position,
        kind=KINDS[kind],
        role=role,
        name=name,
        text=payload if isinstance(payload, str) else decoded_text(payload) if payload else "",
        call_id=call_id,
        prompt=prompt,
        error=(decoded_text(item.error) or None) if item.error else None,
        agent=(decoded_text(item.agent) or None) if item.agent else None,
    )


def decoded_text(stored: msgspec.Raw | Text) -> str:
    """The text of a content that was stored in parts or is not decoded, as `text_of` gives it of a decoded one."""
    found: Text
    if isinstance(stored, msgspec.Raw):
        try:
            found = USUAL.decode(stored)
        except UNDECODABLE:
            return text_of(ANY.decode(stored))
    else:
        found = stored
    if isinstance(found, str):
        return found
    return found[0].text if len(found) == 1 else "\n".join([part.text for part in found])


def read_items(record: dict[str, Any], form: Format) -> list[Item]:
    """The trajectory of a decoded row, prompt first."""
    prompt, output = (
        ITEMS.decode(msgspec.json.encode(stored_items(record, path))) for path in (form.prompt, form.output)
    )
    if form.prompt is None:
        prompt, output = split_prompt(output)
    return typed_items(prompt, output, form)


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


def among_agents(items: Sequence[Item]) -> list[Item]:
    """The items with their speakers as agents, where messages carry at least two names.

    Such logs are written from one agent's side, where all the others are `user`. One that runs the others' code is no
    agent: its messages are results, and AutoGen's say by their form whether the code failed.
    """
    spoken = [item for item in items if item.kind in ("message", "environment") and item.name and not item.prompt]
    if len({item.name for item in spoken}) < 2:
        return list(items)
    executors = {item.name for item in spoken if EXECUTED.match(item.text)}
    named = {id(item) for item in spoken}
    return [as_spoken(item, executors) if id(item) in named else item for item in items]


def as_spoken(item: Item, executors: set[str | None]) -> Item:
    if item.name not in executors:
        return msgspec.structs.replace(item, kind="message", agent=item.agent or item.name, name=None)
    ran = EXECUTED.match(item.text)
    error = item.text.strip().splitlines()[-1] if ran is not None and ran[1] != "0" else None
    return msgspec.structs.replace(item, kind="tool_result", role=None, error=item.error or error)
