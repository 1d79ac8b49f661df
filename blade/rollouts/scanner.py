"""One pass over one file: every row becomes a line of a narrow table, every bad line a record."""

import copy
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import batch_of
from blade.rollouts.cells import all_shortened, failure_suffixes, items_hash, plain_values, raw_hash
from blade.rollouts.columns import ColumnBuilder, Kind, whole_column
from blade.rollouts.decoding import Decoded, Plan, RowDecoder
from blade.rollouts.features import FACTS, features_of
from blade.rollouts.fields import Leaf
from blade.rollouts.layout import Layout
from blade.rollouts.lines import CHUNK, Chunk, Record
from blade.rollouts.observing import Rows, Sightings, join_sightings
from blade.rollouts.scan import FIRST_TOOL, INPUT_HASH, MODEL, PROVIDER_ERROR, RESPONSE_ID, BadRecord, Scan, join_facts
from blade.rollouts.steps import split_prompt
from blade.rollouts.telling import told_by

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
        self.sightings: list[Sightings] = []
        self.rows = 0
        self.lines = 0

    def add_chunk(self, chunk: Chunk) -> None:
        """Reads whole lines."""
        decoded, lines = self.decoder.decode_chunk(chunk, line=1 + self.lines)
        self._add(decoded)
        self.lines += lines

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
        self._trajectories(decoded, items)
        self.rows += len(decoded.rows)

    def _trajectories(self, decoded: Decoded, items: dict[str, Sequence[Any]]) -> None:
        """What is made of prompts and outputs."""
        form, none = self.plan.format, [None] * len(decoded.rows)
        prompts, outputs = items.get(form.prompt or "", none), items.get(form.output or "", none)
        if self.plan.hash_inputs and (form.prompt in items or (form.input_field is None and form.output in items)):
            asked = prompts if form.prompt in items else [split_prompt(output)[0] for output in outputs]
            self._column(INPUT_HASH, [items_hash(prompt) for prompt in asked], "text")
        if not self.plan.features:
            return
        if form.prompt is None:
            prompts, outputs = zip(*map(split_prompt, outputs), strict=True)
        batch = batch_of(prompts, outputs)
        found = features_of(batch)
        self.facts.append(found.facts)
        self._column(FIRST_TOOL, found.first_tools, "text")
        if any(found.errors):
            self._column(PROVIDER_ERROR, found.errors, "text")
        if self.plan.observer is not None:
            told = partial(told_by, decoded, form)
            self.sightings.append(self.plan.observer(Rows(form, batch, told)))

    def _column(self, path: str, values: Sequence[Any], kind: Kind | None) -> None:
        builder = self.builders.get(path)
        if builder is None:
            builder = self.builders[path] = ColumnBuilder()
        if builder.length > self.rows:
            return  # `{"a.b": 1, "a": {"b": 2}}`: one path, and the first has it
        builder.pad(self.rows)
        builder.add(self._kept(path, values), "text" if path == RESPONSE_ID else kind)

    def _kept(self, path: str, values: Sequence[Any]) -> Any:
        """What is kept of texts that are of use whatever their length, or in part."""
        if path == RESPONSE_ID:
            return failure_suffixes(values)
        return all_shortened(values) if path in self.plan.fields or path == MODEL else values

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
            columns=columns,
            facts=join_facts(self.facts) if self.facts else np.empty((self.rows, width), dtype=np.int32),
            bad=self.bad,
            lines=self.lines,
            sightings=None if self.plan.observer is None else join_sightings(self.sightings),
        )


def settled(scan: Scan, plan: Plan) -> Scan:
    """The scan of a whole file as a table takes it: without columns that hold nothing, in the order of the fields.

    What stands in the first rows comes as it stands there, then the rest by name; nothing else would be the same
    however a file was cut.
    """
    rank = {path: place for place, path in enumerate(Layout(plan.tree(copy.deepcopy(plan.learned))).paths())}
    last = {INPUT_HASH: 1, FIRST_TOOL: 2, PROVIDER_ERROR: 3}
    paths = sorted(scan.columns, key=lambda path: (last.get(path, 0), rank.get(path, len(rank)), path))
    known = {path: whole_column(scan.columns[path]) for path in paths if scan.columns[path].known().any()}
    return msgspec.structs.replace(scan, columns=known)
