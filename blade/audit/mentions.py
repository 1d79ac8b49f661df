"""Who and where a text speaks of: citations and task keys, and the places they stand at.

A citation reads `task:repeat` or `task:repeat#item`, in backticks. Standard library only.
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from blade.audit.figures import Figure
from blade.audit.markdown import CODE, Document, blanked_code, shown, without_code_marks
from blade.audit.verdicts import Check, Verdict

CITATION = re.compile(r"(?P<task>.+):(?P<repeat>0|[1-9]\d{0,17})(?:#(?P<item>\d{1,9}))?", re.DOTALL)
MEMBER = re.compile(r"""(?:.*[{,]\s*)?(?P<mark>["'])[^"']+(?P=mark):\d+""", re.DOTALL)
"""A piece of JSON such as `"page_size":1`, which only looks like a citation."""
BARE_CITATION = re.compile(r"(?<![\w:#/.-])\d{1,7}:(?:0|[1-9]\d{0,3})#\d{1,5}(?![\w:])")
"""A citation without backticks; only with its item, for `12:30` may be a time."""
BARE_TASKS = re.compile(
    r"\btasks?\s+(?:ids?\s+)?#?(\d+(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)#?\d+)*)(?![\w%]|\.\d|\s*%)", re.I
)
AFTER_COLON = re.compile(r"\btasks?\b[^:\d]*:\s*(\d+(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)\d+)+)\W*$", re.IGNORECASE)
COUNTED = re.compile(r"\d\s+$")
"""What makes the word tasks a count: of `42 tasks 5 always pass`, 5 is not a key."""
TASK_COLUMN = re.compile(r"\b(?:tasks?|task[ _]?ids?|ids?|keys?|which|examples?|problems?)\b", re.I)

TASK_HEAD = re.compile(r"\W*(?:task|task[ _]?id|id|key)\W*", re.IGNORECASE)
"""The head of a column of ids."""

CELL_JOINT = " | "
Mention = tuple[str, int, int]
"""A key or citation, and where in the text it begins and ends."""


def split_citation(text: str) -> tuple[str, int, int | None] | None:
    """Task, repeat and item of `task:repeat#item`; `None` when it is not a citation."""
    found = CITATION.fullmatch(text.strip())
    if found is None or "//" in text or text != text.strip():
        return None
    return found["task"], int(found["repeat"]), None if found["item"] is None else int(found["item"])


def citations_in(text: str) -> list[Mention]:
    """Citations and where they begin and end: in backticks, in a command in backticks, or bare with an item."""
    found: list[Mention] = []
    for span in CODE.finditer(text):
        if text[span.start() - 1 : span.start()] == "“" and text[span.end() : span.end() + 1] == "”":
            continue  # a quotation, though it may end like a citation
        if span[1].startswith("blade "):
            with suppress(ValueError):  # task keys may hold spaces and be quoted
                found += [(word, *span.span()) for word in shlex.split(span[1])[2:] if split_citation(word)]
        elif split_citation(span[1]) and not MEMBER.fullmatch(span[1]):
            found.append((span[1], span.start(), span.end()))
    found += [(bare[0], bare.start(), bare.end()) for bare in BARE_CITATION.finditer(blanked_code(text))]
    return sorted(found, key=lambda entry: entry[1])


def tasks_in(text: str) -> list[Mention]:
    """Task keys that a text names as such: `task 12`, or code behind the word task, and where."""
    found: list[Mention] = []
    for bare in [*BARE_TASKS.finditer(blanked_code(text)), *AFTER_COLON.finditer(blanked_code(text))]:
        is_single = bare[1].isdecimal() and bare[0].lower().startswith("tasks")  # of the `hard` tasks 9 pass
        if bare.re is BARE_TASKS and (is_single or COUNTED.search(text[: bare.start()])):
            continue
        found += [
            (key[0], bare.start(1) + key.start(), bare.start(1) + key.end()) for key in re.finditer(r"\d+", bare[1])
        ]
    end = -1
    for span in CODE.finditer(text):
        before = text[max(0, span.start() - 24) : span.start()]
        listed = end >= 0 and re.fullmatch(r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)", text[end : span.start()])
        if (listed or re.search(r"\btasks?(?:\s+ids?)?\s*:?\s*$", before, re.I)) and not split_citation(span[1]):
            found.append((span[1], span.start(), span.end()))
            end = span.end()
    return sorted(found, key=lambda entry: entry[1])


class Spoken(NamedTuple):
    """A text with the words that belong to it."""

    text: str
    """The sentence or cell."""
    line: int
    """Where it stands."""
    around: tuple[str, ...] = ()
    """Texts that speak of it as much as its own words do: the heads of its row and column."""
    above: tuple[str, ...] = ()
    """Headings and captions, which may."""

    def check(self, figure: Figure, verdict: Verdict, true: str = "", *, why: str = "", write: str = "") -> Check:
        """What became of a number in it."""
        said = self.text[figure.start : figure.end].strip()
        return Check(self.line, said, verdict, true, why, write, shown(self.text))


class Statement(NamedTuple):
    """A sentence, or a row of a table."""

    text: str
    """All of it."""
    spoken: list[Spoken]
    """Its parts, each with the words that belong to it: the sentence, or the cells."""
    tasks: list[str]
    """Tasks that a row is about."""
    before: str = ""
    """The sentence before it in its passage, which `it` may refer to."""
    is_heading: bool = False
    """Whether it is a heading, which announces and does not state."""


def statements(document: Document) -> Iterator[Statement]:
    """Everything a document says: its sentences, and the rows of its tables."""
    before, passage = "", -1
    for sentence in document.sentences():
        spoken = Spoken(sentence.text, sentence.line, (), sentence.section[1:])
        is_heading = document.passages[sentence.passage].level > 0
        yield Statement(sentence.text, [spoken], [], before if sentence.passage == passage else "", is_heading)
        before, passage = sentence.text, sentence.passage
    for table in document.tables:
        first = table.header[0] if table.header else ""
        for row in table.rows:
            key = row.cell(0)
            named = key if TASK_HEAD.fullmatch(first) or not re.fullmatch(r"[\d.,\s%]*", key) else ""
            heads = [head if head.lower() != "value" else "" for head in table.header] + [""] * len(row.cells)
            parts = [
                Spoken(cell, row.line, (named if column else "", heads[column]), (table.caption, *table.section[1:]))
                for column, cell in enumerate(row.cells)
            ]
            codes = [code for code in CODE.findall(key) if not split_citation(code)]
            bare = without_code_marks(key).strip()
            tasks = codes or ([bare] if bare and " " not in bare else [])
            yield Statement(CELL_JOINT.join(row.cells), parts, tasks if TASK_COLUMN.search(first) else [])
