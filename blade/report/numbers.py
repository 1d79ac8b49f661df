"""How numbers are written: one function per kind of number, used as filters by templates and by the terminal.

Digits are fixed so that a report is the same text every time. A number nobody knows is `n/a (n=0)`, never 0.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from blade.metrics.rounding import fixed
from blade.report.addresses import bare
from blade.report.marks import marked
from blade.report.text import Markdown

UNKNOWN = Markdown("n/a (n=0)")
DASH = Markdown("–")
"""Where a number does not apply, as an interval to a count."""

Interval = Sequence[float]
Printer = TypeVar("Printer", bound=Callable[..., Markdown])


def printed(function: Printer) -> Printer:
    """A filter that marks what it prints with the address of its value."""

    @functools.wraps(function)
    def inner(value: Any, *rest: Any, **named: Any) -> Markdown:
        text = function(bare(value), *rest, **named)
        form = (function.__name__, *rest, *named.values())
        return text if value is None else Markdown(marked(value, text, *form))

    return inner  # type: ignore[return-value]


@printed
def percent(share: float | None, digits: int = 1) -> Markdown:
    """0.42 as `42.0 %`."""
    return UNKNOWN if share is None else Markdown(f"{fixed(100.0 * share, digits)} %")


def share(part: int | None, whole: int | None, digits: int = 1) -> Markdown:
    """How much of the whole a part is, as a percentage."""
    return percent(part / whole, digits) if part is not None and whole else UNKNOWN


def interval(ends: Interval | None, digits: int = 1) -> Markdown:
    """An interval of shares as `31.2 % to 53.4 %`."""
    return DASH if ends is None else Markdown(f"{percent(ends[0], digits)} to {percent(ends[1], digits)}")


@printed
def number(value: float | None, digits: int = 3) -> Markdown:
    """A reward or another plain number, `0.512`."""
    return UNKNOWN if value is None else Markdown(fixed(value, digits))


def number_interval(ends: Interval | None, digits: int = 3) -> Markdown:
    """An interval of plain numbers as `0.401 to 0.623`."""
    return DASH if ends is None else Markdown(f"{number(ends[0], digits)} to {number(ends[1], digits)}")


@printed
def signed_number(value: float | None, digits: int = 3) -> Markdown:
    """A difference of plain numbers, `+0.032`."""
    return UNKNOWN if value is None else Markdown(fixed(value, digits, signed=True))


def signed_number_interval(ends: Interval | None, digits: int = 3) -> Markdown:
    """An interval of such differences."""
    return DASH if ends is None else Markdown(f"{signed_number(ends[0], digits)} to {signed_number(ends[1], digits)}")


@printed
def p_value(value: float | None) -> Markdown:
    """A p-value; one too small to matter is `≤ 0.001`."""
    if value is None:
        return UNKNOWN
    return Markdown("≤ 0.001" if value <= 0.001 else fixed(value, 3))


@printed
def p_words(value: float) -> Markdown:
    """A p-value with the digits that matter, `p = 0.021`."""
    return Markdown("p < 0.0001" if value < 0.0001 else f"p = {fixed(value, 4 if value < 0.001 else 3)}")


@printed
def short_p(value: float) -> Markdown:
    """The same for a column of them, `0.021`."""
    return Markdown(p_words(value).removeprefix("p ").removeprefix("= "))


@printed
def points(value: float | None, digits: int = 1) -> Markdown:
    """A standard error of a share in percentage points, `8.1 pp`."""
    return DASH if value is None else Markdown(f"{fixed(100.0 * value, digits)} pp")


@printed
def signed_pp(value: float | None, digits: int = 1) -> Markdown:
    """A difference of shares in percentage points, `+3.2 pp`."""
    return UNKNOWN if value is None else Markdown(f"{fixed(100.0 * value, digits, signed=True)} pp")


def signed_pp_interval(ends: Interval | None, digits: int = 1) -> Markdown:
    """An interval of such differences."""
    return DASH if ends is None else Markdown(f"{signed_pp(ends[0], digits)} to {signed_pp(ends[1], digits)}")


@printed
def count(value: int | None) -> Markdown:
    """A count with its thousands set apart, `12,345`."""
    return UNKNOWN if value is None else Markdown(f"{value:,}")


def bound(value: float) -> Markdown:
    """A limit: a count, or a share with two digits."""
    return count(value) if isinstance(value, int) else number(value, 2)


def plural(value: int, noun: str, many: str = "") -> Markdown:
    """A count with its noun: `1 rollout`, `2 rollouts`."""
    return Markdown(f"{count(value)} {noun if value == 1 else many or noun + 's'}")


@printed
def amount(value: float | None) -> Markdown:
    """Tokens, steps or seconds: whole from 100 on, with one digit below."""
    return UNKNOWN if value is None else Markdown(fixed(value, 0 if abs(value) >= 100.0 else 1))


@printed
def signed_amount(value: float | None) -> Markdown:
    """A difference of such amounts."""
    return UNKNOWN if value is None else Markdown(fixed(value, 0 if abs(value) >= 100.0 else 1, signed=True))


def signed_amount_interval(ends: Interval | None) -> Markdown:
    """An interval of such differences."""
    return DASH if ends is None else Markdown(f"{signed_amount(ends[0])} to {signed_amount(ends[1])}")


@printed
def tokens(value: float | None) -> Markdown:
    """A number of tokens, whole."""
    return UNKNOWN if value is None else Markdown(fixed(value, 0))


@printed
def seconds(value: float | None) -> Markdown:
    """A duration in the unit that suits it."""
    if value is None:
        return UNKNOWN
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if value >= size:
            return Markdown(f"{fixed(value / size, 1)} {unit}")
    return Markdown(f"{fixed(value, 1)} s")


@printed
def size(value: int) -> Markdown:
    """A file's size, `1.2 MB`, in powers of 1000."""
    amount_left, units = float(value), ["B", "kB", "MB", "GB", "TB"]
    while amount_left >= 999.95 and len(units) > 1:
        amount_left /= 1000.0
        units.pop(0)
    return Markdown(f"{value} B" if units[0] == "B" else f"{fixed(amount_left, 1)} {units[0]}")
