"""Small questions put to a table of rollouts: which rows have a field that is true, a text that says something, a mark.

A field that no row has answers every question with no: most benchmarks have only a few of the fields asked for.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.metrics.values import Bools, Ints
from blade.rollouts.columns import level_text
from blade.rollouts.patterns import MARKS
from blade.rollouts.table import RolloutTable

LAST_ITEMS = 3
"""A tool's last answer, a thought about it and a closing message."""


class Seen(NamedTuple):
    """Rows a signal is in, and the item of each (-1 when there is none)."""

    rows: Ints
    items: Ints


def rows_of(mask: Bools, items: npt.NDArray[np.int32] | None = None) -> Seen:
    rows = np.flatnonzero(mask)
    places = np.full(len(rows), -1, dtype=np.int64) if items is None else items[rows].astype(np.int64)
    return Seen(rows, places)


def any_of(*found: Seen) -> Seen:
    """Each row once, at the first item any of them names."""
    rows = np.concatenate([seen.rows for seen in found])
    items = np.concatenate([seen.items for seen in found])
    order = np.lexsort((np.where(items < 0, np.iinfo(np.int64).max, items), rows))
    rows, items = rows[order], items[order]
    first = np.r_[True, rows[1:] != rows[:-1]] if len(rows) else np.empty(0, dtype=bool)
    return Seen(rows[first], items[first])


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


def marked(table: RolloutTable, *codes: str) -> Seen:
    """Rows where a tool, the environment or a short message says so, at the first such item."""
    return any_of(marks_of(table, *codes))


def marked_at_the_end(table: RolloutTable, *codes: str) -> Seen:
    """Rows that said so among their last items: what was said earlier, the rollout got over."""
    said = marks_of(table, *codes)
    late = said.items > table.rows.fact("final_at")[said.rows] - LAST_ITEMS
    return any_of(Seen(said.rows[late], said.items[late]))


def marks_of(table: RolloutTable, *codes: str) -> Seen:
    """Every item that says so; a row may occur several times."""
    marks = table.rows.marks
    wanted = np.isin(marks[:, 1], [MARKS.index(code) for code in codes])
    return Seen(marks[wanted, 0].astype(np.int64), marks[wanted, 2].astype(np.int64))


def lists(table: RolloutTable, field: str, word: str) -> Bools:
    """Rows whose list in a field holds a word."""
    column = table.rows.columns.get(field)
    if column is None or column.kind != "list":
        return np.zeros(len(table), dtype=bool)
    holds = np.asarray(
        [*(isinstance(level, tuple) and word in level for level in column.levels), False], dtype=np.bool_
    )
    return np.asarray(holds[column.values])
