"""What is noted about one rollout while it is read: a set of observations, each with the item where it was made.

An observation is a kind, a subject and words that are the run's own: a typed ending, what a tool said with its
particulars masked, a check that failed, a call, the form of the answer. None of them is a verdict: whether one goes
with failing is asked later, of all rollouts at once. Observing one row needs no other and no table, so that rows can
be observed wherever they are read.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import ObservationKind
from blade.diagnosis.answers import (
    EXPECTED_FIELDS,
    GIVEN_FIELDS,
    answer_of,
    expected_of,
    first_stated,
    form_of,
    normalize,
)
from blade.diagnosis.arguments import Call, Offered, offered
from blade.diagnosis.differences import Difference, Habit, compare_rollout, habit_of
from blade.diagnosis.predictors import Turn, Value, task_features
from blade.diagnosis.templates import LONGEST, last_line, masked, opens_as_error, template_of
from blade.rollouts import Item, Rollout
from blade.rollouts.batch import Batch, batch_of
from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.conform import BadRow
from blade.rollouts.endings import without_thinking
from blade.rollouts.features import id_of
from blade.rollouts.formats import Format
from blade.rollouts.meaning import Meaning, fields_read, meaning_of
from blade.rollouts.observing import Rows, Sightings, SightingsBuilder, register
from blade.rollouts.steps import (
    CALL,
    ENVIRONMENT,
    KINDS,
    MESSAGE,
    REASONING,
    RESULT,
    Trajectory,
    is_longer,
    name_of,
    payload_of,
    text_of,
    texts_of,
)
from blade.rollouts.trajectory import batch_among_agents, error_in, read_parts, typed_item
from blade.rollouts.values import Ending

SHORT_RESULT = 200
"""A tool's longer answers are data; what it says in fewer characters is a message."""
LOOP = 3
"""Identical calls that make a loop: a second try is common sense, a third is not."""
KEPT_ANSWER = 400
KEPT_VALUE = 60
"""Characters of a value that a sentence may repeat."""
MOST_NAMED = 200
DEEPEST = 4
NAMES = ("name", "id", "test", "check", "criterion", "nodeid", "key")
STATUSES = ("status", "passed", "success", "outcome", "result", "met", "ok", "correct", "action_match", "satisfied")
PASSED_LISTS, FAILED_LISTS = ("success", "passed", "pass"), ("failure", "failed", "fail")
"""Keys of an object that lists the names of its tests by how they ended, as SWE-bench's reports do."""
READ = frozenset({*EXPECTED_FIELDS, *GIVEN_FIELDS, *PASSED_LISTS, *FAILED_LISTS})
"""Fields that are looked at whatever they hold, besides those that have a meaning for their format."""


