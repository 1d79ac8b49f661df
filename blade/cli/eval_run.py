"""`blade eval run`: put a benchmark to a model, and write rollouts that nothing can undo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli import run_options
from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.evals.run import RunResult

INTERRUPTED = 130

EPILOG = epilog(
    "blade eval run --benchmark word_math --model gpt-5-mini --output out/word_math.jsonl",
    "blade eval run --benchmark word_math --model qwen --base-url http://localhost:8080/v1 --output q.jsonl --resume",
)


def run(
    benchmark: run_options.Benchmark,
    model: run_options.Model,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Rollouts are appended here, sidecars stand beside it.")],
    base_url: run_options.BaseUrl = None,
    api: run_options.ChosenApi = run_options.Api.auto,
    tools: run_options.CalledTools = run_options.Tools.native,
    agent_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="NeMo Gym agent that plays and judges instead, e.g. http://localhost:8000."),
    ] = None,
    skills: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of Agent Skills that the model may open.")
    ] = None,
    repeats: run_options.Repeats = None,
    limit: run_options.Limit = None,
    concurrency: run_options.Concurrency = 8,
    temperature: run_options.Temperature = None,
    top_p: run_options.TopP = None,
    max_output_tokens: run_options.MaxOutputTokens = None,
    max_turns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Replies per rollout.")] = None,
    max_rollout_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Tokens of all replies of a rollout together.")
    ] = None,
    seed: run_options.Seed = 0,
    timeout: run_options.Timeout = 600.0,
    attempts: run_options.Attempts = 6,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run on the same output.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite earlier rollouts; with --resume, go on in spite of changes.")
    ] = False,
    root: run_options.Root = None,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark and write its rollouts, resumable.

    Exits with 0 when every rollout has a verdict, 1 when some attempts failed for other reasons than the model's
    answer (they are in FILE's failures sidecar, and --resume tries them again), 130 after Ctrl-C.
    """
    from blade.benchmarks.catalog import find_benchmark
    from blade.cli.eval_progress import watching
    from blade.evals.files import RunFiles
    from blade.evals.jobs import Target, Wishes, make_job
    from blade.evals.run import RunOptions, run_job

    target = Target(
        model=model,
        base_url=base_url,
        api=api.value,
        tools=tools.value,
        agent_url=agent_url,
        timeout=timeout,
        attempts=attempts,
    )
    wishes = Wishes(
        sampling=run_options.make_sampling(temperature, top_p, max_output_tokens=max_output_tokens, seed=seed),
        repeats=repeats,
        limit=limit,
        max_turns=max_turns,
        max_rollout_tokens=max_rollout_tokens,
        skills=skills,
        force=force,
    )
    job = make_job(find_benchmark(benchmark, root), target, wishes)
    options = RunOptions(concurrency=concurrency, resume=resume, force=force, server=target.server)
    with watching() as watch:
        result = run_job(job, RunFiles(output), options=options, watch=watch)
    render(result, output, as_json=as_json)
    leave(result)


def render(result: "RunResult", output: Path, *, as_json: bool) -> None:
    """What came of it, for a person or a program."""
    from blade.cli.eval_progress import sentence
    from blade.cli.terminal import print_json
    from blade.report.text import plain

    for note in result.notes:
        typer.echo(plain(note), err=True)
    if as_json:
        import msgspec

        print_json(msgspec.json.encode({"output": str(output), **msgspec.to_builtins(result)}))
    else:
        typer.echo(f"{plain(str(output))}: {sentence(result.progress)}")


def leave(result: "RunResult") -> None:
    """Exits by how the run ended."""
    from blade.errors import InputError, ProblemsFound

    if result.status == "interrupted":
        typer.echo("blade: interrupted; what was done is on disk, --resume goes on.", err=True)
        raise typer.Exit(INTERRUPTED)
    if result.status == "stopped":
        raise InputError(f"stopped, because nothing works any more; --resume goes on. Last failure: {result.error}")
    if result.progress.failed:
        raise ProblemsFound(f"{result.progress.failed} rollouts failed without a verdict; --resume tries them again.")
