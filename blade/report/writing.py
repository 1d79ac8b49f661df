"""The language prose is written in: Markdown with Jinja2 values, each of which carries its address.

    The model passes {{ pass_at_1 | pct }} ({{ pass_at_1 | ci }}) and never {{ buckets.never | count }} tasks:
    {{ buckets.never | tasks }}. It guesses {{ cite("25:0#3", "easy to guess") }}.

Names are the keys of `analysis.json` (or `comparison.json`), and every top-level object lends its keys. A list of
objects is also reached by name, `signals.cut_off`. A text may compute with values but state no number of its own: what
is printed without an address is an error here or is named by `blade check`.
"""

import re
import traceback
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import jinja2
import jinja2.meta
import jinja2.nodes
import msgspec
from jinja2.sandbox import ImmutableSandboxedEnvironment

from blade.errors import BladeError, UsageError
from blade.report import numbers, text
from blade.report.addresses import (
    COMPARISONS,
    Entries,
    Proofs,
    Record,
    address_of,
    addressed,
    bare,
    holds,
    size,
    with_address,
)
from blade.report.marks import MARKS, mark
from blade.report.text import Markdown

MOST_LISTED = 20
PLAIN_CONSTANTS = (1, 100)
"""What arithmetic may use beside values: the whole, as in `1 - pass_at_1`."""
COUNTING = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
RULES = "Name a value of the run; `blade values DIR WORDS` finds them"


class WritingError(UsageError):
    """A text names what is not there, states a number itself, or quotes what nobody said."""

    def __init__(self, message: str, *, name: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.name, self.line, self.column = name, line, column


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """What a text can be about."""

    documents: dict[str, Any]
    """JSON documents by name; the first is the one whose keys are names."""
    proofs: Proofs | None = None
    """The rollouts, where they can be looked up."""


def render_text(source: str, sources: Sources, *, where: str, first_line: int = 1) -> Markdown:
    """A text with its values filled in, marked where claims are recorded.

    Raises:
        WritingError: with the line and column of the mistake.
    """
    made = Environment()
    names = names_of(sources)
    source = MARKS.sub("", source)
    try:
        tree = made.parse(source)
        check_names(tree, names, source)
        check_constants(tree)
        return Markdown(made.from_string(source).render(names))
    except jinja2.TemplateSyntaxError as error:
        raise _placed(WritingError(f"{error.message}", line=error.lineno), source, where, first_line) from error
    except WritingError as error:
        error.line = error.line or _line_of(error)
        raise _placed(error, source, where, first_line) from error
    except (jinja2.TemplateError, BladeError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        hint = " (put arithmetic into brackets before a filter)" if "operand" in str(error) else ""
        raise _placed(WritingError(f"{error}{hint}", line=_line_of(error)), source, where, first_line) from error


def _line_of(error: BaseException) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == "<template>"), 1)


def _placed(error: WritingError, source: str, where: str, first_line: int) -> WritingError:
    """The error with its place in the file."""
    lines = source.split("\n")
    line = lines[error.line - 1] if 0 < error.line <= len(lines) else ""
    at = line.find(error.name) if error.name else -1
    column = error.column or (at if at >= 0 else max(line.find("{{"), 0)) + 1
    number = first_line + max(error.line, 1) - 1
    message = str(error)
    message = message if message.endswith(("?", ".")) else f"{message}."
    return WritingError(f"{where}:{number}:{column}: {message}", name=error.name, line=number, column=column)


def check_names(tree: jinja2.nodes.Template, names: Mapping[str, Any], source: str) -> None:
    """Raises at the first name that is not there."""
    for name in sorted(jinja2.meta.find_undeclared_variables(tree) - set(names)):
        found = re.search(rf"(?<![\w.]){re.escape(name)}\b", source)
        line = source.count("\n", 0, found.start()) + 1 if found else 1
        raise WritingError(f"there is no {name!r}; {near(name, names)}", name=name, line=line)


def check_constants(tree: jinja2.nodes.Template) -> None:
    """Raises at the first number that a text computes with by itself."""
    for node in tree.find_all(jinja2.nodes.BinExpr):
        for child in (node.left, node.right):
            value = child.value if isinstance(child, jinja2.nodes.Const) else None
            if isinstance(value, int | float) and value not in PLAIN_CONSTANTS:
                raise WritingError(f"computes with {value}, which is not a value of the run. {RULES}", line=node.lineno)


