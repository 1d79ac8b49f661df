"""Options and words that the offline `blade eval` commands share."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import Root
from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.evals.aggregate import AggregateOptions
    from blade.evals.entries import Agent
    from blade.metrics.recipes import Recipe


class Choice(StrEnum):
    """Which of several rows with one key counts."""

    first = "first"
    last = "last"
    error = "error"


FailOnMissing = Annotated[
    bool, typer.Option("--fail-on-missing", help="Exit with code 1 if expected rollouts are missing.")
]


def counting(
    inputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Materialized inputs, which state what was expected; by default the file beside the rollouts.",
        ),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(metavar="NAME", help="Benchmark whose success rule and slices are used.")
    ] = None,
    success: Annotated[
        str | None, typer.Option(metavar="RULE", help="When a rollout is a success, e.g. 'reward >= 1.0'.")
    ] = None,
    slice: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Also give pass@k by this task field; may be repeated.")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="SERVER", help="Gym server whose scoring is used; by default the one that belongs to the agent."
        ),
    ] = None,
    duplicates: Annotated[
        Choice, typer.Option(help="Which of several conflicting rows counts; `error` exits with 1.")
    ] = Choice.error,
    expected_repeats: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of rollouts each task should have, if no inputs state it."),
    ] = None,
    root: Root = None,
) -> "AggregateOptions":
    """What a user asked for, on top of what the benchmark says."""
    from blade.benchmarks import find_benchmark
    from blade.evals.aggregate import AggregateOptions

    known = find_benchmark(benchmark, root) if benchmark is not None else None
    return AggregateOptions(
        success=success or (known.success if known else None),
        slices=tuple(dict.fromkeys([*(slice or []), *(known.slices if known else [])])),
        recipe=None if recipe is None else recipe_named(recipe),
        inputs=inputs,
        duplicates=duplicates.value,
        expected_repeats=expected_repeats,
    )


def recipe_named(name: str) -> "Recipe":
    """The recipe of a Gym server."""
    import difflib

    from blade.metrics.recipes import RECIPES

    if name not in RECIPES:
        near = difflib.get_close_matches(name, RECIPES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(RECIPES)}."
        raise UsageError(f"no recipe is named '{name}'; {hint}")
    return RECIPES[name]


def agent_lines(agents: "list[Agent]") -> list[str]:
    """The headline and the coverage of every agent, one line each."""
    return [f"{agent.name or 'no agent_ref'}: {headline(agent)}, {coverage(agent)}" for agent in agents]


def headline(agent: "Agent") -> str:
    """pass@1, or the mean reward where rewards are graded, with its interval over tasks."""
    from blade.report.numbers import interval, number, percent

    first, mean = agent.headline["pass_at_1"], agent.headline["mean_reward"]
    if first.value is None:
        return f"mean reward {number(mean.value)}"
    return f"pass@1 {percent(first.value)}" + (f" ({interval(first.ci95)})" if first.ci95 is not None else "")


def coverage(agent: "Agent") -> str:
    """What is there of what was expected."""
    from blade.report.numbers import plural

    seen = agent.coverage
    expected = "" if seen.expected_rollouts is None else f" of {seen.expected_rollouts} expected"
    missing = f", {seen.missing} missing" if seen.missing else ""
    return f"{plural(seen.tasks, 'task')}, {plural(seen.rollouts, 'rollout')}{expected}{missing}"


def fail_if_missing(agents: "list[Agent]", *, wanted: bool) -> None:
    """Stops with exit code 1 when rollouts are missing and the user wants to know."""
    from blade.errors import ProblemsFound

    missing = sum(agent.coverage.missing or 0 for agent in agents)
    if wanted and missing:
        raise ProblemsFound(f"{missing} expected rollouts are missing; `blade eval run --resume` makes them.")


def say(notes: list[str]) -> None:
    """What a reader should know, on stderr."""
    from blade.report.text import one_line

    for note in notes:
        typer.echo(f"blade: {one_line(note, 400)}", err=True)
