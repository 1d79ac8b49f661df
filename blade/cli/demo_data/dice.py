"""Seeded choices that come out the same on every machine and every Python.

Each is a hash of the seed, the rollout and the name of the choice. So no choice depends on the order of the others,
and a change to one rollout leaves all other rows as they were.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

SEED = "desk-1"

T = TypeVar("T")


class Dice:
    """The choices of one rollout."""

    def __init__(self, *key: object) -> None:
        self.key = key

    def hex(self, name: str, digits: int) -> str:
        """An id of so many hexadecimal digits."""
        text = "/".join([SEED, *map(str, self.key), name])
        return hashlib.sha256(text.encode()).hexdigest()[:digits]

    def number(self, name: str, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.hex(name, 12), 16) % (high - low + 1)

    def choice(self, name: str, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(name, 0, len(options) - 1)]
