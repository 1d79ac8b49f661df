"""From bytes to rows, by a layout that grows with what it meets.

The lines of a chunk are decoded together; only when a chunk refuses are they taken one by one.
"""

import contextlib
import copy
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.conform import BadRow, Reason, decode_any, mended_row, quick_row
from blade.rollouts.fields import Leaf, Tree, graft, is_kept, learn
from blade.rollouts.formats import Format
from blade.rollouts.layout import Layout
from blade.rollouts.lines import Chunk, Lines, Record, line_records, split_lines
from blade.rollouts.scan import BadRecord
from blade.rollouts.steps import UNDECODABLE

MAX_SURPRISES = 32
WORD = 8
HIGH_BITS = np.uint64(0x8080808080808080)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a file is read; small enough to hand to another process."""

    learned: Any
    """The tree of fields that is known so far (a `Tree`)."""
    format: Format
    """Where prompt and output are."""
    features: bool
    """Whether trajectories are looked at."""
    hash_inputs: bool
    """Whether each row's prompt is hashed, for tasks without an id."""
    fields: tuple[str, ...] = ()
    """Paths the user asked for; they are read as scalars or lists whatever the sample shows."""
    observer: Any = None
    """What looks at whole rows while they are read (an `Observer`), or nobody."""

    def tree(self, learned: Tree) -> Tree:
        """What is decoded, given what is known."""
        tree = self.format.tree(learned, features=self.features, hash_inputs=self.hash_inputs)
        for path in self.fields:
            if not is_kept(tree, path):
                graft(tree, path, Leaf.SCALAR)
        return tree


class Decoded(NamedTuple):
    """Rows, and where they stand."""

    rows: list[Any]
    layout: Layout
    """How columns are taken out of the rows."""
    places: npt.NDArray[np.int64]
    """Line, offset and length of each row, in three rows of numbers."""
    bad: Sequence[BadRecord] = ()
    data: Callable[[int], bytes] = bytes
    """The bytes of a row."""
    mended: bool = False
    """Whether any row is not as its bytes say."""


class RowDecoder:
    """Decodes the rows of one file, or of a range of it, in order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.learned: Tree = copy.deepcopy(plan.learned)
        self.layout = Layout(plan.tree(self.learned))
        self.surprises = 0

    def decode_chunk(self, chunk: Chunk, *, line: int) -> tuple[Decoded, int]:
        """All rows of a chunk whose first line is number `line`, and how many line breaks it has."""
        lines = split_lines(chunk)
        rows = decode_together(self.layout, chunk.view, lines)
        if rows is None:
            return self.decode_records(list(line_records(chunk, line=line))), lines.breaks
        places = np.stack([line + lines.numbers, chunk.offset + lines.starts, lines.lengths])

        def data(row: int) -> bytes:
            return bytes(chunk.view[int(lines.starts[row]) :][: int(lines.lengths[row])])

        return Decoded(rows, self.layout, places, data=data), lines.breaks

    def decode_records(self, records: Sequence[Record]) -> Decoded:
        """Rows decoded one at a time; a bad one is set aside."""
        rows = [quick_row(record.data, self.layout) for record in records]
        odd = {index: whole_row(record) for index, record in enumerate(records) if rows[index] is None}
        # A row that the old layout took may be odd to the new one: a list where it now knows texts and objects.
        while odd and self._grow(row for row in odd.values() if not isinstance(row, Reason)):
            rows = [quick_row(record.data, self.layout) for record in records]
            odd = {index: whole_row(record) for index, record in enumerate(records) if rows[index] is None}
        for index, row in odd.items():
            rows[index] = row if isinstance(row, Reason) else mended_row(row, self.layout)
        pairs = list(zip(records, rows, strict=True))
        good = [(record, row) for record, row in pairs if not isinstance(row, Reason)] if odd else pairs
        places = np.array([(r.line, r.offset, len(r.data)) for r, _ in good], dtype=np.int64).reshape(-1, 3).T
        bad = [BadRecord(record.line, record.offset, row.text) for record, row in pairs if isinstance(row, Reason)]
        return Decoded(
            [row for _, row in good], self.layout, places, bad, data=lambda row: good[row][0].data, mended=bool(odd)
        )

    def _grow(self, odd: Iterable[Any]) -> bool:
        """Learns the fields of rows that the layout refused. A file that never settles is read leniently."""
        if not self.layout.strict:
            return False
        learned = learn(odd, copy.deepcopy(self.learned))
        if learned == self.learned:
            return False
        self.learned = learned
        self.surprises += 1
        self.layout = Layout(self.plan.tree(learned), strict=self.surprises < MAX_SURPRISES)
        return True


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Stops the search for reference cycles: rows make none, and looking for them takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def decode_together(layout: Layout, view: memoryview, lines: Lines) -> list[Any] | None:
    """All rows of a chunk; `None` when a line of it needs a closer look: a bad one, or one the layout refuses."""
    if not len(lines.starts):
        return []
    raw = np.frombuffer(view, dtype=np.uint8)
    if not are_objects(raw, lines) or not is_utf8(raw, view):
        return None
    try:
        rows = layout.decoder.decode_lines(view)
    except UNDECODABLE:
        return None
    return rows if len(rows) == len(lines.starts) else None


def are_objects(raw: npt.NDArray[np.uint8], lines: Lines) -> bool:
    """Whether every line runs from brace to brace: then no object of a chunk can go on in the next line."""
    last = lines.starts + lines.lengths - 1
    last -= raw[last] == ord("\r")
    return bool((raw[lines.starts] == ord("{")).all() and (raw[last] == ord("}")).all())


def whole_rows(records: Iterable[Record]) -> Iterator[Any]:
    """Records decoded in full; bad ones are left out here, the scanner names them."""
    return (row for row in map(whole_row, records) if not isinstance(row, Reason))


def whole_row(record: Record) -> Any:
    """A record decoded in full, or why it cannot be."""
    try:
        return decode_any(record.data)
    except BadRow as bad:
        return Reason(str(bad))


def is_utf8(raw: npt.NDArray[np.uint8], view: memoryview) -> bool:
    """Whether a chunk is UTF-8. The decoder does not look inside the texts it skips, so this check is ours."""
    if raw.max() < 128:
        return True
    whole = len(raw) // WORD * WORD
    words = raw[:whole].view(np.uint64)
    beyond = (words & HIGH_BITS) != 0
    # What stands between two ASCII bytes is right or wrong by itself. So only words of eight bytes that are not all
    # ASCII are decoded, each with the word behind it: most chunks have a few, and decoding all takes ten times longer.
    beyond[1:] |= beyond[:-1].copy()
    try:
        str(words[beyond].tobytes() + bytes(view[whole:]), "utf-8")
    except UnicodeDecodeError:
        return False
    return True
