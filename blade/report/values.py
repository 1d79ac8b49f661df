"""Every value that can be said about a run, with the words it goes by: what `blade values` lists and prose is bound to.

A value goes by the keys on the way to it and by the names of the objects it belongs to. Which keys a document has is
nowhere written down here.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from blade.report.addresses import Address, escaped

Kind = Literal["count", "real", "text"]
WORD = re.compile(r"[A-Za-z][A-Za-z0-9']*|\d+")
SPECIAL = re.compile(r"pass\s*([@^])\s*(\w+)", re.IGNORECASE)
ENDINGS = re.compile(r"(?:ing|ed|(?:(?<=ss)|(?<=x)|(?<=ch)|(?<=sh))es|s|ly|al)$")
DOUBLED = re.compile(r"([b-df-hj-np-rtv-z])\1$")
"""A consonant doubled before an ending: `labelled`."""
ALSO: dict[str, str] = {"ci95": "interval", "se": "standard error", "n": "scored", "c": "passed"}
"""Keys that nobody would say, and what is said for them."""
DULL = frozenset(
    {"the", "a", "an", "of", "in", "is", "are", "was", "were", "and", "or", "to", "for", "with", "by", "on", "at", "as"}
    | {"it", "its", "this", "that", "be", "has", "have", "from", "between", "over", "not", "no", "all", "each", "than"}
)
LONGEST_LEVEL, LONGEST_NAME, LONGEST_SAID = 40, 60, 120
MOST_LEVELS = 12
"""Values of a text field that the entries of a list are counted by, at most."""


class Value(NamedTuple):
    """Something that can be said."""

    address: Address
    """Where it is."""
    written: str
    """How a text names it, without a filter."""
    value: Any
    """What it is."""
    kind: Kind
    """Whether it counts, measures or names."""
    keys: frozenset[str]
    """Stems of the keys on the way to it."""
    names: tuple[frozenset[str], ...] = ()
    """Stems of the names of the objects it belongs to, the innermost last."""
    counted: str = ""
    """Of a count: the stem of what is counted, where its key says."""
    hints: frozenset[str] = frozenset()
    """Stems of the sentence that defines it, which somebody may use instead of its name."""
    leaf: frozenset[str] = frozenset()
    """Stems of the last key, which tells it from its neighbours."""

    @property
    def words(self) -> frozenset[str]:
        """Everything it goes by."""
        return self.keys.union(*self.names)


class Place(NamedTuple):
    """Where in a document the walk is."""

    address: str
    written: str = ""
    path: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    names: tuple[frozenset[str], ...] = ()

    def under(self, key: str) -> "Place":
        """What an object holds under a key; `pass_at_k` under 3 goes by `pass@3`."""
        family = self.path[-1].removesuffix("_k").replace("_", "") if self.path and self.path[-1].endswith("_k") else ""
        return Place(
            f"{self.address}/{escaped(key)}",
            step(self.written, key),
            (*self.path, key),
            self.keys - {f"{family}k"} | {f"{family}{key}"}
            if family and key.isdecimal()
            else self.keys.union(key_stems(key)),
            self.names,
        )

    def leaf(self) -> frozenset[str]:
        """The stems of the last key, `value` left out; of `pass_at_k` and 3, `pass@3`."""
        keys = [key for key in self.path if key != "value"]
        if len(keys) > 1 and keys[-2].endswith("_k") and keys[-1].isdecimal():
            return frozenset({keys[-2].removesuffix("_k").replace("_", "") + keys[-1]})
        return frozenset(key_stems(keys[-1])) if keys else frozenset()

    def named(self, text: str) -> "Place":
        """The same place in an object that is called so."""
        return self._replace(names=(*self.names, frozenset(stems(text)) or frozenset({text})))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its ending."""
    word = word.lower()
    if len(word) > 4:
        return DOUBLED.sub(r"\1", ENDINGS.sub("", word))
    return DOUBLED.sub(r"\1", word.removesuffix("s") if len(word) == 4 and not word.endswith("ss") else word)


