"""`blade skill eval`: does a skill help, by how much, on which tasks, at what cost, and was it opened at all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli import run_options
from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.comparison import Comparison
    from blade.evals.jobs import Job
    from blade.evals.run import RunOptions, RunResult

EPILOG = epilog(
    "blade skill eval --benchmark word_math --model gpt-5-mini --variants none,skills/word-math --out trial",
    "blade skill eval --benchmark word_math --model m --base-url http://localhost:8080/v1 --variants none,a,b --out t",
)


def evaluate(
    benchmark: run_options.Benchmark,
    model: run_options.Model,
    variants: Annotated[
        str,
        typer.Option(
            metavar="none,DIR,...", help="What is compared: `none` or folders of skills; the first is the base."
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the rollouts of all variants and the comparison.")
    ],
    base_url: run_options.BaseUrl = None,
    api: run_options.ChosenApi = run_options.Api.auto,
    tools: run_options.CalledTools = run_options.Tools.native,
    agent_cmd: run_options.AgentCommand = None,
    agent_network: run_options.AgentNetwork = False,
    agent_files: run_options.AgentFiles = False,
    agent_env: run_options.AgentVariables = None,
    judge_model: run_options.JudgeModel = None,
    judge_url: run_options.JudgeUrl = None,
    judge_votes: run_options.JudgeVotes = 3,
    repeats: run_options.Repeats = None,
    limit: run_options.Limit = None,
    concurrency: run_options.Concurrency = 8,
    temperature: run_options.Temperature = None,
    top_p: run_options.TopP = None,
    max_output_tokens: run_options.MaxOutputTokens = None,
    seed: run_options.Seed = 0,
    timeout: run_options.Timeout = 600.0,
    attempts: run_options.Attempts = 6,
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
    from blade.evals.jobs import Target, Wishes, make_job
    from blade.evals.run import RunOptions
    from blade.evals.variants import parse_variants, read_trial

    found = find_benchmark(benchmark, root)
    target = Target(
        model=model,
        base_url=base_url,
        api=api.value,
        tools=tools.value,
        agent_cmd=agent_cmd,
        agent=run_options.make_agent(out, agent_env, network=agent_network, files=agent_files),
        judge=run_options.make_judge(judge_model, judge_url, judge_votes),
        timeout=timeout,
        attempts=attempts,
    )
    sampling = run_options.make_sampling(temperature, top_p, max_output_tokens=max_output_tokens, seed=seed)
    listed = parse_variants(variants)
    jobs = {
        variant.label: make_job(
            found,
            target,
            Wishes(sampling=sampling, repeats=repeats, limit=limit, skills=variant.skills, force=force),
        )
        for variant in listed
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
    from blade.cli.eval_progress import watching
    from blade.cli.eval_run import leave
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
