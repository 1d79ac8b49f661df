"""A field leaf put to the table: numbers at once, everything else once per distinct value.

The table leaves out what is long: texts over 200 characters, lists over 32 elements, objects. Where such a value could
change the answer the row is left open, so that a rule never mistakes a long answer for none.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from blade.diagnosis.packs.conditions import FieldIs
from blade.diagnosis.packs.values import NUMERIC, OPEN, Path, Question, Questions, all_hold, pair_holds
from blade.diagnosis.packs.verdict import Verdict, decided, everywhere, nowhere, undecided
from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts.columns import MAX_LIST, MAX_TEXT, Column
from blade.rollouts.fields import MAX_DEPTH
from blade.rollouts.formats.format import value_at
from blade.rollouts.table import RolloutTable


class Sample:
    """Some rows decoded whole, to know which fields exist that the table does not hold."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.records = records

    def has(self, path: Path) -> bool:
        """Whether any of them has the field the path begins with."""
        return any(path.top in record for record in self.records)

    def has_all(self, path: str) -> bool:
        """Whether any of them has the whole path, be its value null."""
        return any(is_there(record, path) for record in self.records)

    def has_container(self, path: Path) -> bool:
        """Whether the path leads to a list or an object in any of them."""
        return any(isinstance(path.values(record), list | dict) for record in self.records)


def is_there(record: Any, path: str) -> bool:
    """Whether a decoded row has a key at a dotted path."""
    head, many, rest = path.partition("[]")
    if many:
        found = value_at(record, head)
        return isinstance(found, list) and (not rest or any(is_there(one, rest.lstrip(".")) for one in found))
    if not isinstance(record, dict):
        return False
    if path in record:
        return True
    head, _, rest = path.partition(".")
    return bool(rest) and is_there(record.get(head), rest)


def knows_field(path: Path, table: RolloutTable, sample: Sample) -> bool:
    """Whether the rows have a field, be it null."""
    begin = f"{path.text}."
    columns = table.rows.columns
    return path.text in columns or any(name.startswith(begin) for name in columns) or sample.has_all(path.text)


def field_verdict(leaf: FieldIs, table: RolloutTable, sample: Sample) -> Verdict:
    """What the table says about a field leaf."""
    if leaf.over is not None:
        return ratio_verdict(leaf, table)
    if leaf.beside is not None:
        return pair_verdict(leaf, table, sample)
    column = table.rows.columns.get(leaf.path.text)
    if column is None:
        return absent_verdict(leaf, len(table), sample)
    if column.kind != "list" and sample.has_container(leaf.path):
        return undecided(len(table))  # a field of several shapes is in the table by its first words, if by any
    if column.kind in ("number", "flag"):
        return decided(number_mask(column, leaf.asked))
    return level_verdict(column, leaf.asked)


def absent_verdict(leaf: FieldIs, count: int, sample: Sample) -> Verdict:
    """The table holds no such column: every value is missing, or too long, or an object."""
    if not sample.has(leaf.path):
        return everywhere(count, yes=all_hold(leaf.asked, None))
    if leaf.path.is_many or leaf.path.depth > MAX_DEPTH or sample.has_container(leaf.path):
        return undecided(count)
    return undecided(count) if is_open(leaf.asked) else everywhere(count, yes=False)


def is_open(asked: Questions) -> bool:
    """Whether a long text could pass."""
    return all(question.word in OPEN for question in asked)


def number_mask(column: Column, asked: Questions) -> Bools:
    """Rows of a column of numbers that pass; a missing number is null."""
    mask = np.ones(len(column.values), dtype=bool)
    for question in asked:
        mask &= question_mask(question, column)
    return mask


def question_mask(question: Question, column: Column) -> Bools:
    known = column.known()
    if question.word == "is_null":
        return ~known
    if question.word == "is_known":
        return known
    if question.word not in NUMERIC:
        return np.zeros(len(known), dtype=bool)
    return compare(question, column.values, flag=column.kind == "flag") & known


def compare(question: Question, values: Floats, *, flag: bool = False) -> Bools:
    """A numeric question put to numbers; nan passes none but `not_equals`."""
    wanted = question.wanted
    with np.errstate(invalid="ignore"):
        match question.word:
            case "greater":
                return np.asarray(values > wanted)
            case "less":
                return np.asarray(values < wanted)
            case "at_least":
                return np.asarray(values >= wanted)
            case "at_most":
                return np.asarray(values <= wanted)
            case "is_true":
                return np.asarray(np.abs(values) > 0)
            case "is_false":
                return np.asarray(values == 0)
            case "in":
                return np.asarray(np.isin(values, [as_number(one, flag=flag) for one in wanted]))
            case "not_equals":
                return np.asarray(values != as_number(wanted, flag=flag))
            case _:
                return np.asarray(values == as_number(wanted, flag=flag))


