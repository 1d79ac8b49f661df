"""The rollouts of one run as columns, sorted by task and repeat; and the run they make up.

Trajectories stay in their files: `Run.rollout` reads one by its byte offset.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from blade.errors import InputError, UsageError
from blade.rollouts.card import card
from blade.rollouts.columns import Column
from blade.rollouts.conform import BadRow
from blade.rollouts.duplicates import Duplicate
from blade.rollouts.fetch import fetch
from blade.rollouts.formats import Format
from blade.rollouts.formats.reader import Reader
from blade.rollouts.identity import Identity, natural_key, on_one_line
from blade.rollouts.meaning import meaning_of
from blade.rollouts.observing import Sightings
from blade.rollouts.rows import Ints, Rows, source_of
from blade.rollouts.sidecars import Sidecars
from blade.rollouts.sources import compression
from blade.rollouts.trajectory import read_row
from blade.rollouts.values import BadLine, Ending, EndingKind, Item, Origin, Rollout, Source, Status, citation

Floats = npt.NDArray[np.float64]
Decoded = TypeVar("Decoded")
STATUSES: tuple[Status, ...] = get_args(Status)
ENDING_KINDS: tuple[EndingKind, ...] = get_args(EndingKind)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
COMPLETED, TRUNCATED, FAILED = range(3)
MOST_PIECES, PIECE = 8, 4 << 20
"""Pieces that rows are cut into at most for several processes, and the bytes that make one worth its while."""
CITATION = re.compile(r"(?P<rollout>(?P<task>.*):(?P<repeat>[0-9]{1,18}))(?:#(?P<item>[0-9]+))?", re.DOTALL)
"""A task key may itself hold colons and signs; the last colon before a number counts."""


class RolloutTable(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One row per rollout."""

    tasks: list[str]
    """Task keys in natural order; a task without rollouts is a missing one."""
    expected: Ints
    """Per task: how many rollouts there should be."""
    task: Ints
    """Per row: index into `tasks`."""
    repeat: Ints
    """Per row: which attempt it is."""
    reward: Floats
    """Per row: the score, nan when there is none."""
    status: npt.NDArray[np.int8]
    """Per row: index into `STATUSES`."""
    failure: Column
    """Per row: failure class of a failed rollout."""
    ending: npt.NDArray[np.int8]
    """Per row: why it ended, as an index into `ENDING_KINDS`."""
    origin: npt.NDArray[np.int8]
    """Per row: whose doing that was, as an index into `ORIGINS`; -1 where nobody says."""
    ending_name: Column
    """Per row: the format's own name for how it ended."""
    model: Column
    """Per row: the model that answered."""
    agent: Column
    """Per row: the harness that drove it."""
    input_tokens: Floats
    """Per row: prompt tokens, nan when unknown."""
    output_tokens: Floats
    """Per row: generated tokens, nan when unknown."""
    seconds: Floats
    """Per row: wall time, nan when unknown."""
    rows: Rows
    """Everything else: places, fields and facts."""

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return f"RolloutTable({len(self.tasks)} tasks, {len(self)} rollouts)"

    def citation(self, row: int, item: int | None = None) -> str:
        """How a row, or an item of it, is cited."""
        return citation(
            self.tasks[int(self.task[row])], int(self.repeat[row]), item if item is None or item >= 0 else None
        )

    def citations(self, rows: Ints, items: Ints | None = None) -> list[str]:
        """How rows, or one item of each (-1 for none), are cited."""
        names = zip(map(self.tasks.__getitem__, self.task[rows].tolist()), self.repeat[rows].tolist(), strict=True)
        cited = [f"{task}:{repeat}" for task, repeat in names]
        if items is None or (items < 0).all():
            return cited
        return [one if item < 0 else f"{one}#{item}" for one, item in zip(cited, items.tolist(), strict=True)]

    def find(self, task: str, repeat: int) -> int | None:
        """The row of a rollout."""
        index = bisect_left(self.tasks, natural_key(task), key=natural_key)
        if index == len(self.tasks) or self.tasks[index] != task:
            return None
        first, last = np.searchsorted(self.task, [index, index + 1]).tolist()
        hits = np.flatnonzero(self.repeat[first:last] == repeat)
        return first + int(hits[0]) if len(hits) else None


class InputFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a run."""

    path: Path
    """As the user gave it; a folder where the format's source is one."""
    format: Format
    """The format it is in."""
    reader: Reader | None = None
    """What reads it, when its format is a foreign one."""
    size: int
    """Bytes as stored."""
    rows: int
    """Rows that could be read."""
    sidecars: Sidecars = Sidecars()
    """What stands beside it."""
    failed: bool = False
    """Whether this is a failures file: its rows never got a verdict."""
    sightings: Sightings | None = None
    """What an observer noted about its rows while they were read."""


ExpectedFrom = Literal["materialized inputs", "flag", "largest repeat count seen"]


