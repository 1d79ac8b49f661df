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
TOTALS = re.compile(r"(?=.*aggregate)(?=.*(?:result|metric))|(?=.*workflow)(?=.*(?:funnel|phase))", re.IGNORECASE)
"""A heading whose tables are counts of everything, which no reading is needed for."""
FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def make_shallow(report: str) -> str:
    """The report without all that takes reading: its headings, and the tables of sections of totals."""
    kept, wanted, in_table = [*PREAMBLE], False, False
    for line in outside_fences(report.splitlines()):
        heading = HEADING.match(line)
        is_part = heading is not None and len(heading[1]) <= 2
        if heading is not None:  # what stands deeper is about something in particular
            wanted = len(heading[1]) == 2 and TOTALS.search(heading[2]) is not None
        is_row = wanted and heading is None and line.lstrip().startswith("|")
        kept += [""] if is_part or (is_row and not in_table) else []
        kept += [line.rstrip()] if is_part or is_row else []
        in_table = is_row
    return "\n".join(kept) + "\n"


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
