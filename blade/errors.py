"""What can go wrong, and how it is said.

Reading something broken raises a `BladeError`, whose message is one sentence a user can act on and whose
`exit_code` is the documented one. Checking something collects `Problem`s instead, so that all are seen at
once. A bad row inside a readable file is neither: it is data (`blade.rollouts.BadLine`).
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec


class BladeError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with its code."""

    exit_code: ClassVar[int] = 3


class UsageError(BladeError):
    """The request itself makes no sense: an unknown field, a malformed rule, options that exclude each other."""

    exit_code: ClassVar[int] = 2


class Choice(NamedTuple):
    """One of the things a user may mean."""

    option: str
    """The option that says so, as `--group-by`; or a whole command of another program, without a value."""
    value: str = ""
    """The option's value, unquoted."""
    meaning: str = ""
    """What it says, in a few words."""


class Unclear(UsageError):
    """What was meant can be several things; the message ends with a command for each."""

    def __init__(self, message: str, path: Path, choices: Sequence[Choice], given: Sequence[str] = ()) -> None:
        super().__init__(message, path, choices, given)
        self.message = message
        self.path = path
        self.choices = choices
        self.given = given

    def __str__(self) -> str:
        return self.with_commands(["diagnose", str(self.path), *self.given])

    def with_commands(self, typed: Sequence[str]) -> str:
        """The message with what was typed after `blade`, changed as each choice wants it."""
        lines = [
            retyped(typed, choice) + (f"    # {choice.meaning}" if choice.meaning else "") for choice in self.choices
        ]
        return "\n  ".join([self.message, *lines])


def retyped(typed: Sequence[str], choice: Choice) -> str:
    """A command with an option in place of what it said before; a second condition is added to the first."""
    if not choice.value:
        return choice.option
    kept, value = list(typed), choice.value
    for at in range(len(kept) - 1, -1, -1):
        name, given, old = kept[at].partition("=")
        if name == choice.option and (given or at + 1 < len(kept)):
            old = old if given else kept.pop(at + 1)
            value = f"({old}) and {value}" if name == "--where" else value
            del kept[at]
    return shlex.join(["blade", *kept, choice.option, value])


class InputError(BladeError):
    """An input is missing, unreadable, empty, or holds no rollouts at all."""

    exit_code: ClassVar[int] = 3


class ProblemsFound(BladeError):
    """The input was read, and what the user asked to be guarded against was found in it."""

    exit_code: ClassVar[int] = 1


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing found wrong by a check."""

    where: str
    """File, field or id the problem is at."""
    message: str
    """What was seen and what was expected."""
    hint: str = ""
    """What to do next."""
