"""A report as passages that can support a fact: sentences, rows of tables, and two neighbours together.

Each has its words as stems in order and its values: numbers, codes, capitals such as labels, and quotations. What a
report does not say in its own name (questions, block quotes, what it puts into doubt) is not a passage. Whether words
are sentences at all is told by how they follow each other in the golden report. Standard library only.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from blade.audit.figures import find_figures
from blade.audit.markdown import CODE, QUOTED, blanked_code, read_document, without_code_marks

WORD = re.compile(r"[a-z][a-z'’-]*[a-z]|[a-z]|\d[\d.,]*")
CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
NEGATION = re.compile(r"\b(?:not|no|none|nor|neither|cannot|without|nobody|nothing)\b|n['’]t\b", re.IGNORECASE)
DOUBTED = re.compile(
    r"\?\W*$|^\W*(?:perhaps|maybe)\b|\bmay or may not\b|\bunclear whether\b|\bmight (?:think|write|say|claim)\b"
    r"|\bno (?:evidence|sign|proof) that\b|\bmyth\b|\b(?:this|that|which|it) is (?:false|wrong|untrue)\b"
    r"|\b(?:previous|earlier|other|another) (?:run|report|model|benchmark)\b",
    re.IGNORECASE,
)
"""A question, a doubt, or somebody else's words or run: nothing the report says of this one."""
NOT = frozenset({"not", "no", "none", "nor", "neither", "cannot", "without", "did", "do", "does", "doe"})
ENDING = re.compile(r"(?:ations?|ments?|ingly|edly|ings?|ers?|ed|es|s|ly|al|ion)$")
MOST_WORDS = 120
"""Words of neighbouring sentences that are taken together, at most."""
CLASSES: dict[str, str] = {
    word: part
    for part, words in {
        "the": "the a an its their his her this these those every each no any some all both another",
        "of": "of in on at by for with from to into over under between without within per than as through across after",
        "is": "is are was were be been has have had does do did can could will would may must should",
        "it": "it they he she we who which that what where there nothing nobody",
        "and": "and or but so while because although if when whether nor",
        "not": "not never only also still just even",
    }.items()
    for word in words.split()
}
"""Words that join others, by the part they play: how these follow each other tells sentences from lists of words."""


@dataclass(frozen=True)
class Passage:
    """Something a report says in one place."""

    text: str
    """Plain text, code between marks."""
    line: int
    """Where it begins."""
    heading: str = ""
    """The heading it stands under."""
    is_row: bool = False
    """Whether it is a row of a table with its heads."""

    @cached_property
    def words(self) -> list[str]:
        """Stems in order; code and quotations are values, and words as well."""
        return [stem(word) for word in WORD.findall(without_code_marks(self.text).lower())]

    @cached_property
    def known(self) -> frozenset[str]:
        """The same as a set."""
        return frozenset(self.words)

    @cached_property
    def spoken(self) -> list[str]:
        """Words without those that say how much or not."""
        return [word for word in self.words if not word[0].isdigit() and word not in NOT]

    @cached_property
    def values(self) -> frozenset[str]:
        """What cannot be said in other words: numbers, codes and capitals, each with a sign for its kind."""
        figures = find_figures(self.text)
        found = {number_value(one.value) for one in figures if not (one.word and one.value <= 1)}
        codes = {code_value(code) for code in CODE.findall(self.text) if code.strip()}
        return frozenset(found | codes | {f"^{word}" for word in CAPITALS.findall(self.text)})

    @cached_property
    def negations(self) -> int:
        """How often it says that something is not so; what is quoted says nothing."""
        return len(NEGATION.findall(QUOTED.sub(" ", blanked_code(self.text))))


@dataclass(frozen=True)
class Passages:
    """Everything a report says in its own name."""

    sentences: list[Passage]
    """One by one, headings left out."""
    rows: list[Passage]
    """Of tables, each with the heads of its columns before the cells."""
    dropped: int = 0
    """Sentences it does not stand for."""

    @cached_property
    def all(self) -> list[Passage]:
        """Sentences alone and with the next under the same heading, and rows."""
        pairs = [
            Passage(f"{one.text} {behind.text}", one.line, one.heading)
            for one, behind in pairwise(self.sentences)
            if one.heading == behind.heading and len(one.words) + len(behind.words) <= MOST_WORDS
        ]
        return [*self.sentences, *pairs, *self.rows]


def read_passages(text: str) -> Passages:
    """What a report says."""
    document = read_document(text)
    kept: list[Passage] = []
    dropped = 0
    for sentence in document.sentences():
        passage = document.passages[sentence.passage]
        if passage.level:
            continue
        outside, quoted = QUOTED.sub(" ", blanked_code(sentence.text)), QUOTED.match(sentence.text)
        is_quoted = quoted is not None and len(quoted[0]) > 0.5 * len(sentence.text)
        if passage.quoted or is_quoted or DOUBTED.search(outside):
            dropped += 1
        else:
            kept.append(Passage(sentence.text, sentence.line, part_of(sentence.section)))
    rows: list[Passage] = []
    for table in document.tables:
        for row in table.rows if not table.quoted else ():
            pairs = zip(table.header, row.cells, strict=False)
            said = "; ".join(f"{head} {cell}" if place else cell for place, (head, cell) in enumerate(pairs))
            rows.append(Passage(said, row.line, part_of(table.section), is_row=True))
    return Passages(kept, rows, dropped)


def part_of(section: Sequence[str]) -> str:
    """The heading of the part that something stands in: the one below the title."""
    return section[:2][-1] if section else ""


def stem(word: str) -> str:
    """A word without its ending."""
    return ENDING.sub("", word) if len(word) > 5 else word.removesuffix("s") if len(word) > 3 else word


def number_value(number: float) -> str:
    """A number in one form."""
    return f"#{number:g}"


def code_value(code: str) -> str:
    """Code in one form: a label or a number is what it is without code, and a citation names its rollout."""
    code = code.strip()
    if CAPITALS.fullmatch(code):
        return f"^{code}"
    if re.fullmatch(r"\d{1,6}(?:\.\d+)?", code):
        return number_value(float(code))
    rollout = re.match(r"(.*:[0-9]+)#[0-9]+$", code)
    return f"`{(rollout[1] if rollout else code).lower()}"


class Fluency:
    """How words follow each other in real sentences, learned from the golden report itself."""

    def __init__(self, sentences: Iterable[Passage]) -> None:
        self.single: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.first: Counter[str] = Counter()
        for text in dict.fromkeys(one.text for one in sentences):
            classes = parts_of(text)
            self.single.update(classes)
            self.pairs.update(pairwise(classes))
            self.first.update(classes[:-1])

    def gain(self, text: str) -> float:
        """What knowing the word before tells of a word, in nats per word: about 0 for words in no order."""
        classes = parts_of(text)
        total, kinds = sum(self.single.values()) or 1, len(self.single) + 1
        gains = [
            math.log(
                ((self.pairs[before, now] + 0.5) / (self.first[before] + 0.5 * kinds))
                / ((self.single[now] + 0.5) / (total + 0.5 * kinds))
            )
            for before, now in pairwise(classes)
        ]
        return sum(gains) / len(gains) if gains else 0.0


def parts_of(text: str) -> list[str]:
    """The part each word plays: those that join others are told apart, all others are one, and so are numbers."""
    tokens = re.findall(r"[a-z'’]+|\d+|[.,;:()]", CODE.sub(" w ", text).lower())
    return [CLASSES.get(word, "9" if word[0].isdigit() else word if not word[0].isalpha() else "w") for word in tokens]
