"""`blade compare`: why did the score change, and did it."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from blade.cli.options import AsJson, epilog, with_options, working_on
from blade.cli.reading_options import InputFormat, Quiet, analysing, reading

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from blade.cli.contenders import Gathered
    from blade.comparison import CompareOptions, Comparison
    from blade.diagnosis import AnalyzeOptions
    from blade.rollouts import ReadOptions


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


@with_options(read=reading, options=analysing, engine=working_on)
def compare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE CANDIDATE [MORE...]",
            help="Rollout files or globs, or folders that `blade diagnose` wrote; the first is the base.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")] = Path("blade-comparison"),
    input_format: InputFormat = None,
    read: "ReadOptions",
    options: "AnalyzeOptions",
    engine: "AbstractContextManager[object]",
    base: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run to compare the others with; the first one by default.")
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with code 1 if any run regressed from the base.")
    ] = False,
    format: Annotated[
        OutputFormat,
        typer.Option(help="Output format; `github` prints the body of a comment and adds it to the job summary."),
    ] = OutputFormat.text,
    link: Annotated[
        str | None, typer.Option(metavar="URL", help="Link to the full report, for --format github.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the verdict and the tasks that moved as JUnit XML.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say whether and why the score changed between runs.

    Writes comparison.html, comparison.md (one page), appendix.md and comparison.json into DIR. Inputs that each hold
    several runs, such as one per task, are compared name by name, each name in a folder of its own. Options about
    reading hold for rollout files; a folder is read again as it was diagnosed.
    """
    from blade.cli.contenders import gather
    from blade.cli.progress import ReadingBar
    from blade.comparison import CompareOptions

    read = msgspec.structs.replace(read, format=input_format)
    with engine, ReadingBar(wanted=not quiet) as bar:
        gathered = gather(inputs, read=read, options=options, base=base, progress=bar)
        found, notes = write_groups(out, gathered, CompareOptions())
    if junit is not None:
        write_junit(junit, list(found.values()))
    if format is OutputFormat.github:
        print_comment(found, out, link)
    else:
        render(found, notes, out, as_json=as_json, quiet=quiet)
    if fail_on_regression:
        fail_if_regressed(list(found.values()))


def write_groups(
    out: Path, gathered: "Gathered", options: "CompareOptions"
) -> tuple[dict[str, "Comparison"], list[str]]:
    """Compares each group and writes it: a single one without a name into the folder itself, others into one each.

    Returns the comparisons by name, and what must be said about runs that were not compared.

    Raises:
        UsageError: no group can be compared.
    """
    from blade.cli.folders import folder_names
    from blade.comparison import compare_many
    from blade.comparison.compare import adjusted
    from blade.errors import UsageError
    from blade.report.comparison_report import write_compared

    found: dict[str, Comparison] = {}
    notes = [f"{name} is not compared: no other input has a run of this name" for name in gathered.unpaired]
    failed: UsageError | None = None
    for group in gathered.groups:
        try:
            found[group.name] = compare_many(group.runs, options)
        except UsageError as error:
            failed = failed or error
            notes.append(f"{group.name} is not compared: {str(error).rstrip('.')}")
    if failed is not None and not found:
        raise failed
    if len(found) > 1 and all(len(group.runs) == 2 for group in gathered.groups):
        found = dict(zip(found, adjusted(list(found.values())), strict=True))
    folders = dict(zip(found, folder_names(list(found)), strict=True))
    for name, runs in gathered.groups:
        if name in found:
            write_compared(out / folders[name] if name else out, found[name], runs)
    return found, notes


def write_junit(place: Path, comparisons: "list[Comparison]") -> None:
    """Writes the verdicts for test reporters."""
    from blade.report.ci import junit_xml
    from blade.report.files import write_file

    write_file(place, junit_xml(comparisons))


def print_comment(found: dict[str, "Comparison"], out: Path, link: str | None) -> None:
    """Prints the comment and adds it to the summary of the job that runs us."""
    from blade.report.ci import github_comment, github_table

    only = found.get("")
    text = github_table(found, out, link) if only is None else github_comment(only, out, link)
    typer.echo(text, nl=False)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text)


def render(found: dict[str, "Comparison"], notes: list[str], out: Path, *, as_json: bool, quiet: bool) -> None:
    """The summary for a person, or the comparisons for a program."""
    from blade.cli.compare_summary import print_comparison, print_comparisons
    from blade.cli.terminal import make_console, print_as_json, print_json
    from blade.report.comparison_report import COMPARISON

    only = found.get("")
    if as_json and only is not None:
        print_json((out / COMPARISON).read_bytes())
    elif as_json:
        runs = [{"name": name, "comparison": comparison} for name, comparison in found.items()]
        print_as_json({"comparisons": runs, "notes": notes})
    elif quiet:
        return
    elif only is not None:
        print_comparison(make_console(), only, out)
    else:
        print_comparisons(make_console(), found, notes, out)


def fail_if_regressed(found: "list[Comparison]") -> None:
    """Stops with exit code 1 when a run did worse than its base for certain."""
    from blade.errors import ProblemsFound
    from blade.report.comparison_rows import pairs_with_base

    worse = [pair for one in found for pair in pairs_with_base(one) if pair.verdict == "regressed"]
    if worse:
        said = [f"{pair.candidate.run} regressed from {pair.base.run}" for pair in worse[:8]]
        raise ProblemsFound(f"{', '.join(said)}.")
