"""What the rows of a benchmark hold: the fields its verifier writes, and which of their values go with failing.

A skill is drafted from this. Rows hold what models wrote, and an agent reads a skill as instructions, so only short
values of few words are ever taken over; free texts are described by their length.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis import Analysis, AnalyzeOptions, diagnose
from blade.diagnosis.packs.rows import read_sample
from blade.diagnosis.slicing import FOREIGN, goes_with, is_well_known
from blade.metrics.values import Bools, Floats
from blade.rollouts.columns import Column, Level
from blade.rollouts.identity import MADE
from blade.rollouts.table import RolloutTable, Run

MOST_FIELDS = 40
MOST_CLUES = 16
MOST_LEVELS = 12
FIELD_NAME = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*){0,3}", re.ASCII)
SHORT_VALUE = re.compile(r"[\w.,:;/+=%#@()'-]+(?: [\w.,:;/+=%#@()'-]+){0,3}", re.ASCII)
MOST_CHARACTERS = 40
KINDS = {str: "text", bool: "flag", int: "number", float: "number", list: "list", dict: "object", type(None): "null"}
VERDICT = re.compile(
    r"verdict|reason|label|status|state|error|exception|fail|kind|mode|form|code|slip|outcome|judg|grade|is_|has_|_ok$"
)
"""Names that sound like something said about an attempt."""
ANSWER = re.compile(r"extracted|parsed|predicted|answer|output|patch|generation")
"""Names of what was read from a reply, whose absence is a failure of its own."""
ALARMING = re.compile(r"error|exception|fail")
MOST_MISLEADING = 3
USUALLY = 0.9
RESTATED = 0.75
"""Share of the failing rollouts that makes a flag another word for failing."""
OWN = ("response", "responses_create_params", "reward")
"""Fields of every row, which say nothing about a benchmark."""


class FieldSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the rows."""

    name: str
    """Its dotted path."""
    kinds: list[str]
    """What it is in the rows that were looked at."""
    of_task: bool
    """Whether it is the same for every attempt at a task."""
    example: str
    """A short value, or how long its texts are."""


class Clue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that goes with failing."""

    field: str
    """The field."""
    question: str
    """What is asked of it, in the words of a taxonomy: equals, contains, is_true, is_false or is_null."""
    value: Level | None
    """What it is compared with, where something is."""
    failing: int
    """Rollouts with it that did not pass."""
    passing: int
    """Those that did."""


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """A file of rollouts, as far as a skill is drafted from it."""

    run: str
    """Name of the run."""
    analysis: Analysis
    """Everything computed about it, without a pack."""
    fields: list[FieldSeen]
    """Fields of the benchmark, in the order of the rows."""
    clues: list[Clue]
    """Values that go with failing, the most frequent first."""
    misleading: list[tuple[str, str, int]]
    """Fields that sound like an error, a value they have on passing rollouts, and on how many."""
    graded: bool
    """Whether rewards are graded and no rule was given; the lower half then counts as failing."""
    tools: bool
    """Whether any rollout calls a tool."""


def survey(run: Run, *, success: str | None = None) -> Survey:
    """Looks at a run."""
    found = diagnose(run, AnalyzeOptions(success=success, pack="none"))
    outcomes = found.outcomes
    scores = outcomes.scores
    graded = bool(outcomes.is_continuous)
    passed = scores >= np.nanmedian(scores) if graded and not np.isnan(scores).all() else outcomes.success == 1.0
    return Survey(
        run=run.name,
        analysis=found.analysis,
        fields=seen_fields(run),
        clues=find_clues(run.table, scores, passed),
        misleading=misleading_fields(run.table, passed),
        graded=graded,
        tools=bool((run.table.rows.fact("tool_calls") > 0).any()),
    )


def seen_fields(run: Run) -> list[FieldSeen]:
    """The benchmark's own fields, of some rows spread over the run."""
    records = read_sample(run, np.ones(len(run.table), dtype=bool)).records
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in own_values(record):
            values.setdefault(name, []).append(value)
    return [seen_field(name, found, run.table) for name, found in list(values.items())[:MOST_FIELDS]]


