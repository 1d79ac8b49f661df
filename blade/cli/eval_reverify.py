"""`blade eval reverify`: judge rollouts again, and say which rewards change."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli import run_options
from blade.cli.options import AsJson, Root, epilog, with_options

if TYPE_CHECKING:
    from blade.evals.jobs import JudgeTarget
    from blade.evals.reverify import Reverified

EPILOG = epilog(
    "blade eval reverify out/word_math.jsonl --benchmark word_math",
    "blade eval reverify old.jsonl --benchmark word_math --output new.jsonl",
    "blade eval reverify kept.jsonl --benchmark word_math --fail-on-change",
)
MOST = 20


@with_options(judge=run_options.judging)
def reverify(
    rollouts: Annotated[Path, typer.Argument(metavar="ROLLOUTS", help="A rollout file.", show_default=False)],
    benchmark: Annotated[str, typer.Option(metavar="NAME", help="Benchmark whose environment judges.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the rollouts with new verdicts go.")
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Materialized inputs with the tasks; by default those beside the rollouts."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N rollouts.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rollouts judged at a time; all cores by default.")
    ] = None,
    judge: "JudgeTarget | None",
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 when any reward changes.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an output that exists.")] = False,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Judge rollouts again; report every changed reward.

    The rollouts stay as they are; --output writes a new file with failures, inputs and metrics beside it. A changed
    reward is a result, not an error, unless --fail-on-change says so; a verifier that breaks exits with 1.
    """
    from blade.benchmarks import find_benchmark
    from blade.cli.pipeline import cores
    from blade.cli.progress import ReadingBar
    from blade.errors import UsageError
    from blade.evals.jobs import judging_environment
    from blade.evals.judging import let_go
    from blade.evals.reverify import ReverifyOptions
    from blade.evals.reverify import reverify as judge_again

    known = find_benchmark(benchmark, root)
    if known.environment is None:
        raise UsageError(f"{known.name} is judged by its agent '{known.agent}', so there is no verifier to ask again.")
    options = ReverifyOptions(inputs=inputs, output=output, overwrite=overwrite, limit=limit, jobs=jobs or cores())
    environment = judging_environment(known.environment, judge)
    try:
        with ReadingBar() as bar:
            result = judge_again(rollouts, known, environment, options=options, progress=bar)
    finally:
        let_go(environment)
    render(result, as_json=as_json)
    leave(result, fail_on_change=fail_on_change)


def render(result: "Reverified", *, as_json: bool) -> None:
    """What changed, for a program or a person."""
    from blade.cli.eval_options import say
    from blade.cli.terminal import print_as_json
    from blade.report.text import one_line

    say(result.notes)
    if as_json:
        print_as_json(result)
        return
    typer.echo(
        f"{result.judged} of {result.rollouts} rollouts judged again: {len(result.changed)} rewards changed, "
        f"mean {reward_words(result.mean_before)} before, {reward_words(result.mean_now)} now"
    )
    for change in result.changed[:MOST]:
        fields = f" ({', '.join(change.fields)})" if change.fields else ""
        typer.echo(
            "  " + one_line(f"{change.rollout} {reward_words(change.old)} -> {reward_words(change.new)}{fields}", 200)
        )
    if len(result.changed) > MOST:
        typer.echo(f"  and {len(result.changed) - MOST} more; --json lists them all")
    if result.output is not None:
        typer.echo(one_line(f"{result.output}: {result.rollouts - len(result.failed)} rollouts", 300))


def reward_words(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}"


def leave(result: "Reverified", *, fail_on_change: bool) -> None:
    """Exits with 1 for a verifier that broke, rows nobody could judge, or changes the user asked about."""
    from blade.errors import ProblemsFound

    troubles = [*result.failed, *result.unjudgeable]
    if troubles:
        first = troubles[0]
        raise ProblemsFound(f"{len(troubles)} rollouts could not be judged; {first.rollout}: {first.why}.")
    if fail_on_change and result.changed:
        raise ProblemsFound(f"{len(result.changed)} rewards changed, the first that of {result.changed[0].rollout}.")
