"""Marks around what filters print while claims are recorded. Standard library only.

They are made of control characters, which foreign text never holds (`text.plain` takes them out), so nothing that a
run says can pass for a claim. Outside of `recording` nothing is marked.
"""

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from blade.report.addresses import Address, address_of

OPEN, SHUT, END = "\x01", "\x06", "\x07"
DIGITS = "\x02\x03\x04\x05"
MARK = re.compile(f"{OPEN}([{DIGITS}]*){SHUT}|{END}")
MARKS = re.compile(f"[{OPEN}-{END}]")

Form = list[Any]
"""The name of a filter and its arguments."""
Recorded = list[tuple[Form, Address]]
"""What marks stand for, by their number."""

_recorder: ContextVar[Recorded | None] = ContextVar("recorder", default=None)


@contextlib.contextmanager
def recording() -> Iterator[Recorded]:
    """Has filters mark what they print; yields what the marks stand for, for `extract`."""
    found: Recorded = []
    token = _recorder.set(found)
    try:
        yield found
    finally:
        _recorder.reset(token)


def marked(value: Any, text: str, *form: Any) -> str:
    """The text, marked as printed from the value in a form; as it is where nothing is recorded."""
    found = _recorder.get()
    address = None if found is None else address_of(value)
    return text if found is None or address is None else mark(text, list(form), address)


def mark(text: str, form: Form, address: Address) -> str:
    """The text, marked as printed from an address."""
    found = _recorder.get()
    if found is None:
        return text
    found.append((form, address))
    return f"{OPEN}{_number(len(found) - 1)}{SHUT}{text}{END}"


def _number(value: int) -> str:
    digits = ""
    while value or not digits:
        digits = DIGITS[value % 4] + digits
        value //= 4
    return digits


def number_in(digits: str) -> int:
    """The number of a mark."""
    value = 0
    for digit in digits:
        value = 4 * value + DIGITS.index(digit)
    return value
