"""`blade eval run`: put a benchmark to a model, and write rollouts that nothing can undo."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.evals.run import RunResult

INTERRUPTED = 130

EPILOG = epilog(
    "blade eval run --benchmark word_math --model gpt-5-mini --output out/word_math.jsonl",
    "blade eval run --benchmark word_math --model qwen --base-url http://localhost:8080/v1 --output q.jsonl --resume",
)


class Tools(StrEnum):
    """How tools are called."""

    native = "native"
    text = "text"


class Api(StrEnum):
    """How the model is asked."""

    auto = "auto"
    responses = "responses"
    chat = "chat"
    messages = "messages"


def run(
    benchmark: Annotated[str, typer.Option(metavar="NAME", help="Benchmark; `blade list benchmarks` shows them.")],
    model: Annotated[str, typer.Option(metavar="MODEL", help="Model, as its server calls it.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Rollouts are appended here, sidecars stand beside it.")],
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Server other than the vendor's, e.g. http://localhost:8080/v1.")
    ] = None,
    api: Annotated[
        Api, typer.Option(help="API to speak; auto: messages to claude…, chat to a --base-url, else responses.")
    ] = Api.auto,
    tools: Annotated[
        Tools, typer.Option(help="How tools are called: by the API, or by lines of text, for models never taught to.")
    ] = Tools.native,
    agent_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="NeMo Gym agent that plays and judges instead, e.g. http://localhost:8000."),
    ] = None,
    skills: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of Agent Skills that the model may open.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rollouts per task.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N tasks.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Rollouts at a time.")] = 8,
    temperature: Annotated[float | None, typer.Option(min=0.0, metavar="T", help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(min=0.0, max=1.0, metavar="P", help="Nucleus sampling.")] = None,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, metavar="N", help="Tokens per reply.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Replies per rollout.")] = None,
    max_rollout_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Tokens of all replies of a rollout together.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Every rollout's own seed is derived from it.")] = 0,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="S", help="Seconds one request may take.")] = 600.0,
    attempts: Annotated[
        int, typer.Option(min=1, metavar="N", help="Times a request that may yet succeed is made.")
    ] = 6,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run on the same output.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite earlier rollouts; with --resume, go on in spite of changes.")
    ] = False,
    root: Annotated[Path | None, typer.Option(metavar="DIR", help="Checkout that holds `benchmarks/`.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark and write its rollouts, safe against kills and resumable.

    Exits with 0 when every rollout has a verdict, 1 when some attempts failed for other reasons than the model's
    answer (they are in FILE's failures sidecar, and --resume tries them again), 130 after Ctrl-C.
    """
    from blade.benchmarks.catalog import find_benchmark
    from blade.cli.eval_progress import watching
    from blade.evals.files import RunFiles
    from blade.evals.jobs import Target, Wishes, make_job
    from blade.evals.run import RunOptions, run_job
    from blade.llm import Sampling

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
        sampling=Sampling(temperature=temperature, top_p=top_p, max_output_tokens=max_output_tokens, seed=seed),
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
