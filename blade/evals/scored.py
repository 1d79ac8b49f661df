"""Rollouts read for their numbers alone: streamed row by row and kept as columns, so that responses are never held.

What stays of a row is its key, its numbers at eight bytes each and a short record for the profile: some hundred bytes,
however long the trajectory. A line that is no rollout is left out and told.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from blade.errors import InputError, ProblemsFound
from blade.metrics.recipes import Recipe, recipe_for
from blade.rollouts import BadLine
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.sources import damage_errors, open_stream

TASK, REPEAT, AGENT = "_ng_task_index", "_ng_rollout_index", "agent_ref"
FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
SHORT = 64
NUMBERS = frozenset(b"-0123456789tf")
"""First bytes of a JSON value that is a number or a flag."""

Task = int | str
Key = tuple[Task, int]
Duplicates = Literal["first", "last", "error"]


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


class Source(NamedTuple):
    """A line and its file."""

    path: Path
    line: Line


class Row(NamedTuple):
    """What is counted of one rollout."""

    key: Key
    agent: str | None
    numbers: dict[str, int | float]
    """Every number of the row, and those of its usage; where both have a name, usage's."""
    info: dict[str, Any]
    """The same for the profile, where the row's own number wins."""
    fields: Mapping[str, msgspec.Raw]


class Pool:
    """The rollouts of one agent, as columns; rows that turn out to be superseded stay and are passed over."""

    def __init__(self, agent: str | None, recipe: Recipe, subsets: Sequence[str] = ()) -> None:
        self.agent = agent
        self.recipe = msgspec.structs.replace(recipe, subsets=list(dict.fromkeys([*recipe.subsets, *subsets])))
        self.keys: list[Key | None] = []
        """Per row; None once another row took its place."""
        self.columns: dict[str, array[float]] = {}
        self.infos: list[bytes] = []
        self.texts: dict[str, list[str | None]] = {field: [] for field in sorted(self.recipe.fields())}
        """Per field the recipe needs: a short stand-in for the value, None where there is none."""
        self.words: list[int] = []
        """Per row: words of the text that errors are counted by."""

    def add(self, row: Row) -> None:
        place = len(self.keys)
        for name, value in row.numbers.items():
            column = self.columns.setdefault(name, array("d"))
            column.extend([math.nan] * (place - len(column)))
            column.append(float(value))
        for field, texts in self.texts.items():
            texts.append(stand_in(row.fields.get(field)))
        if self.recipe.corpus is not None:
            self.words.append(len(str(plain(row.fields.get(self.recipe.corpus.text))).split()))
        self.infos.append(msgspec.json.encode(row.info))
        self.keys.append(row.key)

    def value(self, field: str, row: int) -> float | None:
        """A number of a row; None when it has none."""
        column = self.columns.get(field)
        if column is None or row >= len(column) or math.isnan(column[row]):
            return None
        return column[row]

    def by_task(self) -> dict[Task, list[int]]:
        """The rows of every task in the order of their repeats, tasks in ascending order."""
        rows = [(key, place) for place, key in enumerate(self.keys) if key is not None]
        tasks: dict[Task, list[int]] = {}
        for key, place in sorted(rows, key=lambda pair: (rank(pair[0][0]), pair[0][1])):
            tasks.setdefault(key[0], []).append(place)
        return tasks


class Scored(NamedTuple):
    """The rollouts of one or several files."""

    pools: dict[str | None, Pool]
    """By agent."""
    keys: dict[Key, "Seen"]
    """Every key that is scored."""
    bad: list[BadLine]
    """Lines that are no rollouts."""
    notes: list[str]
    """What a reader should know."""


class Seen(NamedTuple):
    """Where the row stands that holds a key."""

    digest: bytes
    path: Path
    line: int
    pool: Pool
    row: int


def read_scored(
    paths: Iterable[Path],
    *,
    duplicates: Duplicates = "error",
    recipe: Recipe | None = None,
    subsets: Sequence[str] = (),
    agents: Mapping[Key, str | None] | None = None,
) -> Scored:
    """Reads the numbers of rollout files.

    Args:
        duplicates: Which of several rows with one key counts; `error` raises unless they say the same.
        recipe: How scores are made; by default that of the server each agent is named after.
        subsets: Fields that tasks are grouped by, beside the recipe's.
        agents: Who was asked, for rows that do not say it.
    """
    found = Scored({}, {}, [], [])

    def pool_of(row: Row) -> Pool:
        if row.agent not in found.pools:
            found.pools[row.agent] = Pool(row.agent, recipe or recipe_for(row.agent, row.fields), subsets)
        return found.pools[row.agent]

    surplus = unnamed = 0
    for path in paths:
        counter: dict[str, int] = {}
        for line in read_lines(path):
            try:
                row = parse_row(line.data, counter)
            except BadRow as error:
                found.bad.append(BadLine(file=path.name, line=line.number, offset=line.offset, reason=str(error)))
                continue
            row = row if row.agent is not None else row._replace(agent=(agents or {}).get(row.key))
            unnamed += row.agent is None
            surplus += add_row(found.keys, row, Source(path, line), pool_of(row), duplicates=duplicates)
    found.notes.extend(said(surplus, unnamed, found.bad))
    return found


