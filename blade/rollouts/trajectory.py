"""One row read in full: its trajectory as a flat list of typed items, and everything else it says.

Positions are numbered over prompt and output together, by the same `steps` that the table's facts use, so a
citation made from the table points at the right item.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from blade.rollouts.batch import Batch
from blade.rollouts.conform import BadRow, decode_any, mended_items
from blade.rollouts.formats import Format
from blade.rollouts.layout import RawItem
from blade.rollouts.steps import (
    CALL,
    CHAT_CALLS,
    ENVIRONMENT,
    KINDS,
    MESSAGE,
    RESULT,
    UNDECODABLE,
    Trajectory,
    expanded,
    is_blank,
    kind_of,
    name_of,
    payload_of,
    split_prompt,
    text_of,
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


ANY = msgspec.json.Decoder(Any)
BESIDE: msgspec.json.Decoder[Beside | None] = msgspec.json.Decoder(Beside | None)
ITEMS: msgspec.json.Decoder[Trajectory] = msgspec.json.Decoder(list[RawItem] | str | None)
TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
Stored = list[dict[str, Any]] | str | None
"""Items as a row keeps them, a text in their place, or nothing."""


def read_record(data: bytes) -> dict[str, Any]:
    """The row's JSON; a row that stopped being an object since it was indexed raises `BadRow`."""
    record = decode_any(data)
    if not isinstance(record, dict):
        raise BadRow("is not an object any more; run diagnose again")
    return record


def read_row(data: bytes, form: Format) -> tuple[dict[str, Any], list[Item]]:
    """A row without its trajectory, and the trajectory, prompt first."""
    record, prompt, output = read_parts(data, form)
    return record, typed_items(prompt, output, form)


def read_parts(data: bytes, form: Format) -> tuple[dict[str, Any], Trajectory, Trajectory]:
    """A row without its trajectory, its prompt and its output.

    Of the objects that hold prompt and output only what a diagnosis looks at is decoded; a row in an unusual shape is
    decoded whole.
    """
    if form.prompt is None and form.output is None:
        return read_record(data), None, None
    try:
        fields = TOP.decode(data)
        prompt, output = (items_at(fields, path) for path in (form.prompt, form.output))
        return beside_items(fields, form), *parted(prompt, output, form)
    except UNDECODABLE:
        record = read_record(data)
        return record, *stored_parts(record, form)


def read_beside(data: bytes, form: Format) -> dict[str, Any]:
    """A row without its trajectory; nothing of one that cannot be decoded whole."""
    try:
        return beside_items(TOP.decode(data), form)
    except UNDECODABLE:
        try:
            return read_record(data)
        except BadRow:
            return {}


def beside_items(fields: dict[str, msgspec.Raw], form: Format) -> dict[str, Any]:
    """What a row says besides its trajectory, which a format of conversations keeps: it may tell their end by words."""
    record: dict[str, Any] = {}
    paths = [path for path in (form.prompt, form.output) if path is not None]
    holders = {path.split(".")[0] for path in paths if "." in path}
    for name, raw in fields.items():
        if name in holders:
            record[name] = msgspec.to_builtins(BESIDE.decode(raw))
        elif name not in paths or form.prompt is None:
            record[name] = ANY.decode(raw)
    return record


def items_at(fields: dict[str, msgspec.Raw], path: str | None) -> Trajectory:
    """The items at a path; a path that leads nowhere leads to none."""
    if path is None:
        return None
    *above, last = path.split(".")
    for name in above:
        fields = (TOP.decode(fields[name]) or {}) if name in fields else {}
    if last not in fields:
        return None
    items = ITEMS.decode(fields[last])
    for item in items if isinstance(items, list) else ():
        if not is_blank(item.tool_calls):
            CHAT_CALLS.decode(item.tool_calls)  # odd ones are mended where rows are decoded whole
    return items


def parted(prompt: Trajectory, output: Trajectory, form: Format) -> tuple[Trajectory, Trajectory]:
    """Prompt and output, also of a format whose output holds both."""
    return (prompt, output) if form.prompt is not None else split_prompt(output)


def typed_items(prompt: Trajectory, output: Trajectory, form: Format) -> list[Item]:
    """Stored steps as values, with their texts."""
    before, after = expanded(prompt, prompt=True), expanded(output, prompt=False)
    kinds = [kind_of(step.type, step.role, prompt=False) for step in after]
    after, kinds = among_agents(after, kinds)
    kinds = [kind_of(step.type, step.role, prompt=True) for step in before] + kinds
    names: dict[str, str | None] = {}
    return [
        typed_item(step, kind, position, form, names=names, prompt=position < len(before))
        for position, (step, kind) in enumerate(zip([*before, *after], kinds, strict=True))
    ]


