"""Changes a rollout made with its tools, against the changes its task expects.

Many benchmarks list the calls that solve a task. Calls that only look something up are free; of the others, one with
other arguments than any expected call, or one too many, changed what should have stayed, and an expected one that was
never made left out what should have changed. A call that its tool answered with an error changed nothing.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

import msgspec

from blade.rollouts import Item, Rollout
from blade.rollouts.features import TOOL_ERROR
from blade.rollouts.formats import value_at
from blade.rollouts.phrases import OPENING

EXPECTED_CALLS = ("info.task.actions", "task.evaluation_criteria.actions", "expected_actions")
"""Where benchmarks list the calls that solve a task."""
READING = frozenset(
    {"get", "find", "list", "search", "look", "lookup", "read", "view", "show", "check", "fetch", "query", "describe"}
    | {"count", "calculate", "think"}
)
"""Words in the names of tools that change nothing."""

Value = tuple[str, str]
"""Name of an argument and one of its values."""


class Action(NamedTuple):
    """A call that changes something."""

    name: str
    values: frozenset[Value]
    """Its arguments, each element of a list by itself."""
    at: int
    """Position of the call; -1 of one that is only expected."""


class Swap(NamedTuple):
    """A call that was made in the place of another."""

    made: Action
    expected: Action


class Deviation(NamedTuple):
    """How what was done differs from what was expected."""

    swapped: list[Swap]
    extra: list[Action]
    missing: list[Action]

    def tools(self) -> set[str]:
        """Names of the calls that differ."""
        return {swap.made.name for swap in self.swapped} | {action.name for action in [*self.extra, *self.missing]}

    def without(self, tools: Set[str]) -> "Deviation | None":
        """The deviation but for some tools; `None` when nothing is left."""
        left = Deviation(
            [swap for swap in self.swapped if swap.made.name not in tools],
            [action for action in self.extra if action.name not in tools],
            [action for action in self.missing if action.name not in tools],
        )
        return left if any(left) else None

    def first_made(self) -> int | None:
        """Position of the first call that should not have been made."""
        return min([swap.made.at for swap in self.swapped] + [action.at for action in self.extra], default=None)


def deviation_of(rollout: Rollout) -> Deviation | None:
    """Where a rollout left the expected path; `None` when it did not, or when its row expects no calls."""
    expected = expected_actions(rollout)
    if expected is None:
        return None
    made = made_actions([item for item in rollout.items if not item.prompt])
    extra, missing = unmatched(made, expected), unmatched(expected, made)
    if not extra and not missing:
        return None
    swapped = pair_up(extra, missing)
    taken = [id(action) for swap in swapped for action in swap]
    return Deviation(swapped, [a for a in extra if id(a) not in taken], [a for a in missing if id(a) not in taken])


def expected_actions(rollout: Rollout) -> list[Action] | None:
    """The changes a row lists as the solution, which may be none; `None` for a row that lists no calls."""
    listed = next((found for path in EXPECTED_CALLS if isinstance(found := value_at(rollout.fields, path), list)), None)
    if listed is None:
        return None
    calls = [call for call in listed if isinstance(call, dict) and isinstance(call.get("name"), str)]
    return [as_action(c["name"], c.get("kwargs", c.get("arguments")), -1) for c in calls if is_change(c["name"])]


def made_actions(items: Sequence[Item]) -> list[Action]:
    """The changes a rollout made."""
    failed = {item.call_id for item in items if item.kind == "tool_result" and is_error(item.text)}
    calls = [item for item in items if item.kind == "tool_call" and item.name and is_change(item.name)]
    return [
        as_action(item.name or "", item.text, item.position)
        for item in calls
        if item.call_id is None or item.call_id not in failed
    ]


def is_error(told: str) -> bool:
    return TOOL_ERROR.match(told[:OPENING].encode("utf-8", "replace")) is not None


def is_change(name: str) -> bool:
    """Whether a tool of this name changes something."""
    return not READING & set(name.lower().split("_"))


def as_action(name: str, arguments: Any, at: int) -> Action:
    return Action(name, frozenset(values_in(decoded(arguments), "")), at)


def decoded(arguments: Any) -> Any:
    """Arguments as a value; a text that is no JSON stays a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, RecursionError):
        return arguments


def values_in(value: Any, name: str) -> Iterator[Value]:
    """Every single value, under the name of its argument."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from values_in(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from values_in(inner, name)
    elif value is not None and value != "":
        yield name, str(value)


def unmatched(actions: Iterable[Action], others: Iterable[Action]) -> list[Action]:
    """Actions without an equal among the others, each of which counts once."""
    rest = [(other.name, other.values) for other in others]
    out: list[Action] = []
    for action in actions:
        if (action.name, action.values) in rest:
            rest.remove((action.name, action.values))
        else:
            out.append(action)
    return out


def pair_up(extra: Sequence[Action], missing: Sequence[Action]) -> list[Swap]:
    """Each unexpected action with the expected one of the same name that is most like it."""
    out: list[Swap] = []
    rest = list(missing)
    for made in extra:
        alike = [expected for expected in rest if expected.name == made.name]
        if alike:
            expected = max(alike, key=lambda action: len(action.values & made.values))
            rest.remove(expected)
            out.append(Swap(made, expected))
    return out


def unexpected(rollout: Rollout) -> Iterator[tuple[str, str, int]]:
    """Every difference between the changes a rollout made and those its task expects: tool, words and item."""
    found = deviation_of(rollout)
    if found is None:
        return
    for swap in found.swapped:
        for name in sorted({name for name, _ in swap.made.values ^ swap.expected.values}):
            words = f"`{swap.made.name}` was called with another `{name}` than expected"
            yield f"{swap.made.name}.{name}", words, swap.made.at
    for action in found.extra:
        yield action.name, f"`{action.name}` was called though not expected", action.at
    for action in found.missing:
        yield action.name, f"`{action.name}` was expected and not called", -1
