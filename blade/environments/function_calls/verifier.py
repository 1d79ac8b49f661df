"""Judges which functions a model calls for a request, and with what.

A task has `functions`, their schemas as JSON Schema has them, and `expected_calls`: per call its `name` and, per
argument, all `arguments` that are accepted, where an empty text means that it may be left out. With `any_call` one call
of any function will do; without either, no function fits, and the request must be answered in words. A whole number is
taken where a fraction is wanted, not the other way round. Calls may come in any order. Functions are not carried out:
each call is answered as recorded.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from blade.environments.answering import final_text, function_call, message
from blade.environments.environment import Item, Session, Task, Verdict, judge_rows

RECORDED = '{"status": "recorded"}'
OPEN = ""
"""The value that stands for an argument left out."""
UNHEARD = re.compile(r"[\s,./\-_*^]")
"""Signs that make no difference between two texts: "April 1, 2024" is "April 1 2024"."""
MOST_CALLS = 50

Call = tuple[str, Any]
Whole = Mapping[str, set[str]]


class Recorder:
    """Answers every call alike."""

    def call(self, name: str, arguments: str) -> str:
        return RECORDED


class FunctionCalls:
    """Tasks that are solved by calling the right functions."""

    name = "function_calls"

    def tools(self, task: Task) -> list[dict[str, Any]]:
        return [{"type": "function", "strict": False, **function} for function in task["functions"]]

    def open(self, task: Task) -> Session | None:
        return Recorder()

    def verify(self, task: Task, items: Sequence[Item]) -> Verdict:
        """Full marks when exactly the expected calls were made."""
        made = calls_of(items)
        expected = task["expected_calls"]
        if task.get("any_call"):
            right = bool(made) and all(name in {one["name"] for one in task["functions"]} for name, _ in made)
        elif expected:
            right = len(made) == len(expected) and match(made, expected, whole_numbers(task))
        else:
            right = not made and bool(final_text(items))
        fields = {
            "num_calls": len(made),
            "num_expected_calls": None if task.get("any_call") else len(expected),
            "wrong_calls": [] if right or task.get("any_call") else unmatched(made, expected, whole_numbers(task)),
        }
        return Verdict(reward=float(right), fields=fields)

    def gold(self, task: Task) -> list[dict[str, Any]]:
        """One accepted value for every argument; words where no function fits."""
        if not task["expected_calls"] and not task.get("any_call"):
            return [message("None of the functions does this.")]
        calls = task["expected_calls"] or [{"name": task["functions"][0]["name"], "arguments": {}}]
        return [
            function_call(call["name"], json.dumps(chosen(call["arguments"])), call_id=f"call_{number}")
            for number, call in enumerate(calls)
        ]


def calls_of(items: Sequence[Item]) -> list[Call]:
    """Name and arguments of every call; arguments that are not JSON are kept as text, which nothing equals."""
    found = []
    for item in items:
        if item.get("type") == "function_call" and isinstance(item.get("name"), str):
            try:
                arguments = json.loads(item.get("arguments") or "{}")
            except (ValueError, TypeError, RecursionError):
                arguments = None
            found.append((item["name"], arguments))
    return found


def whole_numbers(task: Task) -> Whole:
    """Arguments that must be whole numbers, by function."""
    return {
        function["name"]: {
            name
            for name, schema in ((function.get("parameters") or {}).get("properties") or {}).items()
            if isinstance(schema, dict) and schema.get("type") == "integer"
        }
        for function in task["functions"]
    }


def match(made: Sequence[Call], expected: Sequence[Mapping[str, Any]], whole: Whole) -> bool:
    """Whether every expected call can be given a call of its own; both lists are equally long."""
    if not expected:
        return True
    if len(made) > MOST_CALLS:
        return False
    fitting = [[place for place, call in enumerate(made) if fits(call, wanted, whole)] for wanted in expected]
    taken: dict[int, int] = {}

    def give(wanted: int, seen: set[int]) -> bool:
        for place in fitting[wanted]:
            if place not in seen:
                seen.add(place)
                if place not in taken or give(taken[place], seen):
                    taken[place] = wanted
                    return True
        return False

    return all(give(wanted, set()) for wanted in range(len(expected)))


def unmatched(made: Sequence[Call], expected: Sequence[Mapping[str, Any]], whole: Whole) -> list[str]:
    """Calls that fit none of the expected ones, each by its name and what is wrong with it."""
    found = []
    for name, arguments in made[:MOST_CALLS]:
        wanted = [call for call in expected if call["name"] == name]
        if not wanted:
            found.append(f"{name}: not expected")
        elif not any(fits((name, arguments), call, whole) for call in wanted):
            found.append(f"{name}: {wrong_argument(arguments, wanted[0]['arguments'])}")
    return found


def wrong_argument(arguments: Any, accepted: Mapping[str, Any]) -> str:
    if not isinstance(arguments, dict):
        return "its arguments are not a JSON object"
    extra = [name for name in arguments if name not in accepted]
    missing = [name for name, values in accepted.items() if name not in arguments and OPEN not in values]
    wrong = [name for name in arguments if name in accepted and not accepts(accepted[name], arguments[name])]
    return f"wrong argument {next(iter([*wrong, *extra, *missing]), '')}"


def fits(made: Call, wanted: Mapping[str, Any], whole: Whole) -> bool:
    name, arguments = made
    if name != wanted["name"] or not isinstance(arguments, dict):
        return False
    fractions = any(isinstance(arguments.get(argument), float) for argument in whole.get(name, ()))
    return not fractions and holds(arguments, wanted["arguments"])


def holds(made: Mapping[str, Any], accepted: Mapping[str, Any]) -> bool:
    """Whether an object has an accepted value for every name, and nothing else."""
    return all(name in accepted for name in made) and all(
        accepts(values, made[name]) if name in made else OPEN in values for name, values in accepted.items()
    )


def accepts(values: Any, made: Any) -> bool:
    """Whether a value is among those that are accepted."""
    return any(is_same(made, value) for value in (values if isinstance(values, list) else [values]))


def is_same(made: Any, value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(made, dict) and holds(made, value)
    if isinstance(value, list):
        return isinstance(made, list) and len(made) == len(value) and all(map(is_same, made, value))
    if isinstance(value, bool) or isinstance(made, bool):
        return made is value
    if isinstance(value, str):
        return isinstance(made, str) and heard(made) == heard(value)
    return bool(made == value)


def heard(text: str) -> str:
    return UNHEARD.sub("", text).casefold().replace("'", '"')


def chosen(accepted: Mapping[str, Any]) -> dict[str, Any]:
    """The first accepted value of every argument that has one."""
    firsts = {
        name: next((value for value in values if value != OPEN), OPEN) if isinstance(values, list) else values
        for name, values in accepted.items()
    }
    return {name: plain(value) for name, value in firsts.items() if value != OPEN}


def plain(value: Any) -> Any:
    """A value with one choice made for everything in it."""
    if isinstance(value, dict):
        return chosen(value)
    return [plain(inner) for inner in value] if isinstance(value, list) else value


ENVIRONMENT = FunctionCalls()


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
