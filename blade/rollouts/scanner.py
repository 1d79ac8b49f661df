"""One pass over one file: every row becomes a line of a narrow table, every bad line a record.

Chunks of lines are decoded together; only when a chunk refuses are its lines taken one by one.
"""

import contextlib
import copy
import gc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.cells import failure_suffixes, items_hash, plain_values, raw_hash, shortened
from blade.rollouts.columns import ColumnBuilder, Kind
from blade.rollouts.conform import BadRow, decode_any, decode_row
from blade.rollouts.features import FACTS, features_of
from blade.rollouts.fields import Layout, Leaf, Tree, graft, is_kept, learn
from blade.rollouts.formats import Format
from blade.rollouts.lines import CHUNK, Chunk, Lines, Record, line_records, split_lines
from blade.rollouts.scan import FIRST_TOOL, INPUT_HASH, BadRecord, Scan
from blade.rollouts.steps import UNDECODABLE, split_prompt

BATCH = 256
MAX_SURPRISES = 32
MODEL = "response.model"  # some runners write the path of a checkpoint here
RESPONSE_ID = "response.id"
COLUMN_KINDS: dict[Leaf, Kind] = {
    Leaf.NUMBER: "number", Leaf.FLAG: "flag", Leaf.WORD: "text", Leaf.TEXT: "text", Leaf.PRESENT: "flag",
}  # fmt: skip


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

    def tree(self, learned: Tree) -> Tree:
        """What is decoded, given what is known."""
        tree = self.format.tree(learned, features=self.features, hash_inputs=self.hash_inputs)
        for path in self.fields:
            if not is_kept(tree, path):
                graft(tree, path, Leaf.SCALAR)
        return tree