def add_row(keys: dict[Key, Seen], row: Row, source: Source, pool: Pool, *, duplicates: Duplicates) -> bool:
    """Adds a row to its agent's pool; whether another row with its key was there already."""
    before = keys.get(row.key)
    digest = blake2b(source.line.data.strip(), digest_size=12).digest()
    if before is not None:
        if before.digest != digest and duplicates == "error":
            raise ProblemsFound(collision(row.key, before, source))
        if before.digest == digest or duplicates == "first":
            return True
        before.pool.keys[before.row] = None
    keys[row.key] = Seen(digest, source.path, source.line.number, pool, len(pool.keys))
    pool.add(row)
    return before is not None


def collision(key: Key, before: Seen, source: Source) -> str:
    here, there = f"{source.path.name}:{source.line.number}", f"{before.path.name}:{before.line}"
    hint = "--duplicates first or last chooses"
    if source.path != before.path:
        hint += ", --seed-shards counts every file's repeats on"
    return f"rollout {key[0]}:{key[1]} is there twice and differs, in {there} and {here}; {hint}."


def said(surplus: int, unnamed: int, bad: list[BadLine]) -> Iterator[str]:
    if surplus:
        yield f"{surplus} rows have the key of another row and were counted once"
    if unnamed:
        yield f"{unnamed} rows have no agent_ref; they are kept under an agent without a name"
    if bad:
        yield f"{len(bad)} lines are no rollouts; the first is {bad[0].file}:{bad[0].line}: {bad[0].reason}"


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are not blank, plain or compressed."""
    try:
        with open_stream(path) as stream:
            offset = 0
            for number, data in enumerate(stream, 1):
                if data.strip():
                    yield Line(data, number, offset)
                offset += len(data)
    except damage_errors() as error:
        raise InputError(f"{path}: cannot be read to its end: {error}.") from error


def parse_row(data: bytes, counter: dict[str, int]) -> Row:
    """A row's key and numbers. Rows without indices are told apart by their request and numbered by occurrence."""
    fields = raw_fields(data)
    key = key_of(fields) or counted_key(fields, counter)
    own = {name: number for name, raw in fields.items() if (number := number_in(raw)) is not None}
    for name in (TASK, REPEAT):
        own.pop(name, None)
    usage = usage_of(fields)
    info = {"rollout_id": f"{key[0]}:{key[1]}", TASK: key[0], REPEAT: key[1]}
    reward = {"reward": own["reward"]} if "reward" in own else {}
    numbers = {name: int(value) if isinstance(value, bool) else value for name, value in own.items()}
    return Row(key, agent_of(fields), {**numbers, **usage}, {**info, **reward, **usage, **numbers}, fields)


def raw_fields(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        return FIELDS.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode_any(data)
        if not isinstance(value, dict):
            raise BadRow("is no object") from None
        return FIELDS.decode(msgspec.json.encode(value))


def key_of(fields: Mapping[str, msgspec.Raw]) -> Key | None:
    task, repeat = plain(fields.get(TASK)), plain(fields.get(REPEAT))
    if not isinstance(task, int | str) or isinstance(task, bool) or not isinstance(repeat, int):
        return None
    return task, repeat


def counted_key(fields: Mapping[str, msgspec.Raw], counter: dict[str, int]) -> Key:
    asked = fields.get("responses_create_params")
    if asked is None:
        raise BadRow(f"has neither {TASK} and {REPEAT} nor responses_create_params to tell its task by")
    task = blake2b(bytes(asked), digest_size=6).hexdigest()
    counter[task] = counter.get(task, -1) + 1
    return task, counter[task]


def number_in(raw: msgspec.Raw) -> int | float | None:
    """A number or flag; None for anything else, and for numbers no float can hold."""
    if memoryview(raw)[0] not in NUMBERS:
        return None
    value = plain(raw)
    try:
        return value if isinstance(value, int | float) and math.isfinite(float(value)) else None
    except OverflowError:
        return None


def usage_of(fields: Mapping[str, msgspec.Raw]) -> dict[str, int | float]:
    raw = fields.get("response")
    try:
        usage = USAGE.decode(raw).usage if raw is not None else None
    except msgspec.MsgspecError:
        return {}
    values = (usage or {}).items()
    return {name: value for name, value in values if isinstance(value, int | float) and not isinstance(value, bool)}


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