class Run(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One evaluation run, as read."""

    name: str
    """The files' common name, or the values it was grouped by."""
    files: list[InputFile]
    """Where it came from; `table.rows.file` indexes this list."""
    table: RolloutTable
    """Its rollouts."""
    identity: Identity
    """How rows were given their keys."""
    reward_field: str | None
    """The field that holds the score."""
    bad: list[BadLine]
    """Lines that could not be used."""
    bad_scores: list[BadLine]
    """Rows whose score is not a number; they are there, without a score."""
    duplicates: list[Duplicate]
    """Keys that several rows claim."""
    surplus: int
    """Rows left unscored because another row has their key."""
    recovered: int
    """Failed attempts whose rollout succeeded later."""
    expected_from: ExpectedFrom
    """What the number of expected rollouts rests on."""
    notes: list[str] = []
    """Other things a reader must know."""
    guessed: list[str] = []
    """What was guessed about records in no known format, and what else was possible; empty when nothing was."""

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self.table.tasks)} tasks, {len(self.table)} rollouts)"

    def _repr_html_(self) -> str:
        table = self.table
        return card(
            self.name,
            [
                ("tasks", str(len(table.tasks))),
                ("rollouts", f"{len(table)} of {int(table.expected.sum())} expected"),
                ("files", examples([file.path.name for file in self.files])),
                ("unusable lines", str(len(self.bad))),
            ],
        )

    def rollout(self, key: str) -> Rollout:
        """One rollout with its whole trajectory, by its citation (`12:3`; an `#item` is ignored)."""
        return self.rollout_at(self.row(key))

    def row(self, key: str) -> int:
        """The row of a citation; an unknown one says what there is."""
        plain = key.strip().strip("`")
        # A task key may begin with a space or a backtick, so the key is tried as it is first.
        for text in (key, on_one_line([plain])[0], plain) if CITATION.fullmatch(key) else (plain,):
            task, repeat = split_citation(text)
            row = self.table.find(task, repeat)
            if row is not None:
                return row
        if task not in self.table.tasks:
            raise UsageError(f"no task {task!r} in this run; tasks are {examples(self.table.tasks)}.")
        mine = self.table.repeat[self.table.task == self.table.tasks.index(task)]
        raise UsageError(f"task {task} has no repeat {repeat}; it has {examples([str(r) for r in sorted(mine)])}.")

    def rollout_at(self, row: int) -> Rollout:
        """One rollout by its row number."""
        return next(self.rollouts([row]))

    def rollouts(self, chosen: Iterable[int]) -> Iterator[Rollout]:
        """Several rollouts, in the order that is cheapest to read."""
        for _, rollout in self.numbered_rollouts(chosen):
            yield rollout

    def numbered_rollouts(self, chosen: Iterable[int]) -> Iterator[tuple[int, Rollout]]:
        """Several rollouts with their row numbers, in the order that is cheapest to read."""
        for row, data in self.read(chosen, bytes):
            try:
                record, items = read_row(data, self.format_of(row))
            except BadRow as error:
                raise self.changed(row, error) from error
            yield row, self._rollout(row, record, items)

    def read(self, chosen: Iterable[int], decode: Callable[[bytes], Decoded]) -> Iterator[tuple[int, Decoded]]:
        """Each chosen row's number and what is made of its bytes, in the order that is cheapest to read."""
        for row, data in fetch(self.files, self.table.rows, chosen):
            try:
                found = decode(data)
            except BadRow as error:
                raise self.changed(row, error) from error
            yield row, found

    def shared_out(self, rows: Ints) -> list[Ints]:
        """Rows in pieces that can be read apart; a single one of files that are read from their beginning."""
        apart = all(file.reader is None and compression(file.path) is None for file in self.files)
        count = min(MOST_PIECES, 1 + int(self.table.rows.length[rows].sum()) // PIECE) if apart else 1
        return [piece for piece in np.array_split(rows, count) if len(piece)]

    def changed(self, row: int, error: BadRow) -> InputError:
        """What to say of a row that is not what it was when it was read."""
        place = self.source(row)
        return InputError(f"{place.file}:{place.line}: {error}; the file has changed since it was read.")

    def source(self, row: int) -> Source:
        """Where a row stands."""
        return source_of(self.table.rows, row, [file.path for file in self.files])

    def format_of(self, row: int) -> Format:
        """The format of the file a row stands in."""
        return self.files[int(self.table.rows.file[row])].format

    def _rollout(self, row: int, record: dict[str, Any], items: list[Item]) -> Rollout:
        table, form = self.table, self.format_of(row)
        meaning = meaning_of(record, form)
        return Rollout(
            task=table.tasks[int(table.task[row])],
            repeat=int(table.repeat[row]),
            reward=known(table.reward[row]),
            model=as_text(table.model.at(row)),
            agent=as_text(table.agent.at(row)),
            status=STATUSES[int(table.status[row])],
            failure=table.failure.at(row),
            ending=meaning.ending
            or Ending(
                kind=ENDING_KINDS[int(table.ending[row])],
                origin=ORIGINS[int(table.origin[row])] if table.origin[row] >= 0 else None,
                name=text_or_none(table.ending_name.at(row)),
                message=meaning.message,
            ),
            usage=msgspec.structs.replace(
                meaning.usage,
                input_tokens=known_int(table.input_tokens[row]),
                output_tokens=known_int(table.output_tokens[row]),
            ),
            seconds=known(table.seconds[row]),
            run=meaning.run,
            variant=meaning.variant,
            scores=meaning.scores,
            answer=meaning.answer,
            expected=meaning.expected,
            tests=meaning.tests,
            settings=meaning.settings,
            fields=meaning.fields,
            tools=meaning.tools,
            items=items,
            source=self.source(row),
        )


def as_text(value: Any) -> str | None:
    """A name as a text, also where a row gives a number or a flag for one."""
    return value if value is None or isinstance(value, str) else str(value)


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def known(value: Any) -> float | None:
    """A number of a column, or `None` for its nan."""
    return None if np.isnan(value) else float(value)


def known_int(value: Any) -> int | None:
    return None if np.isnan(value) else int(value)


def split_citation(key: str) -> tuple[str, int]:
    """Task and repeat of `task:repeat` or `task:repeat#item`."""
    match = CITATION.fullmatch(key)
    if match is None:
        raise UsageError(f"{key!r} is not a rollout; expected TASK:REPEAT, for example 12:3.")
    return match["task"], int(match["repeat"])


def examples(names: list[str], most: int = 8) -> str:
    """A few of many, with the count of the rest."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
