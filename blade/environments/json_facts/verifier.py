"""Judges JSON by a schema and by the facts of a text.

A task has a `schema` and `expected`, the object that says everything right, or null where the schema is all. A fact is
a leaf of it, a list of plain values, or how many objects a list has; case, spaces and the order of plain values do not
matter. The reward is 1 when the schema holds and every fact is right. Where it is not, the fields say which of the two
failed, and where.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from blade.environments.answering import TextEnvironment
from blade.environments.environment import Task, Verdict, judge_rows

FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
MOST_STARTS = 50
"""Opening braces that are tried: where fifty of them begin no object, none was meant."""


class Read(NamedTuple):
    """A value that was read from a text."""

    value: Any
    alone: bool
    """Whether the text holds nothing else, a fence around it aside."""
    twice: bool
    """Whether an object in it gives one name two values, so that readers could take either; here, the last is taken."""


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def read_json(text: str) -> Read | None:
    """The JSON a text gives as its answer; `None` when it holds none."""
    bare = text.strip()
    fenced = FENCE.fullmatch(bare)
    whole = decode(fenced[1] if fenced else bare)
    if whole is not None:
        return whole
    starts = [match.start() for match in re.finditer(r"[{\[]", bare)][:MOST_STARTS]
    parts = [block[1] for block in FENCE.finditer(bare)] + [bare[start:] for start in starts]
    return next((read for part in parts if (read := decode(part, alone=False)) is not None), None)


def decode(text: str, *, alone: bool = True) -> Read | None:
    """The value a text begins with; what follows it must be space if it is to stand `alone`."""
    twice = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        twice.append(len(made) < len(pairs))
        return made

    decoder = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=object_of)
    try:
        value, end = decoder.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return None if alone and text.lstrip()[end:].strip() else Read(value, alone, any(twice))


MOST_ERRORS = 5

Path = tuple[str | int, ...]


class Fact(NamedTuple):
    """Something the answer must say."""

    path: Path
    value: Any


ABSENT = object()
"""What is found where an answer has nothing."""


def judge(task: Task, text: str) -> Verdict:
    """Full marks for JSON that keeps the schema and gets every fact right."""
    read = read_json(text)
    facts = [] if task["expected"] is None else list(facts_of(task["expected"]))
    errors = [] if read is None else schema_errors(task["schema"], read)
    wrong = [fact for fact in facts if read is None or not is_right(fact, read.value)]
    fields = {
        "parse_failed": read is None,
        "extra_text": None if read is None else not read.alone,
        "schema_valid": read is not None and not errors,
        "schema_errors": errors[:MOST_ERRORS],
        "facts_right": len(facts) - len(wrong),
        "facts_total": len(facts),
        "wrong_facts": [written(fact.path) for fact in wrong],
        "extracted_answer": None if read is None else canonical(read.value),
    }
    return Verdict(reward=float(read is not None and not errors and not wrong), fields=fields)


def schema_errors(schema: dict[str, Any], read: Read) -> list[str]:
    """What a value has against a schema, each as `place: rule it breaks`. What the value says is not repeated.

    Two values for one name, which JSON Schema has no rule against, leave open which one is meant.
    """
    # Loaded when needed: the library takes a while, and most commands judge nothing.
    from jsonschema import Draft202012Validator

    found = sorted(Draft202012Validator(schema).iter_errors(read.value), key=lambda error: list(map(str, error.path)))
    twice = ["$: uniqueNames"] if read.twice else []
    return [*(f"{written(tuple(error.path))}: {error.validator}" for error in found), *twice]


def facts_of(value: Any, path: Path = ()) -> Iterator[Fact]:
    """Every fact of an expected value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from facts_of(inner, (*path, name))
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        yield Fact((*path, "length"), len(value))
        for place, inner in enumerate(value):
            yield from facts_of(inner, (*path, place))
    else:
        yield Fact(path, value)


def is_right(fact: Fact, answer: Any) -> bool:
    return is_same(value_at(answer, fact.path), fact.value)


def value_at(value: Any, path: Path) -> Any:
    """What stands at a path; `ABSENT` where there is nothing."""
    for step in path:
        if isinstance(value, list) and step == "length":
            value = len(value)
        elif not has(value, step):
            return ABSENT
        else:
            value = value[step]
    return value


def has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def is_same(said: Any, expected: Any) -> bool:
    """Whether two plain values, or lists of them in any order, say the same."""
    if isinstance(expected, list):
        return isinstance(said, list) and sorted(map(plain, said)) == sorted(map(plain, expected))
    return plain(said) == plain(expected)


def plain(value: Any) -> str:
    """A value in a form in which it can be compared: 3 and 3.0 are the same, 1 and true are not."""
    if isinstance(value, str):
        return "text " + " ".join(value.casefold().split()).rstrip(".!")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {float(value)!r}" if abs(value) < 1e15 else f"number {value}"
    return f"{type(value).__name__} {value}"


def written(path: Path) -> str:
    """A path as people write it: `items[0].name`; the whole is `$`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "$"


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def gold(task: Task) -> str:
    right = task["expected"] if task["expected"] is not None else task.get("example")
    return "" if right is None else canonical(right)


ENVIRONMENT = TextEnvironment("json_facts", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
