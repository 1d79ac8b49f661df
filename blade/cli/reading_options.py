"""Options of the commands that read and analyse rollouts, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.diagnosis import AnalyzeOptions
    from blade.rollouts import ReadOptions


class Choice(StrEnum):
    """Which of several conflicting rows is scored."""

    first = "first"
    last = "last"
    all = "all"
    error = "error"


FORMAT_HELP = "Format of the inputs (see `blade list formats`); detected from the content by default."
Format = Annotated[str | None, typer.Option("--format", "--input-format", metavar="F", help=FORMAT_HELP)]
InputFormat = Annotated[str | None, typer.Option(metavar="F", help=FORMAT_HELP)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print neither a summary nor progress.")]


def reading(
    task_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that identifies the task; use dots for nested fields.")
    ] = None,
    repeat_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that numbers the repeats of a task.")
    ] = None,
    reward_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that contains the score; -F when less is better.")
    ] = None,
    output_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that contains the output: a text or a list of messages.")
    ] = None,
    score: Annotated[
        str | None, typer.Option(metavar="NAME", help="Scorer to use when the format has several.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Variant (filter) to use when attempts were scored in several ways."),
    ] = None,
    true_words: Annotated[
        str | None, typer.Option(metavar="W[,W]", help="Words that mean success, when the score is a word.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR", help="Use only rows that match this expression, e.g. 'system == \"x\" and fold != 3'."
        ),
    ] = None,
    records: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Path of the list of records in a JSON document, e.g. results.results."),
    ] = None,
    trajectories: Annotated[
        list[str] | None,
        typer.Option(metavar="FILES", help="Files, globs or folders with trajectories, for scores that have none."),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(
            metavar="A[=B]",
            help="Join scores (field A) to trajectories (field B, or `file` or `folder` for the name of the "
            "trajectory's).",
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            metavar="F[,F]", help="Split the rollouts into runs by these fields; `file` makes every file a run."
        ),
    ] = None,
    expected_repeats: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of rollouts each task should have.")
    ] = None,
    duplicates: Annotated[
        Choice, typer.Option(help="Which of several conflicting rows counts; `error` exits with 1.")
    ] = Choice.first,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of processes that read large files; all cores by default."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use or write the cache.")] = False,
) -> "ReadOptions":
    """How rollouts are read."""
    from blade.cli.pipeline import cores
    from blade.rollouts import ReadOptions

    return ReadOptions(
        task_field=task_field,
        repeat_field=repeat_field,
        reward_field=reward_field,
        output_field=output_field,
        score=score,
        variant=variant,
        true_words=fields_in(true_words, "--true-words"),
        where=where,
        records=records,
        trajectories=tuple(trajectories or ()),
        join=join,
        group_by=fields_in(group_by),
        duplicates=duplicates.value,
        expected_repeats=expected_repeats,
        jobs=jobs or cores(),
        use_cache=not no_cache,
    )


def analysing(
    success: Annotated[
        str | None, typer.Option(metavar="RULE", help="Rule for when a rollout is a success, e.g. 'reward >= 1.0'.")
    ] = None,
    slice: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also break the result down by this field; may be repeated."),
    ] = None,
    cluster_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that groups related tasks, so that intervals account for it.")
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Taxonomy pack, by name or path, or `none`; by default chosen by the fields of the rows.",
        ),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="Price table to use instead of the built-in one.")
    ] = None,
) -> "AnalyzeOptions":
    """How they are analysed; a price table by its absolute path, as later commands find it again."""
    from blade.diagnosis import AnalyzeOptions

    return AnalyzeOptions(
        success=success,
        slices=tuple(slice or ()),
        cluster_field=cluster_field,
        prices=None if prices is None else str(prices.absolute()),
        pack=pack,
    )


def fields_in(text: str | None, option: str = "--group-by") -> tuple[str, ...]:
    """The parts of a comma list."""
    fields = tuple(field.strip() for field in (text or "").split(",") if field.strip())
    if text is not None and not fields:
        raise UsageError(f"{option} names nothing.")
    return fields
