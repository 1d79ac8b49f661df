"""Rollouts read for their numbers alone: streamed row by row and kept as columns, so that responses are never held.

What stays of a row is its key, its numbers at eight bytes each and a short record for the profile: about a kilobyte,
however long the trajectory. A line that is no rollout is left out and told.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from blade.engine import engine_for
from blade.errors import ProblemsFound
from blade.evals.counted import REPEAT, Key, Row, Task, parse_row, plain, rank, read_lines, stand_in
from blade.metrics.recipes import ANSWERS, RECIPES, Recipe, recipe_for
from blade.rollouts import BadLine
from blade.rollouts.conform import BadRow
from blade.rollouts.ranges import Range, split_ranges
from blade.rollouts.sources import compression, open_stream, take

Duplicates = Literal["first", "last", "error"]


class Place(NamedTuple):
    """Where a line stands, and what tells it from others."""

    line: int
    offset: int
    digest: bytes


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
    """The rollouts of a file."""

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
    line: int
    pool: Pool
    row: int


def read_scored(
    path: Path,
    *,
    duplicates: Duplicates = "error",
    recipe: Recipe | None = None,
    subsets: Sequence[str] = (),
    agents: Mapping[Key, str | None] | None = None,
) -> Scored:
    """Reads the numbers of a rollout file.

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
    kept = frozenset([*ASKED, *subsets, *(fields_asked(recipe) if recipe is not None else ())])
    for place, row in rows_of(path, kept):
        if isinstance(row, str):
            found.bad.append(BadLine(file=path.name, line=place.line, offset=place.offset, reason=row))
            continue
        row = row if row.agent is not None else row._replace(agent=(agents or {}).get(row.key))
        unnamed += row.agent is None
        surplus += add_row(found.keys, row, place, pool_of(row), duplicates=duplicates, name=path.name)
    found.notes.extend(said(surplus, unnamed, found.bad))
    return found


def fields_asked(recipe: Recipe) -> set[str]:
    """Fields a recipe looks into."""
    return recipe.fields() | ({recipe.corpus.text} if recipe.corpus is not None else set())


ASKED = frozenset([*ANSWERS, *(field for recipe in RECIPES.values() for field in fields_asked(recipe))])
"""Fields that any recipe looks into."""
Found = tuple[Place, Row | str]
"""A line and its row, or why it is none."""


def rows_of(path: Path, kept: frozenset[str]) -> Iterator[Found]:
    """The rows of a file in order; a plain one is divided where an engine has workers for it."""
    size = path.stat().st_size
    ranges = [(0, size)] if compression(path) else split_ranges(path, 0, size, jobs=1)
    if len(ranges) < 2:
        yield from rows_in(path, kept, {})
        return
    before: Counter[Task] = Counter()
    lines = 0
    for found, count in engine_for(1).map(partial(rows_of_range, path, kept), ranges):
        seen: Counter[Task] = Counter()
        for place, row in found:
            moved = row
            if isinstance(row, Row) and row.is_counted:
                moved = counted_on(row, before[row.key[0]])
                seen[row.key[0]] += 1
            yield place._replace(line=place.line + lines), moved
        before += seen
        lines += count


def rows_of_range(path: Path, kept: frozenset[str], piece: Range) -> tuple[list[Found], int]:
    """The rows of a byte range, lines and repeats counted from its beginning, and how many lines it has."""
    found = list(rows_in(path, kept, {}, *piece))
    with open_stream(path) as stream:
        stream.seek(piece[0])
        count = sum(data.count(b"\n") for data in take(stream, piece[1] - piece[0]))
    return found, count


def rows_in(
    path: Path, kept: frozenset[str], counter: dict[str, int], start: int = 0, end: int | None = None
) -> Iterator[Found]:
    for line in read_lines(path, start, end):
        place = Place(line.number, line.offset, blake2b(line.data.strip(), digest_size=12).digest())
        try:
            row = parse_row(line.data, counter)
        except BadRow as error:
            yield place, str(error)
            continue
        fields = {name: msgspec.Raw(bytes(raw)) for name, raw in row.fields.items() if name in kept}
        yield place, row._replace(fields=fields)


def counted_on(row: Row, before: int) -> Row:
    """A row whose task came so often before its range."""
    task, repeat = row.key[0], row.key[1] + before
    info = {**row.info, "rollout_id": f"{task}:{repeat}", REPEAT: repeat}
    return row._replace(key=(task, repeat), info=info)


def add_row(keys: dict[Key, Seen], row: Row, place: Place, pool: Pool, *, duplicates: Duplicates, name: str) -> bool:
    """Adds a row to its agent's pool; whether another row with its key was there already."""
    before = keys.get(row.key)
    if before is not None:
        if before.digest != place.digest and duplicates == "error":
            raise ProblemsFound(collision(row.key, f"{name}:{before.line}", f"{name}:{place.line}", across=False))
        if before.digest == place.digest or duplicates == "first":
            return True
        before.pool.keys[before.row] = None
    keys[row.key] = Seen(place.digest, place.line, pool, len(pool.keys))
    pool.add(row)
    return before is not None


def collision(key: Key, there: str, here: str, *, across: bool) -> str:
    """Two rows claim one key; `across` when they stand in different files."""
    hint = "--duplicates first or last chooses"
    if across:
        hint += "; when every file is one more seed of the same tasks, --seed-shards counts their repeats on"
    return f"rollout {key[0]}:{key[1]} is there twice and differs, in {there} and {here}; {hint}."


def said(surplus: int, unnamed: int, bad: list[BadLine]) -> Iterator[str]:
    if surplus:
        yield f"{surplus} rows have the key of another row and were counted once"
    if unnamed:
        yield f"{unnamed} rows have no agent_ref; they are kept under an agent without a name"
    if bad:
        yield f"{len(bad)} lines are not rollouts; the first is {bad[0].file}:{bad[0].line}: {bad[0].reason}"
