"""A report as passages that can support a fact: sentences, rows of tables, and two neighbours together.

Each has its words as stems and its values: numbers, codes, capitals such as labels. What a report does not say in its
own name (questions, block quotes, quotations) is not a passage. Standard library only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from blade.audit.figures import find_figures
from blade.audit.markdown import CODE, QUOTED, blanked_code, read_document, visible, without_code_marks

WORD = re.compile(r"[a-z][a-z'’-]*[a-z]|[a-z]|\d[\d.,]*")
TIME = re.compile(r"\b\d{1,2}:\d{2}\b")
CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
NEGATION = re.compile(r"\b(?:not|no|none|nor|neither|cannot|without|nobody|nothing|never)\b|n['’]t\b", re.IGNORECASE)
QUESTION = re.compile(r"\?\W*$")
NOT = frozenset({"not", "no", "none", "nor", "neither", "cannot", "without", "never", "did", "do", "does", "doe"})
ENDING = re.compile(r"(?:ations?|ments?|ingly|edly|ings?|ers?|ed|es|s|ly|al|ion)$")
MOST_WORDS = 120
"""Words of neighbouring sentences that are taken together, at most."""


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
        found = {number_value(one.value) for one in find_figures(self.text) if not one.word}
        found |= {f"#{time}" for time in TIME.findall(blanked_code(self.text))}
        codes = {code_value(code) for code in CODE.findall(self.text) if code.strip()}
        return frozenset(found | codes | {f"^{word}" for word in CAPITALS.findall(self.text)})

    @cached_property
    def bound(self) -> frozenset[str]:
        """Its values and its quotations of several words: what differs in no sentence that says the same."""
        quotes = (squeezed(without_code_marks(quoted[0][1:-1])) for quoted in QUOTED.finditer(self.text))
        return self.values | {f"“{quote}" for quote in quotes if " " in quote}

    @cached_property
    def rounded(self) -> frozenset[str]:
        """Its values and what they come to when they are rounded."""
        return frozenset(form for value in self.values for form in roundings(value))

    def states(self, value: str) -> bool:
        """Whether it has a value, or one of the two is the other rounded."""
        return value in self.rounded or not roundings(value).isdisjoint(self.values)

    @cached_property
    def neighbours(self) -> list[tuple[str, str]]:
        """Words outside of code, two by two as they stand side by side."""
        bare = (word.strip(".,;:()[]“”\"'’*!?–—-").lower() for word in CODE.sub(" ", self.text).split())
        words = [word for word in bare if word.replace("-", "").replace("’", "").isalpha()]
        return [pair for pair in pairwise(words) if pair[0] != pair[1]]

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

    @cached_property
    def each(self) -> list[Passage]:
        """Sentences and rows."""
        return [*self.sentences, *self.rows]

    @cached_property
    def all(self) -> list[Passage]:
        """The same, and every sentence with the next under the same heading."""
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
    for sentence in document.sentences():
        passage, quoted = document.passages[sentence.passage], QUOTED.match(sentence.text)
        is_quoted = quoted is not None and len(quoted[0]) > 0.5 * len(sentence.text)
        is_question = QUESTION.search(QUOTED.sub(" ", blanked_code(sentence.text)))
        if not (passage.level or passage.quoted or is_quoted or is_question):
            kept.append(Passage(sentence.text, sentence.line, part_of(sentence.section)))
    rows: list[Passage] = []
    for table in document.tables:
        for row in table.rows if not table.quoted else ():
            pairs = zip(table.header, row.cells, strict=False)
            said = "; ".join(f"{head} {cell}" if place else cell for place, (head, cell) in enumerate(pairs))
            rows.append(Passage(said, row.line, part_of(table.section), is_row=True))
    return Passages(kept, rows)


def part_of(section: Sequence[str]) -> str:
    """The heading of the part that something stands in: the one below the title."""
    return section[:2][-1] if section else ""


def stem(word: str) -> str:
    """A word without its ending."""
    return ENDING.sub("", word) if len(word) > 5 else word.removesuffix("s") if len(word) > 3 else word


def number_value(number: float) -> str:
    """A number in one form; its sign is left to the words."""
    return f"#{abs(number):g}"


@lru_cache(maxsize=50_000)
def roundings(value: str) -> frozenset[str]:
    """A value and, of a number, what it is when rounded to two and more digits: 0.4556 says 0.456 and 0.46 as well."""
    if value[0] != "#" or ":" in value:
        return frozenset({value})
    return frozenset({value, *(number_value(float(f"{float(value[1:]):.{digits}g}")) for digits in range(2, 6))})


def squeezed(text: str) -> str:
    """Text as it is seen, with every run of white space made one space."""
    return " ".join(visible(text).split())


def code_value(code: str) -> str:
    """Code in one form: a label or a number is what it is without code, and a citation names its rollout."""
    code = code.strip()
    if CAPITALS.fullmatch(code):
        return f"^{code}"
    if re.fullmatch(r"\d{1,6}(?:\.\d+)?", code):
        return number_value(float(code))
    rollout = re.match(r"(.*:[0-9]+)#[0-9]+$", code)
    return f"`{(rollout[1] if rollout else code).lower()}"