class Observation(NamedTuple):
    """Something seen in rollouts."""

    kind: ObservationKind
    subject: str
    """The tool, field or test it is about; empty when it is about none."""
    said: str
    """What was seen, particulars masked."""


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What a rollout answered; of a long one only as much as tells it from others."""

    given: str
    """How the answer begins."""
    plain: str
    """The answer without harmless differences, or a hash of that."""
    expected: str | None
    """What the task expects."""


class Note(msgspec.Struct, frozen=True, array_like=True):
    """What is noted about one rollout besides its observations."""

    differences: list[Difference]
    """How it differs from what its task lists, the answer as if it had been judged wrong."""
    habit: Habit
    """How it treats tools."""
    answer: Answer | None
    """What it answered."""
    ending: Ending | None
    """How it ended, where the row itself says so."""
    message: str
    """What the ending says, particulars masked."""
    talks: bool
    """Whether somebody else than the agent and its tools speaks after the prompt: a simulated user."""
    acts: bool
    """Whether anything is in its trajectory after the prompt."""
    called: bool
    """Whether it calls a tool."""
    features: dict[str, Value]
    """What it tells about its task before it is tried."""


NOTE: msgspec.msgpack.Decoder[Note] = msgspec.msgpack.Decoder(Note)
ENCODER = msgspec.msgpack.Encoder()
HABITS = [Habit(None, [], [], met_error) for met_error in (False, True)]
"""How a rollout treats tools of whose task no calls are listed."""
SILENT = Meaning()
NOTHING_SEEN = ENCODER.encode(
    Note(
        differences=[], habit=HABITS[False], answer=None, ending=None, message="", talks=False, acts=False,
        called=False, features={},
    )
)  # fmt: skip
ERROR = attrgetter("error")


@register
def observe_rows(rows: Rows) -> Sightings:
    """Everything a diagnosis needs of some rows."""
    records, batch = rows.told(READ | fields_read(rows.form)), batch_among_agents(rows.batch)
    found = SightingsBuilder()
    if not batch.steps and not batch.asked and not any(records):
        return found.finish([NOTHING_SEEN] * len(records))
    meanings = [meaning_of(record, rows.form) if record else SILENT for record in records]
    failed = observe_results(batch, rows.form, found)
    observe_calls(batch, meanings, found)
    observe_answers(batch, meanings, found)
    for row, meaning in enumerate(meanings):
        if any(isinstance(value, list | dict) or is_long(value) for value in meaning.fields.values()):
            observe_fields(meaning.fields, row, found)
    notes = Notes(rows.form, batch, failed)
    return found.finish([notes.of(row, *said) for row, said in enumerate(zip(records, meanings, strict=True))])


def observe_data(data: Sequence[bytes], form: Format) -> Sightings:
    """Everything a diagnosis needs of rows that are read for nothing else."""
    records, prompts, outputs = zip(*(parts_of(one, form) for one in data), strict=True)
    return observe_rows(Rows(form, batch_of(prompts, outputs), lambda _names: records))


def parts_of(data: bytes, form: Format) -> tuple[dict[str, Any], Trajectory, Trajectory]:
    """What a row says besides its trajectory, its prompt and its output; nothing of a row that cannot be decoded."""
    try:
        return read_parts(data, form)
    except BadRow:
        return {}, None, None


class Notes:
    """Makes the notes of some rows."""

    def __init__(self, form: Format, batch: Batch, failed: Collection[int]) -> None:
        self.form, self.batch, self.failed = form, batch, failed
        pairs = list(zip(batch.asked, batch.asked_kinds, strict=True))
        texts = texts_of([payload_of(step, kind) for step, kind in pairs])
        roles = [None if kind in (CALL, RESULT) else step.role for step, kind in pairs]
        self.asked = list(map(Turn, roles, texts))
        self.talks, self.called = (set(batch.row[batch.kinds == kind].tolist()) for kind in (ENVIRONMENT, CALL))
        self.spoken = batch.last(batch.messages.at, batch.messages.at).tolist()

    def of(self, row: int, record: Mapping[str, Any], meaning: Meaning) -> bytes:
        """The note of a row."""
        ending = meaning.ending or (stated_ending(record) if "ending" in record else Ending())
        rollout = Rollout(
            task="",
            repeat=0,
            success=False,
            ending=ending,
            answer=meaning.answer,
            expected=meaning.expected,
            tests=meaning.tests,
            fields=meaning.fields,
            items=self._items(row, meaning),
        )
        compared = meaning.expected is not None or meaning.tests
        differences = compare_rollout(rollout) if compared else []
        listed = meaning.expected is not None and meaning.expected.calls is not None
        message = ending.message or meaning.message
        note = Note(
            differences=[shortened(difference) for difference in differences],
            habit=habit_of(rollout, differences) if listed else HABITS[row in self.failed],
            answer=answer_in(rollout),
            ending=meaning.ending,
            message=template_of(message) if message else "",
            talks=row in self.talks,
            acts=bool(self.batch.sizes[row]),
            called=row in self.called,
            features=task_features(meaning.expected, self.asked[self.batch.asked_by(row)], len(meaning.tools)),
        )
        return ENCODER.encode(note)

    def _items(self, row: int, meaning: Meaning) -> list[Item]:
        """Those items of a row that anything is compared with: all, what the agent said and did, or its last words."""
        expected = meaning.expected
        if expected is not None and (expected.calls is not None or expected.outputs):
            return self._typed(row, range(len(KINDS)), prompt=True)
        if meaning.answer is None and first_stated(meaning.fields, GIVEN_FIELDS) is None:
            return self._typed(row, (MESSAGE, CALL), prompt=False)
        said = self.batch.last_said[row]
        if said is None:
            return []
        if not said.strip():
            return self._typed(row, (MESSAGE,), prompt=False)
        return [Item(position=int(self.batch.position[self.spoken[row]]), kind="message", text=said)]

    def _typed(self, row: int, kinds: Collection[int], *, prompt: bool) -> list[Item]:
        """The items of some kinds."""
        batch, names = self.batch, dict[str, str | None]()
        asked, made, first = batch.asked_by(row), batch.span(row), int(batch.before[row])
        before = zip(batch.asked[asked], batch.asked_kinds[asked], range(first), strict=True) if prompt else ()
        after = zip(batch.steps[made], batch.kinds[made].tolist(), count(first), strict=False)
        return [
            typed_item(step, kind, position, self.form, names=names, prompt=position < first)
            for step, kind, position in (*before, *after)
            if kind in kinds
        ]


def stated_ending(record: Mapping[str, Any]) -> Ending:
    """The ending that a row of our own form states; the usual one where it states none that can be read."""
    try:
        return msgspec.convert(record["ending"], Ending)
    except (KeyError, msgspec.ValidationError):
        return Ending()


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


def answer_in(rollout: Rollout) -> Answer | None:
    """What a rollout answered; `None` where it gave no answer."""
    given = answer_of(rollout)
    if not given or not given.strip():
        return None
    return Answer(given[:KEPT_ANSWER], told_apart(normalize(given)) or "", expected_of(rollout))


def named_statuses(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """Path, name and status of what lists give both for, and of names in a list of failures beside one of passes."""
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for how in FAILED_LISTS if any(isinstance(value.get(key), list) for key in PASSED_LISTS) else ():
            names = value.get(how)
            for one in names[:MOST_NAMED] if isinstance(names, list) else []:
                if isinstance(one, str):
                    yield path, one[:LONGEST], how
        for key, inner in value.items():
            yield from named_statuses(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list) and 0 < len(value) <= MOST_NAMED and isinstance(value[0], dict):
        name = next((key for key in NAMES if isinstance(value[0].get(key), str)), None)
        status = next((key for key in STATUSES if isinstance(value[0].get(key), str | bool)), None)
        for element in value if name and status else []:
            if isinstance(element, dict) and name in element and isinstance(element.get(status), str | bool):
                yield path, str(element[name])[:LONGEST], str(element[status]).lower()[:40]


def observe_results(batch: Batch, form: Format, found: SightingsBuilder) -> set[int]:
    """What tools said: errors, and whatever is short enough to be a message. Returns the rows that met an error."""
    failed = rows_with_errors(batch, form)
    results = batch.results
    chosen = worth_reading(batch)
    texts = texts_of([results.payloads[at] for at in chosen])
    for at, text in zip(chosen, texts, strict=True):
        index = int(results.at[at])
        error = error_in(results.steps[at], RESULT, text, form)
        if error is not None:
            failed.add(int(batch.row[index]))
        if not text.strip():
            continue
        error_said = said_as_error(text, error)
        if said := error_said or (template_of(text) if is_message(text) else ""):
            row, position = int(batch.row[index]), int(batch.position[index])
            found.add(
                Observation("tool_error" if error_said else "tool_says", tool_of(batch, index), said), row, position
            )
            if error_said:
                found.add(Observation("tool_error", "", said), row, position)
    return failed


def said_as_error(text: str, error: str | None) -> str:
    """What a tool's result says where it is an error, particulars masked; empty where it is an answer."""
    if error is None and not opens_as_error(text):
        return ""
    return template_of(text) or masked(error or "") or "error"