def near(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """Names that look like one that is not there."""
    family, _, key = str(name).rpartition("_")  # `pass_at_4` is the 4 of `pass_at_k`
    if isinstance(known, Mapping) and isinstance(inner := known.get(f"{family}_k"), Mapping) and key in inner:
        return f'did you mean {family}_k["{key}"]?'
    close = get_close_matches(str(name), list(known), n=3, cutoff=0.5) or sorted(map(str, known))[:10]
    return f"did you mean {', '.join(close)}?" if close else "nothing is there"


def names_of(sources: Sources) -> dict[str, Any]:
    """Everything a text can name."""
    main, *others = sources.documents
    names = _names_in(addressed(sources.documents[main], f"{main}:"), sources.proofs, "")
    for name in others:
        own = _names_in(addressed(sources.documents[name], f"{name}:"), sources.proofs, name)
        names[name] = Run({**names.get(name, {}), **own})
    return names


class Run(dict[str, Any]):
    """The names of one of several runs: `base.pass_at_1`."""


def _names_in(root: Record, proofs: Proofs | None, run: str) -> dict[str, Any]:
    """The keys of a document, those that its objects lend, and functions."""
    names: dict[str, Any] = dict(root)
    for value in root.values():
        if isinstance(value, Record):
            names = {**value, **names}
    if isinstance(found := root.get("headline"), str) and found in names:
        names["headline"] = names[found]
    if isinstance(tasks := root.get("tasks"), Entries) and tasks and "c" in tasks[0] and "rollouts" in names:
        names["passing"] = total(tasks, "c")
        names["failing"] = names["rollouts"] - names["passing"]
    return names | _functions(root, proofs, run)


def _functions(root: Record, proofs: Proofs | None, run: str) -> dict[str, Any]:
    causes = root.get("causes", Entries())
    of_run = [run] if run else []

    def look_up(operation: str, *operands: Any) -> Any:
        if proofs is None:
            raise WritingError(f"{operation} needs the rollouts, which are not where they were", name=operation)
        try:
            return proofs.look_up(operation, [*operands, *of_run])
        except (LookupError, UsageError) as error:
            raise WritingError(str(error.args[0] if error.args else error), name=str(operands[0])) from error

    def cite(citation: str, quote: str | None = None) -> Markdown:
        place = mark(text.code(look_up("cite", citation)), ["code"], ["cite", citation, *of_run])
        if quote is None:
            return Markdown(place)
        look_up("quote", citation, quote)
        words = f"“{text.code(quote)}”"
        return Markdown(f"{mark(words, ['quote'], ['quote', citation, quote, *of_run])} ({place})")

    def field(citation: str, path: str) -> Any:
        found = with_address(look_up("field", citation, path), ["field", citation, path, *of_run])
        if isinstance(found, str):
            return text.code(found)
        return Markdown(mark(f"`{found}`", ["value"], address_of(found)))

    def find(**wanted: Any) -> Entries:
        listed = [with_address(key, ["cite", key, *of_run]) for key in look_up("find", wanted)]
        return with_address(listed, ["find", wanted, *of_run])  # type: ignore[no-any-return]

    def cites(*citations: str) -> Entries:
        places = [["cite", citation, *of_run] for citation in citations]
        listed = [with_address(look_up("cite", place[1]), place) for place in places]
        return with_address(listed, ["all", *places])  # type: ignore[no-any-return]

    def label(task: str) -> Any:
        return child(entry_named(causes, str(task), "task with a label"), "label")

    return {
        "cite": cite,
        "cites": cites,
        "field": field,
        "find": find,
        "label": label,
        "labels": Labels(causes),
        "task": lambda key: entry_named(root.get("tasks", Entries()), str(key), "task"),
        "mode": lambda name: mode_named(root, str(name)),
    }


class Labels:
    """Tasks by the label in force: `labels.KG`."""

    def __init__(self, causes: Entries) -> None:
        self.causes = causes

    def __getitem__(self, label: str) -> Entries:
        return where(self.causes, "label", label)


def mode_named(root: Record, name: str) -> Any:
    """A failure mode: an entry of a top-level list about modes, or of any other that has the name."""
    lists = sorted(root.items(), key=lambda pair: "mode" not in pair[0])
    known: list[str] = []
    for _, value in lists:
        entries = value if isinstance(value, Entries) else Entries()
        for entry in entries:
            if name in (entry_name(entry), *_titles(entry)):
                return entry
        known += [str(entry_name(entry)) for entry in entries if entry_name(entry)]
    raise WritingError(f"there is no mode {name!r}; {near(name, known)}", name=name)


def _titles(entry: Any) -> list[Any]:
    return [entry.get(key) for key in ("title", "code", "name", "mode")] if isinstance(entry, Record) else []


def entry_name(entry: Any) -> str | None:
    """What an object in a list is called: its first text."""
    if not isinstance(entry, Record):
        return entry if isinstance(entry, str) else None
    return next((value for value in entry.values() if isinstance(value, str)), None)


def entry_named(entries: Any, name: str, what: str = "entry") -> Any:
    """The object of a list that is called so."""
    for entry in entries:
        if entry_name(entry) == name:
            return entry
    known = [str(entry_name(entry)) for entry in entries if entry_name(entry)]
    raise WritingError(f"there is no {what} {name!r}; {near(name, known)}", name=name)


def child(value: Any, name: Any) -> Any:
    """What an object or a list holds under a name; an object lends the names of the lists in it."""
    if isinstance(value, Entries):
        if isinstance(name, int) or (str(name).isdecimal() and entry_is_missing(value, str(name))):
            return value[int(name)]
        return entry_named(value, str(name))
    if name in value:
        return value[name]
    lists = [inner for inner in value.values() if isinstance(inner, Entries)]
    for entry in (entry for inner in lists for entry in inner):
        if entry_name(entry) == name:
            return entry
    known = [*value, *(str(entry_name(entry)) for inner in lists for entry in inner if entry_name(entry))]
    raise WritingError(f"there is no {name!r} here; {near(str(name), known)}", name=str(name))


def entry_is_missing(entries: Entries, name: str) -> bool:
    return all(entry_name(entry) != name for entry in entries)


def number_of(value: Any) -> Any:
    """The number a value stands for: an object with a `value` stands for it, a list for how many it holds."""
    if isinstance(value, Record):
        if "value" not in value:
            raise WritingError(f"has several values, {', '.join(value)}; name one of them", name="{{")
        value = value["value"]
    if isinstance(value, Entries):
        value = size(value)
    if value is None:
        raise WritingError("is not known in this run; do not name it", name="{{")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WritingError(f"{str(value)[:40]!r} is not a number", name="{{")
    if address_of(value) is None:
        raise WritingError(f"{value} is not a value of the run. {RULES}", name=str(value))
    return value


def number_filter(function: Callable[..., Markdown]) -> Callable[..., Markdown]:
    """A way of writing numbers, for whatever stands for one."""
    return lambda value, *rest: function(number_of(value), *rest)


def ci(value: Any, form: str = "pct") -> Markdown:
    """The interval of a metric: `31.2 % to 53.4 %`, or as `num` or `pp` are written."""
    ends = value.get("ci95") if isinstance(value, Record) else value
    if not isinstance(ends, Entries) or len(ends) != 2:
        raise WritingError("has no interval", name="ci")
    return Markdown(f"{FILTERS[form](ends[0])} to {FILTERS[form](ends[1])}")


def listed(value: Any, most: int = MOST_LISTED) -> Markdown:
    """Tasks or citations as code, with how many follow; `none` when there are none."""
    if not isinstance(value, Entries):
        raise WritingError("is not a list", name="tasks")
    shown = ", ".join(text.code(entry_name(entry) or "") for entry in value[:most])
    rest = f" and {numbers.count(size(value) - most)} more" if len(value) > most else ""
    return Markdown(f"{shown}{rest}") if value else Markdown("none")


def where(entries: Any, field: str, *condition: Any) -> Entries:
    """Entries of a list with a property: `where("label", "KG")`, `where("failed", ">", 3)`."""
    sign, value = condition if len(condition) == 2 else ("==", *condition)
    if not isinstance(entries, Entries) or sign not in COMPARISONS:
        raise WritingError("where takes a list, a field, perhaps a comparison, and a value", name="where")
    kept = [entry for entry in entries if isinstance(entry, Record) and holds(entry.get(field), sign, value)]
    return with_address(kept, ("where", entries.address, field, sign, bare(value)))  # type: ignore[no-any-return]


def total(entries: Any, field: str) -> Any:
    """The sum of a field over a list; what is not known adds nothing."""
    result = sum(bare(entry[field]) for entry in entries if entry.get(field) is not None)
    return with_address(result, ("sum", ("each", entries.address, field)))


def words(value: Any) -> Markdown:
    """A small count written out."""
    number = number_of(value)
    known = 0 <= number < len(COUNTING)
    return Markdown(mark(COUNTING[number], ["words"], address_of(number))) if known else numbers.count(number)


def capital(value: Any) -> Markdown:
    """What is printed, beginning with a capital."""
    shown = str(printed(value))
    at = len(shown) - len(shown.lstrip("\x01\x02\x03\x04\x05\x06"))
    return Markdown(shown[:at] + shown[at : at + 1].upper() + shown[at + 1 :])


def printed(value: Any) -> Any:
    """What an expression prints when it names no filter."""
    if isinstance(value, jinja2.Undefined | Markdown):
        return value
    if isinstance(value, Entries):
        return listed(value)
    if isinstance(value, float) or (isinstance(value, Record) and "value" in value):
        raise WritingError("give it a filter that says how it is written: | pct, | pp or | num", name="{{")
    if isinstance(value, Record):
        return text.code(entry_name(value) or "")
    if isinstance(value, str):
        return text.cell(value)
    return numbers.count(number_of(value))


FILTERS: dict[str, Callable[..., Any]] = {
    **{
        name: number_filter(function)
        for names, function in (
            (("pct", "percent"), numbers.percent),
            (("pp",), numbers.signed_pp),
            (("points",), numbers.points),
            (("num", "number"), numbers.number),
            (("signed",), numbers.signed_number),
            (("count",), numbers.count),
            (("amount",), numbers.amount),
            (("p_value",), numbers.p_value),
            (("seconds",), numbers.seconds),
            (("plural",), numbers.plural),
        )
        for name in names
    },
    **{"ci": ci, "tasks": listed, "listed": listed, "where": where, "total": total, "words": words, "capital": capital},
    "share": lambda value, whole: number_of(value) / number_of(whole),
    **{"length": number_of, "value": number_of, "code": text.code, "md": text.md, "list": list},
    "join": lambda values, by=", ": Markdown(by.join(str(printed(value)) for value in values)),
}
FORMS: dict[str, Callable[..., str]] = {
    **{function.__name__: function for function in (numbers.percent, numbers.number, numbers.signed_number)},
    **{function.__name__: function for function in (numbers.p_value, numbers.points, numbers.signed_pp, numbers.count)},
    **{function.__name__: function for function in (numbers.amount, numbers.signed_amount, numbers.tokens)},
    **{function.__name__: function for function in (numbers.seconds, numbers.size, numbers.p_words, numbers.short_p)},
    **{function.__name__: function for function in (text.md, text.cell, text.code, text.code_cell, text.sentence)},
    "clauses": text.clauses,
    "words": lambda value: COUNTING[value],
    "quote": lambda value: f"“{text.code(value)}”",
    "value": lambda value: f"`{value}`",
}
"""How a claim is printed, by the name in its form."""


class Environment(ImmutableSandboxedEnvironment):
    """Where prose is rendered: nothing is reachable but values, and nothing unknown is left blank."""

    def __init__(self) -> None:
        super().__init__(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=printed, autoescape=False
        )
        self.filters = dict(FILTERS)
        self.globals = {}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`a.b` as `a["b"]` for values of documents."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A part of a value."""
        if isinstance(obj, Labels):
            return obj[str(argument)]
        if isinstance(obj, Run):
            if argument not in obj:
                raise WritingError(f"there is no {argument!r}; {near(str(argument), obj)}", name=str(argument))
            return obj[argument]
        if isinstance(obj, Record | Entries):
            if argument == "items" and isinstance(obj, Record) and "items" not in obj:
                return obj.items
            return child(obj, argument)
        return super().getitem(obj, argument)
