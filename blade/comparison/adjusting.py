"""p-values of several tests at once, and the order of several runs that follows from them."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

import numpy as np

Pair = tuple[int, int]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of a single false alarm among all stays below the level (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that the share of false alarms among all alarms stays below the level (1995)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


def tie_groups(runs: int, apart: Mapping[Pair, bool]) -> list[list[int]]:
    """Largest groups of runs no two of which are apart; insert and absorb (Piepho 2004). Groups may overlap."""
    groups = [set(range(runs))]
    for (first, second), is_apart in apart.items():
        if not is_apart:
            continue
        split = [part for group in groups for part in halves(group, first, second)]
        groups = [group for i, group in enumerate(split) if not absorbed(group, split, i)]
    return sorted(sorted(group) for group in groups)


def halves(group: set[int], first: int, second: int) -> list[set[int]]:
    """The group as it is, or without each of two runs that cannot be in it together."""
    return [group - {first}, group - {second}] if first in group and second in group else [group]


def absorbed(group: set[int], groups: Sequence[set[int]], place: int) -> bool:
    """Whether another group holds this one; of equal groups the first stays."""
    return any(group < other or (group == other and i < place) for i, other in enumerate(groups))


def letters(number: int) -> str:
    """a, b, … z, a2, b2, …"""
    cycle, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(cycle + 1) if cycle else "")
