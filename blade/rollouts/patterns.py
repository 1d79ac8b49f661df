"""Texts that say something went wrong around the model, found by one pass over the raw bytes.

Only literal, lower-case ASCII texts: they can be searched in undecoded JSON, by hyperscan where it is installed and
by `bytes.find` elsewhere, with the same result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

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
LITERALS: tuple[tuple[int, bytes], ...] = tuple(
    (code, literal) for code, literals in enumerate(TEXT_MARKS.values()) for literal in literals
)

Hit = tuple[int, int]
"""Code of a literal, and the byte where it ends."""

WHOLE = 4000
"""A tool's answer up to this many bytes is searched whole; of a longer one (a file, a log) only both ends."""
END = 1000
SHORT_MESSAGE = 600
"""A longer assistant message talks about an error; a shorter one may be the error itself."""


Piece = bytes | memoryview | msgspec.Raw


def literals(*texts: str, code: int = 0) -> list[tuple[int, bytes]]:
    """Lower-case texts as a search takes them."""
    return [(code, text.encode()) for text in texts]


class Search:
    """Finds literal texts in bytes without regard to case; `literals` are pairs of a code and a lower-case text."""

    def __init__(self, literals: Sequence[tuple[int, bytes]]) -> None:
        self.literals = literals
        self._database: Any = None

    def hits(self, data: bytes) -> list[Hit]:
        """Every place where a literal ends."""
        if self._database is None:
            self._database = compiled(self.literals) or False
        return find_fast(self._database, data) if self._database else list(find_plain(self.literals, data))

    def pieces_with(self, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
        """Which pieces contain what: index of the piece and code, each pair once, in order."""
        # One search over all pieces joined: a call per piece would cost more than the search.
        return self._owners(self.hits(b"\n".join(pieces)), map(len, pieces))

    def texts_with(self, texts: Sequence[str]) -> list[int]:
        """Which texts contain anything, in order."""
        joined = "\n".join(texts)
        data = joined.encode("utf-8", "replace")
        hits = self.hits(data)
        if not hits:
            return []
        plain = len(data) == len(joined)
        sizes = map(len, texts if plain else [text.encode("utf-8", "replace") for text in texts])
        return sorted({index for index, _ in self._owners(hits, sizes)})

    def ends_with(self, texts: Sequence[Piece], *, whole: int, end: int) -> list[tuple[int, int]]:
        """Which texts contain what; those of more than `whole` bytes are searched at both ends only."""
        if not texts or max(map(len, texts)) <= whole:
            return self.pieces_with(texts)
        pieces: list[Piece] = []
        owners: list[int] = []
        for index, text in enumerate(texts):
            if len(text) <= whole:
                pieces.append(text)
            else:
                view = memoryview(text)
                pieces += (view[:end], view[-end:])
                owners.append(index)
            owners.append(index)
        return sorted({(owners[piece], code) for piece, code in self.pieces_with(pieces)})

    def _owners(self, hits: Sequence[Hit], sizes: Iterable[int]) -> list[tuple[int, int]]:
        """The pieces that the hits are in, when all are joined by one byte."""
        if not hits:
            return []
        ends = np.cumsum(np.fromiter(sizes, dtype=np.int64) + 1)
        found = np.searchsorted(ends, [end for _, end in hits]).tolist()
        return sorted({(index, code) for index, (code, _) in zip(found, hits, strict=True)})


def compiled(literals: Sequence[tuple[int, bytes]]) -> Any:
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


def find_fast(database: Any, data: bytes) -> list[Hit]:
    hits: list[Hit] = []

    def collect(code: int, _start: int, end: int, _flags: int, _context: object) -> None:
        hits.append((code, end))

    database.scan(data, match_event_handler=collect)
    return hits


def find_plain(literals: Sequence[tuple[int, bytes]], data: bytes) -> Iterator[Hit]:
    lowered = data.lower()
    for code, literal in literals:
        at = lowered.find(literal)
        while at >= 0:
            yield code, at + len(literal)
            at = lowered.find(literal, at + 1)


MARK_SEARCH = Search(LITERALS)


def marked(texts: Sequence[msgspec.Raw]) -> list[tuple[int, int]]:
    """Which undecoded texts say what: index of the text and code of the mark; long texts are searched at both ends."""
    return MARK_SEARCH.ends_with(texts, whole=WHOLE, end=END)
