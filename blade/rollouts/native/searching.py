"""Many short texts made ready for the compiled search: which bytes of each are its fingerprint, and its group.

The search compares a text wherever its group's tables let a place through, so both are chosen to let few through:
fingerprints of rare letters, shared where texts have them in common, and in one group those that are alike.
"""

import ctypes
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
import numpy.typing as npt

from blade.rollouts.native.library import Search, address

GROUPS, FINGERPRINT = 8, 3
NEEDLE = np.dtype([("text", "u4"), ("length", "u4"), ("before", "u4"), ("code", "i4")])
COMMON = b" etaoinsrhldcumfpgwybvkxjqz"
"""Letters from the most to the least common in English."""
CHANCE = [0.2 * 0.85 ** COMMON.index(byte) if byte in COMMON else 0.003 for byte in range(256)]
"""About how often each byte occurs; other than common letters are about as rare as each other."""

Literal = tuple[int, bytes]
"""A code and a text in lower case."""
Fingerprint = list[set[int]]
"""The bytes that may stand at each place."""


class NativeSearch:
    """Finds texts by the library."""

    def __init__(self, literals: Sequence[Literal], found: ctypes.CDLL) -> None:
        self._library = found
        chosen = chosen_parts([text for _, text in literals])
        groups = alike(sorted({*chosen.values()}))
        ordered = [[literal for literal in literals if chosen[literal[1]] in group] for group in groups]
        needles, texts = [], b""
        for code, text in chain.from_iterable(ordered):
            needles.append((len(texts), len(text), text.index(chosen[text]), code))
            texts += text
        self._texts = np.frombuffer(texts, dtype=np.uint8)
        self._needles: npt.NDArray[np.void] = np.array(needles, dtype=NEEDLE)
        self._groups = np.cumsum([0, *map(len, ordered)], dtype=np.uint32)
        self._halves = halves(groups)

    def find(
        self, data: npt.NDArray[np.uint8], room: int = 1024
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The code of everything that is found, and where it ends."""
        codes, ends = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
        # Nothing of it is shared: several threads may search for the same.
        search = Search(
            texts=address(self._texts), needles=address(self._needles), groups=address(self._groups),
            halves=address(self._halves), codes=address(codes), ends=address(ends), room=room,
        )  # fmt: skip
        self._library.blade_search(ctypes.byref(search), address(data), len(data))
        return self.find(data, search.count) if search.count > room else (codes[: search.count], ends[: search.count])


def chosen_parts(texts: Sequence[bytes]) -> dict[bytes, bytes]:
    """For each text the part of it that is its fingerprint."""
    parts = {text: {text[at : at + FINGERPRINT] for at in range(max(1, len(text) - FINGERPRINT + 1))} for text in texts}
    shared = Counter(part for some in parts.values() for part in some)
    # What two texts share lets through half as many places for each, and there is more room for the others.
    return {
        text: min(sorted(some), key=lambda part: prod(CHANCE[byte] for byte in part) / shared[part] ** 2)
        for text, some in parts.items()
    }


def alike(parts: Sequence[bytes]) -> list[set[bytes]]:
    """Fingerprints in groups: again and again the two that cost the least are put together."""
    groups = {index: ({part}, spread([part])) for index, part in enumerate(parts)}
    costs = {index: cost(fingerprint) for index, (_, fingerprint) in groups.items()}
    pairs = {pair: cost(merged(groups[pair[0]][1], groups[pair[1]][1])) for pair in combinations(groups, 2)}
    while len(groups) > GROUPS:
        one, other = min(pairs, key=lambda pair: pairs[pair] - costs[pair[0]] - costs[pair[1]])
        new, (a, b) = max(groups) + 1, (groups.pop(one), groups.pop(other))
        pairs = {pair: value for pair, value in pairs.items() if not {one, other} & {*pair}}
        pairs |= {(index, new): cost(merged(each[1], merged(a[1], b[1]))) for index, each in groups.items()}
        groups[new] = (a[0] | b[0], merged(a[1], b[1]))
        costs[new] = cost(groups[new][1])
    return [some for some, _ in groups.values()] + [set()] * (GROUPS - len(groups))


def spread(parts: Sequence[bytes]) -> Fingerprint:
    """The bytes at each place of some parts, in either case; any byte behind a short one."""
    places = [{part[at : at + 1] for part in parts} for at in range(FINGERPRINT)]
    return [set(range(256)) if b"" in place else {*b"".join(place), *b"".join(place).upper()} for place in places]


def merged(one: Fingerprint, other: Fingerprint) -> Fingerprint:
    return [a | b for a, b in zip(one, other, strict=True)]


def cost(fingerprint: Fingerprint) -> float:
    """About how often a place is let through: halves of bytes are looked up apart, so more than was meant is."""
    chances = 1.0
    for place in fingerprint:
        low, high = {byte & 15 for byte in place}, {byte >> 4 for byte in place}
        chances *= sum(CHANCE[upper << 4 | lower] for upper in high for lower in low)
    return chances


def halves(groups: Sequence[set[bytes]]) -> npt.NDArray[np.uint8]:
    """Per place of a fingerprint, and per half of the byte there, the groups that may have it, as bits."""
    out = np.zeros((FINGERPRINT, 2, 16), dtype=np.uint8)
    for group, parts in enumerate(groups):
        for at, place in enumerate(spread(sorted(parts)) if parts else ()):
            for byte in place:
                out[at, 0, byte & 15] |= 1 << group
                out[at, 1, byte >> 4] |= 1 << group
    return out
