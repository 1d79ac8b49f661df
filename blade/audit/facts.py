"""Named values: what rows say, under the words by which a report may call it.

A fact has one or more names, each a set of words (`subjects.words_of`), and belongs to the run or to one thing in it: a
task, a level of a field, a signal, a cause. A number of a report is held against facts only by those words, never
because the same number occurs somewhere.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from blade.audit.figures import Figure, agrees
from blade.audit.outcome import decimals, number_text
from blade.audit.subjects import words_of
from blade.metrics import Interval, Metric

Unit = Literal["share", "points", "gain", "count", "number", "seconds", "bytes"]
SECONDS = {"s": 1.0, "ms": 0.001, "min": 60.0, "h": 3600.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
Words = frozenset[str]


class Thing(NamedTuple):
    """What a fact is about, when it is not the whole run."""

    kind: str
    """task, level, signal, pattern, cause, stage, mode, work, model, file, quantity, bucket, trait or side."""
    key: str
    """What tells it from others of its kind."""
    names: tuple[str, ...]
    """What it is called; a name that is code is matched as code, or in a table as a whole cell."""
    words: Words = frozenset()
    """Words that may stand with it and narrow nothing: its field, its kind."""


class Fact(NamedTuple):
    """One named value."""

    path: str
    """Where it stands in `analysis.json` or `comparison.json`."""
    value: float
    """How much; shares and points as fractions of 1."""
    unit: Unit
    """What kind of number it is."""
    names: tuple[Words, ...]
    """Sets of words, each of which names it."""
    thing: Thing | None = None
    """What it belongs to; nothing when it is the run's."""
    wholes: tuple[float, ...] = ()
    """Of a count: what it may be said to be a part of."""
    ends: Interval | None = None
    """Of an interval or a change: both numbers; `value` is the first."""


def named(*phrases: str) -> tuple[Words, ...]:
    """Names by phrases; a phrase of words that narrow nothing names whatever is said without a name."""
    return tuple(dict.fromkeys(words_of(phrase) for phrase in phrases))


def shown_value(fact: Fact, figure: Figure | None = None) -> str:
    """A fact as a report would write it, with the digits of what was said instead."""
    digits = max(1, decimals(figure.half)) if figure else 1
    if fact.ends is not None:
        return " to ".join(shown_number(end, fact.unit, digits) for end in fact.ends)
    if fact.unit == "count" and figure is not None and figure.unit == "%" and fact.wholes:
        return number_text(100 * fact.value / fact.wholes[0], "%", digits)
    if fact.unit == "count" and fact.wholes:
        return f"{fact.value:,.0f} of {' or '.join(f'{whole:,.0f}' for whole in fact.wholes)}"
    return shown_number(fact.value, fact.unit, digits)


def shown_number(value: float, unit: Unit, digits: int) -> str:
    if unit in ("share", "points", "gain"):
        return number_text(100 * value, "%" if unit == "share" else "pp", digits)
    if unit == "count":
        return f"{value:,.0f}"
    return number_text(value, {"seconds": "s", "bytes": "B"}.get(unit, ""), max(digits, 3 if abs(value) < 10 else 1))


def truths(fact: Fact, figure: Figure, value: float | None = None) -> list[float]:
    """What a figure would have to say, in its unit, to say this fact; nothing when its unit cannot."""
    true = fact.value if value is None else value
    if fact.unit in ("share", "points"):
        scaled = [100 * true] if figure.unit in ("%", "pp") else []
        return scaled or ([true] if not figure.unit and figure.half < 0.5 else [])
    if fact.unit == "gain":  # a percentage beside a label is a share of something
        return [100 * true] if figure.unit == "pp" else []
    if fact.unit == "seconds":
        return [true / SECONDS[figure.unit]] if figure.unit in SECONDS else [true] if not figure.unit else []
    if fact.unit == "bytes":
        return [true / BYTES[figure.unit]] if figure.unit in BYTES else []
    if fact.unit == "count" and figure.unit == "%":
        return [100 * true / whole for whole in fact.wholes if whole]
    if fact.unit == "count":
        return [true] if not figure.unit and figure.half >= 0.5 else []
    is_count = figure.half >= 0.5 and abs(true) < 2 and true != int(true)
    return [true] if not figure.unit and not is_count else []


def says(figure: Figure, fact: Fact, value: float | None = None) -> bool | None:
    """Whether a figure says a fact; `None` when it cannot be about it."""
    found = truths(fact, figure, value)
    return any(agrees(figure, true) for true in found) if found else None


def metric_facts(
    path: str, metric: Metric, unit: Unit, phrases: Iterable[str], *, thing: Thing | None = None, over: str = "tasks"
) -> list[Fact]:
    """A metric's value, interval, standard error and how many it is over."""
    if metric.value is None:
        return []
    own = list(phrases)
    facts = [Fact(f"{path}.value", metric.value, unit, named(*own), thing)]
    facts.append(
        Fact(
            f"{path}.n",
            metric.n,
            "count",
            named(*(f"{name} n" for name in own), *(f"{name} {over}" for name in own)),
            thing,
        )
    )
    if metric.ci95 is not None:
        phrases_of_ends = [f"{name} interval" for name in own]
        facts.append(Fact(f"{path}.ci95", metric.ci95[0], unit, named(*phrases_of_ends), thing, ends=metric.ci95))
    if metric.se is not None:
        spread: Unit = "points" if unit == "share" else unit
        facts.append(Fact(f"{path}.se", metric.se, spread, named(*(f"{name} se" for name in own)), thing))
    if metric.short:
        short = named(*(f"{name} fewer rollouts" for name in own))
        facts.append(Fact(f"{path}.short", metric.short, "count", short, thing))
    return facts


def count_fact(
    path: str, value: int | None, *phrases: str, thing: Thing | None = None, wholes: Iterable[float] = ()
) -> list[Fact]:
    """A count, unless nobody knows it."""
    if value is None:
        return []
    return [Fact(path, value, "count", named(*phrases), thing, tuple(dict.fromkeys(wholes)))]


def number_fact(path: str, value: float | None, unit: Unit, *phrases: str, thing: Thing | None = None) -> list[Fact]:
    """A number that is no count, unless nobody knows it."""
    return [] if value is None else [Fact(path, value, unit, named(*phrases), thing)]


def interval_fact(
    path: str, ends: Interval | None, unit: Unit, *phrases: str, thing: Thing | None = None
) -> list[Fact]:
    """An interval, or a change from one number to another."""
    return [] if ends is None else [Fact(path, ends[0], unit, named(*phrases), thing, ends=(ends[0], ends[1]))]
