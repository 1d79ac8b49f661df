"""Rows read by the compiled half: arrays that fill up, and are turned into columns when they are full."""

import ctypes
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import Batch, Items
from blade.rollouts.cells import items_hash, plain_values, raw_hash
from blade.rollouts.columns import MAX_TEXT, Column
from blade.rollouts.fields import Leaf
from blade.rollouts.layout import LEAF_TYPES, Scalar
from blade.rollouts.lines import Chunk, Record
from blade.rollouts.native.library import ALL_READ, ITEM, LEVEL, SPAN, Job, address
from blade.rollouts.native.program import Program, Slot
from blade.rollouts.pieces import Indices, Pieces
from blade.rollouts.scan import INPUT_HASH

ROWS = 1 << 13
ITEMS = 1 << 15
LEVELS = 1 << 15
TEXTS = 1 << 21
REFUSED_ROWS = 64
ACTING = 256
"""Marks the kind of an item with which the prompt of a conversation is over."""
ABSENT, IS_NUMBER, IS_FLAG, IS_TEXT, IS_RAW, IS_BRANCH = range(6)
LISTS = msgspec.json.Decoder(LEAF_TYPES[Leaf.LIST])
PROMPTS = msgspec.json.Decoder(LEAF_TYPES[Leaf.ITEMS])
WRITTEN = msgspec.json.Decoder(list[msgspec.Raw])
SCALARS = msgspec.json.Decoder(list[Scalar])
TOO_LONG_TEXT = "-" * (MAX_TEXT + 1)
"""Stands for any text that is too long for a column."""


LARGEST = 1 << 31
"""Places within a chunk are numbers of 32 bits."""
LINE_BREAK = 10


class Part(NamedTuple):
    """The rows of a chunk."""

    outcome: int
    """How reading ended; without rows unless all were read."""
    rows: int
    lines: int
    batch: Batch
    """Their trajectories; to be looked at before the chunk's memory is used again."""
    refused: list[Record]
    """The rows that kept the others from being read, unless they are many."""


