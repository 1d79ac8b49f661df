"""Many pieces of one buffer, as arrays of where they are: what is asked of thousands of texts is asked at once."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


class Pieces(msgspec.Struct, frozen=True, eq=False):
    """Texts that stand somewhere in a buffer, undecoded."""

    data: bytes | bytearray
    """The buffer."""
    starts: Indices
    """Where each begins."""
    lengths: Indices
    """Bytes of each."""

    @classmethod
    def of(cls, texts: Sequence[bytes | msgspec.Raw]) -> "Pieces":
        """Texts that stood apart, in a buffer of their own."""
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return cls(b"".join(texts), np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        compact = self if isinstance(self.data, bytes) or not len(self) else self.compact()
        data = compact.data
        return (data[a:b] for a, b in zip(compact.starts.tolist(), compact.ends.tolist(), strict=True))  # type: ignore[misc]

    def __getitem__(self, at: int) -> bytes:
        start = int(self.starts[at])
        return bytes(self.data[start : start + int(self.lengths[at])])

    @property
    def ends(self) -> Indices:
        """Where each ends."""
        return self.starts + self.lengths

    def take(self, chosen: Indices) -> "Pieces":
        """Some of them, in the order given."""
        return Pieces(self.data, self.starts[chosen], self.lengths[chosen])

    def compact(self) -> "Pieces":
        """The same pieces in a buffer of their own: of bytes, which are cut much faster."""
        ends = np.cumsum(self.lengths + 1)
        return Pieces(self.joined(b"\n"), ends - self.lengths - 1, self.lengths)

    def joined(self, separator: bytes) -> bytes:
        """All of them end to end, with a separator of one byte behind each."""
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return b"".join([self.data[a:b] + separator for a, b in spans])
