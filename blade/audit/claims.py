"""What a report claims: every figure, id, label, quote and sweeping word, with the place it was said.

A claim is only found here, never judged. Prose is read sentence by sentence, tables cell by cell; text in fences is no
claim. Standard library only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from blade.audit.figures import Figure, find_figures, find_pairs
from blade.audit.markdown import (
    CODE_CLOSE,
    CODE_OPEN,
    QUOTED,
    Document,
    Sentence,
    Table,
    blanked_code,
    read_document,
    shown,
    without_code_marks,
)
from blade.audit.mentions import LISTS_TASKS, citations_in, giver, listed_tasks, row_tasks, split_citation, tasks_in

Kind = Literal[
    "figure",
    "fraction",
    "interval",
    "change",
    "spread",
    "factor",
    "citation",
    "task",
    "label",
    "quote",
    "name",
    "universal",
    "superlative",
]
NUMERIC: frozenset[str] = frozenset({"figure", "fraction", "interval", "change", "spread"})

LABEL = re.compile(r"(?<![\w+-])(?:DA|IR|TI|BI|UK|KG)(?:\+(?:DA|IR|TI|BI|UK|KG))*\??(?![\w+-])")
BESIDE_LABEL = re.compile(r"[\s:(*—–-]*(?:(?:for|in|on|of|is)\s+)?(?:tasks?\s+)?")
"""What may stand between a label and a task behind it that it is given to."""
UNIVERSAL = re.compile(
    r"\b(?:all|every|each|none|no|only|never|always|nobody|neither|any|both|exclusively|solely|without exception)\b",
    re.I,
)
SUPERLATIVE = re.compile(
    r"\b(?:lowest|highest|largest|smallest|biggest|fewest|most|least|best|worst|weakest|strongest|hardest|easiest|"
    r"slowest|fastest|longest|shortest|dominant|majority|minority|more than half|less than half)\b",
    re.I,
)
FACTOR = re.compile(
    r"\b(?:twice|double[ds]?|doubling|halve[ds]?|half|triple[ds]?|thrice|"
    r"(?:a|one|two)[ -](?:thirds?|quarters?|fifths?)|three[ -]quarters|"
    r"(?:two|three|four|five|six|seven|eight|nine|ten)[ -](?:times|fold)|an order of magnitude)\b",
    re.I,
)
NEGATION = re.compile(r"\b(?:not|never|no longer|neither|nor|cannot|without|nobody|none)\b|n[’']t\b", re.I)
CLAUSE_END = re.compile(
    r"[;:()—]|,\s+(?:and|but|while|whereas|which|who|so|yet)\b|\s(?:but|while|whereas)\s|[.,](?=\s)"
)
NUMBERING = re.compile(r"(?:\d+(?:\.\d+)*[.)]|\d+(?:\.\d+)+|\d+(?=\s+[A-Z]))\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One thing a report asserts."""

    kind: Kind
    """What sort of claim it is."""
    said: str
    """Its own words, as the report has them."""
    line: int
    """Line of the report, from 1."""
    sentence: str
    """The sentence or the table row it stands in."""
    subject: str
    """What it is about: the clause around it, or a cell's row and column."""
    section: tuple[str, ...] = ()
    """Headings it stands under, outermost first."""
    figures: tuple[Figure, ...] = ()
    """Its numbers: one, or the two of a fraction, an interval or a change."""
    text: str = ""
    """Of a citation, task, label, quote or word: its text."""
    about: tuple[str, ...] = ()
    """Of a label the tasks, of a quote the citations it is given to."""
    positive: bool = True
    """Whether its clause affirms; `False` where it denies."""
    row: str | None = None
    """In a table: the row's first cell."""
    column: str | None = None
    """In a table: the column's header."""
    table: int | None = None
    """In a table: which of the report's tables."""
    place: int = -1
    """In a table: which of its columns, from 0."""
    cell: str = ""
    """In a table: the cell's text."""
    at: int = 0
    """Which sentence or cell of the report it is from: claims of one have the same number."""
    start: int = 0
    """Where in the sentence, or in its cell, the words begin."""
    end: int = 0
    """Where they end."""

    @property
    def words(self) -> str:
        """The sentence or the cell that `start` and `end` count in."""
        return self.sentence if self.table is None else self.cell

    @property
    def values(self) -> tuple[float, ...]:
        """Its numbers, in its unit."""
        return tuple(figure.value for figure in self.figures)

    @property
    def unit(self) -> str:
        """The unit of its numbers, if it has one."""
        return self.figures[-1].unit if self.figures else ""


