"""`blade eval prepare`: make a benchmark's tasks again, or a benchmark of a set that is on disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from blade.evals.prepare import Prepared

MOST_TOLD = 10
"""Rows left out that are told one by one."""

EPILOG = epilog(
    "blade eval prepare word_math",
    "blade eval prepare word_math --write",
    "blade eval prepare --from gsm8k test.jsonl --out mine",
)


def prepare(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Benchmark; `blade list benchmarks` shows them. With --from, the file or folder to read instead.",
            show_default=False,
        ),
    ],
    write: Annotated[bool, typer.Option("--write", help="Put what is made in the place of the frozen tasks.")] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SET",
            help="Make a benchmark of a set on disk: gsm8k, humaneval, ifeval or mmlu; JSON(L) or CSV, also .gz.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --from: folder to write `benchmarks/SET` into.")
    ] = None,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Make a benchmark's tasks again and compare.

    They are held against the frozen file and the hash that its config pins. Runs the benchmark's prepare script, so do
    this in checkouts you trust. Exits with 1 when anything differs. With --from, makes a benchmark of a set instead,
    to be run with `blade eval run --root DIR --benchmark SET`; rows that cannot be judged as they are meant are left
    out and told.
    """
    from blade.errors import UsageError

    if kind is not None and out is not None:
        make_external(kind, Path(name), out, as_json=as_json)
    elif kind is not None or out is not None:
        raise UsageError("--from SET and --out DIR go together: what to read, and where to write the benchmark.")
    else:
        make_again(name, root, write=write, as_json=as_json)


def make_again(name: str, root: Path | None, *, write: bool, as_json: bool) -> None:
    """A benchmark's own tasks."""
    from blade.benchmarks import find_benchmark
    from blade.errors import ProblemsFound
    from blade.evals.prepare import prepare as make

    made = make(find_benchmark(name, root), write=write)
    render(made, as_json=as_json)
    if made.problems:
        raise ProblemsFound(f"{made.benchmark}: {'; '.join(made.problems)}.")


def make_external(kind: str, source: Path, out: Path, *, as_json: bool) -> None:
    """A benchmark of somebody's set."""
    from blade.cli.terminal import print_values_as_json
    from blade.environments.external import write_package
    from blade.report.text import one_line

    external, place = write_package(kind, source, out)
    if as_json:
        told = {"benchmark": place, "environment": external.environment, "tasks": len(external.tasks)}
        print_values_as_json({**told, "left_out": external.left_out})
        return
    for row in external.left_out[:MOST_TOLD]:
        typer.echo(one_line(f"left out: line {row.line}, {row.reason}", 300), err=True)
    if len(external.left_out) > MOST_TOLD:
        typer.echo(f"and {len(external.left_out) - MOST_TOLD} more; --json lists them all", err=True)
    written, left = len(external.tasks), len(external.left_out)
    typer.echo(one_line(f"{place}: {written} tasks for {external.environment}, {left} rows left out", 300))


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