def own_values(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Fields of a row that are not every row's, those inside of an object too."""
    for name, value in record.items():
        if name in OWN or f"{name}.".startswith(FOREIGN) or name.startswith(FOREIGN):
            continue
        inner = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
        yield from ((path, one) for path, one in inner.items() if FIELD_NAME.fullmatch(path))


def seen_field(name: str, values: list[Any], table: RolloutTable) -> FieldSeen:
    kinds = list(dict.fromkeys(KINDS.get(type(value), "other") for value in values))
    column = table.rows.columns.get(name)
    return FieldSeen(
        name=name, kinds=kinds, of_task=column is not None and is_of_task(column, table), example=example_of(values)
    )


def is_of_task(column: Column, table: RolloutTable) -> bool:
    """Whether attempts at a task share it; without repeats nobody can tell."""
    repeated = len(np.unique(table.task)) < len(table.task)
    return repeated and goes_with(table.task, column.coded().values)


def example_of(values: list[Any]) -> str:
    """The first value that is short, else how long texts are."""
    texts = [value for value in values if isinstance(value, str)]
    for value in values:
        if isinstance(value, bool | int | float) or (isinstance(value, str) and is_short(value)):
            return str(value).lower() if isinstance(value, bool) else str(value)
    if texts:
        return f"{max(map(len, texts)):,} characters at most"
    lists = [value for value in values if isinstance(value, list)]
    return f"{max(map(len, lists)):,} elements at most" if lists else ""


def is_short(value: str) -> bool:
    return len(value) <= MOST_CHARACTERS and SHORT_VALUE.fullmatch(value) is not None


def find_clues(table: RolloutTable, scores: Floats, passed: Bools) -> list[Clue]:
    """Values that scored rollouts that passed hardly have; what only restates the verdict is left out."""
    scored = ~np.isnan(scores)
    looked_at = Looked(table=table, passed=passed & scored, failed=~passed & scored)
    clues = [
        clue
        for name, column in table.rows.columns.items()
        if is_verdict(name, column, table)
        for clue in clues_of(name, column, looked_at)
    ]
    telling = [clue for clue in clues if clue.failing and clue.passing <= clue.failing // 10]
    if not looked_at.passed.any():
        return []  # where nothing passes, nothing tells
    return sorted(telling, key=lambda clue: (-clue.failing, clue.field, str(clue.value)))[:MOST_CLUES]


class Looked(NamedTuple):
    """The rollouts that are looked at."""

    table: RolloutTable
    passed: Bools
    failed: Bools

    def clue(self, name: str, question: str, rows: Bools, value: Level | None = None) -> Clue:
        failing, passing = int((rows & self.failed).sum()), int((rows & self.passed).sum())
        return Clue(field=name, question=question, value=value, failing=failing, passing=passing)

    def restates(self, rows: Bools) -> bool:
        """Whether these are the rollouts that failed, and little else can be learnt from them."""
        return bool((rows & self.failed).sum() >= RESTATED * self.failed.sum())

    def tasks(self, rows: Bools) -> int:
        return len(np.unique(self.table.task[rows & self.failed]))


def is_verdict(name: str, column: Column, table: RolloutTable, *, lenient: bool = False) -> bool:
    """Whether a field may say something about an attempt: it is the benchmark's own, and not the task's."""
    if name in OWN or name in MADE or name.startswith(FOREIGN) or is_well_known(name):
        return False
    return FIELD_NAME.fullmatch(name) is not None and (lenient or not is_of_task(column, table))


def sounds_like_verdict(name: str) -> bool:
    """Whether a name sounds like something said about an attempt, or read from it."""
    return VERDICT.search(name.rpartition(".")[2]) is not None or ANSWER.search(name) is not None


def clues_of(name: str, column: Column, looked_at: Looked) -> Iterator[Clue]:
    """What a field's values say."""
    known = column.known()
    sounds_so = VERDICT.search(name.rpartition(".")[2]) is not None
    if column.kind in ("number", "flag"):
        if np.isin(column.values[known], (0.0, 1.0)).all():
            for question, rows in (("is_true", column.values == 1.0), ("is_false", column.values == 0.0)):
                if not looked_at.restates(rows):
                    yield looked_at.clue(name, question, rows)
            return
        if not name.endswith("code"):
            return
    elif ANSWER.search(name) and known[looked_at.passed].mean() > USUALLY:
        yield looked_at.clue(name, "is_null", ~known)
    for level, rows in rows_by_level(column.coded()):
        if sounds_so or looked_at.tasks(rows) > 1:
            yield looked_at.clue(name, "contains" if column.kind == "list" else "equals", rows, level)


def misleading_fields(table: RolloutTable, passed: Bools) -> list[tuple[str, str, int]]:
    """Fields whose name says error or failure, and which passing rollouts have all the same."""
    found: list[tuple[str, str, int]] = []
    for name, column in table.rows.columns.items():
        if column.kind != "text" or not ALARMING.search(name) or not is_verdict(name, column, table, lenient=True):
            continue
        levels = [(level, int((rows & passed).sum())) for level, rows in rows_by_level(column)]
        found += [(name, str(level), count) for level, count in levels if level and count]
    return sorted(found, key=lambda one: -one[2])[:MOST_MISLEADING]


def rows_by_level(column: Column) -> Iterator[tuple[Level, Bools]]:
    """Each of few values with the rows that have it; an element of a list is a value of its own."""
    elements = {e for level in column.levels for e in (level if isinstance(level, tuple) else (level,))}
    if len(elements) > MOST_LEVELS:
        return
    for element in sorted(elements, key=str):
        codes = [
            code
            for code, level in enumerate(column.levels)
            if (element in level if isinstance(level, tuple) else element == level)
        ]
        if not isinstance(element, str) or is_short(element):
            yield element, np.isin(column.values, codes)
