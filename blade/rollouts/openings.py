"""How undecoded texts begin: which of thousands could open as an error is told at once, by a few of their bytes.

Most answers of tools open with a word that no error opens with. Only the others are worth a closer look.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

LOOKED_AT = 48
"""Bytes within which a first word ends."""
WORD = np.isin(np.arange(256), [*b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789."])
QUOTE, DOT, BACKSLASH, SMALL = (np.uint8(ord(character)) for character in '".\\ ')
"""The last is the bit that makes a letter a small one."""
HEADS = np.frombuffer(b"erroexcetracfataexithttpbash", dtype=np.uint32)
TAILS = np.frombuffer(b"rrortion", dtype=np.uint32)
"""First letters of what machines open an error with, and last letters of the names of errors."""
SHELL = np.frombuffer(b"sh", dtype=np.uint16)


class Openings:
    """The beginnings of undecoded texts."""

    def __init__(self, texts: Sequence[bytes | msgspec.Raw]) -> None:
        self.data = b"".join(texts)
        self.lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self.starts = np.cumsum(self.lengths) - self.lengths
        self._bytes = np.frombuffer(self.data or b"\0", dtype=np.uint8)
        self.may_be_errors = self._may_be_errors()

    def are_longer(self, size: int) -> Bools:
        """Which texts are sure to have more characters than so many."""
        first = self._bytes[np.minimum(self.starts, len(self._bytes) - 1)]
        # An escape takes six bytes for a character at most, or twelve for one of two halves.
        found: Bools = (self.lengths > 12 * size + 2) & (first == QUOTE)
        chosen = np.flatnonzero(~found & (self.lengths > size + 2) & (first == QUOTE))
        seen = np.minimum(self.lengths[chosen] - 1, 2 * size)
        places = list(zip(self.starts[chosen].tolist(), (self.starts[chosen] + seen).tolist(), strict=True))
        characters = seen - 1 - 6 * np.array([self.data.count(b"\\", a, b) for a, b in places], dtype=np.int64)
        if not self.data.isascii():
            parts = [self.data[a:b] for a, b in places]
            beyond = [0 if part.isascii() else len(part) - len(part.decode("utf-8", "ignore")) for part in parts]
            characters -= np.array(beyond, dtype=np.int64)
        found[chosen] = characters > size
        return found

    def _may_be_errors(self) -> Bools:
        """Which texts are not sure to open with a word that opens no error; short ones are not looked at."""
        found = np.ones(len(self.lengths), dtype=np.bool_)
        long = np.flatnonzero(self.lengths > LOOKED_AT + 2)
        if not len(long):
            return found
        places = self.starts[long, None] + np.arange(LOOKED_AT + 2)
        opening = self._bytes[places]
        each = np.arange(len(long))
        size = np.argmin(WORD[opening[:, 1 : LOOKED_AT + 1]], axis=1)
        behind, second = opening[each, size + 1], opening[each, size + 2]
        last = opening[each[:, None], np.maximum(size[:, None] + np.arange(-3, 1), 0)] | SMALL
        heads, tails = words(opening[:, 1:5] | SMALL, np.uint32), words(last, np.uint32)
        found[long] = (
            (opening[:, 0] != QUOTE)
            | (size == 0)  # no word, or a very long one
            | (opening[:, 1] == DOT)
            | (behind >= 128)  # a letter perhaps, and so is what is escaped by its number
            | ((behind == BACKSLASH) & (second == ord("u")))
            | (heads == HEADS).any(axis=1)
            | (tails == TAILS).any(axis=1)
            | ((size <= 3) & (words(last[:, 2:], np.uint16) == SHELL).any(axis=1))
        )
        return found


def words(letters: npt.NDArray[np.uint8], width: type) -> npt.NDArray[np.generic]:
    """Rows of letters as one number each."""
    return np.ascontiguousarray(letters).view(width)
