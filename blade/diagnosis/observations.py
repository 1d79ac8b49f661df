"""What one pass over all rollouts notes: per rollout a set of observations, each with the item where it was made.

An observation is a kind, a subject and words that are the run's own: a typed ending, what a tool said with its
particulars masked, a check that failed, a call, the form of the answer. None of them is a verdict: whether one goes
with failing is asked later, of all rollouts at once. Observing one rollout needs no other, so the pass can be divided.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from blade.diagnosis.analysis import ObservationKind
from blade.diagnosis.answers import form_of
from blade.diagnosis.arguments import invalid_call
from blade.diagnosis.slicing import FOREIGN, goes_with
from blade.diagnosis.templates import LONGEST, last_line, masked, opens_as_error, template_of
from blade.metrics.values import Ints
from blade.rollouts import Item, Rollout, Run
from blade.rollouts.columns import MAX_TEXT, level_text
from blade.rollouts.endings import split_thinking
from blade.rollouts.identity import MADE
from blade.rollouts.table import RolloutTable

SHORT_RESULT = 200
"""A tool's longer answers are data; what it says in fewer characters is a message."""
LOOP = 3
"""Identical calls that make a loop: a second try is common sense, a third is not."""
MOST_LEVELS = 40
MOST_NAMED = 200
DEEPEST = 4
NAMES = ("name", "id", "test", "check", "criterion", "nodeid", "key")
STATUSES = ("status", "passed", "success", "outcome", "result", "met", "ok", "correct", "action_match", "satisfied")
OWN = MADE | {"reward", "model", "agent", "seed", "repeat", "trial", "source", "ending"}


class Observation(NamedTuple):
    """Something seen in rollouts."""

    kind: ObservationKind
    subject: str
    """The tool, field or test it is about; empty when it is about none."""
    said: str
    """What was seen, particulars masked."""


class Incidence(NamedTuple):
    """Where an observation was made."""

    rows: Ints
    items: Ints
    """Position of the item in each row; -1 for none."""


Differences = Callable[[Rollout], Iterable[tuple[str, str, int]]]
"""How a rollout differs from what its task expects: the tool or part, the difference in words, and the item or -1."""


class Observations:
    """Observations of many rollouts; those of two passes can be joined."""

    def __init__(self) -> None:
        self._rows: dict[Observation, array[int]] = {}
        self._items: dict[Observation, array[int]] = {}

    def add(self, row: int, seen: Mapping[Observation, int]) -> None:
        """Notes what was seen in one rollout."""
        for observation, item in seen.items():
            self._rows.setdefault(observation, array("q")).append(row)
            self._items.setdefault(observation, array("q")).append(item)

    def add_rows(self, observation: Observation, rows: Ints) -> None:
        """Notes one observation that no item is behind, in several rollouts."""
        self._rows.setdefault(observation, array("q")).extend(rows.tolist())
        self._items.setdefault(observation, array("q")).extend([-1] * len(rows))

    def join(self, other: "Observations") -> None:
        """Takes over what another pass saw in other rollouts."""
        for observation, rows in other._rows.items():
            self._rows.setdefault(observation, array("q")).extend(rows)
            self._items.setdefault(observation, array("q")).extend(other._items[observation])

    def incidences(self, *, fewest: int = 2) -> Iterator[tuple[Observation, Incidence]]:
        """Each observation with its rows in order, those made in very few rollouts left out."""
        for observation in sorted(self._rows):
            if len(self._rows[observation]) >= fewest:
                rows = np.asarray(self._rows[observation], dtype=np.int64)
                order = np.argsort(rows, kind="stable")
                yield observation, Incidence(rows[order], np.asarray(self._items[observation], dtype=np.int64)[order])


def observe_run(run: Run, differences: Differences) -> Observations:
    """Everything observed in the rollouts of a run, and in the fields of its table."""
    found = Observations()
    for row, rollout in run.numbered_rollouts(range(len(run.table))):
        found.add(row, observe(rollout, differences))
    found.join(observe_fields(run.table))
    return found


def observe(rollout: Rollout, differences: Differences) -> dict[Observation, int]:
    """What is seen in one rollout: each observation with the first item it was made at, -1 for none."""
    made = [item for item in rollout.items if not item.prompt]
    seen: dict[Observation, int] = {}
    for observation, item in (
        *endings(rollout),
        *checks(rollout),
        *(((Observation("difference", tool, words)), item) for tool, words, item in differences(rollout)),
        *results(made),
        *calls(made, rollout.tools),
        *answers(rollout, made),
        *texts(rollout.fields),
    ):
        if observation.said and seen.get(observation, -1) < 0:
            seen[observation] = item
    return seen


Seen = Iterator[tuple[Observation, int]]


def endings(rollout: Rollout) -> Seen:
    """How the format says that the rollout ended, unless it says that all was well."""
    ending = rollout.ending
    if ending.kind != "completed":
        whose = f"{ending.kind}, {ending.origin}" if ending.origin else ending.kind
        yield Observation("ending", whose, ending.name or ending.kind), -1
        if ending.message:
            yield Observation("ending", "message", template_of(ending.message)), -1


def checks(rollout: Rollout) -> Seen:
    """Checks of the verifier that did not pass, and every named status in lists of the row."""
    for name, status in rollout.tests.items():
        if status in ("failed", "error"):
            yield Observation("test", name, status), -1
    for path, name, how in named_statuses(rollout.fields):
        yield Observation("check", f"{path}: {name}"[:LONGEST], how), -1


