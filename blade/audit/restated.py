"""The same quantity stated twice, in sentences or in tables.

Two statements are of the same quantity when the same words describe it and the same words narrow it: the rest of the
sentence, the headings above, the caption of the table. Standard library only.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.audit.claims import Claim
from blade.audit.figures import Figure
from blade.audit.markdown import Document, shown
from blade.audit.outcome import Check
from blade.audit.subjects import counted_by, noun_behind, words_of
from blade.audit.told import Told

MEASURES = frozenset({"passrate", "interval", "meanreward", "consistency", "coverage", "retry", "se", "micro"})
SUPPOSED = re.compile(
    r"\b(?:would|might|could(?! not)|if|should|suppos\w+|had (?:it|they|all|these|those)|were (?:it|they|to|there))\b",
    re.IGNORECASE,
)
"""Words of what might be and is not."""
CODES = re.compile(r"`[^`]*`")
LINKED = re.compile(
    r"(pass[@^]\w+|[A-Za-z]+(?: [a-z]+)?)\s*(?:is|was|of|=|:|at|stands at|reaches|reached|equals)?\s*(?:only |just )?$"
)
"""A measure right before its value."""

Subject = tuple[str, frozenset[str], frozenset[str]]
"""Unit, words that describe a quantity, and words that narrow it."""


class Statement(NamedTuple):
    """A quantity as it was stated."""

    about: Subject
    """What it is."""
    figure: Figure
    """How much."""
    claim: Claim
    """Where."""


def check_restated(told: Told) -> Iterator[Check]:
    """Statements of one quantity that disagree."""
    statements: dict[Subject, list[Statement]] = defaultdict(list)
    for statement in [*prose_statements(told), *cell_statements(told)]:
        statements[statement.about].append(statement)
    for found in statements.values():
        yield from compare(found)


def compare(found: Sequence[Statement]) -> Iterator[Check]:
    """Statements against the one that most of them agree with, the first when none is ahead."""
    if len(found) < 2:
        return
    agreeing = [sum(agree(one.figure, other.figure) for other in found) for one in found]
    standard = found[agreeing.index(max(agreeing))]
    for statement in found:
        is_same_breath = statement.claim.at == standard.claim.at  # `250 tasks …; unsafe: … 200 tasks` are of two things
        if statement is not standard and not is_same_breath:
            doubt = " for the same, and one of the two is wrong" if len(found) == 2 else " for the same"
            why = f"line {standard.claim.line} says {standard.claim.said}{doubt}"
            holds = agree(statement.figure, standard.figure)
            yield Check(claim=statement.claim, holds=holds, true=standard.claim.said, why=why)


def agree(one: Figure, other: Figure) -> bool:
    """Whether two figures can be roundings of one number; counts must be equal."""
    slack = 0.0 if one.is_whole and other.is_whole else one.half + other.half
    return abs(one.value - other.value) <= slack + 1e-9


def prose_statements(told: Told) -> Iterator[Statement]:
    """Quantities that sentences state."""
    for speech in told.speeches:
        numbers = [claim for claim in speech if claim.figures and claim.table is None]
        if not numbers or SUPPOSED.search(numbers[0].words):
            continue
        rest = rest_of(numbers)
        for claim in numbers:
            own = own_words(claim)
            if own and not own & {"interval", "se"}:
                scope = frozenset(word for word in rest - own if word != "scored" and not is_measure({word}))
                narrowed = scope | told.narrowed_by(claim.section)
                yield Statement((claim.unit, own, narrowed), claim.figures[0], claim)


def own_words(claim: Claim) -> frozenset[str]:
    """The words that name a quantity: the noun behind a count, the measure beside anything else."""
    figure = claim.figures[0]
    is_each = re.match(r"[^.,;()\d]{0,24}\b(?:each|per|apiece)\b", claim.words[claim.end :]) is not None
    is_answer = claim.words[: claim.start].endswith("'")  # `it gives '18' where '102' is wanted`
    if claim.kind != "figure" or figure.hedge or figure.word or figure.signed or is_each or is_answer:
        return frozenset()
    return words_of(noun_behind(claim)) if figure.is_whole else measure_words(claim)


def rest_of(numbers: Sequence[Claim]) -> frozenset[str]:
    """Words of a sentence that belong to none of its counts."""
    text, pieces, end = numbers[0].words, list[str](), 0
    for claim in sorted(numbers, key=lambda claim: claim.start):
        pieces.append(text[end : claim.start])
        end = claim.end + (counted_by(claim) if not claim.unit else 0)
    return words_of(" ".join([*pieces, text[end:]]))


def measure_words(claim: Claim) -> frozenset[str]:
    """The measure that a percentage or a decimal is said to be, right before or behind it."""
    before, behind = claim.words[max(0, claim.start - 40) : claim.start], claim.words[claim.end : claim.end + 24]
    found = re.match(r"\s*(pass[@^]\w+)", behind) or LINKED.search(before)
    words = words_of(found[1]) if found else frozenset[str]()
    return words if is_measure(words) else frozenset()


def is_measure(words: set[str] | frozenset[str]) -> bool:
    """Whether words name a measure: pass@1, coverage, mean reward and the like."""
    return bool(words & MEASURES) or any(word.startswith(("pass@", "pass^")) for word in words)


def cell_statements(told: Told) -> Iterator[Statement]:
    """Quantities that tables state: a row and a column name them, a caption or a heading narrows them."""
    repeated = parallel_tables(told.document)
    for claim in told.claims:
        if claim.table is None or claim.kind != "figure" or claim.place == 0 or claim.figures[0].hedge:
            continue
        table = told.document.tables[claim.table]
        row, column = words_of(claim.row or ""), words_of(claim.column or "")
        labels, headers = map(words_of, map(shown, table.column(0))), map(words_of, map(shown, table.header))
        if claim.cell != claim.said or list(labels).count(row) != 1 or (column and list(headers).count(column) != 1):
            continue
        scope = told.narrowed_by(claim.section)
        if not column and is_measure(row):
            yield Statement((claim.unit, row, scope), claim.figures[0], claim)
        elif len(row) >= 2 and claim.table not in repeated:
            words = row | {f"|{word}" for word in column}
            yield Statement(
                (claim.unit, words, scope | set(CODES.findall(shown(table.caption)))), claim.figures[0], claim
            )


def parallel_tables(document: Document) -> set[int]:
    """Tables with the header of another one and most of its rows: they are of different things, such as models."""
    rows = [frozenset(table.column(0)) for table in document.tables]
    found = set()
    for one, first in enumerate(document.tables):
        for other, second in enumerate(document.tables):
            shared = len(rows[one] & rows[other])
            if one != other and first.header == second.header and 2 * shared > min(len(rows[one]), len(rows[other])):
                found.add(one)
    return found
