"""One row read in full: its trajectory as a flat list of typed items, and everything else it says.

Positions are numbered over prompt and output together, by the same `steps` that the table's facts use, so a
citation made from the table points at the right item.
"""

import re
from typing import Any

import msgspec

from blade.rollouts.conform import BadRow, decode_any, mended_items
from blade.rollouts.conversations import among_agents
from blade.rollouts.formats import Format
from blade.rollouts.layout import RawItem
from blade.rollouts.steps import (
    CALL,
    KINDS,
    RESULT,
    Trajectory,
    expanded,
    kind_of,
    name_of,
    payload_of,
    split_prompt,
    text_of,
)
from blade.rollouts.values import Item

ERROR_OBJECT = re.compile(r'\{\s*"error"\s*:')
ITEMS: msgspec.json.Decoder[Trajectory] = msgspec.json.Decoder(list[RawItem] | str | None)


def read_record(data: bytes) -> dict[str, Any]:
    """The row's JSON; a row that stopped being an object since it was indexed raises `BadRow`."""
    record = decode_any(data)
    if not isinstance(record, dict):
        raise BadRow("is not an object any more; run diagnose again")
    return record


def read_items(record: dict[str, Any], form: Format) -> list[Item]:
    """The trajectory of a decoded row, prompt first."""
    prompt, output = raw_items(record, form.prompt), raw_items(record, form.output)
    if form.prompt is None:
        prompt, output = split_prompt(output)
    before, after = expanded(prompt, prompt=True), expanded(output, prompt=False)
    names = called_names(before + after)
    made = [make_item(item, names, position, prompt=True) for position, item in enumerate(before)]
    made += [make_item(item, names, position, prompt=False) for position, item in enumerate(after, len(before))]
    return among_agents([with_error(item, form.error_opening) for item in made])


def raw_items(record: dict[str, Any], path: str | None) -> Trajectory:
    """The stored items at a path, mended where they are nested or oddly typed."""
    value: Any = record if path else None
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    try:
        return ITEMS.decode(msgspec.json.encode(mended_items(value, path=str(path))))
    except BadRow:
        return None


def called_names(items: list[RawItem]) -> dict[str, str | None]:
    """Names of the tools that were called, by the id of the call."""
    calls = [item for item in items if kind_of(item, prompt=False) == CALL]
    return {item.call_id: item.name for item in calls if item.call_id is not None}


def make_item(item: RawItem, names: dict[str, str | None], position: int, *, prompt: bool) -> Item:
    kind = kind_of(item, prompt=prompt)
    call_id = item.call_id or item.tool_call_id
    name = name_of(item, kind) or (names.get(call_id or "") if kind == RESULT else None)
    payload = payload_of(item, kind)
    return Item(
        position=position,
        kind=KINDS[kind],
        role=item.role if kind not in (CALL, RESULT) else None,
        name=name,
        text=text_of(payload) if payload else "",
        call_id=call_id,
        prompt=prompt,
        error=text_of(item.error) or None if item.error else None,
        agent=text_of(item.agent) or None if item.agent else None,
    )


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
