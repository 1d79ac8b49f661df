"""`blade compare`: why did the score change, and did it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.diagnose import Duplicates
from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.comparison import Comparison

EPILOG = epilog(
    "blade compare before.jsonl after.jsonl --out diff",
    "blade compare out/base out/candidate --fail-on-regression",
    "blade compare all.jsonl --group-by model --slice difficulty",
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
    format: Annotated[
        str | None, typer.Option(metavar="F", help="gym, tau-bench or records; detected by content otherwise.")
    ] = None,
    task_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that names the task; tasks are paired by it.")
    ] = None,
    repeat_field: Annotated[str | None, typer.Option(metavar="F", help="Field that numbers the attempts.")] = None,
    reward_field: Annotated[str | None, typer.Option(metavar="F", help="Field that holds the score.")] = None,
    output_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that holds the output: a text or a list of messages.")
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(metavar="F[,F]", help="Fields whose values tell runs apart; `file` makes every file a run."),
    ] = None,
    success: Annotated[
        str | None, typer.Option(metavar="RULE", help="When a rollout of any run is a success, e.g. 'reward >= 1.0'.")
    ] = None,
    slice: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Also cut the change by this field; may be repeated.")
    ] = None,
    cluster_field: Annotated[
        str | None, typer.Option(metavar="F", help="Field that says which tasks belong together, for the intervals.")
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Taxonomy pack, by name or path; `none` for none. Chosen by fields otherwise."
        ),
    ] = None,
    expected_repeats: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many rollouts every task should have.")
    ] = None,
    duplicates: Annotated[
        Duplicates, typer.Option(help="Which of several conflicting rows is scored; `error` exits with 1.")
    ] = Duplicates.first,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes that read a large file; all cores by default.")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor keep what was read before.")] = False,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 when any run regressed from the base.")
    ] = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary and no progress.")] = False,
) -> None:
    """Say whether and why the score changed from a base to a candidate.

    Writes comparison.md and comparison.json into DIR. Options about reading hold for rollout files; a folder is read
    again as it was diagnosed.
    """
    from blade.cli.contenders import gather
    from blade.cli.pipeline import cores
    from blade.cli.progress import ReadingBar
    from blade.comparison import CompareOptions
    from blade.diagnosis import AnalyzeOptions
    from blade.report.comparison_report import write_comparison
    from blade.rollouts import ReadOptions

    read = ReadOptions(
        format=format,
        task_field=task_field,
        repeat_field=repeat_field,
        reward_field=reward_field,
        output_field=output_field,
        group_by=tuple(field.strip() for field in group_by.split(",") if field.strip()) if group_by else (),
        duplicates=duplicates.value,
        expected_repeats=expected_repeats,
        jobs=jobs or cores(),
        use_cache=not no_cache,
    )
    options = AnalyzeOptions(success=success, slices=tuple(slice or ()), cluster_field=cluster_field, pack=pack)
    with ReadingBar(wanted=not quiet) as bar:
        runs, options = gather(inputs, read=read, options=options, progress=bar)
        comparison = write_comparison(out, runs, CompareOptions(pack=options.pack))
    render(comparison, out, as_json=as_json, quiet=quiet)
    if fail_on_regression:
        fail_if_regressed(comparison)


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