def stems(text: str) -> list[str]:
    """The words of a text in order, dull ones left out; `pass@1` is one word, and so is `no_tool_call` three."""
    text = SPECIAL.sub(lambda found: f"pass{'at' if found[1] == '@' else 'pow'}{found[2]}".lower(), text)
    return [stem(word) for word in WORD.findall(text.replace("_", " ")) if word.lower() not in DULL]


def key_stems(key: str) -> list[str]:
    """The words of a key; `pass_at_1` is one word as in a text."""
    if re.fullmatch(r"pass_(?:at|pow)_\w+", key):
        return [key.replace("_", "").lower()]
    return stems(ALSO.get(key, key))


def every_value(document: Any, name: str) -> list[Value]:
    """Everything that can be said from a document; what it calls its headline also goes by that metric's name."""
    found = list(_walk(document, Place(f"{name}:")))
    found += outcomes(document, name)
    headline = document.get("headline") if isinstance(document, Mapping) else None
    if not isinstance(headline, str):
        return found
    also = frozenset(key_stems(headline))
    return [value._replace(keys=value.keys | also) if "headline" in value.keys else value for value in found]


def outcomes(document: Any, name: str) -> Iterator[Value]:
    """How many rollouts pass and fail, which a document of one run states by task alone."""
    tasks, rollouts = (document.get("tasks"), (document.get("coverage") or {}).get("rollouts"))
    if not isinstance(rollouts, int) or not isinstance(tasks, list) or not all("c" in task for task in tasks):
        return
    passed: Address = ["sum", ["each", f"{name}:/tasks", "c"]]
    count = sum(task["c"] for task in tasks)
    for written, stands, address in (
        ("passing", count, passed),
        ("failing", rollouts - count, ["-", f"{name}:/coverage/rollouts", passed]),
    ):
        leaf = frozenset({stem(written)})
        yield Value(address, written, stands, "count", leaf | {"rollout"}, counted="rollout", leaf=leaf)


def _walk(value: Any, place: Place) -> Iterator[Value]:
    if isinstance(value, Mapping):
        defined = value.get("definition")
        hints = frozenset(stems(defined)) if isinstance(defined, str) else frozenset[str]()
        for key, inner in value.items():
            found = _walk(inner, place.under(str(key)))
            yield from (one._replace(hints=hints) for one in found) if hints and key == "value" else found
    elif isinstance(value, list):
        yield from _list_values(value, place)
    elif isinstance(value, str) and place.path and len(value) < 200:
        yield Value(place.address, place.written, value, "text", place.keys, place.names)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        kind: Kind = "count" if isinstance(value, int) else "real"
        written, counted = place.written.removesuffix(".value"), counted_by(place.path) if kind == "count" else ""
        leaf = place.leaf()
        keys = place.keys - {"value"} | ({"gain"} if "headroom" in leaf else set())
        yield Value(place.address, written, value, kind, keys, place.names, counted, leaf=leaf)


def _list_values(value: list[Any], place: Place) -> Iterator[Value]:
    if value and all(isinstance(entry, int | float) for entry in value):
        of, is_interval, _ = place.written.rpartition(".ci95")
        for number, entry in enumerate(value):
            written = f"{of} | ci" if is_interval else step(place.written, str(number))
            yield from _walk(entry, place._replace(address=f"{place.address}/{number}", written=written))
        return
    yield Value(
        ["len", place.address],
        place.written,
        len(value),
        "count",
        place.keys,
        place.names,
        _noun(value, place),
        leaf=place.leaf(),
    )
    if value and all(isinstance(entry, Mapping) for entry in value):
        yield from _grouped(value, place)
        known: set[str] = set()
        for number, entry in enumerate(value):
            name = name_of(entry) or str(number)
            written = step(place.written, str(number) if name in known else name)  # a name leads to the first of it
            known.add(name)
            inner = place._replace(address=f"{place.address}/{number}", written=written)
            yield from _walk(entry, inner.named(called(name, entry.get("title") or said_of(entry))))


