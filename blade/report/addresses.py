"""Values that know where they come from: an address is a JSON pointer into a document, or an expression over them.

    "analysis:/metrics/pass_at_1/value"                        a value
    ["-", "analysis:/coverage/rollouts", "analysis:/…"]        arithmetic
    ["len", "analysis:/buckets/never"]                         how many entries a list has
    ["where", "analysis:/causes", "label", "==", "KG"]         the entries of a list with some property

Numbers, texts and lists of a document become subclasses of `int`, `float`, `str`, `list` and `dict` that carry their
address through ordinary Python and through templates. Nothing here knows a document's keys. Standard library only.
"""

import functools
import operator
from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Entry = TypeVar("Entry")

Numbered = tuple[dict[Any, int], "array[int]"]
Address = Any
"""A pointer (`str`), a constant (`int`, `float`) or `[operator, operand, …]`; JSON as it stands."""
MOST_TERMS = 400
"""Operands an expression may have; what takes more is not written out."""
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Proofs(Protocol):
    """What can be looked up in rollouts: citations, quotes, fields, and rollouts by what they hold."""

    def look_up(self, operation: str, operands: Sequence[Any]) -> Any:
        """The value of `["cite", …]`, `["quote", …]`, `["field", …]` or `["find", …]`."""
        ...