def worth_reading(batch: Batch) -> list[int]:
    """Which results may be errors or messages; most are neither, which is told without decoding them."""
    openings, steps = batch.openings, batch.results.steps
    unclear = openings.may_be_errors | ~openings.are_longer(SHORT_RESULT)
    if any(map(ERROR, steps)):
        unclear |= np.fromiter((bool(step.error) for step in steps), dtype=np.bool_, count=len(steps))
    return np.flatnonzero(unclear).tolist()


def is_message(text: str) -> bool:
    """Whether a tool's answer is short enough to be a message, and not data."""
    return len(text) <= SHORT_RESULT and text.lstrip()[:1] not in ("{", "[")


def rows_with_errors(batch: Batch, form: Format) -> set[int]:
    """Rows with an error that a step states, or that stands in the prompt."""
    stated = [at for at, step in enumerate(batch.steps) if step.error] if any(map(ERROR, batch.steps)) else []
    found = {int(batch.row[at]) for at in stated if text_of(batch.steps[at].error)}
    for at, (step, kind) in enumerate(zip(batch.asked, batch.asked_kinds, strict=True)):
        if (kind == RESULT or step.error) and error_in(step, kind, text_of(payload_of(step, kind)), form) is not None:
            found.add(int(np.searchsorted(batch.asked_ends, at, side="right")))
    return found


