"""`blade skill eval`: does a skill help, by how much, on which tasks, at what cost, and was it opened at all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from blade.cli import run_options
from blade.cli.options import AsJson, epilog, with_options

if TYPE_CHECKING:
    from blade.comparison import Comparison
    from blade.evals.jobs import Job, JudgeTarget, Target, Wishes
    from blade.evals.run import RunOptions, RunResult

EPILOG = epilog(
    "blade skill eval --benchmark word_math --model gpt-5-mini --variants none,skills/word-math --out trial",
    "blade skill eval --benchmark word_math --model m --base-url http://localhost:8080/v1 --variants none,a,b --out t",
)


@with_options(target=run_options.targeting, judge=run_options.judging, wishes=run_options.wishing)
def evaluate(
    benchmark: run_options.Benchmark,
    *,
    target: "Target",
    variants: Annotated[
        str,
        typer.Option(
            metavar="none,DIR,...", help="What is compared: `none` or folders of skills; the first is the base."
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the rollouts of all variants and the comparison.")
    ],
    judge: "JudgeTarget | None",
    wishes: "Wishes",
    concurrency: run_options.Concurrency = 8,
    force: Annotated[bool, typer.Option("--force", help="Go on although settings, data or skills changed.")] = False,
    root: run_options.Root = None,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark with and without skills, and compare.

    Tasks and seeds are the same. The same command goes on where an earlier one was stopped. Exits with 1 when rollouts
    failed without a verdict, 130 after Ctrl-C.
    """
    from blade.benchmarks.catalog import find_benchmark
    from blade.cli.eval_run import leave
    from blade.cli.skill_summary import show_trials
    from blade.evals.jobs import make_job
    from blade.evals.run import RunOptions
    from blade.evals.variants import parse_variants, read_trial

    found = find_benchmark(benchmark, root)
    target = msgspec.structs.replace(run_options.writing_to(target, out), judge=judge)
    jobs = {
        label: make_job(found, target, msgspec.structs.replace(wishes, skills=skills, force=force))
        for label, skills in parse_variants(variants).items()
    }
    options = RunOptions(concurrency=concurrency, resume=True, force=force, server=target.server)
    results = [run_variant(job, out / f"{label}.jsonl", label=label, options=options) for label, job in jobs.items()]
    trials = [read_trial(out / f"{label}.jsonl", label, success=found.success) for label in jobs]
    comparison = compare_variants(out, list(jobs), success=found.success)
    show_trials(trials, comparison, out, as_json=as_json)
    for result in results:
        leave(result)


def run_variant(job: "Job", output: Path, *, label: str, options: "RunOptions") -> "RunResult":
    """One variant's run, or what is left of it; leaves at once when it was interrupted or cannot go on."""
    from blade.cli.eval_run import leave
    from blade.cli.progress import watching
    from blade.evals.files import RunFiles
    from blade.evals.run import run_job
    from blade.report.text import plain

    with watching(label) as watch:
        result = run_job(job, RunFiles(output), options=options, watch=watch)
    for note in result.notes:
        typer.echo(plain(f"{label}: {note}"), err=True)
    if result.status != "finished":
        leave(result)
    return result


def compare_variants(out: Path, labels: list[str], *, success: str | None) -> "Comparison":
    """The paired comparison of all variants, written beside their rollouts."""
    from blade.cli.contenders import gather
    from blade.comparison import CompareOptions
    from blade.diagnosis import AnalyzeOptions
    from blade.report.comparison_report import write_comparison
    from blade.rollouts import ReadOptions

    files = [str(out / f"{label}.jsonl") for label in labels]
    found = gather(files, read=ReadOptions(), options=AnalyzeOptions(success=success))
    return write_comparison(out, found.groups[0].runs, CompareOptions())
