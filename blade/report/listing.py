"""Lists cut to a readable length that say how much was cut."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from blade.report.addresses import size
from blade.report.numbers import count
from blade.report.text import Markdown

Entry = TypeVar("Entry")


class Listing(msgspec.Struct, Generic[Entry], frozen=True, kw_only=True):
    """The first entries of a list and how many follow."""

    shown: list[Entry]
    """Entries that are shown."""
    rest: int = 0
    """Entries that are not."""
    at_least: bool = False
    """Whether the list was itself cut, so that there may be more than `rest`."""

    @property
    def more(self) -> Markdown:
        """How many follow: `12 more`, or `at least 12 more`."""
        return Markdown(f"{'at least ' if self.at_least else ''}{count(self.rest)} more")


def first(entries: Sequence[Entry], most: int, *, total: int | None = None, limit: int | None = None) -> Listing[Entry]:
    """The first entries.

    Args:
        total: how many there really are, when the list holds only some.
        limit: the length at which the list was cut before, when nobody counted the rest.
    """
    shown = list(entries[:most])
    known = size(entries)
    rest = (known if total is None or total < known else total) - len(shown)
    is_cut = total is None and limit is not None and len(entries) >= limit
    return Listing(shown=shown, rest=rest, at_least=is_cut and rest > 0)


def fitting(texts: Sequence[str], most: int) -> Listing[str]:
    """The first texts that together have at most so many characters; always one."""
    room, kept = most, 0
    for text in texts:
        room -= len(text) + 2
        if kept and room < 0:
            break
        kept += 1
    return first(texts, kept)
