"""`blade eval prepare`: make a benchmark's tasks again."""

from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from blade.evals.prepare import Prepared

EPILOG = epilog("blade eval prepare word_math", "blade eval prepare word_math --write")


def prepare(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Benchmark; `blade list benchmarks` shows them.", show_default=False),
    ],
    write: Annotated[bool, typer.Option("--write", help="Put what is made in the place of the frozen tasks.")] = False,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Make a benchmark's tasks again, and compare them with the frozen file and the hash its config pins.

    Runs the benchmark's prepare script, so do this in checkouts you trust. Exits with 1 when anything differs.
    """
    from blade.benchmarks import find_benchmark
    from blade.errors import ProblemsFound
    from blade.evals.prepare import prepare as make

    made = make(find_benchmark(name, root), write=write)
    render(made, as_json=as_json)
    if made.problems:
        raise ProblemsFound(f"{made.benchmark}: {'; '.join(made.problems)}.")


def render(made: "Prepared", *, as_json: bool) -> None:
    """What was made, for a program or a person."""
    from blade.cli.terminal import print_values_as_json
    from blade.report.text import one_line

    if as_json:
        import msgspec

        print_values_as_json({**msgspec.structs.asdict(made), "problems": made.problems})
        return
    state = "written" if made.written else "as frozen" if made.sha256 == made.frozen_sha256 else "not as frozen"
    typer.echo(one_line(f"{made.benchmark}: {made.tasks} tasks, {state}, sha256 {made.sha256}", 300))
