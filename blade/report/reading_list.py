"""The reading list: what somebody should look at, in order, and the commands that show it."""

import msgspec

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.reading_order import MOST_ITEMS
from blade.report.addresses import addressed_struct, size
from blade.report.advice import ToRead, next_to_read
from blade.report.claims import Rendered, extract
from blade.report.dives import judged
from blade.report.marks import recording
from blade.report.report import templates


class ReadingList(msgspec.Struct, frozen=True, kw_only=True):
    """What is left to read."""

    run: str
    """Name of the run."""
    tasks: list[ToRead]
    """Tasks in reading order."""
    judged: int
    """Tasks a reader has judged already."""
    is_cut: bool
    """Whether more tasks wait than are listed."""


def build_reading_list(analysis: Analysis) -> ReadingList:
    """The reading list of an analysis."""
    return ReadingList(
        run=analysis.inputs.run,
        tasks=[next_to_read(item) for item in analysis.reading_list],
        judged=size(judged(analysis.causes)),
        is_cut=len(analysis.reading_list) >= MOST_ITEMS,
    )


def render_reading_list(analysis: Analysis) -> Rendered:
    """The reading list as Markdown, with the address of everything it prints."""
    with recording() as found:
        made = build_reading_list(addressed_struct(analysis, "analysis:"))
        return extract(templates().get_template("reading_list.md.jinja").render(list=made), found)