class Scanner:
    """Collects rows into columns."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.learned: Tree = copy.deepcopy(plan.learned)
        self.layout = Layout(plan.tree(self.learned))
        self.surprises = 0
        self.builders: dict[str, ColumnBuilder] = {}
        self.places: list[npt.NDArray[np.int64]] = []
        self.facts: list[npt.NDArray[np.int32]] = []
        self.marks: list[npt.NDArray[np.int32]] = []
        self.bad: list[BadRecord] = []
        self.rows = 0
        self.lines = 0

    def add_chunk(self, chunk: Chunk) -> None:
        """Reads whole lines, together when they are all good."""
        lines = split_lines(chunk)
        rows = self._decode(chunk, lines)
        if rows is None:
            self._add_records(list(line_records(chunk, line=1 + self.lines)))
        elif rows:
            self._add(rows, np.stack([1 + self.lines + lines.numbers, chunk.offset + lines.starts, lines.lengths]))
        self.lines += lines.breaks

    def _decode(self, chunk: Chunk, lines: Lines) -> list[Any] | None:
        """All rows of a chunk, or `None` when any line of it needs a closer look."""
        try:
            return decode_together(self.layout, chunk.view, lines)
        except Surprise:
            self._grow(line_records(chunk, line=1))
        with contextlib.suppress(Surprise):
            return decode_together(self.layout, chunk.view, lines)
        return None

    def _grow(self, records: Iterable[Record]) -> None:
        """Learns the fields of records that the layout refuses. A file that never settles is read leniently."""
        surprising = (record for record in records if is_surprising(record, self.layout))
        learned = learn(whole_rows(surprising), copy.deepcopy(self.learned))
        if learned != self.learned:
            self.learned = learned
            self.surprises += 1
            self.layout = Layout(self.plan.tree(learned), strict=self.surprises < MAX_SURPRISES)

    def add_records(self, records: Iterable[Record]) -> None:
        """Reads records one at a time; a bad one is set aside. Those before an error of `records` itself are kept."""
        batch: list[Record] = []
        size = 0
        try:
            for record in records:
                batch.append(record)
                size += len(record.data)
                if len(batch) == BATCH or size >= CHUNK:
                    self._add_records(batch)
                    batch, size = [], 0
        finally:
            self._add_records(batch)

    def _add_records(self, records: list[Record]) -> None:
        if self.layout.strict and any(is_surprising(record, self.layout) for record in records):
            self._grow(records)
        rows: list[Any] = []
        places: list[tuple[int, int, int]] = []
        for record in records:
            try:
                rows.append(decode_row(record.data, self.layout))
            except BadRow as bad:
                self.bad.append(BadRecord(record.line, record.offset, str(bad)))
            else:
                places.append((record.line, record.offset, len(record.data)))
        if rows:
            self._add(rows, np.array(places, dtype=np.int64).T)

    def _add(self, rows: list[Any], places: npt.NDArray[np.int64]) -> None:
        self.places.append(places)
        items: dict[str, Sequence[Any]] = {}
        for path, leaf, values in self.layout.columns(rows):
            if leaf is Leaf.ITEMS:
                items[path] = values
                continue
            self._column(path, plain_values(values, leaf), COLUMN_KINDS.get(leaf))
            if leaf is Leaf.TEXT and self.plan.hash_inputs and path == self.plan.format.input_field:
                self._column(INPUT_HASH, [raw_hash(value) for value in values], "text")
        if self.plan.hash_inputs and self.plan.format.prompt in items:
            self._column(INPUT_HASH, [items_hash(v) for v in items[str(self.plan.format.prompt)]], "text")
        if self.plan.features:
            self._features(items, count=len(rows))
        self.rows += len(rows)

    def _column(self, path: str, values: Sequence[Any], kind: Kind | None) -> None:
        if path == RESPONSE_ID:
            values, kind = failure_suffixes(values), "text"
        elif path in self.plan.fields or path == MODEL:
            values = [shortened(value) for value in values]
        builder = self.builders.get(path)
        if builder is None:
            builder = self.builders[path] = ColumnBuilder()
        builder.pad(self.rows)
        builder.add(values, kind)

    def _features(self, items: dict[str, Sequence[Any]], *, count: int) -> None:
        form = self.plan.format
        none = [None] * count
        prompts, outputs = items.get(form.prompt or "", none), items.get(form.output or "", none)
        if form.prompt is None:
            prompts, outputs = zip(*map(split_prompt, outputs), strict=True)
        found = features_of(prompts, outputs)
        self.facts.append(found.facts)
        self.marks.append(found.marks + np.array([self.rows, 0, 0], dtype=np.int32))
        self._column(FIRST_TOOL, found.first_tools, "text")

    def finish(self) -> Scan:
        """Everything read so far."""
        places = np.concatenate(self.places, axis=1) if self.places else np.empty((3, 0), dtype=np.int64)
        for builder in self.builders.values():
            builder.pad(self.rows)
        columns = {path: builder.finish() for path, builder in self.builders.items()}
        width = len(FACTS) if self.plan.features else 0
        return Scan(
            line=places[0],
            offset=places[1],
            length=places[2],
            columns={path: column for path, column in columns.items() if column.known().any()},
            facts=np.concatenate(self.facts) if self.facts else np.empty((self.rows, width), dtype=np.int32),
            marks=np.concatenate(self.marks) if self.marks else np.empty((0, 3), dtype=np.int32),
            bad=self.bad,
            lines=self.lines,
        )


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


class Surprise(Exception):
    """A row holds a field or a shape the layout does not know."""


def decode_together(layout: Layout, view: memoryview, lines: Lines) -> list[Any] | None:
    """All rows of a chunk; `None` when it holds a bad line."""
    if not len(lines.starts):
        return []
    raw = np.frombuffer(view, dtype=np.uint8)
    if not are_objects(raw, lines) or not is_utf8(raw, view):
        return None
    try:
        rows = layout.decoder.decode_lines(view)
    except msgspec.ValidationError as error:
        raise Surprise from error
    except UNDECODABLE:
        return None
    return rows if len(rows) == len(lines.starts) else None


def are_objects(raw: npt.NDArray[np.uint8], lines: Lines) -> bool:
    """Whether every line runs from brace to brace: then no object of a chunk can go on in the next line."""
    last = lines.starts + lines.lengths - 1
    last -= raw[last] == ord("\r")
    return bool((raw[lines.starts] == ord("{")).all() and (raw[last] == ord("}")).all())


def is_surprising(record: Record, layout: Layout) -> bool:
    """Whether a record is an object with something the layout does not know."""
    try:
        layout.decoder.decode(record.data)
    except msgspec.ValidationError:
        return True
    except UNDECODABLE:
        return False
    return False


def whole_rows(records: Iterable[Record]) -> Iterator[Any]:
    """Records decoded in full; bad ones are left out here, the scanner names them."""
    for record in records:
        with contextlib.suppress(BadRow):
            yield decode_any(record.data)


def is_utf8(raw: npt.NDArray[np.uint8], view: memoryview) -> bool:
    # The decoder does not look inside the texts it skips, so this check is ours.
    if raw.max() < 128:
        return True
    try:
        str(view, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
