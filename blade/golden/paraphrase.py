"""The golden report in different words, by rule: it must score high, for it says the same. Standard library only.

Sections and lists come in another order under other headings, and tables of up to ten columns become sentences. That is
no human paraphrase: one written by hand stands beside the golden report as
`<model>_paraphrase.md` and is scored too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LEFT_OUT = ("what it is", "how it is told", "meaning", "se", "n", "sidecars", "see")
"""Columns that explain and measure nothing."""
MOST_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the second level and what stands below it; the first has none and holds the title."""

    heading: str
    """The heading's line, empty for what stands above the first."""
    body: str
    """Everything up to the next one."""


def split_sections(report: str) -> list[Section]:
    """The sections of a report, in order."""
    parts = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    head, rest = (parts[0], parts[1:]) if not report.startswith("## ") else ("", parts)
    split = [part.partition("\n") for part in rest]
    return [Section("", head), *(Section(heading, body) for heading, _, body in split)]


def join_sections(sections: list[Section]) -> str:
    """A report from its sections."""
    pieces = [f"{one.heading}\n\n{one.body.strip()}" if one.heading else one.body.strip() for one in sections]
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def paragraphs(body: str) -> list[str]:
    """Pieces of a text that are set apart by blank lines."""
    return [piece for piece in re.split(r"\n\s*\n", body.strip()) if piece]


def is_table(paragraph: str) -> bool:
    return paragraph.lstrip().startswith("|")


def cells_of(line: str) -> list[str]:
    """The cells of a table's line, as they are written."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def paraphrase(golden: str) -> str:
    """The report in another order, with its tables in sentences."""
    head, *rest = split_sections(golden)
    turned = [Section(renamed(one.heading), rewritten(one.body)) for one in rest[::-1]]
    return join_sections([Section("", rewritten(head.body)), *turned])


def renamed(heading: str) -> str:
    """A heading in other words."""
    return f"## On {heading.removeprefix('## ').lower()}"


def rewritten(body: str) -> str:
    """A section with its sub-sections reversed and its tables in sentences."""
    parts = re.split(r"^(?=### )", body, flags=re.MULTILINE)
    ordered = [parts[0], *parts[:0:-1]] if len(parts) > 2 else parts
    return "\n\n".join("\n\n".join(retell(piece) for piece in paragraphs(part)) for part in ordered)


def retell(paragraph: str) -> str:
    """A table as sentences, a flat list backwards, anything else as it is."""
    if is_table(paragraph):
        return " ".join(sentences_of(paragraph)) or paragraph
    lines = paragraph.splitlines()
    if all(line.startswith("- ") for line in lines):
        return "\n".join(lines[::-1])
    return paragraph


def sentences_of(table: str) -> Iterator[str]:
    """A sentence per cell: whose it is, what it counts, how much."""
    header, _, *rows = [cells_of(line) for line in table.splitlines()]
    if len(header) > MOST_COLUMNS:
        return
    for row in rows:
        for name, cell in zip(header[1:], row[1:], strict=False):
            if name.lower() not in LEFT_OUT and cell not in ("", "–"):
                yield sentence(header[0], row[0], name, cell)


def sentence(key: str, row: str, name: str, cell: str) -> str:
    """One cell in words."""
    if key == "k":
        return f"{name.removesuffix('k')}{row} is {cell}." if name.endswith(("@k", "^k")) else ""
    if name == "which":
        return f"Tasks of {row}: {cell}."
    if name == "headline":
        return f"The pass rate of {row} is {cell}." if row.startswith("`") else f"It would be {cell} with {row}."
    if name == "value":
        return f"{row[:1].upper()}{row[1:]} is {cell}."
    if name == "passed":
        return f"Task {row} passed {cell}."
    return f"For {row} the {name} is {cell}."
