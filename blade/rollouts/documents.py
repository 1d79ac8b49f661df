"""One JSON document that holds records in a list: which list, and the records in it.

Nothing is guessed twice: a list is taken without being named only if it is the one list whose objects carry a score.
A single object around anything else is a summary until somebody says otherwise.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError, UsageError
from blade.rollouts import formats
from blade.rollouts.lines import Record

MOST_DEPTH = 3
LARGEST = 1 << 31
"""Bytes of a document, which is read whole, so it must fit in memory."""
Lists = dict[str, list[Any]]


def records_path(path: Path, lone: dict[str, Any], names: Sequence[str]) -> str | None:
    """Where the records of a document are; `None` when the one object it holds is a record itself.

    Args:
        names: fields the user says that records have.

    Raises:
        UsageError: that is not clear.
    """
    if formats.detect([lone]).name != "records":
        return None
    found = lists_in(lone)
    if names and all(formats.value_at(lone, name) is not None for name in names):
        return None
    scored = [where for where, rows in found.items() if is_scored(rows, names)]
    if len(scored) == 1 and len(found[scored[0]]) == max(map(len, found.values())):
        return scored[0]
    raise UsageError(unclear(path, found, scored))


def lists_in(value: Any, prefix: str = "", depth: int = 1) -> Lists:
    """Every list of objects inside of an object, by its path."""
    found: Lists = {}
    for name, inner in value.items() if isinstance(value, dict) else ():
        where = f"{prefix}{name}"
        if isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner):
            found[where] = inner
        elif isinstance(inner, dict) and depth < MOST_DEPTH:
            found |= lists_in(inner, f"{where}.", depth + 1)
    return found


def is_scored(rows: list[Any], names: Sequence[str]) -> bool:
    """Whether most objects of a list have the fields the user names or, when none are named, a field of a score."""
    wanted = names or formats.FORMATS["records"].reward_fields
    check = all if names else any
    having = sum(check(formats.value_at(row, name) is not None for name in wanted) for row in rows)
    return 2 * having > len(rows)


def unclear(path: Path, found: Lists, scored: list[str]) -> str:
    """What a document holds, and what to say about it."""
    order = sorted(found, key=lambda where: (where not in scored, -len(found[where])))[:3]
    if not order:
        return (
            f"{path}: holds one JSON object and no list of records; expected records one per line or in an array. "
            "If the object is a rollout, say so:\n  blade diagnose " + f"{path} --format records"
        )
    lists = ", ".join(f"{where} ({len(found[where])})" for where in order)
    commands = "".join(f"\n  blade diagnose {path} --records {where}" for where in order)
    return f"{path}: holds one JSON object around lists ({lists}); say which of them holds the rollouts:{commands}"


def records_at(data: bytes, where: str) -> list[Record]:
    """The objects of the list at a path, each with its place in the document.

    Raises:
        InputError: the document is too large.
        UsageError: there is no list of objects at this path.
    """
    if len(data) > LARGEST:
        raise InputError(f"a document of {len(data) >> 20} MB is too large to take {where!r} out of; write JSON Lines.")
    raw = msgspec.Raw(data)
    for name in where.split("."):
        inner = members(raw)
        if name not in inner:
            names = ", ".join(list(inner)[:8]) or "none"
            raise UsageError(f"--records {where}: there is no {name!r}; names there are: {names}.")
        raw = inner[name]
    try:
        rows = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(f"--records {where}: is not a list of records.") from error
    records: list[Record] = []
    # Records are looked for where the list begins: the same bytes may stand elsewhere in the document.
    place, line, counted = data.index(bytes(raw)), 1, 0
    for row in rows:
        place = data.index(bytes(row), place)
        line += data.count(b"\n", counted, place)
        counted = place
        records.append(Record(bytes(row), place, line))
        place += len(records[-1].data)
    return records


def members(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The members of an object; none of anything else."""
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return {}
