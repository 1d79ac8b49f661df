"""Columns of scalars: the narrow part of the rows, kept in memory while the trajectories stay in the file.

A column is numbers (`nan` is unknown), flags (numbers that were true/false), or codes into a list of levels
(-1 is unknown). Texts longer than `MAX_TEXT` are left in the file: a table must not grow with what models write.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

MAX_TEXT = 200
MAX_LIST = 32
FLUSH = 1024  # rows turned into arrays at a time
HUGE = 10**300
FEW_CODES = 1 << 16
EXACT = 2.0**53  # integers beyond it are not exact as floats, so they are kept as levels

Level = str | int | float | bool | tuple[str, ...]
Kind = Literal["number", "flag", "text", "list", "mixed"]
NUMERIC: frozenset[type] = frozenset({int, float, bool, type(None)})
FLAG: frozenset[type] = frozenset({bool, type(None)})
TEXT: frozenset[type] = frozenset({str, type(None)})
LIST: frozenset[type] = frozenset({list, type(None)})


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One field over all rows."""

    kind: Kind
    """What `values` means."""
    values: npt.NDArray[Any]
    """float64 for numbers and flags; int32 codes into `levels` otherwise."""
    levels: list[Level] = []
    """Distinct values of a coded column, in order of first appearance; a list value is a tuple of texts."""
    has_long: bool = False
    """Whether some of the unknown values are texts that are too long for a table."""

    def at(self, row: int) -> Any:
        """The value of one row, or `None`."""
        value = self.values[row]
        if self.kind not in ("number", "flag"):
            return None if value < 0 else self.levels[value]
        if np.isnan(value):
            return None
        return bool(value) if self.kind == "flag" else plain_number(float(value))

    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a value."""
        if self.kind in ("number", "flag"):
            return np.asarray(~np.isnan(self.values))
        return np.asarray(self.values >= 0)

    def numbers(self) -> npt.NDArray[np.float64]:
        """Values as floats; whatever is not a number is nan."""
        if self.kind in ("number", "flag"):
            return np.asarray(self.values, dtype=np.float64)
        table = np.array([*map(as_number, self.levels), np.nan], dtype=np.float64)
        return np.asarray(table[self.values])

    def coded(self) -> "Column":
        """The same values as codes and levels, whatever the kind was."""
        if self.kind not in ("number", "flag"):
            return self
        known = self.known()
        uniques, inverse = levels_of(self.values[known])
        codes = np.full(len(self.values), -1, dtype=np.int32)
        codes[known] = inverse
        flag = self.kind == "flag"
        levels: list[Level] = [bool(u) if flag else plain_number(float(u)) for u in uniques]
        return Column(kind="mixed", values=codes, levels=levels)

    def take(self, rows: npt.NDArray[Any]) -> "Column":
        """The column restricted to some rows, in their order."""
        return replace(self, values=self.values[rows])


class Codes(dict[Any, int]):
    """Code of every level seen so far; asking for a new level gives it the next code."""

    def __init__(self) -> None:
        super().__init__({None: -1})
        self.levels: list[Any] = []
        self.has_long = False

    def __missing__(self, level: Any) -> int:
        if isinstance(level, str) and len(level) > MAX_TEXT:
            self.has_long = True
            return -1
        code = self[level] = len(self.levels)
        # A text is its own key; other levels come with their type, since True == 1 == 1.0.
        self.levels.append(level if isinstance(level, str) else level[1])
        return code


class ColumnBuilder:
    """Collects one field batch by batch; what comes of it does not depend on where batches begin."""

    def __init__(self) -> None:
        self.length = 0
        self._parts: list[Column] = []
        self._pending: list[Any] = []
        self._kind: Kind | None = None

    def add(self, values: Sequence[Any], kind: Kind | None = None) -> None:
        """Appends the values of the next rows; `None` is unknown. `kind` spares looking at each value's type."""
        if kind != self._kind and self._pending:
            self._flush()
        self._kind = kind
        self.length += len(values)
        self._pending.extend(values)
        if len(self._pending) >= FLUSH:
            self._flush()

    def pad(self, length: int) -> None:
        """Makes the column as long as `length` with rows whose value is unknown."""
        if self.length < length:
            self.add([None] * (length - self.length), self._kind)

    def _flush(self) -> None:
        self._parts.append(part_of(self._pending, self._kind))
        self._pending = []

    def finish(self) -> Column:
        """The whole column; a field that changes its type half-way becomes `mixed`."""
        if self._pending:
            self._flush()
        return concat(self._parts)


def part_of(values: list[Any], kind: Kind | None) -> Column:
    """Values of some rows as a column, with levels in order of appearance."""
    kind = kind or kind_of(values)
    part = number_part(values, kind) if kind in ("number", "flag") else None
    if part is not None:
        return part
    codes = Codes()
    keys = values if kind == "text" else [as_key(value) for value in values]
    if keys.count(keys[0]) == len(keys):
        coded = np.full(len(keys), codes[keys[0]], dtype=np.int32)
    else:
        coded = np.fromiter(map(codes.__getitem__, keys), dtype=np.int32, count=len(keys))
    kind = "mixed" if kind in ("number", "flag") else kind
    return Column(kind=kind, values=coded, levels=codes.levels, has_long=codes.has_long)