def named_statuses(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """Path, name and status of the elements of lists that give each of their elements both."""
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from named_statuses(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list) and 0 < len(value) <= MOST_NAMED and isinstance(value[0], dict):
        name = next((key for key in NAMES if isinstance(value[0].get(key), str)), None)
        status = next((key for key in STATUSES if isinstance(value[0].get(key), str | bool)), None)
        for element in value if name and status else []:
            if isinstance(element, dict) and name in element and isinstance(element.get(status), str | bool):
                yield path, str(element[name])[:LONGEST], str(element[status]).lower()[:40]


def results(made: Sequence[Item]) -> Seen:
    """What tools said: errors, and whatever is short enough to be a message."""
    names = {item.call_id: item.name for item in made if item.kind == "tool_call" and item.call_id}
    latest = ""
    for item in made:
        if item.kind == "tool_call":
            latest = item.name or ""
        elif item.kind == "tool_result" and item.text.strip():
            tool = item.name or names.get(item.call_id or "") or latest
            if item.error is not None or opens_as_error(item.text):
                said = template_of(item.text) or masked(item.error or "")
                yield Observation("tool_error", tool, said), item.position
            elif len(item.text) <= SHORT_RESULT and item.text.lstrip()[:1] not in ("{", "["):
                yield Observation("tool_says", tool, template_of(item.text)), item.position


def calls(made: Sequence[Item], tools: Sequence[Mapping[str, Any]]) -> Seen:
    """Which tools were called, a call that was repeated, and one that its schema does not allow."""
    times: Counter[tuple[str, str]] = Counter()
    for item in made:
        if item.kind == "tool_call":
            name = item.name or "?"
            times[name, item.text] += 1
            if times[name, item.text] == LOOP:
                yield Observation("repeated_call", name, f"{LOOP} or more times"), item.position
            yield Observation("call", name, "called"), item.position
    if tools and not times:
        yield Observation("no_call", "", "no tool is called"), -1
    if (wrong := invalid_call(made, tools)) is not None:
        item = next(found for found in made if found.position == wrong)
        yield Observation("invalid_call", item.name or "?", "not allowed by its schema"), wrong


def answers(rollout: Rollout, made: Sequence[Item]) -> Seen:
    """The form of what was said last, its words when they are few, and the last turn of a simulated user."""
    last = next((item for item in reversed(made) if item.kind != "reasoning"), None)
    if last is None:
        return
    spoken = next((item for item in reversed(made) if item.kind == "message"), None)
    text = "" if spoken is None else split_thinking(spoken.text)[1].strip()
    at = last.position if spoken is None else spoken.position
    yield Observation("answer_form", "", form_of(rollout.answer or text)), at
    if 0 < len(text) <= SHORT_RESULT:
        yield Observation("answer", "", template_of(text)), at
    if last.kind == "environment":
        if len(last.text) <= SHORT_RESULT:
            yield Observation("last_turn", last.role or "", template_of(last.text)), last.position
    elif last.kind != "message":
        yield Observation("ends_on", last.name or "", last.kind.replace("_", " ")), last.position


def texts(fields: Mapping[str, Any], path: str = "", depth: int = 0) -> Seen:
    """The first and the last line of texts that are too long for the table: logs, verifiers' output."""
    for key, value in fields.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, str) and len(value) > MAX_TEXT:
            yield Observation("field_text", name, template_of(value)), -1
            yield Observation("field_text", name, masked(last_line(value))), -1
        elif isinstance(value, dict) and depth < DEEPEST:
            yield from texts(value, name, depth + 1)


def observe_fields(table: RolloutTable) -> Observations:
    """Every value of the table's fields that vary between rollouts and have few values."""
    found = Observations()
    repeated = len(table) > len(np.unique(table.task))
    for field, column in table.rows.columns.items():
        if field.startswith(FOREIGN) or field.split(".")[0] in OWN:
            continue
        coded = column.coded()
        if not len(coded.levels) + (coded.values < 0).any() > 1 or len(coded.levels) > MOST_LEVELS:
            continue
        if repeated and goes_with(table.task, coded.values):
            continue  # it describes the task, not what happened
        for code, level in enumerate(coded.levels):
            for value in level if isinstance(level, tuple) else [level_text(level)]:
                found.add_rows(Observation("field", field, str(value)[:LONGEST]), np.flatnonzero(coded.values == code))
    return found


def title_of(observation: Observation) -> str:
    """An observation in words, the run's own among them."""
    kind, subject, said = observation
    match kind:
        case "difference":
            return said
        case "ending":
            return f"ended with: {said}" if subject == "message" else f"ended with `{said}` ({subject})"
        case "test":
            return f"`{subject}` fails" if said == "failed" else f"`{subject}` ends in an error"
        case "check" | "field":
            return f"`{subject}` is {said or 'empty'}"
        case "field_text":
            return f"`{subject}` says: {said}"
        case "tool_error" | "tool_says":
            return f"`{subject}` answers: {said}" if subject else f"a tool answers: {said}"
        case "repeated_call":
            return f"the same call of `{subject}` {said}"
        case "invalid_call":
            return f"`{subject}` is called with arguments that its schema does not allow"
        case "call":
            return f"`{subject}` is {said}"
        case "no_call":
            return "no tool is called although tools are offered"
        case "last_turn":
            return f"the last turn is the {subject or 'environment'}'s: {said}"
        case "ends_on":
            return f"ends on a {said}" + (f" of `{subject}`" if subject else "")
        case "answer":
            return f"the last message is: {said}"
        case "answer_form":
            return "there is no last message" if said == "nothing" else f"the answer is {said}"
