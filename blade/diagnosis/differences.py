"""Expected against made: what a task lists and what a rollout did instead.

Every difference has a short key that is the same wherever the same thing goes wrong, so that it can be counted over a
run. Calls are compared tool by tool in any order. Whether a tool changes anything is told by the run itself: what
passing rollouts call without being asked, or leave out without harm, only reads; an argument that passing rollouts
fill as they like is free.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from blade.diagnosis.answers import GIVEN_FIELDS, concludes, is_any_of, solution_of, unfenced
from blade.rollouts import Item, Rollout
from blade.rollouts.features import split_thinking
from blade.rollouts.formats.calls import call_arguments
from blade.rollouts.values import ExpectedCall

if TYPE_CHECKING:
    import jsonschema

Kind = Literal[
    "call_missing", "call_refused", "call_extra", "argument", "output_missing", "answer", "test_failed", "schema"
]

CALLS = frozenset({"call_missing", "call_refused", "call_extra", "argument"})
"""Differences that are about calls of tools."""
LONGEST = 2000
"""Characters of a value that are kept."""
MOST_VIOLATIONS = 20
NOTHING_EXTRACTED = "no_answer_extracted"
"""How readers name the ending of a rollout whose verifier found no answer in the text."""
OFTEN = 0.2
"""Share of passing rollouts above which leaving the expected path is not a difference. Tools that change something
leave it in 0 to 16 % of the passing rollouts of tau-bench's airline and retail runs, tools that read in 28 to 100 %."""

ENDS, FEWEST_ENDS = 0.9, 3
"""Share of the rollouts with a call of a tool that must end on it, and how many, for it to be one that ends them."""
RARELY = 0.05
"""Share of passing rollouts up to which errors are not usual."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was expected and not done, done and not expected, or done otherwise."""

    key: str
    """Short name, the same for the same difference in other rollouts: `call_missing:cancel_reservation`."""
    kind: Kind
    """What differs."""
    expected: str | None = None
    """What the task lists; `None` when it lists nothing of the kind."""
    given: str | None = None
    """What was done; `None` when nothing was."""
    item: int | None = None
    """Position of the item that shows it; `None` for what is nowhere."""
    own: str | None = None
    """Why it is the agent's own doing although a simulated user had a say; `None` where nothing shows that."""
    closer: str | None = None
    """Of a missing call: the tool whose call is the rollout's end, and that the task does not expect."""

    @property
    def subject(self) -> str:
        """The tool, argument, test or place that the key names."""
        return self.key.partition(":")[2]


