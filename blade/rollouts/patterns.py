"""Texts that say something went wrong around the model, found by one pass over the raw bytes.

Only literal, lower-case ASCII texts: they can be searched in undecoded JSON, by three engines with the same result.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from blade.rollouts.native.library import library
from blade.rollouts.native.searching import Literal, NativeSearch
from blade.rollouts.pieces import Indices, Pieces

TEXT_MARKS: dict[str, tuple[bytes, ...]] = {
    "rate_limit": (b"rate limit", b"ratelimiterror", b"too many requests"),
    "server_error": (b"internal server error", b"service unavailable", b"bad gateway", b"overloaded_error"),
    "connection_error": (
        b"connection reset",
        b"connection refused",
        b"connection error",
        b"connection aborted",
    ),
    "timeout": (b"timed out", b"timeouterror", b"deadline exceeded", b"gateway timeout"),
    "out_of_memory": (b"out of memory", b"oomkilled", b"cannot allocate memory"),
    "sandbox_fault": (b"no space left on device", b"no such container", b"sandbox error", b"is not running"),
    "context_overflow": (b"maximum context length", b"context length exceeded", b"prompt is too long"),
    "traceback": (b"traceback (most recent call last)",),
}
"""Code of a mark, and the texts that raise it."""

MARKS: tuple[str, ...] = tuple(TEXT_MARKS)
LITERALS: tuple[Literal, ...] = tuple(
    (code, literal) for code, literals in enumerate(TEXT_MARKS.values()) for literal in literals
)

Bytes = bytes | npt.NDArray[np.uint8]


class Hits(NamedTuple):
    """Literals that were found."""

    codes: npt.NDArray[np.int32]
    """Which."""
    ends: Indices
    """The byte where each ends."""


WHOLE = 4000
"""A tool's answer up to this many bytes is searched whole; of a longer one (a file, a log) only both ends."""
END = 1000
SHORT_MESSAGE = 600
"""A longer assistant message talks about an error; a shorter one may be the error itself."""


def literals(*texts: str, code: int = 0) -> list[Literal]:
    """Lower-case texts as a search takes them."""
    return [(code, text.encode()) for text in texts]


class Search:
    """Finds literal texts in bytes without regard to case; `literals` are pairs of a code and a lower-case text."""

    def __init__(self, literals: Sequence[Literal]) -> None:
        self.literals = literals

    @cached_property
    def _find(self) -> Callable[[Bytes], Hits]:
        """The best engine there is: ours where it was compiled, else hyperscan, else Python."""
        found = library()
        if found is not None:
            native = NativeSearch(self.literals, found)
            return lambda data: Hits(*native.find(np.frombuffer(data, dtype=np.uint8)))
        database = compiled(self.literals)
        if database is not None:
            return lambda data: find_fast(database, data)
        return lambda data: find_plain(self.literals, bytes(data))

    def hits(self, data: Bytes) -> Hits:
        """Every place where a literal ends."""
        return self._find(data) if len(data) else NO_HITS

    def pieces_with(self, pieces: Pieces) -> list[tuple[int, int]]:
        """Which pieces contain what: index of the piece and code, each pair once, in order."""
        # One search over all pieces joined: a call per piece would cost more than the search.
        return owners(self.hits(pieces.joined(b"\n")), pieces.lengths)

    def texts_with(self, texts: Sequence[str]) -> list[int]:
        """Which texts contain anything, in order."""
        joined = "\n".join(texts)
        data = joined.encode("utf-8", "replace")
        hits = self.hits(data)
        if not len(hits.codes):
            return []
        plain = len(data) == len(joined)
        sizes = map(len, texts if plain else [text.encode("utf-8", "replace") for text in texts])
        return sorted({index for index, _ in owners(hits, np.fromiter(sizes, dtype=np.int64))})

    def ends_with(self, texts: Pieces, *, whole: int, end: int) -> list[tuple[int, int]]:
        """Which texts contain what; those of more than `whole` bytes are searched at both ends only."""
        parts, whose = texts.at_both_ends(whole=whole, end=end)
        return sorted({(int(whose[part]), code) for part, code in self.pieces_with(parts)})


def owners(hits: Hits, sizes: Indices) -> list[tuple[int, int]]:
    """The pieces that the hits are in, when all are joined by one byte."""
    found = np.searchsorted(np.cumsum(sizes + 1), hits.ends)
    return sorted({*zip(found.tolist(), hits.codes.tolist(), strict=True)})


def compiled(literals: Sequence[Literal]) -> Any:
    """A hyperscan database of the literals, or `None` where hyperscan is not installed."""
    try:
        import hyperscan
    except ImportError:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[re.escape(literal) for _, literal in literals],
        ids=[code for code, _ in literals],
        elements=len(literals),
        flags=[hyperscan.HS_FLAG_CASELESS] * len(literals),
    )
    return database


def find_fast(database: Any, data: Bytes) -> Hits:
    """By hyperscan: a third of the speed of our own."""
    hits: list[tuple[int, int]] = []

    def collect(code: int, _start: int, end: int, _flags: int, _context: object) -> None:
        hits.append((code, end))

    database.scan(data, match_event_handler=collect)
    return as_hits(hits)


def find_plain(literals: Sequence[Literal], data: bytes) -> Hits:
    """In Python: a tenth of the speed of hyperscan."""
    hits: list[tuple[int, int]] = []
    lowered = data.lower()
    for code, literal in literals:
        at = lowered.find(literal)
        while at >= 0:
            hits.append((code, at + len(literal)))
            at = lowered.find(literal, at + 1)
    return as_hits(hits)


def as_hits(pairs: Sequence[tuple[int, int]]) -> Hits:
    codes, ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Hits(codes.astype(np.int32), ends)


NO_HITS = as_hits([])
MARK_SEARCH = Search(LITERALS)


def marked(texts: Pieces) -> list[tuple[int, int]]:
    """Which undecoded texts say what: index of the text and code of the mark; long texts are searched at both ends."""
    return MARK_SEARCH.ends_with(texts, whole=WHOLE, end=END)
