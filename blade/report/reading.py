"""The reading list: what somebody should look at, in order, and the commands that show it."""

import msgspec

from blade.diagnosis.analysis import Analysis
from blade.report.advice import ToRead
from blade.report.citations import reading_commands
from blade.report.report import templates


class ReadingList(msgspec.Struct, frozen=True, kw_only=True):
    """What is left to read."""

    run: str
    """Name of the run."""
    tasks: list[ToRead]
    """Tasks in reading order."""
    judged: int
    """Tasks a reader has judged already."""


def build_reading_list(analysis: Analysis) -> ReadingList:
    """The reading list of an analysis."""
    return ReadingList(
        run=analysis.inputs.run,
        tasks=[
            ToRead(task=item.task, bucket=item.bucket, why=item.why, commands=reading_commands(item.read))
            for item in analysis.reading_list
        ],
        judged=sum(not cause.author.startswith("rule:") for cause in analysis.causes),
    )


def render_reading_list(analysis: Analysis) -> str:
    """The reading list as Markdown."""
    return templates().get_template("reading_list.md.jinja").render(list=build_reading_list(analysis))
