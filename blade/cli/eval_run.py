"""`blade eval run`: put a benchmark to a model, and write rollouts that nothing can undo."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from blade.cli import run_options
from blade.cli.options import AsJson, epilog, with_options, working_on

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from blade.engine.cluster import Cluster
    from blade.evals.jobs import Job, JudgeTarget, Target, Wishes
    from blade.evals.run import RunResult

INTERRUPTED = 130

EPILOG = epilog(
    "blade eval run --benchmark word_math --model gpt-5-mini --output out/word_math.jsonl",
    "blade eval run --benchmark word_math --model claude --agent-cmd 'claude -p' --agent-network --output c.jsonl",
    "blade eval run --benchmark word_math --model qwen --base-url http://localhost:8080/v1 --output q.jsonl --resume",
)


@with_options(target=run_options.targeting, judge=run_options.judging, wishes=run_options.wishing, engine=working_on)
def run(
    benchmark: run_options.Benchmark,
    *,
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="File to append rollouts to; sidecars are written beside it.")
    ],
    target: "Target",
    agent_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="NeMo Gym agent that plays and judges instead, e.g. http://localhost:8000."),
    ] = None,
    judge: "JudgeTarget | None",
    skills: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of Agent Skills the model can open.")
    ] = None,
    wishes: "Wishes",
    max_turns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum replies per rollout.")] = None,
    max_rollout_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum tokens of all replies of a rollout.")
    ] = None,
    concurrency: run_options.Concurrency = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run on the same output.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite earlier rollouts; with --resume, continue despite changes.")
    ] = False,
    engine: "AbstractContextManager[Cluster | None]",
    root: run_options.Root = None,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark and write its rollouts, resumable.

    Exits with 0 when every rollout has a verdict, 1 when some attempts failed for other reasons than the model's
    answer (they are in FILE's failures sidecar, and --resume tries them again), 130 after Ctrl-C.
    """
    from blade.benchmarks.catalog import find_benchmark
    from blade.cli.progress import watching
    from blade.evals.files import RunFiles
    from blade.evals.jobs import make_job
    from blade.evals.run import RunOptions, run_job

    target = msgspec.structs.replace(run_options.writing_to(target, output.parent), agent_url=agent_url, judge=judge)
    wishes = msgspec.structs.replace(
        wishes, max_turns=max_turns, max_rollout_tokens=max_rollout_tokens, skills=skills, force=force
    )
    make = partial(make_job, find_benchmark(benchmark, root), target, wishes)
    job = make()
    options = RunOptions(concurrency=concurrency, resume=resume, force=force, server=target.server)
    with engine as cluster, watching() as watch:
        if cluster is not None:
            job = spread(job, cluster, make, concurrency)
        result = run_job(job, RunFiles(output), options=options, watch=watch)
    render(result, output, as_json=as_json)
    leave(result)


def spread(job: "Job", cluster: "Cluster", make: "Callable[[], Job]", concurrency: int) -> "Job":
    """The job, played on the cluster."""
    from blade.evals.spread import SpreadPlayer

    player = SpreadPlayer(cluster, make, name=job.player.name, concurrency=concurrency)
    return msgspec.structs.replace(job, player=player)


def render(result: "RunResult", output: Path, *, as_json: bool) -> None:
    """What came of it, for a person or a program."""
    from blade.cli.progress import sentence
    from blade.cli.terminal import print_json
    from blade.report.text import plain

    for note in result.notes:
        typer.echo(plain(note), err=True)
    if as_json:
        print_json(msgspec.json.encode({"output": str(output), **msgspec.to_builtins(result)}))
    else:
        typer.echo(f"{plain(str(output))}: {sentence(result.progress)}")


def leave(result: "RunResult") -> None:
    """Exits by how the run ended."""
    from blade.errors import InputError, ProblemsFound
    from blade.report.numbers import plural

    if result.status == "interrupted":
        typer.echo("blade: interrupted; what was done is on disk, --resume goes on.", err=True)
        raise typer.Exit(INTERRUPTED)
    if result.status == "stopped":
        raise InputError(f"stopped after repeated failures; --resume continues. Last failure: {result.error}")
    if result.progress.failed:
        failed = plural(result.progress.failed, "rollout")
        raise ProblemsFound(f"{failed} failed without a verdict; --resume tries again. Last failure: {result.error}")
