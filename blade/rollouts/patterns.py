"""Texts that say something went wrong around the model, found by one pass over the raw bytes.

Only literal, lower-case ASCII texts: they can be searched in undecoded JSON, by hyperscan where it is installed and
by `bytes.find` elsewhere, with the same result. A hit makes a row a candidate; `confirm` then looks where it stands,
because the same words in a prompt or in an agent's prose mean nothing.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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

WHOLE = 4000
"""A tool's answer up to this many bytes is searched whole; of a longer one (a file, a log) only both ends."""
END = 1000
SHORT_MESSAGE = 600
"""A longer assistant message talks about an error; a shorter one may be the error itself."""


class Hit(NamedTuple):
    """A literal of mark `code` ends at byte `end` of the chunk."""

    code: int
    end: int


def find_hits(view: memoryview) -> list[Hit]:
    """Every literal in a chunk of raw bytes, without regard to case."""
    database = hyperscan_database()
    return scan_fast(database, view) if database is not None else list(scan_plain(bytes(view)))


@cache
def hyperscan_database() -> Any:
    """The compiled patterns, or `None` where hyperscan is not installed."""
    try:
        import hyperscan
    except ImportError:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    expressions = [escape(literal) for _, literal in LITERALS]
    database.compile(
        expressions=expressions,
        ids=[code for code, _ in LITERALS],
        elements=len(expressions),
        flags=[hyperscan.HS_FLAG_CASELESS] * len(expressions),
    )
    return database


def escape(literal: bytes) -> bytes:
    return b"".join(b"\\" + bytes([c]) if c in b"().*+?[]{}|^$\\" else bytes([c]) for c in literal)


def scan_fast(database: Any, view: memoryview) -> list[Hit]:
    hits: list[Hit] = []

    def collect(code: int, _start: int, end: int, _flags: int, _context: object) -> None:
        hits.append(Hit(code, end))

    database.scan(view, match_event_handler=collect)
    return hits


def scan_plain(data: bytes) -> Iterator[Hit]:
    lowered = data.lower()
    for code, literal in LITERALS:
        at = lowered.find(literal)
        while at >= 0:
            yield Hit(code, at + len(literal))
            at = lowered.find(literal, at + 1)


def candidate_rows(hits: list[Hit], starts: npt.NDArray[np.int64]) -> dict[int, set[int]]:
    """Row number in the chunk -> codes hit somewhere in the row."""
    if not hits:
        return {}
    ends = np.fromiter((hit.end for hit in hits), dtype=np.int64, count=len(hits))
    rows = np.searchsorted(starts, ends - 1, side="right") - 1
    found: dict[int, set[int]] = {}
    for row, hit in zip(rows.tolist(), hits, strict=True):
        found.setdefault(row, set()).add(hit.code)
    return found


def codes_in(payload: memoryview | bytes, codes: set[int], *, message: bool) -> Iterator[int]:
    """Which of the codes are confirmed by one item's own text."""
    size = len(payload)
    if message and size > SHORT_MESSAGE:
        return
    text = bytes(payload) if size <= WHOLE else bytes(payload[:END]) + b"\n" + bytes(payload[-END:])
    lowered = text.lower()
    for code in sorted(codes):
        if any(literal in lowered for mark, literal in LITERALS if mark == code):
            yield code