class Conventions(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's passing rollouts tell about its tools."""

    reading: frozenset[str] = frozenset()
    """Tools that change nothing, or nothing that counts."""
    listed: frozenset[str] = frozenset()
    """Tools that some task expects."""
    free: frozenset[str] = frozenset()
    """Arguments that may hold anything, as `tool.argument`."""
    errors_usual: bool = False
    """Whether passing rollouts meet errors as well, so that an error alone says nothing."""
    closing: frozenset[str] = frozenset()
    """Tools whose call ends a rollout, nearly whenever it is made."""

    def counts(self, difference: Difference) -> bool:
        """Whether a difference matters, as far as the run tells."""
        tool = difference.subject
        if difference.kind == "argument":
            return tool not in self.free and tool.partition(".")[0] not in self.reading
        if difference.kind == "call_extra":
            return tool in self.listed and tool not in self.reading
        return difference.kind not in ("call_missing", "call_refused") or tool not in self.reading

    def settled(self, difference: Difference) -> Difference:
        """The difference with whose doing it is; a rollout that breaks off at any tool was not ended by the agent."""
        if difference.closer is None or difference.closer not in self.closing:
            return difference
        return msgspec.structs.replace(
            difference, own=f"the agent ended the conversation with `{difference.closer}` instead"
        )

    def breaks_off(self, habit: "Habit") -> bool:
        """Whether a rollout stops at a tool that is not one to stop at."""
        return bool(self.closing) and bool(habit.closed) and habit.closed not in self.closing


class Habit(msgspec.Struct, frozen=True, array_like=True):
    """How one rollout treats tools."""

    listed: list[str] | None
    """Tools that its task expects, a name per call; `None` when the row lists no calls."""
    seen: list[str]
    """Tools, and their arguments as `tool.argument`, that it could have treated otherwise."""
    strayed: list[str]
    """Those that it did treat otherwise."""
    met_error: bool
    """Whether a tool answered with an error."""
    closed: str = ""
    """Tool that its last item is a call or a result of; empty when it ends with words."""
    called: list[str] = []
    """Tools that it called, each once."""


def habit_of(rollout: Rollout, differences: Iterable[Difference]) -> Habit:
    """How a rollout treats tools, with everything in which it differs from what is expected."""
    met_error = any(item.error is not None for item in rollout.items)
    calls = rollout.expected.calls if rollout.expected else None
    if calls is None:
        return Habit(None, [], [], met_error)
    names = [item.name for item in rollout.items if item.kind == "tool_call" and not item.prompt and item.name]
    ends = bool(rollout.items) and rollout.items[-1].kind in ("tool_call", "tool_result")
    made = {item.name for item in made_calls(rollout.items) if item.name}
    arguments = {f"{call.name}.{name}" for call in calls if call.name in made for name in call.arguments}
    strayed = {d.subject for d in differences if d.kind in CALLS}
    seen = {call.name for call in calls} | made | arguments
    closed = names[-1] if ends and names else ""
    return Habit([call.name for call in calls], sorted(seen), sorted(strayed), met_error, closed, sorted(set(names)))


class CallHabits:
    """Counts how passing rollouts treat each tool."""

    def __init__(self) -> None:
        self.listed: set[str] = set()
        self.seen: Counter[str] = Counter()
        self.strayed: Counter[frozenset[str]] = Counter()
        self.passed = self.passed_with_error = 0
        self.called: Counter[str] = Counter()
        self.closed: Counter[str] = Counter()

    def add(self, rollout: Rollout, differences: Iterable[Difference]) -> None:
        """Takes in a rollout with everything in which it differs."""
        self.count(habit_of(rollout, differences), passed=int(bool(rollout.success)), rollouts=1)

    def count(self, habit: Habit, *, passed: int, rollouts: int) -> None:
        """Takes in rollouts that all treat tools in one way, and how many of them passed."""
        self.called.update(dict.fromkeys(habit.called, rollouts))
        self.closed[habit.closed] += rollouts
        self.passed += passed
        self.passed_with_error += passed * habit.met_error
        if habit.listed is not None:
            self.listed.update(habit.listed)
        if habit.listed is not None and passed:
            self.seen.update(dict.fromkeys(habit.seen, passed))
            self.strayed[frozenset(habit.strayed)] += passed

    def conventions(self) -> Conventions:
        """What they tell so far. A tool that strays in nothing but free arguments may well change something."""
        arguments, tools = Counter[str](), Counter[str]()
        for strayed, rollouts in self.strayed.items():
            arguments.update({name: rollouts for name in strayed if "." in name})
        free = self._too_often(arguments)
        for strayed, rollouts in self.strayed.items():
            tools.update(dict.fromkeys({name.partition(".")[0] for name in strayed - free}, rollouts))
        usual = self.passed_with_error > RARELY * self.passed
        return Conventions(
            reading=self._too_often(tools),
            listed=frozenset(self.listed),
            free=free,
            errors_usual=usual,
            closing=frozenset(t for t, n in self.called.items() if self.closed[t] >= max(FEWEST_ENDS, ENDS * n)),
        )

    def _too_often(self, counts: Counter[str]) -> frozenset[str]:
        return frozenset(name for name, count in counts.items() if count > OFTEN * max(self.seen[name], 1))


def conventions_of(rollouts: Iterable[Rollout]) -> Conventions:
    """What the rollouts of a run tell about its tools."""
    habits = CallHabits()
    for rollout in rollouts:
        habits.add(rollout, compare_calls(rollout))
    return habits.conventions()


def compare_rollout(rollout: Rollout) -> list[Difference]:
    """Everything in which a rollout differs from what its task lists, whether or not it matters."""
    return [
        *compare_calls(rollout),
        *compare_outputs(rollout),
        *compare_answer(rollout),
        *compare_schema(rollout),
        *compare_tests(rollout),
    ]


def differences_of(rollout: Rollout, conventions: Conventions) -> list[Difference]:
    """The differences that matter, by the conventions of the run."""
    return [conventions.settled(one) for one in compare_rollout(rollout) if conventions.counts(one)]


def compare_calls(rollout: Rollout) -> list[Difference]:
    """Calls missing, made though not expected, and made with other arguments; empty when the row lists no calls."""
    calls = rollout.expected.calls if rollout.expected else None
    if calls is None:
        return []
    refused = refused_calls(rollout.items)
    made = [item for item in rollout.items if item.kind == "tool_call" and not item.prompt]
    found: list[Difference] = []
    for name in sorted({call.name for call in calls} | {item.name for item in made if item.name}):
        theirs = [item for item in made if item.name == name]
        mine = list(compare_tool(name, [call for call in calls if call.name == name], theirs, refused))
        own, closer = whose_doing(name, {one.kind for one in mine}, rollout)
        found += [msgspec.structs.replace(one, own=own, closer=closer) for one in mine]
    return sorted(found, key=lambda difference: (difference.item is None, difference.item or 0))


def whose_doing(tool: str, kinds: set[Kind], rollout: Rollout) -> tuple[str | None, str | None]:
    """Why the differences of a tool are the agent's own doing, whatever a simulated user said, and what it ended with.

    Either all expected calls are made and a user who was told to ask for more got it, or a call is missing and the
    last thing that happened is a call that the task does not expect.
    """
    script = rollout.expected.script if rollout.expected else None
    if script is None:
        return None, None
    if kinds == {"call_extra"} and is_asked_for(tool, script) and not is_made_up(tool, script, rollout):
        return "the user was told to ask for it and the task expects a refusal", None
    last = rollout.items[-1] if rollout.items else None
    if kinds == {"call_missing"} and last is not None and last.kind in ("tool_call", "tool_result"):
        calls = [item.name for item in rollout.items if item.kind == "tool_call" and not item.prompt]
        listed = rollout.expected.calls if rollout.expected and rollout.expected.calls else []
        if calls and calls[-1] not in {call.name for call in listed}:
            return None, calls[-1]
    return None, None


def is_asked_for(tool: str, script: str) -> bool:
    """Whether the verb that a tool is named by stands in what a simulated user was told to ask for."""
    verb = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", tool.strip("_"))[0].casefold()
    return len(verb) > 2 and re.search(rf"\b{re.escape(verb)}", script.casefold()) is not None


def is_made_up(tool: str, script: str, rollout: Rollout) -> bool:
    """Whether the user names a record that a tool was called with, and neither its script nor a listed call does.

    What has a digit in it names a record: a number, an id.
    """
    expected = rollout.expected.calls if rollout.expected and rollout.expected.calls else []
    known = f"{script} {[call.arguments for call in expected]}"
    asked = " ".join(item.text for item in rollout.items if item.kind == "environment" or item.role == "user")
    made = [call_arguments(item.text) for item in made_calls(rollout.items) if item.name == tool]
    names = {value for arguments in made for value in arguments.values() if isinstance(value, str)}
    return any(name in asked and name not in known for name in names if re.search(r"\d", name))


def made_calls(items: Sequence[Item]) -> list[Item]:
    """Calls that their tools did not refuse."""
    refused = refused_calls(items)
    return [item for item in items if item.kind == "tool_call" and not item.prompt and item.position not in refused]


def refused_calls(items: Sequence[Item]) -> set[int]:
    """Positions of calls that were answered with an error; an id that is used again belongs to the latest call."""
    latest: dict[str, int] = {}
    refused: set[int] = set()
    for item in items:
        if item.kind == "tool_call" and item.call_id is not None:
            latest[item.call_id] = item.position
        elif item.kind == "tool_result" and item.error is not None and item.call_id in latest:
            refused.add(latest[item.call_id])
    return refused


def compare_tool(
    tool: str, expected: Sequence[ExpectedCall], called: Sequence[Item], refused: Collection[int]
) -> Iterator[Difference]:
    """The calls of one tool: those alike are set aside, the others are paired by how little they differ.

    A call that its tool refused changed nothing; but what was refused was not left out.
    """
    made = [item for item in called if item.position not in refused]
    given = [call_arguments(item.text) for item in made]
    costs = sorted(
        (len(unlike(call, arguments)), shared(call, arguments) == 0, i, j)
        for i, call in enumerate(expected)
        for j, arguments in enumerate(given)
    )
    left, right = set(range(len(expected))), set(range(len(given)))
    for cost, nothing_shared, i, j in costs:
        alone = len(left) == 1 and len(right) == 1
        if i in left and j in right and (cost == 0 or not nothing_shared or alone):
            left.discard(i)
            right.discard(j)
            for name in unlike(expected[i], given[j]):
                yield argument_difference(expected[i], name, given[j], made[j])
    tried = [item for item in called if item.position in refused]
    for i in sorted(left):
        arguments = value_text(expected[i].arguments)
        alike = [item for item in tried if not unlike(expected[i], call_arguments(item.text))]
        if not tried:
            yield Difference(key=f"call_missing:{tool}", kind="call_missing", expected=arguments)
        else:
            item = tried.pop(tried.index((alike or tried)[0]))
            given_text, at = value_text(call_arguments(item.text)), item.position
            yield Difference(
                key=f"call_refused:{tool}", kind="call_refused", expected=arguments, given=given_text, item=at
            )
    for j in sorted(right):
        at = made[j].position
        yield Difference(key=f"call_extra:{tool}", kind="call_extra", given=value_text(given[j]), item=at)


def argument_difference(call: ExpectedCall, name: str, given: dict[str, Any], item: Item) -> Difference:
    return Difference(
        key=f"argument:{call.name}.{name}",
        kind="argument",
        expected=value_text(call.arguments[name]) if name in call.arguments else None,
        given=value_text(given[name]) if name in given else None,
        item=item.position,
    )


def unlike(call: ExpectedCall, given: dict[str, Any]) -> list[str]:
    """Names of the arguments that differ and count."""
    names = sorted({*call.arguments, *given}) if call.compared is None else call.compared
    return [name for name in names if not is_alike(call.arguments.get(name), given.get(name))]


def shared(call: ExpectedCall, given: dict[str, Any]) -> int:
    """How many arguments are there on both sides and alike."""
    both = [name for name in call.arguments if name in given]
    return sum(is_alike(call.arguments[name], given[name]) for name in both)


def is_alike(one: Any, other: Any) -> bool:
    """Whether two values are equal, or would be in plain words."""
    return bool(one == other) or plain_value(one) == plain_value(other)


def plain_value(value: Any) -> Hashable:
    """A value that is equal to another but for order, outer blanks and ways to say nothing or to write a number."""
    if isinstance(value, dict):
        parts = {str(name): plain_value(part) for name, part in value.items()}
        return "object", frozenset((name, part) for name, part in parts.items() if part is not None) or None
    if isinstance(value, list):
        return ("list", *sorted((plain_value(part) for part in value), key=repr)) if value else None
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bool) or value is None else float(value)


