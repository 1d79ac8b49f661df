"""`blade eval profile`: every task of a run, with what was asked and what came of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.eval_options import FailOnMissing, counting
from blade.cli.options import AsJson, epilog, with_options, working_on

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from blade.evals.aggregate import AggregateOptions, Profiled

EPILOG = epilog("blade eval profile out/word_math.jsonl", "blade eval profile run.jsonl --inputs asked.jsonl --json")


@with_options(options=counting, engine=working_on)
def profile(
    rollouts: Annotated[Path, typer.Argument(metavar="ROLLOUTS", help="A rollout file.", show_default=False)],
    *,
    options: "AggregateOptions",
    fail_on_missing: FailOnMissing = False,
    engine: "AbstractContextManager[object]",
    as_json: AsJson = False,
) -> None:
    """Write per-task statistics beside a rollout file.

    The reward profile and the agents' metrics, as NeMo Gym names and fills them. Adds pass@k of every task and agent,
    and true counts of expected and missing rollouts. Needs no server.
    """
    from blade.cli.eval_options import fail_if_missing
    from blade.evals.aggregate import write_profile

    with engine:
        result = write_profile(rollouts, options)
    render(result, as_json=as_json)
    fail_if_missing(result.agents, wanted=fail_on_missing)


def render(result: "Profiled", *, as_json: bool) -> None:
    """What was written, for a program or a person."""
    from blade.cli.eval_options import agent_lines, say
    from blade.cli.terminal import print_as_json
    from blade.report.numbers import plural
    from blade.report.text import one_line

    say(result.notes)
    if as_json:
        print_as_json(result)
        return
    for line in agent_lines(result.agents):
        typer.echo(one_line(line, 300))
    typer.echo(f"{one_line(str(result.profile), 300)}: {plural(result.tasks, 'task')}")
    typer.echo(f"{one_line(str(result.agent_metrics), 300)}: {plural(len(result.agents), 'agent')}")
