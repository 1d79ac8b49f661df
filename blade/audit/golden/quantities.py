"""Numbers that know how they are written, so that a narrative names a value and never its digits.

A rate prints as `41.7 %`, the difference of two rates as `+3.2 pp`, a count as `1,234`. Whole numbers stay whole when
they are added; any other sum has no kind of its own and must be given a filter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

import msgspec

from blade.errors import UsageError
from blade.metrics import Metric
from blade.report import numbers
from blade.report.citations import codes
from blade.report.listing import first
from blade.report.text import Markdown

MOST_LISTED = 20
Value = TypeVar("Value")


class NarrativeError(UsageError):
    """A narrative names something that is not there, states a number itself, or quotes what nobody said."""


class Rate(float):
    """A share, printed in percent."""

    def __sub__(self, other: float) -> "Gain":
        return Gain(float(self) - float(other))


class Gain(float):
    """A difference of shares, printed in percentage points."""


class Plain(float):
    """A reward or a ratio, printed with a fixed number of digits."""

    def __sub__(self, other: float) -> "PlainGain":
        return PlainGain(float(self) - float(other))


class PlainGain(float):
    """A difference of such numbers, printed with its sign."""


class Amount(float):
    """Tokens, steps or seconds."""


KINDS: dict[type[float], Callable[[float | None], Markdown]] = {
    Rate: numbers.percent,
    Gain: numbers.signed_pp,
    Plain: numbers.number,
    PlainGain: numbers.signed_number,
    Amount: numbers.amount,
}
INTERVALS = {Rate: numbers.interval, Gain: numbers.signed_pp_interval, Plain: numbers.number_interval}


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """A metric: prints as its value."""

    name: str
    """What it is called, for messages."""
    kind: type[float]
    """What its value is."""
    metric: Metric
    """The metric."""

    @property
    def value(self) -> float:
        """The number; nobody can write about one that is not known."""
        if self.metric.value is None:
            raise NarrativeError(f"{self.name} is not known in this run; do not name it.")
        return self.kind(self.metric.value)

    @property
    def interval(self) -> Markdown:
        """Its 95 % interval."""
        return INTERVALS[self.kind](self.metric.ci95)

    @property
    def n(self) -> int:
        """Tasks or rollouts it is taken over."""
        return self.metric.n

    def __sub__(self, other: "Measure") -> float:
        return self.value - other.value


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks or rollouts that belong together: prints as a list of them."""

    keys: tuple[str, ...]
    """Which."""
    of: int
    """How many there are in all."""

    @property
    def count(self) -> int:
        """How many."""
        return len(self.keys)

    @property
    def share(self) -> Rate:
        """How much of all."""
        if not self.of:
            raise NarrativeError("a share of nothing is not known; do not name it.")
        return Rate(len(self.keys) / self.of)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def __len__(self) -> int:
        return len(self.keys)


class Names(Generic[Value]):
    """Values by name; a name that is not there is told with those that are."""

    def __init__(self, what: str, values: Mapping[str, Value]) -> None:
        self._what, self._values = what, dict(values)

    def __getitem__(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        raise NarrativeError(f"there is no {self._what} {str(name)!r}; {self._known(str(name))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def _known(self, name: str) -> str:
        if not self._values:
            return "this run has none"
        close = get_close_matches(name, self._values, n=3) or sorted(self._values)[:10]
        return f"there are {', '.join(close)}"


def written(value: Any) -> Markdown:
    """A value as it stands in the prose; `None` is a mistake of the writer, for it says nothing.

    Raises:
        NarrativeError: the value has no one way to be written.
    """
    if isinstance(value, Markdown):
        return value
    if isinstance(value, bool) or value is None:
        raise NarrativeError(f"{value!r} cannot be written out; ask for a value.")
    if isinstance(value, int):
        return numbers.count(value)
    if isinstance(value, Group):
        return listed(value.keys)
    if isinstance(value, Measure):
        return written(value.value)
    for kind, write in KINDS.items():
        if isinstance(value, kind):
            return write(value)
    if isinstance(value, float):
        raise NarrativeError("a computed number has no kind; give it a filter such as | percent, | pp or | number.")
    if hasattr(value, "shown"):
        return written(value.shown)
    raise NarrativeError(f"{type(value).__name__} has several values; name one of them.")


def listed(keys: Sequence[str]) -> Markdown:
    """Keys as code, with how many more there are; `none` when there are none."""
    return codes(first(keys, MOST_LISTED)) if keys else Markdown("none")
