"""A report cut into blocks that can be moved and rewritten: headings, tables, paragraphs. Standard library only."""

import re
from dataclasses import dataclass

HEADING = re.compile(r"(#{1,6})\s+(.*\S)\s*$")


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