def extract_claims(text: str) -> list[Claim]:
    """Every claim of a Markdown report, in the order of its lines."""
    return claims_of(read_document(text))


def claims_of(document: Document) -> list[Claim]:
    """Every claim of a report that was read already."""
    speeches = [list(_sentence_claims(document, sentence)) for sentence in document.sentences()]
    speeches += [[claim] for claim in _block_quotes(document)]
    speeches += [found for number, table in enumerate(document.tables) for found in _table_claims(number, table)]
    numbered = [replace(claim, at=at) for at, claims in enumerate(speeches) for claim in claims]
    return sorted(numbered, key=lambda claim: claim.line)


def clause_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the clause that holds a part of a sentence begins and ends."""
    stops = [0, *(found.end() for found in CLAUSE_END.finditer(blanked_code(text))), len(text)]
    first = max((stop for stop in stops if stop <= start), default=0)
    last = min((stop for stop in stops if stop >= end), default=len(text))
    return first, last


def text_claims(text: str, *, line: int = 1, section: tuple[str, ...] = ()) -> Iterator[Claim]:
    """The claims of one sentence, or of one cell of a table; `section` may name the task it is about."""
    return _Speech(text, line, section).claims()


class _Speech:
    """One sentence or cell, and what it says."""

    def __init__(self, text: str, line: int, section: tuple[str, ...]) -> None:
        self.text, self.line, self.section = text, line, section
        self.cited, self.tasks = citations_in(text), tasks_in(text)
        self.quoted = [found.span() for found in QUOTED.finditer(blanked_code(text))]

    def claims(self) -> Iterator[Claim]:
        yield from (self.claim("citation", start, end, text=key) for key, start, end in self.cited)
        yield from (self.claim("task", start, end, text=key) for key, start, end in self.tasks)
        yield from self.numbers()
        yield from self.labels()
        yield from self.quotes()
        yield from self.words("universal", UNIVERSAL)
        yield from self.words("superlative", SUPERLATIVE)
        yield from self.words("factor", FACTOR)

    def claim(
        self,
        kind: Kind,
        start: int,
        end: int,
        *,
        figures: tuple[Figure, ...] = (),
        text: str = "",
        about: tuple[str, ...] = (),
    ) -> Claim:
        first, last = clause_around(self.text, start, end)
        clause = self.text[first:last]
        return Claim(
            kind=kind,
            said=shown(self.text[start:end].strip()),
            line=self.line,
            sentence=shown(self.text),
            subject=shown(clause.strip()),
            section=tuple(map(shown, self.section)),
            figures=figures,
            text=text,
            about=about,
            positive=NEGATION.search(clause) is None,
            start=start,
            end=end,
        )

    def numbers(self) -> Iterator[Claim]:
        """Figures and pairs of them; the number of a task is none, and `one` alone says little."""
        others = [*((start, end) for _, start, end in self.tasks), *self.quoted]
        figures = [figure for figure in find_figures(self.text) if not _overlaps(figure.start, figure.end, others)]
        pairs = find_pairs(self.text, figures)
        yield from (self.claim(p.kind, p.start, p.end, figures=(p.first, p.second)) for p in pairs)
        paired = [(pair.start, pair.end) for pair in pairs]
        for figure in figures:
            if not _overlaps(figure.start, figure.end, paired) and not (figure.word and figure.value <= 1):
                yield self.claim("figure", figure.start, figure.end, figures=(figure,))

    def labels(self) -> Iterator[Claim]:
        """Cause labels of which it is said whose they are."""
        known = [(key, start) for key, start, _ in self.tasks]
        known += [(part[0], start) for key, start, _ in self.cited if (part := split_citation(key))]
        above = [key for title in self.section[-1:] for key, _, _ in tasks_in(title)]
        for found in LABEL.finditer(blanked_code(self.text)):
            before = [key for key, start in sorted(known, key=lambda entry: entry[1]) if start < found.start()]
            beside = [key for key, start in known if BESIDE_LABEL.fullmatch(self.text[found.end() : max(start, 0)])]
            about = before[-1:] or beside[:1] or above
            if about:
                yield self.claim("label", found.start(), found.end(), text=found[0], about=tuple(about))

    def quotes(self) -> Iterator[Claim]:
        """Quoted words, given to the citation right behind them or else to the one before."""
        for start, end in self.quoted:
            place = giver(start, end, self.cited, self.text)
            about = () if place is None else (self.cited[place][0],)
            if about and not _overlaps(start, end, [(first, last) for _, first, last in self.cited]):
                words = without_code_marks(self.text[start + 1 : end - 1])
                yield self.claim("quote", start, end, text=words, about=about)

    def words(self, kind: Kind, pattern: re.Pattern[str]) -> Iterator[Claim]:
        for word in pattern.finditer(blanked_code(self.text)):
            if _overlaps(word.start(), word.end(), self.quoted):
                continue
            yield self.claim(kind, word.start(), word.end(), text=word[0].lower())


def _overlaps(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < last and first < end for first, last in spans)


def _sentence_claims(document: Document, sentence: Sentence) -> Iterator[Claim]:
    numbering = NUMBERING.match(sentence.text) if document.passages[sentence.passage].level else None
    for claim in text_claims(sentence.text, section=sentence.section):
        if numbering is None or claim.start >= numbering.end():
            yield replace(claim, line=document.line_of(sentence, claim.start))


def _block_quotes(document: Document) -> Iterator[Claim]:
    """Block quotes below a passage that cites: its last citation is where they are from."""
    for above, passage in pairwise(document.passages):
        cited = citations_in(above.text)
        if passage.quoted and not above.quoted and cited and not citations_in(passage.text):
            speech = _Speech(passage.text, passage.marks[0][1], passage.section)
            words = without_code_marks(passage.text).strip('“”"')
            yield speech.claim("quote", 0, len(passage.text), text=words, about=(cited[-1][0],))


def _cell_claims(cell: str, header: str, line: int, section: tuple[str, ...]) -> Iterator[Claim]:
    """The claims of a cell; under a header that asks which tasks, code is a task."""
    speech = _Speech(cell, line, section)
    named = {start for _, start, _ in speech.tasks}
    if LISTS_TASKS.search(header):
        speech.tasks += [task for task in listed_tasks(cell) if task[1] not in named]
    return speech.claims()


def _table_claims(number: int, table: Table) -> Iterator[list[Claim]]:
    """The claims of every cell."""
    for row in table.rows:
        tasks = row_tasks(table, row.cells)
        above = (*table.section, f"task {CODE_OPEN}{tasks[0]}{CODE_CLOSE}") if len(tasks) == 1 else table.section
        for place, cell in enumerate(row.cells):
            header = shown(table.header[place]) if place < len(table.header) else ""
            key = shown(row.cell(0))
            yield [
                replace(
                    claim,
                    sentence=" | ".join(map(shown, row.cells)),
                    subject=f"{key} | {header}",
                    section=tuple(map(shown, table.section)),
                    row=key,
                    column=header,
                    table=number,
                    place=place,
                    cell=shown(cell),
                )
                for claim in _cell_claims(cell, header, row.line, above)
                if place
                or claim.said != shown(cell)  # a number that is a row's name says nothing about how much
                or claim.kind not in NUMERIC
            ]
