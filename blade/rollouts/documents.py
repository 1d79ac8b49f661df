"""One JSON document that holds records in a list: which list, and the records in it.

Nothing is guessed twice: a list is taken without being named only if it is the one list whose objects carry a score.
A single object around anything else is a summary until somebody says otherwise. Where scores stand in lists of their
own, a command of jq is offered that makes rows of them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from blade.errors import Choice, InputError, Unclear, UsageError
from blade.rollouts import formats
from blade.rollouts.lines import Record

MOST_DEPTH = 3
SAMPLE = 64
BLANK = 256
"""Bytes of white space that a document may begin with."""
LARGEST = 1 << 31
"""Bytes of a document, which is read whole, so it must fit in memory."""
Lists = dict[str, list[Any]]


def records_path(path: Path, lone: dict[str, Any], names: Sequence[str], *, has_table: bool = False) -> str | None:
    """Where the records of a document are; `None` when the one object it holds is a record itself.

    Args:
        names: fields the user says that records have.
        has_table: whether its members may be rows of a table.

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
    choices: list[Choice] = []
    if has_table:
        choices.append(Choice("--format", "json-table", "a table by task or in columns"))
    if lone and all(is_numbers(row) for row in lone.values()):
        program = "to_entries[] | .key as $run | .value | to_entries[] | {run: $run, task_id: .key, score: .value}"
        choices.append(Choice(jq(program, path), meaning="each number is one: a run's score at a task"))
    raise unclear(path, lone, found, scored, choices)


def is_numbers(value: Any) -> bool:
    """Whether a value is an object of nothing but numbers."""
    return isinstance(value, dict) and all(isinstance(inner, bool | int | float | None) for inner in value.values())


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
    wanted = names or formats.named("records", rows[:SAMPLE]).reward_fields
    check = all if names else any
    having = sum(check(formats.value_at(row, name) is not None for name in wanted) for row in rows)
    return 2 * having > len(rows)


def unclear(path: Path, lone: dict[str, Any], found: Lists, scored: list[str], choices: list[Choice]) -> UsageError:
    """What a document holds, and what to say about it."""
    order = sorted(found, key=lambda where: (where not in scored, -len(found[where])))[:3]
    words = [name for name, value in lone.items() if is_words(value)]
    if not order and not choices and len(words) > 1:
        program = f"to_entries[] | select(.key | IN({', '.join(map(jq_key, words))})) | .key as $key"
        text = f"{program} | .value[] | {{task_id: ., status: $key}}"
        choices = [Choice(jq(text, path), meaning="the lists hold tasks, by how they ended")]
    if not choices or len(found) == len(order):
        choices = [*(Choice("--records", where) for where in order if "role" not in found[where][0]), *choices]
    if len(words) < len(lone):
        choices = [*choices, Choice("--format", "records", "the object is a rollout")]
    if not order:
        return Unclear(
            f"{path}: holds one JSON object and no list of records; expected records one per line or in an array.",
            path,
            choices,
        )
    lists = ", ".join(f"{where} ({len(found[where])})" for where in order)
    return Unclear(f"{path}: holds one JSON object around lists ({lists}); say what is a rollout:", path, choices)


def is_words(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def reshaping(first: dict[str, Any], records: str | None, path: Path) -> list[Choice]:
    """How records whose scores are in a list become rows that have one each, with jq."""
    if not re.search(r"\.(json|jsonl|ndjson)$", path.name):
        return []
    with path.open("rb") as file:
        is_array = file.read(BLANK).lstrip()[:1] == b"["
    start = f"{jq_path(records)}[] | " if records else ".[] | " if is_array else ""
    lists = {name: value for name, value in first.items() if isinstance(value, list) and value}
    found: list[Choice] = []
    for name, rows in lists.items():
        at = jq_path(name)
        if all(isinstance(row, dict) for row in rows) and any(isinstance(x, int | float) for x in values_of(rows)):
            if pair := named_values(rows):
                text = f"{at} |= (map({{({jq_path(pair[0])}): {jq_path(pair[1])}}}) | add)"
                found.append(Choice(jq(start + text, path), meaning=f"a field for each of `{name}`"))
            text = f". as $row | {at}[] | ($row | del({at})) + ."
            found.append(Choice(jq(start + text, path), meaning=f"a row for each of `{name}`"))
    beside = [name for name, rows in lists.items() if all(isinstance(row, int | float) for row in rows)]
    if beside and not found:
        size = len(lists[beside[0]])
        parts = ", ".join(f"{jq_key(name)}: $row{jq_path(name)}[$n]" for name in lists if len(lists[name]) == size)
        text = f". as $row | range({jq_path(beside[0])} | length) as $n | $row + {{repeat: $n, {parts}}}"
        found.append(Choice(jq(start + text, path), meaning=f"a row for each of `{beside[0]}`"))
    return found[:2]


def values_of(rows: list[dict[str, Any]]) -> Iterator[Any]:
    return (value for row in rows for value in row.values())


def named_values(rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    """The two keys of a list of names with their numbers; `None` for another list."""
    texts = [key for key in rows[0] if all(isinstance(row.get(key), str) for row in rows)]
    numbers = [key for key in rows[0] if all(isinstance(row.get(key), int | float) for row in rows)]
    if len(texts) != 1 or len(numbers) != 1 or len({row[texts[0]] for row in rows}) < len(rows):
        return None
    return texts[0], numbers[0]


def jq(program: str, path: Path, *, slurp: bool = False) -> str:
    """A command that writes a file of rows from another."""
    return f"jq -{'s' if slurp else ''}c {quote(program)} {quote(str(path))} > rollouts.jsonl"


def jq_path(name: str) -> str:
    """A dotted path as jq writes it."""
    parts = (part if part.isidentifier() and part.isascii() else jq_key(part) for part in name.split("."))
    return "." + ".".join(parts)


def jq_key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


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
