"""What was noted about the rollouts of a run, put together: which observations where, what matters, what is usual.

Everything per rollout was noted while the rows were read. Here the run as a whole has its say: success, how passing
rollouts treat tools, fields that vary. What rows have in common is looked at once, so that a million rows that say
little cost little.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from blade.diagnosis.answers import Answered
from blade.diagnosis.differences import CallHabits, Conventions, Difference, in_words
from blade.diagnosis.observations import NOTE, Note, Observation, observe_data
from blade.diagnosis.predictors import Feature, Value, features_by_task
from blade.diagnosis.slicing import FOREIGN, goes_with
from blade.diagnosis.templates import LONGEST, template_of
from blade.metrics.values import Floats, Ints
from blade.rollouts import Run
from blade.rollouts.columns import Column, codes_in, level_text
from blade.rollouts.formats.format import bare
from blade.rollouts.formats.records import ERROR_FIELDS
from blade.rollouts.identity import MADE
from blade.rollouts.observing import Sightings, Words, join_sightings
from blade.rollouts.table import ENDING_KINDS, ORIGINS, RolloutTable, text_or_none
from blade.rollouts.values import Ending

TOGETHER = 256
"""Rows that are read again at a time."""
MOST_LEVELS = 40
MOST_TEXTS = 20_000
"""Different short texts of a field that are looked at for what they have in common."""
PROBED = 500
"""Texts of a field by which is told whether they have anything in common."""
VERDICT_ITSELF = "answer:other"
"""That the answer is a wrong one is not why it is wrong."""
OWN = MADE | {"reward", "model", "agent", "seed", "repeat", "trial", "source", "ending"}


class Incidence(NamedTuple):
    """Where an observation was made."""

    rows: Ints
    items: Ints
    """Position of the item in each row; -1 for none."""


class Observations:
    """Observations of many rollouts."""

    def __init__(self) -> None:
        self._numbers: dict[Words, int] = {}
        self._parts: list[tuple[Ints, Ints, Ints]] = []

    def add(self, observation: Observation, rows: Ints, items: Ints | None = None) -> None:
        """Notes one observation made in several rollouts."""
        number = self._numbers.setdefault(observation, len(self._numbers))
        places = np.full(len(rows), -1) if items is None else items
        self._parts.append((np.full(len(rows), number), rows, places))

    def add_sightings(self, found: Sightings, numbers: Ints, rows: Ints) -> None:
        """Notes what was seen in some of the rows of a file, which have other numbers in the run."""
        known = self._numbers
        table = np.asarray([known.setdefault(words, len(known)) for words in found.observations], dtype=np.int64)
        starts = np.concatenate([[0], found.ends[:-1]])[numbers]
        sizes = found.ends[numbers] - starts
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(starts - ends + sizes, sizes)
        if len(places):
            self._parts.append((table[found.ids[places]], np.repeat(rows, sizes), found.items[places]))

    def incidences(self, *, fewest: int = 2) -> Iterator[tuple[Observation, Incidence]]:
        """Each observation with its rows in order, those made in very few rollouts left out."""
        if not self._parts:
            return
        numbers, rows, items = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        counts = np.bincount(numbers, minlength=len(self._numbers))
        often = (counts >= fewest)[numbers]
        numbers, rows, items = numbers[often], rows[often], items[often]
        order = np.lexsort((rows, numbers))
        numbers, rows, items = numbers[order], rows[order], items[order]
        words = list(self._numbers)
        for number in sorted(np.unique(numbers).tolist(), key=words.__getitem__):
            first, last = np.searchsorted(numbers, [number, number + 1])
            yield Observation(*words[number]), Incidence(rows[first:last], items[first:last])

    def where(self, wanted: Callable[[Observation], bool]) -> Incidence:
        """Where any of some observations was made; an observation is asked once, wherever it was made."""
        chosen = [number for words, number in self._numbers.items() if wanted(Observation(*words))]  # type: ignore[arg-type]
        if not chosen:
            return Incidence(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        masks = [np.isin(numbers, chosen) for numbers, _, _ in self._parts]
        rows, items = (
            np.concatenate([part[column][mask] for part, mask in zip(self._parts, masks, strict=True)])
            for column in (1, 2)
        )
        order = np.lexsort((items, rows))
        return Incidence(rows[order], items[order])


class Noted(NamedTuple):
    """What is known of the rollouts of a run once all have been read."""

    observations: Observations
    differences: dict[int, list[Difference]]
    """Row -> how it differs from what its task lists, as far as the run's own passing rollouts say that it matters."""
    answers: list[Answered]
    """What rows answered, those without an answer left out."""
    talks: frozenset[int]
    """Rows in which somebody else than the agent and its tools speaks after the prompt: a simulated user."""
    acts: frozenset[int]
    """Rows with anything in their trajectory after the prompt."""
    called: frozenset[int]
    """Rows with a tool call."""
    idle: frozenset[int]
    """Rows without a call where the task expects some."""
    endings: dict[int, Ending]
    """How rows ended, those left out that ended well."""
    broken: frozenset[int]
    """Rows that stop at a tool at which the run's rollouts do not end."""
    features: dict[str, Feature]
    """What is known of tasks before they are tried."""
    conventions: Conventions
    """What passing rollouts tell about the tools."""


