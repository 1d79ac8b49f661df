"""The numbers of one row: its key, who made it, every number in it, and nothing of its trajectory.

Values are told apart by their first byte and decoded only when they are numbers, so a long response costs a scan.
"""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.sources import damage_errors, open_stream

TASK, REPEAT, AGENT = "_ng_task_index", "_ng_rollout_index", "agent_ref"
FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
SHORT = 64
NUMBERS = frozenset(b"-0123456789tf")
"""First bytes of a JSON value that is a number or a flag."""
LARGEST = 1e150
"""Numbers beyond it have squares that no float holds."""

Task = int | str
Key = tuple[Task, int]


class Response(msgspec.Struct, frozen=True):
    """The one part of a response that is counted."""

    usage: dict[str, Any] | None = None


USAGE = msgspec.json.Decoder(Response)


class Line(NamedTuple):
    """A line of a file and where it stands."""

    data: bytes
    number: int
    """From 1."""
    offset: int


class Row(NamedTuple):
    """What is counted of one rollout."""

    key: Key
    agent: str | None
    numbers: dict[str, int | float]
    """Every number of the row, and those of its usage; where both have a name, usage's."""
    info: dict[str, Any]
    """The same for the profile, where the row's own number wins."""
    fields: Mapping[str, msgspec.Raw]
    is_counted: bool = False
    """Whether its repeat is how often its task came before."""


def read_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The lines of a file that are not blank, plain or compressed; of a range, counted from its beginning."""
    try:
        with open_stream(path) as stream:
            offset = start
            if start:
                stream.seek(start)
            for number, data in enumerate(stream, 1):
                if end is not None and offset >= end:
                    return
                if data.strip():
                    yield Line(data, number, offset)
                offset += len(data)
    except damage_errors() as error:
        raise InputError(f"{path}: cannot be read to its end: {error}.") from error


def parse_row(data: bytes, counter: dict[str, int]) -> Row:
    """A row's key and numbers. Rows without indices are told apart by their request and numbered by occurrence."""
    fields = raw_fields(data)
    named = key_of(fields)
    key = named or counted_key(fields, counter)
    own = {name: number for name, raw in fields.items() if (number := number_in(raw)) is not None}
    for name in (TASK, REPEAT):
        own.pop(name, None)
    usage = usage_of(fields)
    info = {"rollout_id": f"{key[0]}:{key[1]}", TASK: key[0], REPEAT: key[1]}
    reward = {"reward": own["reward"]} if "reward" in own else {}
    numbers = {name: int(value) if isinstance(value, bool) else value for name, value in own.items()}
    everything = {**info, **reward, **usage, **numbers}
    return Row(key, agent_of(fields), {**numbers, **usage}, everything, fields, named is None)


def raw_fields(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        return FIELDS.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode_any(data)
        if not isinstance(value, dict):
            raise BadRow("is not an object") from None
        return FIELDS.decode(msgspec.json.encode(value))


def key_of(fields: Mapping[str, msgspec.Raw]) -> Key | None:
    task, repeat = plain(fields.get(TASK)), plain(fields.get(REPEAT))
    if not isinstance(task, int | str) or isinstance(task, bool) or not isinstance(repeat, int):
        return None
    return task, repeat


def counted_key(fields: Mapping[str, msgspec.Raw], counter: dict[str, int]) -> Key:
    asked = fields.get("responses_create_params")
    if asked is None:
        raise BadRow(f"has neither {TASK} and {REPEAT} nor responses_create_params to identify its task")
    task = blake2b(bytes(asked), digest_size=6).hexdigest()
    counter[task] = counter.get(task, -1) + 1
    return task, counter[task]


def number_in(raw: msgspec.Raw) -> int | float | None:
    """A number or flag; None for anything else, and for numbers beyond reckoning."""
    if memoryview(raw)[0] not in NUMBERS:
        return None
    value = plain(raw)
    return value if is_number(value) else None


def is_number(value: Any) -> bool:
    """Whether a value is a number or flag that can be reckoned with."""
    return isinstance(value, int | float) and abs(value) <= LARGEST


def usage_of(fields: Mapping[str, msgspec.Raw]) -> dict[str, int | float]:
    raw = fields.get("response")
    try:
        usage = USAGE.decode(raw).usage if raw is not None else None
    except msgspec.MsgspecError:
        return {}
    values = (usage or {}).items()
    return {name: value for name, value in values if is_number(value) and not isinstance(value, bool)}


def agent_of(fields: Mapping[str, msgspec.Raw]) -> str | None:
    reference = plain(fields.get(AGENT))
    name = reference.get("name") if isinstance(reference, dict) else reference
    return name if isinstance(name, str) else None


def plain(raw: msgspec.Raw | None) -> Any:
    return None if raw is None else msgspec.json.decode(raw)


def stand_in(raw: msgspec.Raw | None) -> str | None:
    """A value as a short text that differs when the value does; None for none."""
    if raw is None or bytes(raw) == b"null":
        return None
    value = plain(raw)
    text = value if isinstance(value, str) else bytes(raw).decode()
    return text if len(text) <= SHORT else blake2b(text.encode(), digest_size=12).hexdigest()


def rank(task: Task) -> tuple[int, int, str]:
    """Numbers in their order, then names in theirs."""
    return (0, task, "") if isinstance(task, int) else (1, 0, task)
