"""`blade eval profile`: every task of a run, with what was asked and what came of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.engines import Engine, EngineName, RayAddress, working_on
from blade.cli.eval_options import (
    Benchmark,
    Choice,
    Duplicates,
    ExpectedRepeats,
    FailOnMissing,
    Inputs,
    RecipeName,
    Slices,
    SuccessRule,
)
from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from blade.evals.profile import Profiled

EPILOG = epilog("blade eval profile out/word_math.jsonl", "blade eval profile run.jsonl --inputs asked.jsonl --json")


def profile(
    rollouts: Annotated[Path, typer.Argument(metavar="ROLLOUTS", help="A rollout file.", show_default=False)],
    inputs: Inputs = None,
    benchmark: Benchmark = None,
    success: SuccessRule = None,
    slice: Slices = None,
    recipe: RecipeName = None,
    duplicates: Duplicates = Choice.error,
    expected_repeats: ExpectedRepeats = None,
    fail_on_missing: FailOnMissing = False,
    engine: Engine = EngineName.local,
    ray_address: RayAddress = None,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Write per-task statistics beside a rollout file.

    The reward profile and the agents' metrics, as NeMo Gym names and fills them. Adds pass@k of every task and agent,
    and true counts of expected and missing rollouts. Needs no server.
    """
    import msgspec

    from blade.cli.eval_options import aggregate_options, fail_if_missing
    from blade.evals.profile import write_profile

    asked = aggregate_options(benchmark=benchmark, success=success, slices=slice, recipe=recipe, root=root)
    options = msgspec.structs.replace(
        asked, inputs=inputs, duplicates=duplicates.value, expected_repeats=expected_repeats
    )
    with working_on(engine, ray_address):
        result = write_profile(rollouts, options)
    render(result, as_json=as_json)
    fail_if_missing(result.agents, wanted=fail_on_missing)


def render(result: "Profiled", *, as_json: bool) -> None:
    """What was written, for a program or a person."""
    from blade.cli.eval_options import agent_lines, say
    from blade.cli.terminal import print_value_as_json
    from blade.report.numbers import plural
    from blade.report.text import one_line

    say(result.notes)
    if as_json:
        print_value_as_json(result)
        return
    for line in agent_lines(result.agents):
        typer.echo(one_line(line, 300))
    typer.echo(f"{one_line(str(result.profile), 300)}: {plural(result.tasks, 'task')}")
    typer.echo(f"{one_line(str(result.agent_metrics), 300)}: {plural(len(result.agents), 'agent')}")