NOBODY: frozenset[int] = frozenset()
NOTHING_NOTED = Noted(Observations(), {}, [], NOBODY, NOBODY, NOBODY, NOBODY, {}, NOBODY, {}, Conventions())


def note_run(run: Run, success: Floats) -> Noted:
    """Everything noted about the rollouts of a run."""
    table, found = run.table, Observations()
    notes, note = gather(run, found)
    observe_fields(table, found, run.reward_field)
    endings = endings_in(table, notes, note)
    observe_endings(endings, notes, note, found)
    conventions = conventions_in(notes, note, success)
    differences = differences_in(notes, note, success, conventions)
    for row, listed in differences.items():
        at = {as_observation(one): -1 if one.item is None else one.item for one in reversed(listed)}
        for observation, item in at.items():
            if observation.subject != VERDICT_ITSELF:
                found.add(observation, np.asarray([row]), np.asarray([item]))
    changes = [changes_in(one, conventions) for one in notes]
    return Noted(
        observations=found,
        differences=differences,
        answers=answers_in(notes, note),
        talks=rows_where([one.talks for one in notes], note),
        acts=rows_where([one.acts for one in notes], note),
        called=rows_where([one.called for one in notes], note),
        idle=rows_where([bool(tools) and not one.called for one, tools in zip(notes, changes, strict=True)], note),
        endings=endings,
        broken=rows_where([conventions.breaks_off(one.habit) for one in notes], note),
        features=features_in(table, notes, note, changes),
        conventions=conventions,
    )


def observations_of(run: Run) -> Observations:
    """What was observed in the rollouts of a run, and nothing that is made of it."""
    found = Observations()
    gather(run, found)
    return found


def gather(run: Run, found: Observations) -> tuple[list[Note], Ints]:
    """The distinct notes of a run and the number of each row's; observations go where they are kept.

    Rows of files that were read without an observer are read again.
    """
    encoded: dict[bytes, int] = {}
    note = np.zeros(len(run.table), dtype=np.int64)
    for index, file in enumerate(run.files):
        rows = np.flatnonzero(run.table.rows.file == index)
        if not len(rows):
            continue
        sightings, numbers = file.sightings, run.table.rows.number[rows]
        if sightings is None:
            rows, sightings = observed_now(run, rows)
            numbers = np.arange(len(rows))
        found.add_sightings(sightings, numbers, rows)
        used, places = np.unique(sightings.note[numbers], return_inverse=True)
        shared = [encoded.setdefault(sightings.notes[number], len(encoded)) for number in used.tolist()]
        note[rows] = np.asarray(shared, dtype=np.int64)[places]
    return [NOTE.decode(data) for data in encoded], note


def observed_now(run: Run, rows: Ints) -> tuple[Ints, Sightings]:
    """Some rows of one file in the order that is cheapest to read, and what is noted about them."""
    form, order, parts = run.format_of(int(rows[0])), list[int](), list[Sightings]()
    read = iter(run.read(rows.tolist(), bytes))
    while some := list(islice(read, TOGETHER)):
        order += [row for row, _ in some]
        parts.append(observe_data([data for _, data in some], form))
    return np.asarray(order, dtype=np.int64), join_sightings(parts)


def rows_where(true: Sequence[bool], note: Ints) -> frozenset[int]:
    """Rows whose note is one of those for which something is true."""
    return frozenset(np.flatnonzero(np.asarray(true, dtype=bool)[note]).tolist()) if len(note) else frozenset()


def rows_of(chosen: Sequence[int], note: Ints) -> Iterator[tuple[int, int]]:
    """Rows with one of some notes, in order, each with the number of its note."""
    rows = np.flatnonzero(np.isin(note, chosen))
    return zip(rows.tolist(), note[rows].tolist(), strict=True)


def conventions_in(notes: Sequence[Note], note: Ints, success: Floats) -> Conventions:
    """What passing rollouts tell about the tools."""
    habits = CallHabits()
    passed = np.bincount(note[success == 1.0], minlength=len(notes)).tolist()
    everywhere = np.bincount(note, minlength=len(notes)).tolist()
    for one, times, rollouts in zip(notes, passed, everywhere, strict=True):
        habits.count(one.habit, passed=times, rollouts=rollouts)
    return habits.conventions()


def differences_in(
    notes: Sequence[Note], note: Ints, success: Floats, conventions: Conventions
) -> dict[int, list[Difference]]:
    """Row -> its differences that matter; an answer that was not judged wrong is none."""
    kept = [[conventions.settled(one) for one in each.differences if conventions.counts(one)] for each in notes]
    other = [[one for one in listed if one.kind != "answer"] for listed in kept]
    chosen = [number for number, listed in enumerate(kept) if listed]
    found = {row: (kept if success[row] == 0.0 else other)[number] for row, number in rows_of(chosen, note)}
    return {row: listed for row, listed in found.items() if listed}