def called_name(batch: Batch, index: int) -> str | None:
    """The tool that a result names, or that the latest call with its id names."""
    step, row = batch.steps[index], int(batch.row[index])
    key = id_of(step)
    if step.name or key is None:
        return step.name
    before = (batch.steps[at] for at in range(index - 1, batch.span(row).start - 1, -1) if batch.kinds[at] == CALL)
    asked = batch.asked_by(row)
    given = zip(reversed(batch.asked[asked]), reversed(batch.asked_kinds[asked]), strict=True)
    calls = chain(before, (call for call, kind in given if kind == CALL))
    return next((call.name for call in calls if id_of(call) == key), None)


def tool_of(batch: Batch, index: int) -> str:
    """The tool of a result: by its name, by its call's id, or by the call before it."""
    if name := called_name(batch, index):
        return name
    span, key = batch.span(int(batch.row[index])), id_of(batch.steps[index])
    calls = [at for at in range(span.start, span.stop) if batch.kinds[at] == CALL]
    same = [at for at in calls if key is not None and id_of(batch.steps[at]) == key]
    latest = [at for at in calls if at < index]
    names = (name_of(batch.steps[found[-1]], CALL) for found in (same, latest) if found)
    return next(filter(None, names), "")


def observe_calls(batch: Batch, meanings: Sequence[Meaning], found: SightingsBuilder) -> None:
    """Which tools were called, a call that was repeated, and one that its schema does not allow."""
    calls = batch.calls
    rows, positions = batch.row[calls.at], batch.position[calls.at]
    names = [name_of(step, CALL) or "?" for step in calls.steps]
    found.add_all({name: Observation("call", name, "called") for name in dict.fromkeys(names)}, names, rows, positions)
    times: Counter[tuple[int, str, bytes]] = Counter()
    for at in batch.calls_made_again.tolist():
        call = int(rows[at]), names[at], bytes(calls.payloads[at])
        times[call] += 1
        if times[call] == LOOP:
            found.add(Observation("repeated_call", names[at], f"{LOOP} or more times"), call[0], int(positions[at]))
    observe_offers(batch, meanings, names, found)