def _noun(value: list[Any], place: Place) -> str:
    """What the entries of a list are: tasks, when it lists them."""
    if "bucket" in place.keys or (value and isinstance(value[0], Mapping) and "task" in value[0]):
        return "task"
    return stem(place.path[-1]) if place.path else ""


def _grouped(entries: Sequence[Mapping[str, Any]], place: Place) -> Iterator[Value]:
    """How many entries have each value of a text field that has few."""
    for field in entries[0]:
        levels = [entry.get(field) for entry in entries]
        distinct = sorted({level for level in levels if isinstance(level, str)})
        if not 0 < len(distinct) <= MOST_LEVELS or len(distinct) == len(entries):
            continue
        for level in distinct if max(map(len, distinct)) <= LONGEST_LEVEL else []:
            yield Value(
                ["len", ["where", place.address, field, "==", level]],
                f'{place.written} | where("{field}", "{level}")',
                levels.count(level),
                "count",
                place.keys.union(key_stems(field)),
                place.named(level).names,
                _noun(list(entries), place),
            )


def called(name: str, title: Any) -> str:
    """What an entry goes by: its name and its title; a name that was cut from the title says nothing more."""
    cut = "".join(character for character in str(title or "").lower() if character.isalnum())
    return (
        str(title)
        if title and cut.startswith(name.lower().replace("-", "").replace("_", ""))
        else f"{name} {title or ''}"
    )


def said_of(entry: Mapping[str, Any]) -> str:
    """What an entry without a title is about: its longest words on what to do or what holds, cut short."""
    return str(entry.get("what") or entry.get("rule") or "")[:LONGEST_SAID]


def name_of(entry: Mapping[str, Any]) -> str | None:
    """What an object in a list is called: its first text, unless that is a sentence."""
    first = next((inner for inner in entry.values() if isinstance(inner, str)), None)
    return first if first is not None and len(first) <= LONGEST_NAME else None


def step(written: str, key: str) -> str:
    """A name one step further in."""
    if re.fullmatch(r"[A-Za-z_]\w*", key):
        return f"{written}.{key}" if written else key
    return f'{written}["{key}"]'


def counted_by(path: Sequence[str]) -> str:
    """What a count counts, as its key says: `tasks`, `rollouts`."""
    return stem(path[-1].rpartition("_")[2]) if path[-1].endswith("s") and path[-1] not in ALSO else ""


def search_values(values: Iterable[Value], query: str) -> list[Value]:
    """Values that go by most words of a query: all of them, where any does, and the plainest first."""
    wanted = key_stems(query) if re.match(r"pass_(at|pow)_", query) else stems(query)
    found = [(sum(not goes_by(value, word) for word in wanted), value) for value in values]
    least = min((missing for missing, _ in found), default=0)
    if wanted and least == len(wanted):
        return []
    return sorted((value for missing, value in found if missing == least), key=lambda value: plainness(value, wanted))


def goes_by(value: Value, word: str) -> bool:
    """Whether a word, or the beginning of one, is among those a value goes by; a short text also goes by its own."""
    own = value.words | value.hints
    if word in own or (len(word) > 3 and any(one.startswith(word) for one in own)):
        return True
    return isinstance(value.value, str) and len(value.value) <= LONGEST_NAME and word in stems(value.value)


def plainness(value: Value, wanted: Sequence[str]) -> tuple[bool, bool, int, int]:
    """The order of what is found: numbers, of the words themselves, in few steps, before parts of lists and texts."""
    own = sum(word in value.leaf for word in wanted) + sum(word in value.words for word in wanted)
    steps = value.written.count(".") + value.written.count("[")
    return value.kind == "text", "|" in value.written, -own, steps