def value_text(value: Any) -> str:
    """A value as JSON, a text as it is, not too long."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def compare_outputs(rollout: Rollout) -> Iterator[Difference]:
    """Texts that the user should have been told and was not; commas in numbers do not matter."""
    outputs = rollout.expected.outputs if rollout.expected else None
    if not outputs:
        return
    said = " ".join(item.text for item in rollout.items if item.kind == "message" and not item.prompt)
    said = said.casefold().replace(",", "")
    for text in outputs:
        if text.casefold().replace(",", "") not in said:
            yield Difference(key="output_missing", kind="output_missing", expected=value_text(text))


def compare_answer(rollout: Rollout) -> Iterator[Difference]:
    """The answer that was judged wrong against the expected ones."""
    answers = rollout.expected.answers if rollout.expected else None
    if not answers or rollout.success is not False:
        return
    answers, given = [solution_of(answer) for answer in answers], rollout.answer
    text, at = final_text(rollout.items)
    if given is not None and is_any_of(given, answers):
        how = "equal"
    elif concludes(text, answers):
        how = "extraction_missed"
    elif given is not None:
        how = "other"
    elif was_looked_for(rollout):
        how = "none"
    else:
        return
    told = None if given is None else value_text(given)
    yield Difference(key=f"answer:{how}", kind="answer", expected=value_text(answers[0]), given=told, item=at)


def was_looked_for(rollout: Rollout) -> bool:
    """Whether a row says that its verifier took an answer from the text, or tried to."""
    tried = any(name in rollout.fields and rollout.fields[name] is None for name in GIVEN_FIELDS)
    return tried or rollout.ending.name == NOTHING_EXTRACTED


def final_text(items: Sequence[Item]) -> tuple[str, int | None]:
    """The last message without its thoughts, and where it stands."""
    messages = [item for item in items if item.kind == "message" and not item.prompt and item.text.strip()]
    return (split_thinking(messages[-1].text)[1], messages[-1].position) if messages else ("", None)


def compare_schema(rollout: Rollout) -> Iterator[Difference]:
    """Where the answer breaks the schema that it should follow."""
    schema = rollout.expected.answer_schema if rollout.expected else None
    text, at = final_text(rollout.items)
    if schema is None or at is None:
        return
    try:
        answer = msgspec.json.decode(unfenced(rollout.answer or text).encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError):
        yield Difference(key="schema:not_json", kind="schema", given=value_text(text), item=at)
        return
    for rule, place, message in violations(answer, schema):
        yield Difference(key=f"schema:{rule}:{place}", kind="schema", expected=rule, given=message, item=at)


def violations(answer: Any, schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The rule, the place with its list positions masked, and what is wrong; none by a schema that is none itself."""
    import jsonschema  # only where a task lists a schema: it takes longer to load than most runs to read

    try:
        errors = list(jsonschema.validators.validator_for(schema)(schema).iter_errors(answer))
    except Exception:  # a stranger's schema: whatever keeps it from being followed, it is none
        return []
    found = sorted((str(e.validator), place, value_text(e.message)) for e in errors for place in broken_places(e))
    return [next(group) for _, group in groupby(found, key=lambda error: error[:2])][:MOST_VIOLATIONS]


