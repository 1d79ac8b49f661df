"""Options of the commands that read and analyse rollouts, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from blade.errors import UsageError


class Choice(StrEnum):
    """Which of several conflicting rows is scored."""

    first = "first"
    last = "last"
    all = "all"
    error = "error"


FORMAT_HELP = "Format of the inputs (see `blade list formats`); detected from the content by default."
Format = Annotated[str | None, typer.Option("--format", "--input-format", metavar="F", help=FORMAT_HELP)]
InputFormat = Annotated[str | None, typer.Option(metavar="F", help=FORMAT_HELP)]
TaskField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that identifies the task; use dots for nested fields.")
]
RepeatField = Annotated[str | None, typer.Option(metavar="F", help="Field that numbers the repeats of a task.")]
RewardField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that contains the score; -F when less is better.")
]
OutputField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that contains the output: a text or a list of messages.")
]
Score = Annotated[str | None, typer.Option(metavar="NAME", help="Scorer to use when the format has several.")]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Variant (filter) to use when attempts were scored in several ways."),
]
TrueWords = Annotated[
    str | None, typer.Option(metavar="W[,W]", help="Words that mean success, when the score is a word.")
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR", help="Use only rows that match this expression, e.g. 'system == \"x\" and fold != 3'."
    ),
]
Records = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Path of the list of records in a JSON document, e.g. results.results."),
]
Trajectories = Annotated[
    list[str] | None,
    typer.Option(metavar="FILES", help="Files, globs or folders with trajectories, for scores that have none."),
]
Join = Annotated[
    str | None,
    typer.Option(
        metavar="A[=B]",
        help="Join scores (field A) to trajectories (field B, or `file` or `folder` for the name of the trajectory's).",
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(metavar="F[,F]", help="Split the rollouts into runs by these fields; `file` makes every file a run."),
]
SuccessRule = Annotated[
    str | None, typer.Option(metavar="RULE", help="Rule for when a rollout is a success, e.g. 'reward >= 1.0'.")
]
Slices = Annotated[
    list[str] | None, typer.Option(metavar="FIELD", help="Also break the result down by this field; may be repeated.")
]
ClusterField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that groups related tasks, so that intervals account for it.")
]
PriceTable = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Price table to use instead of the built-in one."),
]
Pack = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Taxonomy pack, by name or path, or `none`; by default chosen by the fields of the rows."
    ),
]
ExpectedRepeats = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of rollouts each task should have.")
]
Duplicates = Annotated[Choice, typer.Option(help="Which of several conflicting rows counts; `error` exits with 1.")]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of processes that read large files; all cores by default."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do not use or write the cache.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print neither a summary nor progress.")]


def prices_path(place: Path | None) -> str | None:
    """A price table as later commands find it again."""
    return None if place is None else str(place.absolute())


def fields_in(text: str | None, option: str = "--group-by") -> tuple[str, ...]:
    """The parts of a comma list."""
    fields = tuple(field.strip() for field in (text or "").split(",") if field.strip())
    if text is not None and not fields:
        raise UsageError(f"{option} names nothing.")
    return fields
