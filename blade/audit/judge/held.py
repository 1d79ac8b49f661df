"""A report's statements held to the truth: which are so, which are not, and what was made up. Standard library only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from blade.audit.figures import Figure, agrees
from blade.audit.judge.said import Said
from blade.audit.judge.statements import Labelled, Number, Rated
from blade.audit.judge.truth import Truth
from blade.audit.markdown import CODE, shown
from blade.audit.mentions import split_citation, tasks_in

Kind = Literal["number", "headline", "label", "rate", "citation", "quote", "task", "arithmetic", "claim"]
MADE_UP: frozenset[Kind] = frozenset({"citation", "quote", "task"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One statement and what became of it."""

    kind: Kind
    """What sort of statement."""
    holds: bool
    """Whether it is so."""
    line: int
    """Where it stands."""
    said: str
    """What was said."""
    true: str = ""
    """What is so instead."""


def hold(said: Said, truth: Truth) -> list[Held]:
    """Every statement that the truth settles, by line."""
    found = [*numbers(said, truth), *labels(said, truth), *rates(said, truth), *proofs(said, truth), *ids(said, truth)]
    return sorted(found, key=lambda one: (one.line, one.kind, one.said))


def numbers(said: Said, truth: Truth) -> Iterator[Held]:
    """Values; one that may be about something else speaks for the report but never against it."""
    for number in said.numbers:
        value = truth.value(number.path)
        if value is None:
            continue
        holds = states(number.figure, value) == number.positive
        if holds or number.sure:
            kind: Kind = "headline" if is_headline(number, said) else "number"
            what = f"{number.path} {'is' if number.positive else 'is not'} {number.figure.value:g}{number.figure.unit}"
            yield Held(kind=kind, holds=holds, line=number.line, said=what, true=f"{value:.4g}")


def is_headline(number: Number, said: Said) -> bool:
    return number.path == said.keywords.headline


def states(figure: Figure, value: float) -> bool:
    """Whether a figure states a value, shares in percent or as fractions."""
    return agrees(figure, 100.0 * value if figure.unit == "%" else value)


def labels(said: Said, truth: Truth) -> Iterator[Held]:
    """Labels of tasks; a question mark is a shade of doubt, not another label."""
    for one in said.labelled:
        true = truth.labels.get(one.task)
        if true is not None:
            holds = (one.label.rstrip("?") == true.rstrip("?")) == one.positive
            yield Held(kind="label", holds=holds, line=one.line, said=label_words(one), true=true)


def label_words(one: Labelled) -> str:
    return f"task {one.task} {'is' if one.positive else 'is not'} {one.label}"


def rates(said: Said, truth: Truth) -> Iterator[Held]:
    """How often tasks pass."""
    for one in said.rated:
        true = truth.tasks[one.task]
        if true[1] > 0:
            holds = ((one.passed, one.total) == true) == one.positive
            yield Held(kind="rate", holds=holds, line=one.line, said=rate_words(one), true=f"{true[0]} of {true[1]}")


def rate_words(one: Rated) -> str:
    return f"task {one.task} passes {one.passed} of {one.total}"


def proofs(said: Said, truth: Truth) -> Iterator[Held]:
    """Citations exist, and what is quoted stands there."""
    for one in said.cited:
        there = truth.has_rollout(one.citation)
        if there is not None:
            yield Held(
                kind="citation", holds=there, line=one.line, said=one.citation, true="" if there else "no such rollout"
            )
        says = truth.says(one.citation, one.quote) if one.quote and there else None
        if says is not None:
            yield Held(kind="quote", holds=says, line=one.line, said=one.quote, true="" if says else "not said there")


def ids(said: Said, truth: Truth) -> Iterator[Held]:
    """Tasks that are named as such exist."""
    for sentence in said.sentences if truth.tasks else ():
        for task, _, _ in tasks_in(sentence.text):
            if task not in truth.tasks and looks_like_key(task, truth):
                yield Held(kind="task", holds=False, line=sentence.line, said=f"task {task}", true="no such task")
    for table in said.document.tables if truth.tasks else ():
        for row in table.rows:
            for code in CODE.findall(" ".join(row.cells)):
                key = split_citation(code)
                if key is not None and key[0] not in truth.tasks and truth.has_rollout(code) is None:
                    yield Held(kind="task", holds=False, line=row.line, said=shown(code), true="no such task")


def looks_like_key(task: str, truth: Truth) -> bool:
    """Whether a name in code could be a task's: one of digits where all tasks have digits, else any."""
    return task.isdigit() or not all(known.isdigit() for known in truth.tasks)
