"""Three answers per row: yes, no, or "the table does not hold it, ask the file".

Combining them (Kleene's logic) before any file is opened leaves only the rows that could still go either way, and
those are usually few.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.metrics.values import Bools, Ints


class Verdict(NamedTuple):
    """What the table says about every row."""

    yes: Bools
    """The condition holds."""
    ask: Bools
    """Only the row's file can tell."""
    place: Ints
    """Item the condition was seen at; -1 where there is none."""


def decided(yes: Bools, place: npt.NDArray[np.int32] | None = None) -> Verdict:
    """A verdict without open rows."""
    seen = nowhere(len(yes)) if place is None else np.where(yes, place, -1).astype(np.int64)
    return Verdict(yes, np.zeros(len(yes), dtype=bool), seen)


def undecided(count: int) -> Verdict:
    """A verdict that leaves every row open."""
    return Verdict(np.zeros(count, dtype=bool), np.ones(count, dtype=bool), nowhere(count))


def everywhere(count: int, *, yes: bool) -> Verdict:
    """The same answer for every row."""
    return decided(np.full(count, yes))


def only_where(verdict: Verdict, mask: Bools) -> Verdict:
    """The verdict, with a no for every other row."""
    return Verdict(verdict.yes & mask, verdict.ask & mask, np.where(mask, verdict.place, -1))


def nowhere(count: int) -> Ints:
    return np.full(count, -1, dtype=np.int64)


def both(left: Verdict, right: Verdict) -> Verdict:
    yes = left.yes & right.yes
    possible = (left.yes | left.ask) & (right.yes | right.ask)
    place = np.where(left.place >= 0, left.place, right.place)
    return Verdict(yes, possible & ~yes, np.where(yes, place, -1))


def either(left: Verdict, right: Verdict) -> Verdict:
    yes = left.yes | right.yes
    place = np.where(left.yes & (left.place >= 0), left.place, np.where(right.yes, right.place, -1))
    return Verdict(yes, (left.ask | right.ask) & ~yes, place)


def negated(verdict: Verdict) -> Verdict:
    return Verdict(~verdict.yes & ~verdict.ask, verdict.ask, nowhere(len(verdict.yes)))