class _Number:
    """What numbers of a document share, and objects that have a value: arithmetic keeps the address."""

    address: Address

    def __add__(self, other: Any) -> Any:
        return _combined("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _combined("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _combined("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combined("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _combined("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combined("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _combined("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _combined("/", other, self)

    def __neg__(self) -> Any:
        return 0 - self

    def __abs__(self) -> Any:
        value: Any = _measured(self)
        return with_address(abs(bare(value)), ("abs", value.address))


class Whole(_Number, int):
    """A whole number with its address."""


class Real(_Number, float):
    """Any other number with its address."""


class Words(str):
    """A text with its address."""

    address: Address


class Entries(list[Any]):
    """A list with its address; its entries have theirs."""

    address: Address


class Lazy(Entries):
    """A list whose entries get their addresses when they are asked for: a run has more tasks than a report names.

    By what its entries were told apart is kept in `numbered`, since many parts of a report count the same.
    """

    def __init__(self, values: Sequence[Any], address: str) -> None:
        super().__init__(values)
        self.address = address
        self.numbered: dict[tuple[str, ...], Numbered] = {}

    def _entry(self, number: int) -> Any:
        value, address = super().__getitem__(number), f"{self.address}/{number}"
        return View(value, address) if hasattr(value, "__struct_fields__") else addressed_struct(value, address)

    def __getitem__(self, place: Any) -> Any:
        numbers = range(len(self))[place]
        return self._entry(numbers) if isinstance(numbers, int) else [self._entry(number) for number in numbers]

    def __iter__(self) -> Iterator[Any]:
        return map(self._entry, range(len(self)))

    def __reversed__(self) -> Iterator[Any]:
        return map(self._entry, reversed(range(len(self))))

    def __add__(self, other: Any) -> Any:
        return [*self, *other]


class View:
    """A Struct in a list, whose fields get their addresses when they are asked for."""

    __slots__ = ("_address", "_struct")

    def __init__(self, struct: Any, address: str) -> None:
        self._struct = struct
        self._address = address

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._struct, name)
        kind: Any = type(self._struct)
        shown = parts_of(kind).get(name)
        return value if shown is None else addressed_struct(value, self._address + shown)

    def __eq__(self, other: object) -> bool:
        return bool(self._struct == (other._struct if isinstance(other, View) else other))

    def __hash__(self) -> int:
        return hash(self._struct)


class Record(_Number, dict[str, Any]):
    """An object with its address; its values have theirs, and one called `value` is what it counts as in arithmetic."""

    address: Address


def with_address(value: Any, address: Address) -> Any:
    """The value with an address; what cannot carry one (`None`, a truth value) as it is."""
    made: Any
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        made = Whole(value)
    elif isinstance(value, float):
        made = Real(value)
    elif isinstance(value, str):
        made = Words(value)
    elif isinstance(value, Mapping):
        made = Record(value)
    elif isinstance(value, list | tuple):
        made = Entries(value)
    else:
        return value
    made.address = address
    return made


def address_of(value: Any) -> Address | None:
    """The address of a value, ready to be written; `None` when it has none."""
    address = getattr(value, "address", None)
    return None if address is None else written_address(address)


def bare(value: Any) -> Any:
    """A number or text without its address, so that nothing is computed twice."""
    if isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _measured(value: Any) -> Any:
    """The value of an object that has one."""
    return value["value"] if isinstance(value, Record) and "value" in value else value


def _combined(sign: str, left: Any, right: Any) -> Any:
    left, right = _measured(left), _measured(right)
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return NotImplemented
    result = OPERATORS[sign](bare(left), bare(right))
    return with_address(result, (sign, _operand(left), _operand(right)))


def _operand(value: Any) -> Address:
    return getattr(value, "address", bare(value))


def written_address(address: Address) -> Address | None:
    """An address as JSON: sums flattened; `None` when it would be endless."""
    if not isinstance(address, tuple):
        return address
    sign, *operands = address
    if sign == "+":
        terms = _terms(address)
        return None if len(terms) > MOST_TERMS else ["+", *map(written_address, terms)]
    return [sign, *(written_address(operand) if isinstance(operand, tuple) else operand for operand in operands)]


def _terms(address: Address) -> list[Address]:
    """The operands of nested sums, from left to right; `sum()` begins with a 0 that says nothing."""
    found: list[Address] = []
    while isinstance(address, tuple) and address[0] == "+":
        found += _terms(address[2]) if isinstance(address[2], tuple) and address[2][0] == "+" else [address[2]]
        address = address[1]
    return [term for term in [address, *reversed(found)] if term != 0]


def addressed(document: Any, address: str) -> Any:
    """A JSON document, each of its values with its address.

    Args:
        address: of the document itself, such as `analysis:`.
    """
    if isinstance(document, Mapping):
        inner = {key: addressed(value, f"{address}/{escaped(key)}") for key, value in document.items()}
        return with_address(inner, address)
    if isinstance(document, list | tuple):
        return with_address([addressed(value, f"{address}/{n}") for n, value in enumerate(document)], address)
    return with_address(document, address)


def addressed_struct(value: Any, address: str) -> Any:
    """The same for a Struct, which stays one: its fields carry the addresses they have in its JSON."""
    plain = PLAIN.get(type(value))
    if plain is not None:  # most values by far; nothing is asked of them twice
        made = plain(value)
        made.address = address
        return made
    if value is None or isinstance(value, bool):
        return value
    if hasattr(value, "__struct_fields__"):
        kind: Any = type(value)
        parts = parts_of(kind).items()
        return kind(**{name: addressed_struct(getattr(value, name), address + shown) for name, shown in parts})
    if isinstance(value, Mapping):
        inner = {
            with_address(key, ("key", f"{address}/{escaped(key)}")): addressed_struct(item, f"{address}/{escaped(key)}")
            for key, item in value.items()
        }
        return with_address(inner, address)
    if isinstance(value, list | tuple):
        return Lazy(value, address)
    return with_address(value, address)


PLAIN: dict[type, type[Any]] = {str: Words, int: Whole, float: Real}
"""Types of single values, and what they become with an address."""


@functools.cache
def parts_of(kind: Any) -> dict[str, str]:
    """The fields of a Struct, and what each adds to an address."""
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return {name: f"/{escaped(shown)}" for name, shown in names}


def escaped(key: object) -> str:
    """A key as part of a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def size(entries: Sequence[Any]) -> int:
    """How many entries a list has, with its address: the list's own, or those of the entries picked from one."""
    if (address := getattr(entries, "address", None)) is not None:
        return with_address(len(entries), ("len", address))  # type: ignore[no-any-return]
    if len(entries) > MOST_TERMS:
        return len(entries)
    picked = [entry_address(entry) for entry in entries]
    if None in picked:
        return len(entries)
    return with_address(len(entries), ("count", *picked))  # type: ignore[no-any-return]


def entry_address(entry: Any) -> Address | None:
    """The address of an entry; a Struct has that of its first field with one."""
    if hasattr(entry, "__struct_fields__"):
        parts = (getattr(getattr(entry, name), "address", None) for name in entry.__struct_fields__)
        return next((part for part in parts if part is not None), None)
    return getattr(entry, "address", None)


def bare_entries(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries of a list without their addresses: counting a run's tasks takes a twentieth of the time."""
    return list.__iter__(entries) if isinstance(entries, Lazy) else iter(entries)


class Picked(Sequence[Entry]):
    """Some entries of a list, which are looked for and get their addresses when they are asked for: most are counted.

    Args:
        find: gives their places in the list.
    """

    def __init__(self, entries: Sequence[Entry], length: int, find: Callable[[], Sequence[int]]) -> None:
        self._entries, self._length, self._find = entries, length, find

    @functools.cached_property
    def places(self) -> Sequence[int]:
        """Where they are in the list."""
        return self._find() if self._length else ()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        found = self.places[place]
        return self._entries[found] if isinstance(found, int) else [self._entries[one] for one in found]


def at_places(entries: Sequence[Entry], places: Sequence[int]) -> Picked[Entry]:
    """The entries at some places, with their addresses."""
    return Picked(entries, len(places), lambda: places)


class Numbering(dict[Any, int]):
    """Gives everything that is asked for the next number."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number


def numbered(entries: Sequence[Any], fields: tuple[str, ...]) -> Numbered:
    """The different values of one or more fields with how many entries have them, and per entry which one it has."""
    known: dict[tuple[str, ...], Numbered] = entries.numbered if isinstance(entries, Lazy) else {}
    if fields not in known:
        numbers, values = Numbering(), map(operator.attrgetter(*fields), bare_entries(entries))
        codes = array("q", map(numbers.__getitem__, values))
        counts = Counter(codes)
        known[fields] = {value: counts[number] for value, number in numbers.items()}, codes
    return known[fields]


def grouped(entries: Sequence[Entry], *fields: str) -> dict[Any, Picked[Entry]]:
    """The entries by the values of one or more fields, in order of appearance."""
    counts, codes = numbered(entries, fields)

    def find(number: int) -> list[int]:
        return [place for place, code in enumerate(codes) if code == number]

    return {
        value: Picked(entries, count, functools.partial(find, number))
        for number, (value, count) in enumerate(counts.items())
    }


def picked(entries: Sequence[Entry], wanted: Callable[..., bool], *fields: str) -> Picked[Entry]:
    """The entries of which something is true by the values of one or more fields, with their addresses."""
    counts, codes = numbered(entries, fields)
    values = counts if len(fields) > 1 else [(value,) for value in counts]
    hits = {number for number, value in enumerate(values) if wanted(*value)}
    length = sum(count for number, count in enumerate(counts.values()) if number in hits)
    return Picked(entries, length, lambda: [place for place, code in enumerate(codes) if code in hits])


def entries_with(entries: Sequence[Entry], field: str, wanted: Container[Any]) -> dict[Any, Entry]:
    """The last entry with each of some values in a field, with its address."""
    values = enumerate(map(operator.attrgetter(field), bare_entries(entries)))
    places = {value: place for place, value in values if value in wanted}
    return {value: entries[place] for value, place in places.items()}


def total(entries: Sequence[Any], field: str) -> Any:
    """The sum of a field over a whole list, with one address for all of it."""
    result = bare(sum(map(operator.attrgetter(field), bare_entries(entries))))
    address = getattr(entries, "address", None)
    return result if address is None else with_address(result, ("sum", f"{address}/*/{field}"))


def evaluate(address: Address, documents: Mapping[str, Any], proofs: Proofs | None = None) -> Any:
    """The value at an address.

    Raises:
        LookupError: there is nothing at it.
        ArithmeticError, TypeError: its expression cannot be computed.
    """
    if isinstance(address, str):
        return follow(address, documents)
    if not isinstance(address, list):
        return address
    sign, *operands = address
    if sign in ("cite", "quote", "field", "find"):
        if proofs is None:
            raise LookupError("the rollouts are not there")
        return proofs.look_up(sign, operands)
    if sign == "where":
        return picked_entries(evaluate(operands[0], documents, proofs), *operands[1:])
    if sign == "key":
        follow(operands[0], documents)
        return operands[0].rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    if sign == "sum" and isinstance(operands[0], str):
        return sum(follow_all(operands[0], documents))
    if sign == "each":
        entries = evaluate(operands[0], documents, proofs)
        return [entry[operands[1]] for entry in entries if entry.get(operands[1]) is not None]
    values = [evaluate(operand, documents, proofs) for operand in operands]
    return _applied(sign, values)


def _applied(sign: str, values: list[Any]) -> Any:
    if sign == "len":
        return len(values[0])
    if sign == "count":
        return len(values)
    if sign == "all":
        return values
    if sign == "abs":
        return abs(values[0])
    if sign in ("min", "max", "sum"):
        several = values[0] if len(values) == 1 else values
        return min(several) if sign == "min" else max(several) if sign == "max" else sum(several)
    result = values[0]
    for value in values[1:]:
        result = OPERATORS[sign](result, value)
    return result


def picked_entries(entries: Iterable[Any], field: str, sign: str, value: Any) -> list[Any]:
    """Entries whose field compares so with a value."""
    return [entry for entry in entries if holds(entry.get(field), sign, value)]


def holds(found: Any, sign: str, value: Any) -> bool:
    """Whether a comparison holds; nothing unknown or of another kind does."""
    try:
        return found is not None and COMPARISONS[sign](found, value)
    except TypeError:
        return False


def follow(pointer: str, documents: Mapping[str, Any]) -> Any:
    """What a pointer leads to."""
    return next(follow_all(pointer, documents))


def follow_all(pointer: str, documents: Mapping[str, Any]) -> Iterator[Any]:
    """What a pointer leads to; `*` leads to every entry of a list."""
    name, colon, path = pointer.partition(":")
    if not colon or name not in documents:
        raise LookupError(f"there is no document {name!r}")
    yield from _walk(documents[name], path.split("/")[1:], pointer)


def _walk(value: Any, parts: list[str], pointer: str) -> Iterator[Any]:
    for place, part in enumerate(parts):
        key = part.replace("~1", "/").replace("~0", "~")
        if part == "*" and isinstance(value, list):
            for entry in value:
                yield from _walk(entry, parts[place + 1 :], pointer)
            return
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise LookupError(f"there is nothing at {pointer}")
    yield value