class NativeRows:
    """Rows that wait to become columns."""

    def __init__(self, program: Program, found: ctypes.CDLL, scale: int = 1) -> None:
        self.library = found
        slots, rows, levels = len(program.slots), ROWS * scale, LEVELS * scale
        self.program, self.scale = program, scale
        self.numbers = np.empty((slots, rows))
        self.codes = np.empty((slots, rows), dtype=np.int32)
        self.tags = np.zeros((slots, rows), dtype=np.uint8)
        self.places_of = np.empty((3, rows), dtype=np.int64)
        self.prompt_steps = np.empty(rows, dtype=np.int64)
        self.items: npt.NDArray[np.void] = np.empty(ITEMS * scale, dtype=ITEM)
        self.levels: npt.NDArray[np.void] = np.empty(levels, dtype=LEVEL)
        self.texts = np.empty(TEXTS * scale, dtype=np.uint8)
        self.hash = np.zeros(2 * levels, dtype=np.uint32)
        self.seen = np.zeros(len(program.fields), dtype=np.uint32)
        self.refused: npt.NDArray[np.void] = np.empty(REFUSED_ROWS, dtype=SPAN)
        self.job = Job(
            fields=address(program.fields), nodes=address(program.nodes), keys=address(program.keys),
            numbers=address(self.numbers), codes=address(self.codes), tags=address(self.tags),
            places=address(self.places_of), prompt_steps=address(self.prompt_steps), seen=address(self.seen),
            items=address(self.items), levels=address(self.levels), texts=address(self.texts),
            levels_hash=address(self.hash), rows_room=rows, items_room=len(self.items), levels_room=levels,
            texts_room=len(self.texts), levels_hash_room=len(self.hash), refused=address(self.refused),
            refused_room=REFUSED_ROWS, seed=secrets.randbits(64),
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self.job.rows)

    def read(self, chunk: Chunk, *, line: int) -> Part:
        """Reads all rows of a readable chunk whose first line is number `line`, or none."""
        job, before = self.job, len(self)
        buffer = np.frombuffer(chunk.view, dtype=np.uint8)
        assert is_readable(chunk)
        job.data, job.size, job.offset, job.line = address(buffer), chunk.size, chunk.offset, line
        outcome = self.library.blade_read_rows(ctypes.byref(job), len(self.program.slots))
        items = self.items[: job.items_count if outcome == ALL_READ else 0]
        steps = self.prompt_steps[before : len(self)].copy()
        if self.program.splits_output:
            items, steps = without_prompts(items, items["row"].astype(np.int64) - before, len(steps))
        batch = Batch(native_items(items, chunk.buffer, before), steps)
        return Part(outcome, len(steps), job.lines, batch, self._refused(chunk))

    def _refused(self, chunk: Chunk) -> list[Record]:
        """Lines of a chunk; their numbers do not matter."""
        count = self.job.refused_count
        spans = self.refused[:count].tolist() if count <= len(self.refused) else []
        return [Record(bytes(chunk.view[at : at + length]), chunk.offset + at, 0) for at, length in spans]

    def places(self) -> npt.NDArray[np.int64]:
        """Line, offset and length of each row."""
        return self.places_of[:, : len(self)].copy()

    def columns(self) -> Iterator[tuple[str, Leaf, Column | list[Any]]]:
        """Path, leaf and column of everything that is kept; values where they are of several kinds."""
        texts = WRITTEN.decode(b"[" + self.texts[: max(self.job.texts_size - 1, 0)].tobytes() + b"]")
        owners = self.levels["slot"][: len(texts)]
        for number, slot in enumerate(self.program.slots):
            if slot.leaf is None:
                continue
            mine = np.flatnonzero(owners == number)
            codes, written = self._codes(number, mine), [texts[at] for at in mine.tolist()]
            if self.program.is_hashed(slot):
                hashes: list[Any] = [input_hash(text, slot.leaf) for text in written]
                yield INPUT_HASH, Leaf.WORD, Column(kind="text", values=codes, levels=hashes)
            if slot.leaf is not Leaf.ITEMS:
                yield slot.path, slot.leaf, self._column(number, slot, codes, levels_of(written, slot.leaf))

    def _codes(self, number: int, mine: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """For each row which of the slot's levels it has; -1 for none."""
        tags = self.tags[number, : len(self)]
        table = np.full(self.job.levels_count + 1, -1, dtype=np.int32)
        table[mine] = np.arange(len(mine))
        return np.asarray(table[np.where((tags == IS_TEXT) | (tags == IS_RAW), self.codes[number, : len(self)], -1)])

    def _column(
        self, number: int, slot: Slot, codes: npt.NDArray[np.int32], levels: Sequence[Any]
    ) -> Column | list[Any]:
        tags, numbers = self.tags[number, : len(self)], self.numbers[number, : len(self)]
        kinds = set(np.flatnonzero(np.bincount(tags)).tolist()) - {ABSENT, IS_BRANCH}
        if slot.leaf is Leaf.PRESENT:
            return Column(kind="flag", values=np.where(tags == IS_FLAG, numbers, self._missing(slot)))
        if kinds <= {IS_NUMBER} or kinds == {IS_FLAG}:
            known = (tags == IS_NUMBER) | (tags == IS_FLAG)
            return Column(kind="flag" if kinds == {IS_FLAG} else "number", values=np.where(known, numbers, np.nan))
        if kinds == {IS_TEXT}:
            has_long = bool(((tags == IS_TEXT) & (codes < 0)).any())
            return Column(kind="text", values=codes, levels=list(levels), has_long=has_long)
        return values_of(tags, numbers, [*levels, None], codes)

    def _missing(self, slot: Slot) -> npt.NDArray[np.float64]:
        """What stands for a field that is not there: false where the object it would be in is, else unknown."""
        branch = self.tags[slot.branch, : len(self)] == IS_BRANCH if slot.branch >= 0 else True
        return np.where(branch, 0.0, np.nan)

    def clear(self) -> None:
        """Forgets the rows."""
        self.tags[:, : len(self)] = ABSENT
        self.hash[:] = 0
        self.job.rows = self.job.levels_count = self.job.texts_size = 0


def is_readable(chunk: Chunk) -> bool:
    """Whether a chunk ends with a line, and is not too large: the library relies on both."""
    return 0 < chunk.size <= LARGEST and chunk.buffer[chunk.size - 1] == LINE_BREAK


def input_hash(written: msgspec.Raw, leaf: Leaf) -> str | None:
    """A name for a prompt."""
    return items_hash(PROMPTS.decode(written)) if leaf is Leaf.ITEMS else raw_hash(written)


def levels_of(texts: Sequence[msgspec.Raw], leaf: Leaf) -> Sequence[Any]:
    """Values that were kept as they were written, decoded."""
    if leaf is Leaf.LIST:
        return [LISTS.decode(text) for text in texts]
    if leaf in (Leaf.TEXT, Leaf.ANY):
        return plain_values(texts, leaf)
    return SCALARS.decode(b"[" + b",".join(texts) + b"]")


def values_of(
    tags: npt.NDArray[np.uint8], numbers: npt.NDArray[np.float64], levels: Sequence[Any], codes: npt.NDArray[np.int32]
) -> list[Any]:
    """The values of a column of several kinds; the last of the levels is for rows without one."""
    values: list[Any] = [levels[code] for code in codes.tolist()]
    for at in np.flatnonzero(tags == IS_NUMBER).tolist():
        values[at] = float(numbers[at])
    for at in np.flatnonzero(tags == IS_FLAG).tolist():
        values[at] = bool(numbers[at])
    for at in np.flatnonzero((tags == IS_TEXT) & (codes < 0)).tolist():
        values[at] = TOO_LONG_TEXT
    return values


def without_prompts(items: npt.NDArray[np.void], row: Indices, rows: int) -> tuple[npt.NDArray[np.void], Indices]:
    """Items of conversations from where each agent begins to act, and how many each had before that."""
    acting = np.flatnonzero(items["kind"] >= ACTING)
    first = np.full(rows, len(items))
    first[row[acting[::-1]]] = acting[::-1]
    is_prompt = np.arange(len(items)) < first[row]
    return items[~is_prompt], np.bincount(row[is_prompt], minlength=rows)


def native_items(items: npt.NDArray[np.void], data: bytes | bytearray, before: int) -> Items:
    """Items as others ask for them; `before` rows were read before theirs."""

    def names(chosen: Indices) -> list[str | None]:
        found = texts_at(items["name"][chosen], data)
        nameless = [at for at, name in enumerate(found) if not name]
        if nameless:
            for at, stored in zip(nameless, texts_at(items["type"][chosen[nameless]], data), strict=True):
                found[at] = stored if stored != "function_call" else None
        return found

    def call_ids(chosen: Indices) -> list[str | None]:
        return [text or None for text in texts_at(items["call_id"][chosen], data)]

    return Items(
        row=items["row"].astype(np.int64) - before,
        kinds=items["kind"].astype(np.int64) % ACTING,
        payloads=pieces_at(items["payload"], data),
        digests=items["digest"].copy(),
        names=names,
        call_ids=call_ids,
    )


def pieces_at(spans: npt.NDArray[np.void], data: bytes | bytearray) -> Pieces:
    return Pieces(data, spans["start"].astype(np.int64), spans["length"].astype(np.int64))


def texts_at(spans: npt.NDArray[np.void], data: bytes | bytearray) -> list[str | None]:
    """Texts that stand in the data; each that occurs is decoded once. Those of no length are `None`."""
    written = list(pieces_at(spans, data))
    texts: dict[bytes, str | None] = {raw: msgspec.json.decode(raw) if raw else None for raw in set(written)}
    return [texts[raw] for raw in written]