def observe_offers(batch: Batch, meanings: Sequence[Meaning], names: Sequence[str], found: SightingsBuilder) -> None:
    """Rows in which no tool was called although tools were offered, and calls that the offer does not allow."""
    ends = np.searchsorted(batch.row[batch.calls.at], np.arange(batch.rows), side="right").tolist()
    positions, texts = batch.position[batch.calls.at].tolist(), texts_of(batch.calls.payloads)
    known: dict[int, tuple[Any, Offered]] = {}
    start = 0
    for row, (meaning, end) in enumerate(zip(meanings, ends, strict=True)):
        made, start, tools = range(start, end), end, meaning.tools
        if not tools:
            continue
        if not made:
            found.add(Observation("no_call", "", "no tool is called"), row)
            continue
        if id(tools) not in known:
            known[id(tools)] = tools, offered(msgspec.json.encode(tools))
        calls = [Call(names[at], texts[at], positions[at]) for at in made if names[at] != "?"]
        wrong = known[id(tools)][1].invalid_call(calls)
        if wrong is not None:
            name = next(call.tool for call in calls if call.position == wrong)
            found.add(Observation("invalid_call", name, "not allowed by its schema"), row, wrong)


def observe_answers(batch: Batch, meanings: Sequence[Meaning], found: SightingsBuilder) -> None:
    """The form of what was said last, its words when they are few, and the last turn of a simulated user."""
    acts = np.flatnonzero(batch.kinds != REASONING)
    last = batch.last(acts, acts).tolist()
    spoken = batch.last(batch.messages.at, batch.messages.at).tolist()
    position, kinds = batch.position.tolist(), batch.kinds.tolist()
    for row, (meaning, said) in enumerate(zip(meanings, batch.last_said, strict=True)):
        if (index := last[row]) < 0:
            continue
        text = without_thinking(said) if said else ""
        at = position[index] if spoken[row] < 0 else position[spoken[row]]
        found.add(Observation("answer_form", "", form_of(meaning.answer or text)), row, at)
        if 0 < len(text) <= SHORT_RESULT:
            add_said(Observation("answer", "", template_of(text)), row, at, found)
        if kinds[index] != MESSAGE:
            observe_last_turn(batch, row, index, found)


def observe_last_turn(batch: Batch, row: int, index: int, found: SightingsBuilder) -> None:
    """What a rollout ends on that does not end with the agent's words."""
    step, kind, position = batch.steps[index], int(batch.kinds[index]), int(batch.position[index])
    if kind != CALL and not is_longer(payload := payload_of(step, kind), SHORT_RESULT):
        text, who = text_of(payload), "tool" if kind == RESULT else step.role or ""
        if len(text) <= SHORT_RESULT:
            add_said(Observation("last_turn", who, template_of(text)), row, position, found)
    if kind != ENVIRONMENT:
        name = name_of(step, CALL) if kind == CALL else called_name(batch, index)
        found.add(Observation("ends_on", name or "", KINDS[kind].replace("_", " ")), row, position)


def add_said(observation: Observation, row: int, item: int, found: SightingsBuilder) -> None:
    """Adds an observation unless it says nothing."""
    if observation.said:
        found.add(observation, row, item)


def observe_fields(fields: Mapping[str, Any], row: int, found: SightingsBuilder) -> None:
    """Every named status in lists of a row, and how its long texts begin and end; their order is chance."""
    named = (Observation("check", f"{path}: {name}"[:LONGEST], how) for path, name, how in named_statuses(fields))
    for observation in sorted({*named, *texts(fields)}):
        add_said(observation, row, -1, found)


def texts(fields: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[Observation]:
    """The first and the last line of texts that are too long for the table: logs, verifiers' output."""
    for key, value in fields.items():
        name = f"{path}.{key}" if path else key
        if is_long(value):
            yield Observation("field_text", name, template_of(value))
            yield Observation("field_text", name, masked(last_line(value)))
        elif isinstance(value, dict) and depth < DEEPEST:
            yield from texts(value, name, depth + 1)


def is_long(value: Any) -> bool:
    """Whether a value is a text too long for the table."""
    return isinstance(value, str) and len(value) > MAX_TEXT


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
        case "field" if subject.endswith("[]"):
            return f"`{subject.removesuffix('[]')}` contains {said or 'an empty text'}"
        case "check":
            path, _, name = subject.partition(": ")
            return f"`{name}` in `{path}` is {said or 'empty'}"
        case "field":
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