def typed_item(
    step: RawItem, kind: int, position: int, form: Format, *, names: dict[str, str | None], prompt: bool
) -> Item:
    """A stored step as a value; `names` remembers which tool each call is of, for the results that follow."""
    call_id, name, text = step.call_id or step.tool_call_id, step.name, text_of(payload_of(step, kind))
    if kind == CALL:
        if call_id is not None:
            names[call_id] = name
        name = name_of(step, kind)
    elif kind == RESULT:
        name = name or names.get(call_id or "")
    return Item(
        position=position,
        kind=KINDS[kind],
        role=None if kind in (CALL, RESULT) else step.role,
        name=name,
        text=text,
        call_id=call_id,
        prompt=prompt,
        error=error_in(step, kind, text, form),
        agent=text_of(step.agent) or None,
    )


def error_in(step: RawItem, kind: int, text: str, form: Format) -> str | None:
    """The error of a step: one that it states, or its form says that the call failed: an opening, or `{"error": …}`."""
    if step.error and (stated := text_of(step.error)):
        return stated
    if kind != RESULT:
        return None
    said = text.lstrip()
    if form.error_opening is not None and said.startswith(form.error_opening):
        return said.split("\n", 1)[0]
    return stated_error(said) if ERROR_OBJECT.match(said) else None


def stated_error(text: str) -> str | None:
    """What a JSON object says under `error`; `None` where that is nothing."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, dict) else None
    if error in (None, "", False, [], {}):
        return None
    return error if isinstance(error, str) else msgspec.json.encode(error).decode()


def read_items(record: dict[str, Any], form: Format) -> list[Item]:
    """The trajectory of a decoded row, prompt first."""
    return typed_items(*stored_parts(record, form), form)


def stored_parts(record: dict[str, Any], form: Format) -> tuple[Trajectory, Trajectory]:
    """Prompt and output of a decoded row."""
    prompt, output = (
        ITEMS.decode(msgspec.json.encode(stored_items(record, path))) for path in (form.prompt, form.output)
    )
    return parted(prompt, output, form)


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


def among_agents(steps: Sequence[RawItem], kinds: Sequence[int]) -> tuple[list[RawItem], list[int]]:
    """The steps of an output with their speakers as agents, where messages carry at least two names; and their kinds.

    Such logs are written from one agent's side, where all the others are `user`. One that runs the others' code is no
    agent: its messages are results, and AutoGen's say by their form whether the code failed.
    """
    steps, kinds = list(steps), list(kinds)
    spoken = [at for at, step in enumerate(steps) if step.name and kinds[at] in (MESSAGE, ENVIRONMENT)]
    if len({steps[at].name for at in spoken}) < 2:
        return steps, kinds
    texts = {at: text_of(steps[at].content) for at in spoken}
    executors = {steps[at].name for at in spoken if EXECUTED.match(texts[at])}
    for at in spoken:
        kinds[at] = RESULT if steps[at].name in executors else MESSAGE
        steps[at] = as_result(steps[at], texts[at]) if kinds[at] == RESULT else as_message(steps[at])
    return steps, kinds


def as_message(step: RawItem) -> RawItem:
    """What an agent says to others."""
    agent = step.agent if text_of(step.agent) else msgspec.Raw(msgspec.json.encode(step.name))
    return msgspec.structs.replace(step, name=None, agent=agent)


def as_result(step: RawItem, text: str) -> RawItem:
    """What became of code that was run."""
    ran = EXECUTED.match(text)
    failed = ran is not None and ran[1] != "0" and is_blank(step.error)
    error = msgspec.Raw(msgspec.json.encode(text.strip().splitlines()[-1])) if failed else step.error
    return msgspec.structs.replace(step, output=step.content, error=error)


def batch_among_agents(batch: Batch) -> Batch:
    """The batch with speakers as agents in rows whose messages carry at least two names."""
    spoken = np.flatnonzero(np.isin(batch.kinds, (MESSAGE, ENVIRONMENT)))
    named = [at for at in spoken.tolist() if batch.steps[at].name]
    if not named:
        return batch
    steps, kinds = list(batch.steps), batch.kinds.copy()
    for row in np.unique(batch.row[named]).tolist():
        own = batch.span(row)
        steps[own], kinds[own] = among_agents(steps[own], kinds[own].tolist())
    return Batch(steps, batch.row, kinds, batch.asked, batch.before)