def as_number(wanted: Any, *, flag: bool) -> float:
    """A constant as a column of numbers would hold it; nan when it never would."""
    if not isinstance(wanted, str):
        return float(wanted)
    if flag:
        return {"true": 1.0, "false": 0.0}.get(wanted, np.nan)
    try:
        return float(wanted)
    except ValueError:
        return np.nan


def level_verdict(column: Column, asked: Questions) -> Verdict:
    """Every distinct value once; what may have been cut short, or is not in the table, stays open."""
    ask = [is_cut(level) for level in column.levels]
    yes = [not cut and all_hold(asked, level) for level, cut in zip(column.levels, ask, strict=True)]
    # The last entry answers for the code -1: null, or a text too long for the table.
    yes_table = np.asarray([*yes, False], dtype=bool)
    ask_table = np.asarray([*ask, is_open(asked)], dtype=bool)
    if column.kind == "list":
        yes_table[-1], ask_table[-1] = all_hold(asked, None), False
    return Verdict(yes_table[column.values], ask_table[column.values], nowhere(len(column.values)))


def is_cut(level: Any) -> bool:
    """Whether the table may hold only the beginning of this value, or a list or object as if it were a text."""
    if isinstance(level, str):
        return len(level) >= MAX_TEXT or level.startswith(("[", "{"))
    if isinstance(level, tuple):
        return len(level) >= MAX_LIST or any(len(text) >= MAX_TEXT for text in level)
    return False


def ratio_verdict(leaf: FieldIs, table: RolloutTable) -> Verdict:
    """Questions put to one number over another; unknown where either is, or where the second is 0."""
    assert leaf.over is not None
    above, below = (table.rows.column(path.text).numbers() for path in (leaf.path, leaf.over))
    below = np.where(below == 0, np.nan, below)
    ratio = above / below
    mask = ~np.isnan(ratio)
    for question in leaf.asked:
        mask &= compare(question, ratio)
    return decided(mask)


def pair_verdict(leaf: FieldIs, table: RolloutTable, sample: Sample) -> Verdict:
    """Two lists side by side, every distinct pair of lists once."""
    assert leaf.beside is not None
    left, right = (table.rows.columns.get(path.text) for path in (leaf.path, leaf.beside))
    if left is None or right is None or left.kind != "list" or right.kind != "list":
        present = sample.has(leaf.path) and sample.has(leaf.beside)
        return undecided(len(table)) if present else everywhere(len(table), yes=False)
    pairs = distinct_pairs(left.values, right.values)
    answers = [pair_answer(leaf, left, right, codes=codes) for codes in pairs.codes]
    yes = np.asarray([answer is True for answer in answers], dtype=bool)[pairs.inverse]
    ask = np.asarray([answer is None for answer in answers], dtype=bool)[pairs.inverse]
    return Verdict(yes, ask, nowhere(len(table)))


class Pairs(NamedTuple):
    """Distinct pairs of codes, where each stands, and how often."""

    codes: list[tuple[int, int]]
    inverse: Ints
    times: list[int]


def distinct_pairs(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Pairs:
    """Pairs of codes, -1 among them; one number per pair sorts much faster than two."""
    base = int(right.max(initial=0)) + 2
    joined = (left.astype(np.int64) + 1) * base + (right.astype(np.int64) + 1)
    found, inverse, times = np.unique(joined, return_inverse=True, return_counts=True)
    codes = [(pair // base - 1, pair % base - 1) for pair in found.tolist()]
    return Pairs(codes, inverse, times.tolist())


def pair_answer(leaf: FieldIs, left: Column, right: Column, *, codes: tuple[int, int]) -> bool | None:
    """Whether a pair of lists passes; `None` when one of them may be incomplete."""
    if min(codes) < 0:
        return False
    one, other = left.levels[codes[0]], right.levels[codes[1]]
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return False
    if is_cut(one) or is_cut(other) or len(one) != len(other):
        return None
    return pair_holds(leaf.asked, one, leaf.beside_asked, other)
