"""What prepare scripts share: seeded draws that come out the same everywhere, and tasks written byte for byte alike.

A draw is a hash of its key and its name. So none depends on the order of the others, on the machine or on the
version of Python, and a change to one task leaves all others as they were.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class Dice:
    """Draws that belong to one key, such as a benchmark and a task."""

    def __init__(self, *key: object) -> None:
        self.key = key

    def hex(self, name: str, digits: int) -> str:
        """An id of so many hexadecimal digits."""
        text = "/".join([*map(str, self.key), name])
        return hashlib.sha256(text.encode()).hexdigest()[:digits]

    def number(self, name: str, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.hex(name, 12), 16) % (high - low + 1)

    def choice(self, name: str, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(name, 0, len(options) - 1)]

    def shuffled(self, name: str, options: Sequence[T]) -> list[T]:
        """All options in a drawn order."""
        order = sorted(range(len(options)), key=lambda place: self.hex(f"{name}/{place}", 16))
        return [options[place] for place in order]

    def sample(self, name: str, options: Sequence[T], count: int) -> list[T]:
        """So many of the options, no place drawn twice."""
        return self.shuffled(name, options)[:count]


def taking_turns(rows: Sequence[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """Rows in an order in which the values of a field take turns, so that any first few are a fair sample."""
    values = dict.fromkeys(row[field] for row in rows)
    piles = [[row for row in rows if row[field] == value] for value in values]
    return [row for row in chain(*zip_longest(*piles)) if row is not None]


def write_tasks(path: Path, tasks: Sequence[dict[str, Any]]) -> Path:
    """Writes tasks as JSON lines in the order of their ids; ids that occur twice are a mistake of the script."""
    often = [name for name, count in Counter(task["task_id"] for task in tasks).items() if count > 1]
    if often:
        raise ValueError(f"task ids given twice: {', '.join(sorted(often))}")
    ordered = sorted(tasks, key=lambda task: str(task["task_id"]))
    lines = [json.dumps(task, ensure_ascii=False, sort_keys=True) + "\n" for task in ordered]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(lines).encode())
    return path
