"""Columns of scalars: the narrow part of the rows, kept in memory while the trajectories stay in the file.

A column is numbers (`nan` is unknown), flags (numbers that were true/false), or codes into a list of levels
(-1 is unknown). Texts longer than `MAX_TEXT` are left in the file: a table must not grow with what models write.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

MAX_TEXT = 200
MAX_LIST = 32
FLUSH = 4096  # rows turned into arrays at a time
EXACT = 2.0**53  # integers beyond it are not exact as floats, so they are kept as levels

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
    levels: list[Any] = []
    """Distinct values of a coded column, in order of first appearance; a list value is a tuple of texts."""

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
            return ~np.isnan(self.values)
        return np.asarray(self.values >= 0)

    def numbers(self) -> npt.NDArray[np.float64]:
        """Values as floats; whatever is not a number is nan."""
        if self.kind in ("number", "flag"):
            return np.asarray(self.values, dtype=np.float64)
        table = [float(level) if is_number(level) else np.nan for level in self.levels]
        return np.asarray([*table, np.nan], dtype=np.float64)[self.values]

    def coded(self) -> "Column":
        """The same values as codes and levels, whatever the kind was."""
        if self.kind not in ("number", "flag"):
            return self
        known = self.known()
        uniques, inverse = np.unique(self.values[known], return_inverse=True)
        codes = np.full(len(self.values), -1, dtype=np.int32)
        codes[known] = inverse
        flag = self.kind == "flag"
        levels = [bool(u) if flag else plain_number(float(u)) for u in uniques]
        return Column(kind="mixed", values=codes, levels=levels)

    def take(self, rows: npt.NDArray[Any]) -> "Column":
        """The column restricted to some rows, in their order."""
        return Column(kind=self.kind, values=self.values[rows], levels=self.levels)


class ColumnBuilder:
    """Collects one field chunk by chunk. All coded chunks share one list of levels."""

    def __init__(self) -> None:
        self._parts: list[Column] = []
        self._codes: dict[Any, int] = {}
        self._levels: list[Any] = []
        self._pending: list[Any] = []

    def add(self, values: list[Any]) -> None:
        """Appends the values of the next rows; `None` is unknown."""
        self._pending.extend(values)
        if len(self._pending) >= FLUSH:
            self._flush()

    def _flush(self) -> None:
        values, self._pending = self._pending, []
        kinds = set(map(type, values))
        part = number_part(values, flag=bool in kinds and kinds <= FLAG) if kinds <= NUMERIC else None
        if part is None:
            kind: Kind = "text" if kinds <= TEXT else "list" if kinds <= LIST else "mixed"
            codes = self._text_codes(values) if kind == "text" else self._any_codes(values)
            part = Column(kind=kind, values=np.asarray(codes, dtype=np.int32))
        self._parts.append(part)

    def _text_codes(self, values: list[Any]) -> list[int]:
        codes, levels = self._codes, self._levels
        out: list[int] = []
        for value in values:
            if value is None or len(value) > MAX_TEXT:
                out.append(-1)
                continue
            code = codes.get(value)
            if code is None:
                code = codes[value] = len(levels)
                levels.append(value)
            out.append(code)
        return out

    def _any_codes(self, values: list[Any]) -> list[int]:
        return [-1 if level is None else self._code(level) for level in map(as_level, values)]

    def _code(self, level: Any) -> int:
        # A text is its own key, as in _text_codes; others carry their type, since True == 1 == 1.0.
        key = level if isinstance(level, str) else (type(level), level)
        code = self._codes.setdefault(key, len(self._levels))
        if code == len(self._levels):
            self._levels.append(level)
        return code

    def _recoded(self, part: Column) -> npt.NDArray[np.int32]:
        if part.kind not in ("number", "flag"):
            return part.values
        coded = part.coded()
        table = [self._code(level) for level in coded.levels]
        return np.asarray([*table, -1], dtype=np.int32)[coded.values]

    def finish(self) -> Column:
        """The whole column; a field that changes its type half-way becomes `mixed`."""
        self._flush()
        kind = common_kind(self._parts)
        if kind in ("number", "flag"):
            return Column(kind=kind, values=join([part.values for part in self._parts], np.float64))
        values = join([self._recoded(part) for part in self._parts], np.int32)
        return Column(kind=kind, values=values, levels=self._levels)


def common_kind(parts: Sequence[Column]) -> Kind:
    """The kind that holds all parts; parts without a single known value have no say."""
    kinds = {part.kind for part in parts if part.known().any()}
    if kinds <= {"number", "flag"}:
        return "flag" if kinds == {"flag"} else "number"
    return kinds.pop() if len(kinds) == 1 else "mixed"


def join(arrays: Sequence[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    """Arrays end to end; an empty array when there are none."""
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.empty(0, dtype=dtype)


def number_part(values: list[Any], *, flag: bool) -> Column | None:
    """Values as a numeric column, or `None` when a float could not hold them exactly."""
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    with np.errstate(invalid="ignore"):
        if len(array) and not flag and bool((np.abs(array) >= EXACT).any()):
            return None
    return Column(kind="flag" if flag else "number", values=array)


def as_level(value: Any) -> Any:
    """A scalar as it is, a list as a tuple of texts; `None` for what a table should not hold."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else None
    if isinstance(value, list):
        return tuple(level_text(v)[:MAX_TEXT] for v in value[:MAX_LIST] if v is not None)
    return value


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


def is_number(value: Any) -> bool:
    """Whether a level can stand in a sum: a number or a flag that a float can hold."""
    if not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) < 10**300


def concat(parts: Sequence[Column]) -> Column:
    """Parts of one field read separately, one after the other."""
    kind = common_kind(parts)
    if kind in ("number", "flag"):
        return Column(kind=kind, values=join([numeric(part) for part in parts], np.float64))
    levels: list[Any] = []
    codes: dict[Any, int] = {}
    values = join([recode(part.coded(), codes, levels) for part in parts], np.int32)
    return Column(kind=kind, values=values, levels=levels)


def numeric(part: Column) -> npt.NDArray[np.float64]:
    """Values of a part that is numeric or wholly unknown."""
    return part.values if part.kind in ("number", "flag") else np.full(len(part.values), np.nan)


def recode(part: Column, codes: dict[Any, int], levels: list[Any]) -> npt.NDArray[np.int32]:
    """Codes of `part` translated into the shared `levels`, which grow as needed."""
    table: list[int] = []
    for level in part.levels:
        key = (type(level), level)
        if key not in codes:
            codes[key] = len(levels)
            levels.append(level)
        table.append(codes[key])
    return np.asarray([*table, -1], dtype=np.int32)[part.values]


def unknown(length: int) -> Column:
    """A column nobody has filled."""
    return Column(kind="number", values=np.full(length, np.nan))


def from_values(values: Iterable[Any]) -> Column:
    """A column of plain Python values."""
    builder = ColumnBuilder()
    builder.add(list(values))
    return builder.finish()
