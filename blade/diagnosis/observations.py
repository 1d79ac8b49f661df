"""What is noted about one rollout while it is read: a set of observations, each with the item where it was made.

An observation is a kind, a subject and words that are the run's own: a typed ending, what a tool said with its
particulars masked, a check that failed, a call, the form of the answer. None of them is a verdict: whether one goes
with failing is asked later, of all rollouts at once. Observing one row needs no other and no table, so that rows can
be observed wherever they are read.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from blade.diagnosis.analysis import ObservationKind
from blade.diagnosis.answers import EXPECTED_FIELDS, GIVEN_FIELDS, answer_of, expected_of, form_of, normalize
from blade.diagnosis.arguments import invalid_call
from blade.diagnosis.differences import Conventions, Difference, Habit, compare_rollout, habit_of
from blade.diagnosis.predictors import Value, task_features
from blade.diagnosis.templates import LONGEST, last_line, masked, opens_as_error, template_of
from blade.rollouts import Item, Rollout
from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.conform import BadRow
from blade.rollouts.endings import split_thinking
from blade.rollouts.formats import Format, gym
from blade.rollouts.meaning import meaning_of
from blade.rollouts.observing import Sighting, register
from blade.rollouts.trajectory import read_row
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
READ = frozenset({
    "ending", "schema_str", *EXPECTED_FIELDS, *GIVEN_FIELDS, *gym.EXPECTED_FIELDS, *gym.ANSWER_FIELDS,
    *gym.STATUS_FIELDS,
})  # fmt: skip
"""Fields of a single value that more is made of than a column."""
NAMES = ("name", "id", "test", "check", "criterion", "nodeid", "key")
STATUSES = ("status", "passed", "success", "outcome", "result", "met", "ok", "correct", "action_match", "satisfied")
PASSED_LISTS, FAILED_LISTS = ("success", "passed", "pass"), ("failure", "failed", "fail")
"""Keys of an object that lists the names of its tests by how they ended, as SWE-bench's reports do."""


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


@register
def observe_row(data: bytes, form: Format) -> Sighting:
    """Everything a diagnosis needs of one row; a row that cannot be decoded whole has nothing to tell."""
    try:
        record, items = read_row(data, form)
    except BadRow:
        record, items = {}, []
    if form.output is None and all(map(is_told_by_table, record.items())):
        return NOTHING_SEEN
    return sighting_of(record, items, form)


def is_told_by_table(field: tuple[str, Any]) -> bool:
    """Whether a field is one of those that the columns hold, and no answer, expectation or ending."""
    name, value = field
    return (
        name not in READ and not isinstance(value, list | dict) and (type(value) is not str or len(value) <= MAX_TEXT)
    )


def sighting_of(record: dict[str, Any], items: list[Item], form: Format) -> Sighting:
    """What is noted about a row that was decoded."""
    meaning = meaning_of(record, form)
    rollout = Rollout(
        task="",
        repeat=0,
        success=False,
        ending=meaning.ending or stated_ending(record),
        answer=meaning.answer,
        expected=meaning.expected,
        tests=meaning.tests,
        fields=meaning.fields,
        tools=meaning.tools,
        items=items,
    )
    made = [item for item in rollout.items if not item.prompt]
    differences = compare_rollout(rollout)
    note = Note(
        differences=[shortened(difference) for difference in differences],
        habit=habit_of(rollout, differences),
        answer=answer_in(rollout),
        ending=meaning.ending,
        message=template_of(rollout.ending.message or meaning.message or ""),
        talks=any(item.kind == "environment" for item in made),
        acts=bool(made),
        called=any(item.kind == "tool_call" for item in made),
        features=task_features(rollout, Conventions()),
    )
    return Sighting(seen=observe(rollout, made), note=msgspec.msgpack.encode(note))


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


def observe(rollout: Rollout, made: Sequence[Item]) -> dict[Observation, int]:
    """What is seen in one rollout: each observation with the first item it was made at, -1 for none."""
    seen: dict[Observation, int] = {}
    for observation, item in (
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


def checks(rollout: Rollout) -> Seen:
    """Every named status in lists of the row."""
    for path, name, how in named_statuses(rollout.fields):
        yield Observation("check", f"{path}: {name}"[:LONGEST], how), -1


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


def results(made: Sequence[Item]) -> Seen:
    """What tools said: errors, and whatever is short enough to be a message."""
    names = {item.call_id: item.name for item in made if item.kind == "tool_call" and item.call_id}
    latest = ""
    for item in made:
        if item.kind == "tool_call":
            latest = item.name or ""
        elif item.kind == "tool_result" and item.text.strip():
            tool = item.name or names.get(item.call_id or "") or latest
            if said := said_as_error(item):
                yield Observation("tool_error", tool, said), item.position
                yield Observation("tool_error", "", said), item.position
            elif len(item.text) <= SHORT_RESULT and item.text.lstrip()[:1] not in ("{", "["):
                yield Observation("tool_says", tool, template_of(item.text)), item.position


def said_as_error(result: Item) -> str:
    """What a tool's result says where it is an error, particulars masked; empty where it is an answer."""
    if result.error is None and not opens_as_error(result.text):
        return ""
    return template_of(result.text) or masked(result.error or "") or "error"


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
        if last.kind == "tool_result" and len(last.text) <= SHORT_RESULT:
            yield Observation("last_turn", "tool", template_of(last.text)), last.position
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


NOTHING_SEEN = sighting_of({}, [], Format(name="records"))
