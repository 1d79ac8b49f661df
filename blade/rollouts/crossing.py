"""Fields that tell the rows of a task apart: whether tasks have each of their values equally often."""

from typing import Any

import numpy as np

from blade.rollouts.columns import Column, codes_in
from blade.rollouts.rows import Ints

MOSTLY = 0.9
MOST_LEVELS = 50
"""Values of a field that tells variants apart, at most."""
SURE_PAIRS = 5.0
"""Pairs of rows expected to share a value by chance; that none does is then no chance."""
LEAST_TASKS = 3
"""Tasks with several rows before a pattern in them says anything."""


def is_crossed(column: Column, task: Ints, repeat: Ints | None) -> bool:
    """Whether tasks with several rows have each value of a field equally often, or none twice against all odds.

    With numbered repeats, only rows that claim the same repeat are told apart.
    """
    counts = counted_values(column, task, repeat)
    if counts is None or (several := counts.sum(axis=1) > 1).sum() < LEAST_TASKS:
        return False
    even = (counts[:, :-1] == counts[:, :1]).all(axis=1) & (counts[:, -1] == 0)
    if even[several].mean() >= MOSTLY:
        return True
    # With values dealt at random, so many pairs of rows of a task would share one.
    total = counts.sum()
    alike = pairs_in(counts.sum(axis=0)).sum() / pairs_in(total)
    return bool(counts.max() == 1 and alike * pairs_in(counts.sum(axis=1)).sum() >= SURE_PAIRS)


def mixes(column: Column, task: Ints, repeat: Ints | None) -> bool:
    """Whether rows that would be repeats of a task have different values."""
    counts = counted_values(column, task, repeat)
    return counts is not None and bool(((counts[:, :-1] > 0).sum(axis=1) > 1).any())


def is_shared(column: Column) -> bool:
    """Whether most rows have another row with the same value, and there are several values."""
    coded = column.coded()
    _, counts = np.unique(coded.values[coded.known()], return_counts=True)
    return len(counts) >= LEAST_TASKS and int(counts[counts > 1].sum()) > len(column.values) / 2


def counted_pairs(task: Ints, column: Column) -> Ints:
    """Per task: its rows that have a value in a column, and how many values these are."""
    coded = column.coded()
    both = (task >= 0) & coded.known()
    size = int(task.max(initial=-1)) + 1
    pairs = np.unique(np.stack([task[both], coded.values[both]]), axis=1)
    return np.stack([np.bincount(task[both], minlength=size), np.bincount(pairs[0], minlength=size)], axis=1)


def pairs_in(count: Any) -> Any:
    return count * (count - 1) / 2


def counted_values(column: Column, task: Ints, repeat: Ints | None) -> Ints | None:
    """How often each task, or each repeat of it, has each value of a field; rows without one come last.

    `None` for a field that cannot tell variants apart.
    """
    if column.kind == "list":
        return None
    coded = column.coded()
    used = codes_in(coded.values)
    if not 2 <= len(used) <= MOST_LEVELS:
        return None
    rows = np.flatnonzero(task >= 0)
    groups, codes = task[rows], coded.values[rows]
    if repeat is not None:
        ranks = np.unique(repeat[rows], return_inverse=True)[1]
        numbers, groups = np.unique(groups * (int(ranks.max(initial=0)) + 1) + ranks, return_inverse=True)
        if len(numbers) == len(rows):
            return None  # no two rows are the same attempt
    values = np.where(codes >= 0, np.searchsorted(used, codes), len(used))
    width = len(used) + 1
    counts = np.bincount(groups * width + values, minlength=(int(groups.max(initial=0)) + 1) * width)
    return counts.reshape(-1, width)
