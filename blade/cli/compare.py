"""`blade compare`: why did the score change, and did it."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.cli.reading_options import (
    Choice,
    ClusterField,
    Duplicates,
    ExpectedRepeats,
    GroupBy,
    InputFormat,
    Jobs,
    Join,
    NoCache,
    OutputField,
    Pack,
    PriceTable,
    Quiet,
    Records,
    RepeatField,
    RewardField,
    Score,
    Slices,
    SuccessRule,
    TaskField,
    Trajectories,
    TrueWords,
    Variant,
    Where,
    fields_in,
    prices_path,
)

if TYPE_CHECKING:
    from blade.comparison import Comparison


class OutputFormat(StrEnum):
    """How the result is printed."""

    text = "text"
    github = "github"


EPILOG = epilog(
    "blade compare before.jsonl after.jsonl --out diff",
    "blade compare out/base out/candidate --fail-on-regression --junit blade.xml",
    "blade compare main.jsonl branch.jsonl --format github > comment.md",
    "blade compare all.jsonl --group-by model --base gpt-5 --slice difficulty",
)


def compare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE CANDIDATE [MORE...]",
            help="Rollout files or globs, or folders that `blade diagnose` wrote; the first is the base.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to.")] = Path("blade-comparison"),
    input_format: InputFormat = None,
    task_field: TaskField = None,
    repeat_field: RepeatField = None,
    reward_field: RewardField = None,
    output_field: OutputField = None,
    score: Score = None,
    variant: Variant = None,
    true_words: TrueWords = None,
    where: Where = None,
    records: Records = None,
    trajectories: Trajectories = None,
    join: Join = None,
    group_by: GroupBy = None,
    success: SuccessRule = None,
    slice: Slices = None,
    cluster_field: ClusterField = None,
    pack: Pack = None,
    prices: PriceTable = None,
    expected_repeats: ExpectedRepeats = None,
    duplicates: Duplicates = Choice.first,
    jobs: Jobs = None,
    no_cache: NoCache = False,
    base: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Run that the others are compared with; the first one otherwise."),
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 when any run regressed from the base.")
    ] = False,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="How to print the result; `github` is the body of one comment, also added to a job's summary."
        ),
    ] = OutputFormat.text,
    link: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the whole report can be opened; for --format github.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the verdict and the tasks behind it as JUnit XML.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say whether and why the score changed between runs.

    Writes comparison.html, comparison.md and comparison.json into DIR. Options about reading hold for rollout files; a
    folder is read again as it was diagnosed.
    """
    from blade.cli.contenders import gather
    from blade.cli.pipeline import cores
    from blade.cli.progress import ReadingBar
    from blade.comparison import CompareOptions
    from blade.diagnosis import AnalyzeOptions
    from blade.report.comparison_report import write_comparison
    from blade.rollouts import ReadOptions

    read = ReadOptions(
        format=input_format,
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
    options = AnalyzeOptions(
        success=success, slices=tuple(slice or ()), cluster_field=cluster_field, prices=prices_path(prices), pack=pack
    )
    with ReadingBar(wanted=not quiet) as bar:
        runs, options = gather(inputs, read=read, options=options, base=base, progress=bar)
        comparison = write_comparison(out, runs, CompareOptions(pack=options.pack))
    if junit is not None:
        write_junit(junit, comparison)
    if format is OutputFormat.github:
        print_comment(comparison, out, link)
    else:
        render(comparison, out, as_json=as_json, quiet=quiet)
    if fail_on_regression:
        fail_if_regressed(comparison)


def write_junit(place: Path, comparison: "Comparison") -> None:
    """Writes the verdict for test reporters."""
    from blade.report.ci import junit_xml
    from blade.report.files import write_file

    write_file(place, junit_xml(comparison))


def print_comment(comparison: "Comparison", out: Path, link: str | None) -> None:
    """Prints the comment and adds it to the summary of the job that runs us."""
    from blade.report.ci import github_comment

    text = github_comment(comparison, out, link)
    typer.echo(text, nl=False)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text)


def render(comparison: "Comparison", out: Path, *, as_json: bool, quiet: bool) -> None:
    """The summary for a person, or the comparison for a program."""
    from blade.cli.compare_summary import print_comparison
    from blade.cli.terminal import make_console, print_json
    from blade.report.comparison_report import COMPARISON

    if as_json:
        print_json((out / COMPARISON).read_bytes())
    elif not quiet:
        print_comparison(make_console(), comparison, out)


def fail_if_regressed(comparison: "Comparison") -> None:
    """Stops with exit code 1 when a run did worse than the base for certain."""
    from blade.errors import ProblemsFound

    pairs = comparison.pairs if isinstance(comparison.pairs, list) else [comparison]
    base = comparison.base.run
    worse = [pair.candidate.run for pair in pairs if pair.base.run == base and pair.verdict == "regressed"]
    if worse:
        raise ProblemsFound(f"{', '.join(worse[:8])} regressed from {base}.")
