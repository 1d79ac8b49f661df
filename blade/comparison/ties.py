"""Which of several runs cannot be told apart, as overlapping groups named by letters."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

Pair = tuple[int, int]


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