def as_observation(difference: Difference) -> Observation:
    if difference.kind == "test_failed":
        return Observation("test", difference.subject, "failed")
    said = VERDICT_ITSELF if difference.key == VERDICT_ITSELF else difference.key
    return Observation("difference", said, in_words(difference))


def answers_in(notes: Sequence[Note], note: Ints) -> list[Answered]:
    """What rows answered."""
    given = {number: one.answer for number, one in enumerate(notes) if one.answer is not None}
    rows = ((row, given[number]) for row, number in rows_of(list(given), note))
    return [Answered(row, answer.given, answer.plain, answer.expected) for row, answer in rows]


def changes_in(note: Note, conventions: Conventions) -> list[str] | None:
    """Tools that should change something, a name per call; `None` when the row lists no calls."""
    listed = note.habit.listed
    return None if listed is None else [tool for tool in listed if tool not in conventions.reading]


def features_in(
    table: RolloutTable, notes: Sequence[Note], note: Ints, changes: Sequence[list[str] | None]
) -> dict[str, Feature]:
    """What the first rollout of each task tells about it."""
    tasks = codes_in(table.task)
    first = note[np.searchsorted(table.task, tasks)]
    place = np.full(len(table.tasks), -1)
    ordered = list(dict.fromkeys(first.tolist()))
    rank = np.full(len(notes), -1)
    rank[ordered] = np.arange(len(ordered))
    place[tasks] = rank[first]
    known: list[dict[str, Value]] = []
    for number in ordered:
        known.append(dict(notes[number].features))
        if (tools := changes[number]) is not None:
            known[-1] |= {"expected changes": float(len(tools)), "the tools expected": frozenset(tools)}
    return features_by_task(known, place)


def endings_in(table: RolloutTable, notes: Sequence[Note], note: Ints) -> dict[int, Ending]:
    """Row -> how the format says that it ended, unless it says that all was well."""
    stated = rows_where([one.ending is not None for one in notes], note)
    odd = sorted(stated | set(np.flatnonzero(table.ending != ENDING_KINDS.index("completed")).tolist()))
    found = {row: notes[note[row]].ending or ending_at(table, row) for row in odd}
    return {row: ending for row, ending in found.items() if ending.kind != "completed"}


def observe_endings(endings: dict[int, Ending], notes: Sequence[Note], note: Ints, found: Observations) -> None:
    """How rollouts ended that did not end well, and in what words."""
    seen: dict[Observation, list[int]] = {}
    for row, ending in endings.items():
        whose = f"{ending.kind}, {ending.origin}" if ending.origin else ending.kind
        seen.setdefault(Observation("ending", whose, ending.name or ending.kind), []).append(row)
        if notes[note[row]].message:
            seen.setdefault(Observation("ending", "message", notes[note[row]].message), []).append(row)
    for observation, rows in seen.items():
        found.add(observation, np.asarray(rows))


def ending_at(table: RolloutTable, row: int) -> Ending:
    """How a row ended, by the table."""
    return Ending(
        kind=ENDING_KINDS[int(table.ending[row])],
        origin=ORIGINS[int(table.origin[row])] if table.origin[row] >= 0 else None,
        name=text_or_none(table.ending_name.at(row)),
    )


def observe_fields(table: RolloutTable, found: Observations, verdict: str | None) -> None:
    """Every value of fields that vary between rollouts and have few values, but for the score itself."""
    repeated = len(table) > len(codes_in(table.task))
    for field, column in table.rows.columns.items():
        if field.startswith(FOREIGN) or field.split(".")[0] in OWN or field == verdict:
            continue
        coded = column.coded()
        if not len(coded.levels) + (coded.values < 0).any() > 1 or len(coded.levels) > MOST_TEXTS:
            continue
        is_error = not ERROR_FIELDS.isdisjoint(map(bare, field.split(".")))
        if repeated and not is_error and goes_with(table.task, coded.values):
            continue  # it describes the task, not what happened
        if len(coded.levels) > MOST_LEVELS:
            observe_texts(field, coded, found)
            continue
        for code, level in enumerate(coded.levels):
            subject = f"{field}[]" if isinstance(level, tuple) else field
            for value in {str(one)[:LONGEST] for one in (level if isinstance(level, tuple) else [level_text(level)])}:
                found.add(Observation("field", subject, value), np.flatnonzero(coded.values == code))


def observe_texts(field: str, coded: Column, found: Observations) -> None:
    """What the many texts of a field say when their particulars are masked, where that is little: errors, verdicts."""
    texts = [level if isinstance(level, str) else "" for level in coded.levels]
    if not 0 < len({*map(template_of, texts[:PROBED])} - {""}) <= MOST_LEVELS:
        return
    codes: dict[str, list[int]] = {}
    for code, text in enumerate(texts):
        if said := template_of(text):
            codes.setdefault(said, []).append(code)
    for said, chosen in codes.items() if len(codes) <= MOST_LEVELS else ():
        found.add(Observation("field_text", field, said), np.flatnonzero(np.isin(coded.values, chosen)))
