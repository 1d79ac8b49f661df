"""Small questions put to a table of rollouts: which rows have a field that is true, a text that says something.

A field that no row has answers every question with no: most benchmarks have only a few of the fields asked for.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.metrics.values import Bools, Ints
from blade.rollouts.columns import level_text
from blade.rollouts.table import RolloutTable


class Seen(NamedTuple):
    """Rows a signal is in, and the item of each (-1 when there is none)."""

    rows: Ints
    items: Ints


def rows_of(mask: Bools, items: npt.NDArray[np.int32] | None = None) -> Seen:
    rows = np.flatnonzero(mask)
    places = np.full(len(rows), -1, dtype=np.int64) if items is None else items[rows].astype(np.int64)
    return Seen(rows, places)


def is_true(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields is true or a number other than 0."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        if field in table.rows.columns:
            mask |= np.nan_to_num(table.rows.columns[field].numbers()) != 0
    return mask


def is_false(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields is false."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        if field in table.rows.columns:
            mask |= table.rows.columns[field].numbers() == 0
    return mask


NOTHING = frozenset(
    {"", "none", "null", "nil", "n/a", "nan", "false", "0", "no", "ok", "correct", "success", "no error", "{}"}
)
"""What verifiers write into an error field when there was no error."""


def says(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields holds something that means something."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        coded = table.rows.column(field).coded()
        meant = [level_text(level).strip().lower() not in NOTHING for level in coded.levels]
        mask |= np.asarray([*meant, False], dtype=np.bool_)[coded.values]
    return mask


def lists(table: RolloutTable, field: str, word: str) -> Bools:
    """Rows whose list in a field holds a word."""
    column = table.rows.columns.get(field)
    if column is None or column.kind != "list":
        return np.zeros(len(table), dtype=bool)
    holds = np.asarray(
        [*(isinstance(level, tuple) and word in level for level in column.levels), False], dtype=np.bool_
    )
    return np.asarray(holds[column.values])
