"""What a rule asks of one value: the questions, and the paths that lead to values in a row's JSON.

A list passes when one of its elements does; elements are compared as texts, the way the table keeps them. Every
question but `is_null` says no to a value that is not there.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from blade.diagnosis.packs.expressions import Expression
from blade.rollouts.columns import level_text
from blade.rollouts.formats.format import value_at


class Path(NamedTuple):
    """A dotted path; `services[].stderr` is the `stderr` of every element of the list `services`."""

    text: str

    @property
    def top(self) -> str:
        """Name of the row's own field that the path begins with."""
        return self.text.split(".")[0].split("[")[0]

    @property
    def depth(self) -> int:
        """Names on the way."""
        return self.text.count(".") + 1

    @property
    def is_many(self) -> bool:
        """Whether it leads into the elements of a list."""
        return "[]" in self.text

    def values(self, record: Any) -> Any:
        """The value it leads to; a list of values where it leads into a list, `None` for each that is missing."""
        head, many, rest = self.text.partition("[]")
        found = value_at(record, head)
        return elements(found, rest.lstrip(".")) if many else found


def elements(found: Any, rest: str) -> list[Any] | None:
    """What a path leads to in every element of a list, in one flat list."""
    if not isinstance(found, list):
        return None
    if not rest:
        return found
    out: list[Any] = []
    for element in found:
        inner = Path(rest).values(element)
        if Path(rest).is_many:
            out.extend(inner or [])
        else:
            out.append(inner)
    return out


class Question(NamedTuple):
    """One question put to a value, such as `greater: 0.5`."""

    word: str
    wanted: Any

    def holds(self, value: Any) -> bool:
        """Whether the value passes."""
        return HOLDS[self.word](value, self.wanted)


def equals(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return value == wanted
    if not isinstance(value, bool | int | float | str):
        return False
    return bool(value == wanted) or level_text(value) == level_text(wanted)


def number(value: Any) -> float | None:
    """A value as a number; an element of a list is a text that reads as one."""
    if isinstance(value, bool | int | float | str):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None


def compares(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def holds(value: Any, wanted: Any) -> bool:
        found = number(value)
        return found is not None and compare(found, float(wanted))

    return holds


def is_true(value: Any, _: Any) -> bool:
    found = number(value)
    return value == "true" or (found is not None and abs(found) > 0.0)


def is_false(value: Any, _: Any) -> bool:
    return value == "false" or number(value) == 0.0


def contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return level_text(wanted) in value
    return isinstance(value, list) and any(equals(element, wanted) for element in value)


def matches(value: Any, wanted: Expression) -> bool:
    return isinstance(value, str) and wanted.search(value) is not None


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": equals,
    "not_equals": lambda value, wanted: value is not None and not equals(value, wanted),
    "in": lambda value, wanted: any(equals(value, one) for one in wanted),
    "greater": compares(float.__gt__),
    "less": compares(float.__lt__),
    "at_least": compares(float.__ge__),
    "at_most": compares(float.__le__),
    "is_true": is_true,
    "is_false": is_false,
    "is_null": lambda value, _: value is None,
    "is_known": lambda value, _: value is not None,
    "matches": matches,
    "contains": contains,
}
"""Every question by the word a pack uses for it."""

NUMERIC = frozenset({"greater", "less", "at_least", "at_most", "is_true", "is_false", "equals", "not_equals", "in"})
"""Questions a column of numbers answers by itself."""
OF_THE_WHOLE = frozenset({"is_null", "is_known", "contains"})
"""Questions of a list itself, not of its elements."""
OPEN = frozenset({"is_null", "is_known", "not_equals", "matches", "contains"})
"""Questions whose answer may be yes for a text too long to be in the table."""

Questions = tuple[Question, ...]


def all_hold(asked: Questions, value: Any) -> bool:
    """Whether a value passes every question; of a list, whether one element passes all that ask for elements."""
    if not isinstance(value, list | tuple):
        return all(question.holds(value) for question in asked)
    whole = [question for question in asked if question.word in OF_THE_WHOLE]
    each = tuple(question for question in asked if question.word not in OF_THE_WHOLE)
    if not all(question.holds(list(value)) for question in whole):
        return False
    return not each or any(all(question.holds(one) for question in each) for one in map(as_element, value))


def as_element(value: Any) -> Any:
    """An element of a list as the table would keep it: a scalar as a text."""
    return level_text(value) if isinstance(value, bool | int | float) else value


def pair_holds(asked: Questions, left: Any, beside: Questions, right: Any) -> bool:
    """Whether some element passes while its neighbour in a second list passes too."""
    if not isinstance(left, list | tuple) or not isinstance(right, list | tuple) or len(left) != len(right):
        return False
    return any(
        all_hold(asked, as_element(one)) and all_hold(beside, as_element(other))
        for one, other in zip(left, right, strict=True)
    )
