"""One row read in full: its trajectory as a flat list of typed items, and everything else it says.

Positions are numbered over prompt and output together, by the same `steps` that the table's facts use, so a
citation made from the table points at the right item.
"""

import contextlib
from typing import Any

import msgspec

from blade.rollouts.conform import BadRow, conform, decode_any
from blade.rollouts.features import CALL, KINDS, RESULT, ChatCall, Step, leading_prompt, steps, text_of
from blade.rollouts.fields import Leaf, RawItem, Tree, graft
from blade.rollouts.formats import Format
from blade.rollouts.values import Item

ITEMS = msgspec.json.Decoder(list[RawItem] | str | None)


def read_record(data: bytes) -> dict[str, Any]:
    """The row's JSON; a row that stopped being an object since it was indexed raises `BadRow`."""
    record = decode_any(data)
    if not isinstance(record, dict):
        raise BadRow("is not an object any more; run diagnose again")
    return record


def read_items(record: dict[str, Any], form: Format) -> list[Item]:
    """The trajectory of a decoded row, prompt first."""
    prompt, output = raw_items(record, form.prompt), raw_items(record, form.output)
    if form.prompt is None and isinstance(output, list):
        split = leading_prompt(output)
        prompt, output = output[:split], output[split:]
    before, after = steps(prompt, prompt=True), steps(output, prompt=False)
    named = name_results(before + after)
    return [make_item(step, position, prompt=position < len(before)) for position, step in enumerate(named)]


def raw_items(record: dict[str, Any], path: str | None) -> list[RawItem] | str | None:
    """The stored items at a path, mended where they are nested or oddly typed."""
    if path is None:
        return None
    tree: Tree = {}
    graft(tree, path, Leaf.ITEMS)
    value: Any = {}
    with contextlib.suppress(BadRow):
        value = conform(record, tree, path="")
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return ITEMS.decode(msgspec.json.encode(value))


def name_results(found: list[Step]) -> list[Step]:
    """Tool results with the name of the tool that was called, where ids tell."""
    names = {call_id(step): step[1] for step in found if step[0] == CALL and call_id(step) is not None}
    return [
        (kind, name or names.get(call_id((kind, name, raw, origin))), raw, origin)
        if kind == RESULT
        else (kind, name, raw, origin)
        for kind, name, raw, origin in found
    ]


def call_id(step: Step) -> str | None:
    origin = step[3]
    if isinstance(origin, ChatCall):
        return origin.id
    return None if origin is None else origin.call_id or origin.tool_call_id


def make_item(step: Step, position: int, *, prompt: bool) -> Item:
    kind, name, raw, origin = step
    role = origin.role if isinstance(origin, RawItem) else "user" if prompt else "assistant"
    return Item(
        position=position,
        kind=KINDS[kind],
        role=role if kind not in (CALL, RESULT) else None,
        name=name,
        text=text_of(raw) if len(memoryview(raw)) else "",
        call_id=call_id(step),
        prompt=prompt,
    )
