"""What one pass over all rollouts notes: per rollout a set of observations, each with the item where it was made.

An observation is a kind, a subject and words that are the run's own: a typed ending, what a tool said with its
particulars masked, a check that failed, a call, the form of the answer. None of them is a verdict: whether one goes
with failing is asked later, of all rollouts at once. Observing one rollout needs no other, so the pass can be divided.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import ObservationKind
from blade.diagnosis.answers import Answered, answer_of, expected_of, form_of, normalize
from blade.diagnosis.arguments import invalid_call
from blade.diagnosis.differences import CallHabits, Conventions, Difference, compare_rollout, in_words
from blade.diagnosis.predictors import Value, task_features
from blade.diagnosis.slicing import FOREIGN, goes_with
from blade.diagnosis.templates import LONGEST, last_line, masked, opens_as_error, template_of
from blade.metrics.values import Floats, Ints
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
VERDICT_ITSELF = "answer:other"
"""That the answer is a wrong one is not why it is wrong."""
KEPT_ANSWER = 400
KEPT_VALUE = 60
"""Characters of a value that a sentence may repeat."""
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


class Noted(NamedTuple):
    """What the pass over all rollouts of a run brings back."""

    observations: Observations
    differences: dict[int, list[Difference]]
    """Row -> how it differs from what its task lists, as far as the run's own passing rollouts say that it matters."""
    answers: list[Answered]
    """What rows answered, those without an answer left out."""
    talks: frozenset[int]
    """Rows in which somebody else than the agent and its tools speaks after the prompt: a simulated user."""
    acts: frozenset[int]
    """Rows with anything in their trajectory after the prompt."""
    idle: frozenset[int]
    """Rows without a call where the task expects some."""
    features: dict[str, dict[str, Value]]
    """Task -> what is known of it before it is tried."""
    conventions: Conventions
    """What passing rollouts tell about the tools."""


NOTHING_NOTED = Noted(Observations(), {}, [], frozenset(), frozenset(), frozenset(), {}, Conventions())


def note_run(run: Run, success: Floats) -> Noted:
    """One pass over all rollouts of a run."""
    found, habits = Observations(), CallHabits()
    differences: dict[int, list[Difference]] = {}
    answered: list[Answered] = []
    expected: dict[int, list[str]] = {}
    features: dict[str, dict[str, Value]] = {}
    talks, acts, called = set(), set(), set()
    for row, read in run.numbered_rollouts(range(len(run.table))):
        rollout = msgspec.structs.replace(read, success=None if np.isnan(success[row]) else bool(success[row] == 1.0))
        made = [item for item in rollout.items if not item.prompt]
        found.add(row, observe(rollout, made))
        compared = compare_rollout(rollout)
        habits.add(rollout, compared)
        differences[row] = [shortened(difference) for difference in compared]
        if (answer := answer_in(row, rollout)) is not None:
            answered.append(answer)
        if rollout.expected is not None and rollout.expected.calls is not None:
            expected[row] = [call.name for call in rollout.expected.calls]
        if rollout.task not in features:
            features[rollout.task] = task_features(rollout, Conventions())
        if any(item.kind == "tool_call" for item in made):
            called.add(row)
        if made:
            acts.add(row)
        if any(item.kind == "environment" for item in made):
            talks.add(row)
    found.join(observe_fields(run.table))
    conventions = habits.conventions()
    kept = {row: [one for one in listed if conventions.counts(one)] for row, listed in differences.items()}
    for row, mattering in kept.items():
        telling = [one for one in reversed(mattering) if one.key != VERDICT_ITSELF]
        found.add(row, {as_observation(one): -1 if one.item is None else one.item for one in telling})
    changes = {row: [tool for tool in tools if tool not in conventions.reading] for row, tools in expected.items()}
    for row, tools in changes.items():
        task = run.table.tasks[int(run.table.task[row])]
        features[task] |= {"expected changes": float(len(tools)), "the tools expected": frozenset(tools)}
    return Noted(
        observations=found,
        differences=kept,
        answers=answered,
        talks=frozenset(talks),
        acts=frozenset(acts),
        idle=frozenset(row for row, tools in changes.items() if tools and row not in called),
        features=features,
        conventions=conventions,
    )


def shortened(difference: Difference) -> Difference:
    """The difference with its values as they are when a sentence may repeat them, else with what tells them apart."""
    return msgspec.structs.replace(
        difference, expected=told_apart(difference.expected), given=told_apart(difference.given)
    )


def told_apart(value: str | None) -> str | None:
    """A short text as it is, a long one by its hash."""
    if value is None or len(value) <= KEPT_VALUE:
        return value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def as_observation(difference: Difference) -> Observation:
    if difference.kind == "test_failed":
        return Observation("test", difference.subject, "failed")
    return Observation("difference", difference.key, in_words(difference))


def answer_in(row: int, rollout: Rollout) -> Answered | None:
    """What a rollout answered; `None` where it gave no answer. Of a long one only as much as tells it from others."""
    given = answer_of(rollout)
    if not given or not given.strip():
        return None
    plain = told_apart(normalize(given)) or ""
    return Answered(row, given[:KEPT_ANSWER], plain, expected_of(rollout))


def observe(rollout: Rollout, made: Sequence[Item]) -> dict[Observation, int]:
    """What is seen in one rollout: each observation with the first item it was made at, -1 for none."""
    seen: dict[Observation, int] = {}
    for observation, item in (
        *endings(rollout),
        *checks(rollout),
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
    """Every named status in lists of the row."""
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
