"""One pass over one file: every row becomes a line of a narrow table, every bad line a record."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from blade.rollouts.cells import all_shortened, failure_suffixes, items_hash, plain_values, raw_hash
from blade.rollouts.columns import Column, ColumnBuilder, Kind
from blade.rollouts.decoding import Decoded, Plan, RowDecoder
from blade.rollouts.features import FACTS, Features, features_in, features_of
from blade.rollouts.fields import Leaf
from blade.rollouts.lines import CHUNK, Chunk, Record
from blade.rollouts.native.library import ALL_READ, NO_ROOM
from blade.rollouts.native.reading import NativeReading
from blade.rollouts.native.rows import Part
from blade.rollouts.scan import FIRST_TOOL, INPUT_HASH, MODEL, RESPONSE_ID, BadRecord, Scan
from blade.rollouts.steps import split_prompt

BATCH = 256
COLUMN_KINDS: dict[Leaf, Kind] = {
    Leaf.NUMBER: "number", Leaf.FLAG: "flag", Leaf.WORD: "text", Leaf.TEXT: "text", Leaf.PRESENT: "flag",
}  # fmt: skip


class Scanner:
    """Collects rows into columns."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.decoder = RowDecoder(plan)
        self.builders: dict[str, ColumnBuilder] = {}
        self.places: list[npt.NDArray[np.int64]] = []
        self.facts: list[npt.NDArray[np.int32]] = []
        self.bad: list[BadRecord] = []
        self.tools: list[str | None] = []
        self.native = NativeReading(plan)
        self.rows = 0
        self.lines = 0

    def add_chunk(self, chunk: Chunk) -> None:
        """Reads whole lines: all natively, or all in Python, so that a table does not depend on which."""
        part = self._read_natively(chunk)
        if part is None:
            self._flush()
            decoded, lines = self.decoder.decode_chunk(chunk, line=1 + self.lines)
            self._add(decoded)
            self.lines += lines
            return
        if self.plan.features and part.rows:
            self._add_features(features_in(part.batch))
        self.lines += part.lines

    def _read_natively(self, chunk: Chunk) -> Part | None:
        """The rows of a chunk, which then wait to become columns; `None` when they have to be decoded."""
        while (waiting := self.native.begin(chunk, self.decoder.layout)) is not None:
            was_empty = not len(waiting)
            part = waiting.read(chunk, line=1 + self.lines)
            if part.outcome == ALL_READ:
                self.native.taken += 1
                return part
            self._flush()
            if not self._can_try_again(part, was_empty=was_empty):
                self.native.refused += 1
                break
        return None

    def _can_try_again(self, part: Part, *, was_empty: bool) -> bool:
        """Whether there is more room now, or the layout knows more."""
        if part.outcome == NO_ROOM:
            return not was_empty or self.native.has_more_room()
        return self.decoder.learn_from(part.refused)

    def _flush(self) -> None:
        """Makes columns of the rows that wait."""
        waiting = self.native.waiting
        if waiting is None or not len(waiting):
            return
        self.places.append(waiting.places())
        for path, leaf, values in waiting.columns():
            self._column(path, values, COLUMN_KINDS.get(leaf))
        if self.plan.features:
            self._first_tools()
        self.rows += len(waiting)
        waiting.clear()

    def add_records(self, records: Iterable[Record]) -> None:
        """Reads records one at a time; a bad one is set aside. Those before an error of `records` itself are kept."""
        batch: list[Record] = []
        size = 0
        try:
            for record in records:
                batch.append(record)
                size += len(record.data)
                if len(batch) == BATCH or size >= CHUNK:
                    self._add(self.decoder.decode_records(batch))
                    batch, size = [], 0
        finally:
            self._add(self.decoder.decode_records(batch))

    def _add(self, decoded: Decoded) -> None:
        self.bad += decoded.bad
        if not decoded.rows:
            return
        self.places.append(decoded.places)
        items: dict[str, Sequence[Any]] = {}
        for path, leaf, values in decoded.layout.columns(decoded.rows):
            if leaf is Leaf.ITEMS:
                items[path] = values
                continue
            self._column(path, plain_values(values, leaf), COLUMN_KINDS.get(leaf))
            if leaf is Leaf.TEXT and self.plan.hash_inputs and path == self.plan.format.input_field:
                self._column(INPUT_HASH, [raw_hash(value) for value in values], "text")
        if self.plan.hash_inputs and self.plan.format.prompt in items:
            self._column(INPUT_HASH, [items_hash(v) for v in items[str(self.plan.format.prompt)]], "text")
        elif self.plan.hash_inputs and self.plan.format.input_field is None and self.plan.format.output in items:
            prompts = [split_prompt(found)[0] for found in items[str(self.plan.format.output)]]
            self._column(INPUT_HASH, [items_hash(prompt) for prompt in prompts], "text")
        if self.plan.features:
            self._features(items, count=len(decoded.rows))
        self.rows += len(decoded.rows)

    def _column(self, path: str, values: Column | Sequence[Any], kind: Kind | None) -> None:
        builder = self.builders.get(path)
        if builder is None:
            builder = self.builders[path] = ColumnBuilder()
        if builder.length > self.rows:
            return  # `{"a.b": 1, "a": {"b": 2}}`: one path, and the first has it
        builder.pad(self.rows)
        if isinstance(values, Column):
            builder.add_column(self._kept_column(path, values))
        else:
            builder.add(self._kept(path, values), "text" if path == RESPONSE_ID else kind)

    def _kept_column(self, path: str, column: Column) -> Column:
        levels = self._kept(path, column.levels)
        if path == RESPONSE_ID and (column.kind != "text" or levels.count(None) == len(levels)):
            return Column(kind="text", values=np.full(len(column.values), -1, dtype=np.int32))
        return replace(column, levels=levels)

    def _kept(self, path: str, values: Sequence[Any]) -> Any:
        """What is kept of texts that are of use whatever their length, or in part."""
        if path == RESPONSE_ID:
            return failure_suffixes(values)
        return all_shortened(values) if path in self.plan.fields or path == MODEL else values

    def _features(self, items: dict[str, Sequence[Any]], *, count: int) -> None:
        form = self.plan.format
        none = [None] * count
        prompts, outputs = items.get(form.prompt or "", none), items.get(form.output or "", none)
        if form.prompt is None:
            prompts, outputs = zip(*map(split_prompt, outputs), strict=True)
        self._add_features(features_of(prompts, outputs))
        self._first_tools()

    def _add_features(self, found: Features) -> None:
        """Takes up facts about the next rows; their tools wait until the rows are counted."""
        self.facts.append(found.facts)
        self.tools += found.first_tools

    def _first_tools(self) -> None:
        self._column(FIRST_TOOL, self.tools, "text")
        self.tools = []

    def _ordered_paths(self) -> list[str]:
        """In the order of the fields, whatever was found when: a file gives the same table however it was read."""
        known = [*self.decoder.layout.paths(), *sorted({*self.builders} - {INPUT_HASH, FIRST_TOOL})]
        return [path for path in dict.fromkeys([*known, INPUT_HASH, FIRST_TOOL]) if path in self.builders]

    def finish(self) -> Scan:
        """Everything read so far."""
        self._flush()
        places = np.concatenate(self.places, axis=1) if self.places else np.empty((3, 0), dtype=np.int64)
        for builder in self.builders.values():
            builder.pad(self.rows)
        columns = {path: self.builders[path].finish() for path in self._ordered_paths()}
        width = len(FACTS) if self.plan.features else 0
        return Scan(
            line=places[0],
            offset=places[1],
            length=places[2],
            columns={path: column for path, column in columns.items() if column.known().any()},
            facts=np.concatenate(self.facts) if self.facts else np.empty((self.rows, width), dtype=np.int32),
            bad=self.bad,
            lines=self.lines,
        )
