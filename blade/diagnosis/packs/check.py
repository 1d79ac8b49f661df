"""Checking a pack: its shape by the schema, then what a schema cannot say; every problem with its line.

The schema is for editors and other tools as much as for us, so it is complete; its messages are ours, because a
validator's own say little to the author of a pack.
"""

import difflib
import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from blade.diagnosis.packs.document import Document, Keys, walk
from blade.diagnosis.packs.expressions import check as check_expression
from blade.errors import UsageError

MOST_SHOWN = 50
LINE_END = r"(?!\n)"
"""Keeps `$` of a form from matching before a last line break."""
EXPRESSIONS = frozenset({"matches", "subject", "said", "first_tool", "prompt"})
TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


class Fault(NamedTuple):
    """Something wrong with a pack, and where."""

    keys: Keys
    message: str
    hint: str = ""


@cache
def validator() -> Any:
    """The compiled schema; jsonschema is imported when a pack is checked, and not before."""
    import jsonschema

    text = resources.files("blade").joinpath("schemas", "taxonomy.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def find_faults(document: Document) -> list[Fault]:
    """Everything wrong with a document, in the order of its lines; the shape comes first."""
    faults = [fault for error in validator().iter_errors(document.value) for fault in explain(error, document)]
    if not faults:
        faults = [*bad_expressions(document.value), *twice(document.value, "stages", "name")]
        faults += twice(document.value, "patterns", "code")
    distinct = list(dict.fromkeys(faults))
    return sorted(distinct, key=lambda fault: document.line(fault.keys))[:MOST_SHOWN]


def explain(error: Any, document: Document) -> Iterator[Fault]:
    """One error of the validator in words."""
    keys: Keys = tuple(error.absolute_path)
    seen = error.instance
    if "propertyNames" in error.schema_path:
        yield misplaced_key((*keys, seen), document)
        return
    match error.validator:
        case "additionalProperties":
            known = sorted(error.schema["properties"])
            yield from (unknown_key(keys, name, known) for name in seen if name not in known)
        case "required":
            missing = [name for name in error.validator_value if name not in seen]
            yield Fault(keys, f"{place(keys)} has no {quoted(missing)}", "add it")
        case "oneOf":
            yield one_subject(keys, seen, error.schema)
        case "minProperties" if isinstance(seen, dict) and ("field" in seen or "fact" in seen):
            yield Fault(keys, f"{place(keys)} asks nothing", "add a question such as equals, in, is_null or matches")
        case "maxProperties":
            yield Fault(keys, f"{quoted(sorted(seen))} do not go together", "join them with 'all' or 'any'")
        case "enum" | "const":
            wanted = error.validator_value if error.validator == "enum" else [error.validator_value]
            yield not_one_of(keys, seen, wanted)
        case "type":
            types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
            yield Fault(keys, f"{place(keys)} is {json_excerpt(seen)}, expected {' or '.join(TYPES[t] for t in types)}")
        case _:
            yield Fault(keys, f"{place(keys)}: {limit(error)}")


def unknown_key(keys: Keys, name: Any, known: list[str]) -> Fault:
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"keys here are {', '.join(known)}"
    return Fault((*keys, name), f"unknown key {str(name)[:60]!r}", hint)


def not_one_of(keys: Keys, seen: Any, wanted: list[Any]) -> Fault:
    words = [json.dumps(word) if isinstance(word, bool) else str(word) for word in wanted]
    close = difflib.get_close_matches(seen, words, n=1) if isinstance(seen, str) else []
    hint = f"did you mean {close[0]!r}?" if close else ""
    return Fault(keys, f"{place(keys)} is {json_excerpt(seen)}, expected {', '.join(words)}", hint)


def one_subject(keys: Keys, seen: Any, schema: Any) -> Fault:
    """A condition without its subject, or with several."""
    subjects = [choice["required"][0] for choice in schema["oneOf"]]
    there = [name for name in subjects if isinstance(seen, dict) and name in seen]
    if there:
        return Fault(keys, f"{quoted(there)} do not go together", "join them with 'all' or 'any'")
    return Fault(keys, f"{place(keys)} has none of {', '.join(subjects)}", "add one")


def misplaced_key(keys: Keys, document: Document) -> Fault:
    """A key that is known, but not beside the ones it stands with."""
    owner = document.value
    for key in keys[:-1]:
        owner = owner[key]
    name = str(keys[-1])[:60]
    others = [other for other in ("over", "fact", "field") if other in owner]
    if not others:
        return Fault(keys, f"{name!r} is not the path of a field")
    return Fault(keys, f"{name!r} does not go with {others[0]!r}")


def limit(error: Any) -> str:
    match error.validator:
        case "minItems" | "minLength" | "minProperties":
            return "is empty"
        case "maxItems" | "maxProperties":
            return f"has more than {error.validator_value} entries"
        case "maxLength":
            return f"is longer than {error.validator_value} characters"
        case "minimum" | "maximum":
            return f"is beyond {error.validator_value}"
        case "pattern":
            return f"{json_excerpt(error.instance)} is not of the form {error.validator_value.removesuffix(LINE_END)}"
        case "anyOf":
            return f"{json_excerpt(error.instance)} is not one of completed, truncated, failed"
    return "is not as the schema says"


def bad_expressions(value: Any) -> Iterator[Fault]:
    """Regular expressions outside of the grammar."""
    for keys, source in walk(value):
        if isinstance(source, str) and is_expression(keys):
            try:
                check_expression(source)
            except UsageError as error:
                yield Fault(keys, f"the expression {json_excerpt(source)} is not allowed: {error}")


def is_expression(keys: Keys) -> bool:
    """Whether a checked document has an expression at this place."""
    if len(keys) < 2:
        return False
    if keys[-2] == "texts":
        return True
    return keys[-1] in EXPRESSIONS


def twice(value: dict[str, Any], section: str, name: str) -> list[Fault]:
    """Entries of a section that share their name."""
    first: dict[str, int] = {}
    faults: list[Fault] = []
    for position, entry in enumerate(value[section]):
        if first.setdefault(entry[name], position) != position:
            faults.append(Fault((section, position, name), f"the {name} {entry[name]!r} stands twice in {section}"))
    return faults


def place(keys: Keys) -> str:
    """A place in words: `patterns[2].when`."""
    words = "".join(f"[{key}]" if isinstance(key, int) else f".{key_text(key)}" for key in keys).lstrip(".")
    return words or "the pack"


def key_text(key: str) -> str:
    return key if key.isidentifier() else json.dumps(key[:60])


def json_excerpt(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def quoted(names: list[str]) -> str:
    return " and ".join(repr(str(name)[:60]) for name in names)
