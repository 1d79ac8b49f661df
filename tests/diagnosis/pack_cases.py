"""What a pack is held to: for every pattern a row that belongs to it, and a near miss that failed too."""

from typing import NamedTuple

from rollout_rows import Row


class Case(NamedTuple):
    """A row that belongs to a pattern, and one that does not show it."""

    code: str
    hit: Row
    near: Row
