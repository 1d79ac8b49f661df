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


def paraphrase(golden: str) -> str:
    """The report in another order, with its tables in sentences."""
    head, *rest = split_sections(golden)
    turned = [Section(f"## On {one.heading.removeprefix('## ').lower()}", rewritten(one.body)) for one in rest[::-1]]
    return join_sections([Section("", rewritten(head.body)), *turned])


def rewritten(body: str) -> str:
    """A section with its sub-sections reversed, flat lists backwards and tables in sentences."""
    parts = re.split(r"^(?=### )", body, flags=re.MULTILINE)
    pieces: list[str] = []
    for part in [parts[0], *parts[:0:-1]]:
        for piece in re.split(r"\n\s*\n", part.strip()):
            lines = piece.splitlines()
            if piece.lstrip().startswith("|"):
                pieces.append(" ".join(sentences_of(lines)) or piece)
            else:
                pieces.append("\n".join(lines[::-1]) if all(line.startswith("- ") for line in lines) else piece)
    return "\n\n".join(filter(None, pieces))


def sentences_of(table: list[str]) -> Iterator[str]:
    """A sentence per cell: whose it is, what it counts, how much."""
    header, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in table]
    for row in rows if len(header) <= MOST_COLUMNS else ():
        for name, cell in zip(header[1:], row[1:], strict=False):
            if name.lower() not in LEFT_OUT and cell not in ("", "–"):
                if name == "value":
                    yield f"{row[0][:1].upper()}{row[0][1:]} is {cell}."
                elif name == "passed":
                    yield f"Task {row[0]} passed {cell}."
                else:
                    yield f"For {row[0]} the {name} is {cell}."
