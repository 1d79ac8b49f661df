r"""Regular expressions that cannot run away, whoever wrote them.

A small grammar that every engine reads alike: literals, `.`, `^`, `$`, `\d \w \s \b` and their opposites, classes,
groups, alternatives and repeats. A repeat stands on one character or class, a group may only be optional, and the
number of ways a repeat can be tried is bounded (`MAX_WAYS`): with it a backtracking engine needs at most a bounded
number of steps per text. Where google-re2 is installed it does the search, in linear time. Texts longer than two
windows are searched at both ends only. `^` and `$` are the ends of a line; a leading `(?i)` ignores case.
"""

import re
from functools import cache
from typing import Any

from blade.errors import UsageError

WINDOW = 4096
MAX_LENGTH = 400
MAX_REPEAT = 200
MAX_SIZE = 2000
"""Characters and classes of an expression, counted ones as often as they may be repeated."""
MAX_WAYS = 4 * WINDOW
MAX_GROUPS = 12
"""Levels of groups inside groups."""

CLASSES = frozenset("dDwWsS")
BOUNDARIES = frozenset("b")
CONTROLS = frozenset("ntr")
REPEAT = re.compile(r"\{([0-9]{1,4})(,([0-9]{1,4})?)?\}")

Span = tuple[int, int]


class Expression:
    """A checked expression."""

    def __init__(self, source: str) -> None:
        check(source)
        self.source = source
        self._compiled = compile_source(source)

    def search(self, text: str) -> Span | None:
        """Where it first matches: in a long text at the beginning, else at the end."""
        found = self._find(text[:WINDOW])
        if found is None and len(text) > WINDOW:
            found = self._find(text[-WINDOW:])
            shift = len(text) - WINDOW
            return None if found is None else (found[0] + shift, found[1] + shift)
        return found

    def _find(self, window: str) -> Span | None:
        match = self._compiled.search(window if window.isascii() else whole_characters(window))
        return None if match is None else (match.start(), match.end())

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


def whole_characters(text: str) -> str:
    # Half of a surrogate pair is not a character, and re2 takes none.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def compile_source(source: str) -> Any:
    """The expression, by the fastest engine there is."""
    try:
        import re2
    except ImportError:
        return re.compile(source, re.MULTILINE | re.ASCII)
    options = re2.Options()
    options.log_errors = False
    flags = "(?im)" if source.startswith("(?i)") else "(?m)"
    return re2.compile(flags + source.removeprefix("(?i)"), options)


def check(source: str) -> None:
    """Raises `UsageError` for an expression outside of the grammar."""
    if not source or len(source) > MAX_LENGTH:
        raise UsageError(f"an expression has 1 to {MAX_LENGTH} characters, this one {len(source)}")
    if source.startswith("(?i)") and not source.isascii():
        raise UsageError("'(?i)' ignores the case of ASCII letters only; write other letters as a class")
    grammar = Grammar(source)
    if grammar.whole() > MAX_WAYS or grammar.size > MAX_SIZE:
        raise UsageError("it repeats too much to be safe; use one '*' or '+' at most, and bounds such as {0,20}")
    try:
        re.compile(source)
    except re.error as error:
        raise UsageError(f"{error.msg} (character {(error.pos or 0) + 1})") from error