def common_kind(parts: Sequence[Column]) -> Kind:
    """The kind that holds all parts and loses nothing of any; parts without a single value have no say."""
    kinds = {part.kind for part in parts if part.has_long or part.known().any()}
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "number"


def whole_column(column: Column) -> Column:
    """A whole column whose values are all numbers and flags as numbers; no part of one may be, lest it forget which."""
    if column.kind == "mixed" and is_numeric(column):
        return Column(kind="number", values=column.numbers())
    return column


def is_numeric(part: Column) -> bool:
    """Whether a part holds flags and numbers only, and a float holds all of them exactly."""
    return not part.has_long and all(isinstance(level, int | float) and abs(level) < EXACT for level in part.levels)


def join(arrays: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    """Arrays end to end; an empty array when there are none."""
    if len(arrays) == 1:
        return arrays[0].astype(dtype, copy=False)
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.empty(0, dtype=dtype)


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind that holds all the values."""
    kinds = set(map(type, values))
    if kinds <= NUMERIC and (bool not in kinds or kinds <= FLAG):
        return "flag" if bool in kinds else "number"
    return "text" if kinds <= TEXT else "list" if kinds <= LIST else "mixed"


def number_part(values: list[Any], kind: Kind) -> Column | None:
    """Values as a numeric column, or `None` when a float could not hold them exactly."""
    try:
        array = np.fromiter(values, dtype=np.float64, count=len(values))
    except OverflowError:
        return None
    # fmin and fmax pass over nan.
    if kind == "number" and (np.fmax.reduce(array) >= EXACT or np.fmin.reduce(array) <= -EXACT):
        return None
    return Column(kind=kind, values=array)


def as_key(value: Any) -> Any:
    """What `Codes` takes: a text as it is, anything else with its type; a list becomes a tuple of texts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        value = plain_number(value)
    elif isinstance(value, list):
        value = tuple(level_text(v)[:MAX_TEXT] for v in value[:MAX_LIST] if v is not None)
    return type(value), value


def level_text(value: Any) -> str:
    """A level as a user would type it: `true`, `3`, `0.5`, `name`, `a, b`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(plain_number(value))
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value)


def plain_number(value: float) -> int | float:
    """Whole numbers without their `.0`."""
    return int(value) if value.is_integer() and abs(value) < EXACT else value


def as_number(level: Level) -> float:
    """A level as it stands in a sum; nan when it is not a number that a float can hold."""
    if not isinstance(level, int | float) or abs(level) >= HUGE:
        return math.nan
    return float(level)


def concat(parts: Sequence[Column]) -> Column:
    """Parts of one field read separately, one after the other."""
    kind = common_kind(parts)
    if len(parts) == 1 and parts[0].kind == kind:
        return parts[0]
    if kind in ("number", "flag"):
        return Column(kind=kind, values=join([part.numbers() for part in parts], np.float64))
    codes = Codes()
    values = join([recode(part, codes) for part in parts], np.int32)
    return Column(kind=kind, values=values, levels=codes.levels, has_long=any(part.has_long for part in parts))


def recode(part: Column, codes: Codes) -> npt.NDArray[np.int32]:
    """Codes of `part` translated into the shared `codes`, which grow as needed, in order of appearance."""
    coded = part.coded()
    levels = np.arange(len(coded.levels))
    if coded is not part:  # numbers were sorted
        known = coded.values[coded.values >= 0]
        levels = known[np.sort(np.unique(known, return_index=True)[1])]
    table = np.full(len(coded.levels) + 1, -1, dtype=np.int32)
    table[levels] = [codes[as_key(coded.levels[level])] for level in levels.tolist()]
    return np.asarray(table[coded.values])


def codes_in(codes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The codes that occur, in order, without those of unknown values: what `np.unique` says, in less time."""
    return np.flatnonzero(np.bincount(codes[codes >= 0]))


def levels_of(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Different numbers in order and each one's place among them: whole ones that lie close are counted, not sorted."""
    low, high = float(numbers.min(initial=np.inf)), float(numbers.max(initial=-np.inf))
    if not high - low < FEW_CODES or (numbers != np.floor(numbers)).any():
        levels = np.unique(numbers).astype(np.float64)
        return levels, np.searchsorted(levels, numbers)
    codes = (numbers - low).astype(np.int64)
    used = codes_in(codes)
    place = np.zeros(FEW_CODES, dtype=np.int64)
    place[used] = np.arange(len(used))
    return np.asarray(used + low, dtype=np.float64), place[codes]


def unknown(length: int) -> Column:
    """A column nobody has filled."""
    return Column(kind="number", values=nothing(length))


def nothing(length: int) -> npt.NDArray[np.float64]:
    """As many numbers that nobody knows, kept as one."""
    return np.broadcast_to(np.float64(np.nan), (length,))


def from_values(values: Iterable[Any]) -> Column:
    """A column of plain Python values."""
    builder = ColumnBuilder()
    builder.add(list(values))
    return whole_column(builder.finish())
