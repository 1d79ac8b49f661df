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


FORMAT_HELP = "Format of the inputs (see `blade list formats`); detected by content otherwise."
Format = Annotated[str | None, typer.Option("--format", "--input-format", metavar="F", help=FORMAT_HELP)]
InputFormat = Annotated[str | None, typer.Option(metavar="F", help=FORMAT_HELP)]
TaskField = Annotated[str | None, typer.Option(metavar="F", help="Field that names the task; dots reach into objects.")]
RepeatField = Annotated[str | None, typer.Option(metavar="F", help="Field that numbers the attempts.")]
RewardField = Annotated[str | None, typer.Option(metavar="F", help="Field that holds the score.")]
OutputField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that holds the output: a text or a list of messages.")
]
Score = Annotated[
    str | None, typer.Option(metavar="NAME", help="Scorer whose score counts, when the format has several.")
]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Variant that counts, when attempts were looked at in several ways (a filter)."),
]
TrueWords = Annotated[
    str | None, typer.Option(metavar="W[,W]", help="Words that mean success, when the score is a word.")
]
Where = Annotated[
    str | None,
    typer.Option(metavar="EXPR", help="Use only rows that satisfy this, e.g. 'system == \"x\" and fold != 3'."),
]
Records = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="List that holds the records of a JSON document, e.g. results.results."),
]
Trajectories = Annotated[
    list[str] | None,
    typer.Option(metavar="FILES", help="Files, globs or folders with the trajectories of scores that come without."),
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
    typer.Option(metavar="F[,F]", help="Fields whose values tell runs apart; `file` makes every file a run."),
]
SuccessRule = Annotated[
    str | None, typer.Option(metavar="RULE", help="When a rollout counts as a success, e.g. 'reward >= 1.0'.")
]
Slices = Annotated[
    list[str] | None, typer.Option(metavar="FIELD", help="Also cut the result by this field; may be repeated.")
]
ClusterField = Annotated[
    str | None, typer.Option(metavar="F", help="Field that says which tasks belong together, for the intervals.")
]
PriceTable = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Price table to use in place of the one that comes with BLADE."),
]
Pack = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Taxonomy pack, by name or path; `none` for none. Chosen by fields otherwise."),
]
ExpectedRepeats = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="How many rollouts every task should have.")
]
Duplicates = Annotated[Choice, typer.Option(help="Which of several conflicting rows is scored; `error` exits with 1.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Processes that read a large file; all cores by default.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither use nor keep what was read before.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary and no progress.")]


def prices_path(place: Path | None) -> str | None:
    """A price table as later commands find it again."""
    return None if place is None else str(place.absolute())


def fields_in(text: str | None, option: str = "--group-by") -> tuple[str, ...]:
    """The parts of a comma list."""
    fields = tuple(field.strip() for field in (text or "").split(",") if field.strip())
    if text is not None and not fields:
        raise UsageError(f"{option} names nothing.")
    return fields
