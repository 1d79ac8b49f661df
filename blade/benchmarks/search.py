"""Finding things by words: every word must occur, names count more than descriptions, and whole words more than parts.

A word is found where another begins with it, so `swe` finds `swebench` and not `answer`. Only when nothing has a word
is it taken for a slip of the pen, and what is one or two letters away is found.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

WORD = re.compile(r"[^\W\d_]+|\d+")
WEIGHTS = {"name": 4.0, "domain": 3.0, "environment": 2.0, "agent": 2.0}
"""What a match in a field is worth; 1 in any other."""
WHOLE, BEGINNING, INSIDE, SLIP = 1.0, 0.8, 0.5, 0.4
LONG_ENOUGH = 4
"""Letters a word needs to be found inside a name, or to be taken for a slip of a word in a description."""


class Hit(NamedTuple, Generic[T]):
    """Something found, and how well it fits."""

    value: T
    score: float
    is_guess: bool
    """Whether a word was taken for a slip of the pen."""


def search(query: str, candidates: Iterable[tuple[T, Mapping[str, str | None]]]) -> list[Hit[T]]:
    """What fits a query, best first; each candidate comes with its texts by field."""
    wanted = words(query)
    entries = [(value, {field: words(text or "") for field, text in texts.items()}) for value, texts in candidates]
    if not wanted:
        return []
    slips = {word for word in wanted if not any(match(word, fields) for _, fields in entries)}
    hits: list[Hit[T]] = []
    for value, fields in entries:
        scores = [slip(word, fields) if word in slips else match(word, fields) for word in wanted]
        if all(scores):
            bonus = WEIGHTS["name"] if fields.get("name") == wanted else 0.0
            hits.append(Hit(value, sum(scores) + bonus, bool(slips)))
    return sorted(hits, key=lambda hit: -hit.score)


def words(text: str) -> list[str]:
    """The words of a text; letters and digits stand apart, so that `aime25` is found by `aime` and by `25`."""
    return WORD.findall(text.lower())


def match(word: str, fields: Mapping[str, list[str]]) -> float:
    """How well a word occurs in the best of some fields; 0 when it does not."""
    return max(
        (WEIGHTS.get(name, 1.0) * fit(word, other, name) for name, ws in fields.items() for other in ws), default=0.0
    )


def fit(word: str, other: str, field: str) -> float:
    if word == other:
        return WHOLE
    if other.startswith(word) and len(word) > 1:
        return BEGINNING
    return INSIDE if field == "name" and len(word) >= LONG_ENOUGH and word in other else 0.0


def slip(word: str, fields: Mapping[str, list[str]]) -> float:
    """How well a word one or two letters away occurs; short words are looked for where names stand only."""
    allowed = 1 if len(word) < 8 else 2
    read = {name: others for name, others in fields.items() if len(word) >= LONG_ENOUGH or name in WEIGHTS}
    near = [
        WEIGHTS.get(name, 1.0) * SLIP
        for name, others in read.items()
        for other in others
        if min(len(word), len(other)) > 2 and distance(word, other, most=allowed) <= allowed
    ]
    return max(near, default=0.0)


def distance(one: str, two: str, *, most: int) -> int:
    """Letters added, dropped, changed or swapped between two words; more than `most` is not counted further."""
    if abs(len(one) - len(two)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
