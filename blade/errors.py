"""What can go wrong, and how it is said.

Reading something broken raises a `BladeError`, whose message is one sentence a user can act on and whose
`exit_code` is the documented one. Checking something collects `Problem`s instead, so that all are seen at
once. A bad row inside a readable file is neither: it is data (`blade.rollouts.BadLine`).
"""

from typing import ClassVar

import msgspec


class BladeError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with its code."""

    exit_code: ClassVar[int] = 3


class UsageError(BladeError):
    """The request itself makes no sense: an unknown field, a malformed rule, options that exclude each other."""

    exit_code: ClassVar[int] = 2


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