def broken_places(error: "jsonschema.ValidationError") -> Iterator[str]:
    """Dotted places a violation is about: properties that are missing or too many by their own names."""
    path = ["*" if isinstance(part, int) else str(part) for part in error.absolute_path]
    names: list[str] = []
    rule = error.validator_value
    if error.validator == "required" and isinstance(error.instance, dict) and isinstance(rule, list):
        names = [str(name) for name in rule if name not in error.instance]
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = error.schema.get("properties") if isinstance(error.schema, dict) else None
        names = [name for name in error.instance if name not in (known or {})]
    yield from [".".join([*path, name]) for name in names] or [".".join(path)]


def compare_tests(rollout: Rollout) -> Iterator[Difference]:
    """Checks of the verifier that did not pass."""
    for name, status in sorted(rollout.tests.items()):
        if status in ("failed", "error"):
            yield Difference(key=f"test_failed:{name}", kind="test_failed", expected="passed", given=status)


def in_words(difference: Difference) -> str:
    """A difference in one clause, without its values."""
    tool, _, argument = difference.subject.partition(".")
    match difference.kind:
        case "call_missing":
            return f"`{difference.subject}` was expected and not called"
        case "call_refused":
            return f"`{difference.subject}` was expected, called and refused"
        case "call_extra":
            return f"`{difference.subject}` was called though not expected"
        case "argument":
            return f"`{tool}` was called with another `{argument}` than expected"
        case "output_missing":
            return "an expected text was not said"
        case "test_failed":
            return f"`{difference.subject}` failed"
        case "schema":
            rule, _, place = difference.subject.partition(":")
            return "the answer is not JSON" if rule == "not_json" else f"the answer breaks `{rule}` at `{place or '$'}`"
    return {
        "answer:equal": "the answer equals the expected one and was marked wrong",
        "answer:extraction_missed": "the text ends with the expected answer and another was taken from it",
        "answer:none": "no answer was found in the text",
    }.get(difference.key, "the answer is not the expected one")
