"""The shallow control: what somebody could write without reading a single rollout. Standard library only.

Headings and the tables of totals stay; every finding, example and reason goes. A judge that likes it is not a judge.
"""

import re
from collections.abc import Iterator

PREAMBLE = (
    "# Shallow control",
    "",
    "This is a negative control: headings and aggregate tables of a report, without its findings and its evidence.",
)
HEADING = re.compile(r"(#{1,6})\s+(.*\S)\s*$")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def make_shallow(report: str) -> str:
    """The report without all that takes reading."""
    kept = [*PREAMBLE]
    for block in blocks(report.splitlines()):
        kept += ["", *block]
    return "\n".join(kept) + "\n"


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """What stays, piece by piece: a heading, or a table of a section of totals."""
    wanted, table = False, list[str]()
    for line in [*outside_fences(lines), ""]:
        heading = HEADING.match(line)
        if heading and len(heading[1]) <= 2:
            yield from take(table)
            wanted = len(heading[1]) == 2 and is_about_totals(heading[2])
            yield [line.rstrip()]
        elif heading:
            wanted = False  # what stands deeper is about something in particular
        elif wanted and line.lstrip().startswith("|"):
            table.append(line.rstrip())
            continue
        yield from take(table)


def take(table: list[str]) -> Iterator[list[str]]:
    """A finished table, once."""
    if table:
        yield list(table)
        table.clear()


def is_about_totals(title: str) -> bool:
    """Whether a section's tables are counts of everything, which no reading is needed for."""
    words = title.lower()
    return ("aggregate" in words and ("result" in words or "metric" in words)) or (
        "workflow" in words and ("funnel" in words or "phase" in words)
    )


def outside_fences(lines: list[str]) -> Iterator[str]:
    """Lines that are not inside a code block."""
    fence = ""
    for line in lines:
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield line