class Grammar:
    """Reads an expression once, from left to right, counting the ways its repeats can be tried."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = len("(?i)") if source.startswith("(?i)") else 0
        self.depth = 0
        self.size = 0

    def whole(self) -> int:
        ways = self.alternatives()
        if self.at < len(self.source):
            raise self.wrong("a ')' without its '('")
        return ways

    def alternatives(self) -> int:
        ways = self.sequence()
        while self.next_is("|"):
            self.at += 1
            ways += self.sequence()
        return ways

    def sequence(self) -> int:
        ways = 1
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            ways = min(ways * self.piece(), 2 * MAX_WAYS)
        return ways

    def piece(self) -> int:
        """One atom with its repeat."""
        sign = self.source[self.at]
        if sign == "(":
            return self.group()
        self.size += 1
        repeatable = self.atom(sign)
        times = self.repeat()
        if times and not repeatable:
            raise self.wrong("a repeat without a character before it")
        return times or 1

    def group(self) -> int:
        self.at += 1
        if self.next_is("?"):
            if not self.source.startswith("?:", self.at):
                raise self.wrong("only plain groups '(...)' and '(?:...)' are allowed, and '(?i)' at the beginning")
            self.at += 2
        self.depth += 1
        if self.depth > MAX_GROUPS:
            raise self.wrong(f"groups are at most {MAX_GROUPS} deep")
        inner = self.alternatives()
        if not self.next_is(")"):
            raise self.wrong("a '(' without its ')'")
        self.depth -= 1
        self.at += 1
        if self.next_is("?"):
            self.at += 1
            self.refuse_second_repeat()
            return inner + 1
        if self.repeat():
            raise self.wrong("a group may be optional ('?') but not repeated; repeat a character or a class")
        return inner

    def atom(self, sign: str) -> bool:
        """Steps over one character, class or place; whether it may be repeated."""
        if sign == "[":
            self.character_class()
            return True
        if sign == "\\":
            return self.escape()
        if sign in "*+?{}]":
            raise self.wrong(f"{sign!r} is a sign; write '\\{sign}' for the character")
        self.at += 1
        return sign not in "^$"

    def escape(self) -> bool:
        name = self.source[self.at + 1 : self.at + 2]
        self.at += 2
        if name in BOUNDARIES:
            return False
        if name and (name in CLASSES or name in CONTROLS or is_punctuation(name)):
            return True
        raise self.wrong(f"'\\{name}' is not allowed; backreferences and other escapes are left out")

    def character_class(self) -> None:
        self.at += 1
        if self.next_is("^"):
            self.at += 1
        begin = self.at
        while not self.next_is("]"):
            sign = self.source[self.at : self.at + 1]
            if not sign:
                raise self.wrong("a '[' without its ']'")
            if sign == "[" or (sign in "&~|-" and self.source[self.at + 1 : self.at + 2] == sign):
                raise self.wrong(f"write '\\{sign}' for the character inside of a class")
            if sign == "\\":
                if self.source[self.at + 1 : self.at + 2] in BOUNDARIES:
                    raise self.wrong("'\\b' is not a character of a class")
                self.escape()
            else:
                self.at += 1
        if self.at == begin:
            raise self.wrong("an empty class")
        self.at += 1

    def repeat(self) -> int:
        """Ways the repeat at this place can be tried; 0 when there is none."""
        sign = self.source[self.at : self.at + 1]
        if not sign or sign not in "*+?{":
            return 0
        ways = self.counted() if sign == "{" else 2 if sign == "?" else WINDOW
        self.at += sign != "{"
        if self.next_is("?"):  # as few as possible: the same ways, tried the other way round
            self.at += 1
        self.refuse_second_repeat()
        return ways

    def counted(self) -> int:
        found = REPEAT.match(self.source, self.at)
        if found is None:
            raise self.wrong("'{' is a sign; write '\\{' for the character")
        self.at = found.end()
        least = int(found[1])
        most = least if found[2] is None else None if found[3] is None else int(found[3])
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            raise self.wrong(f"{found[0]} is not a repeat; the most is {{0,{MAX_REPEAT}}}")
        self.size += max(least, most or 0)
        return WINDOW if most is None else most - least + 1

    def refuse_second_repeat(self) -> None:
        sign = self.source[self.at : self.at + 1]
        if sign and sign in "*+?{":
            raise self.wrong("a repeat of a repeat")

    def next_is(self, sign: str) -> bool:
        return self.source.startswith(sign, self.at)

    def wrong(self, why: str) -> UsageError:
        return UsageError(f"{why} (character {min(self.at, len(self.source)) + 1})")


def is_punctuation(name: str) -> bool:
    return name.isascii() and not name.isalnum() and name.isprintable() and not name.isspace()
