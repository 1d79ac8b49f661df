"""`blade eval prepare`: make a benchmark's tasks again, or a benchmark of a set that is on disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from blade.environments.external import Checked, External
    from blade.evals.prepare import Prepared

MOST_TOLD = 10
"""Rows left out that are told one by one."""

KINDS = (
    "aime, bfcl, gpqa, gsm8k, hotpotqa, humaneval, ifbench, ifeval, json_schema, math, mbpp, mmlu, mmlu_pro, simpleqa, "
    "text_to_sql, xstest"
)
"""What `blade.environments.external` knows; loading it for a help text would take too long."""

EPILOG = epilog(
    "blade eval prepare word_math",
    "blade eval prepare word_math --write",
    "blade eval prepare --from gsm8k test.jsonl --out mine",
    "blade eval prepare --from math ~/.cache/huggingface/hub/datasets--HuggingFaceH4--MATH-500 --check",
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
    write: Annotated[bool, typer.Option("--write", help="Replace the frozen tasks with the new ones.")] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SET",
            help=f"Make a benchmark of a set on disk, which is one of: {KINDS}. "
            "A file or folder of JSON(L), CSV, Parquet or Arrow. Most rows of ifbench are left out: few of its "
            "instructions have a rule here.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --from: folder to write `benchmarks/SET` into.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --from and a folder: which split, by default test, then validation."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="With --from: judge every task's right answer and an empty one.")
    ] = False,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Make a benchmark's tasks again and compare.

    They are held against the frozen file and the hash that its config pins. Runs the benchmark's prepare script, so do
    this in checkouts you trust. Exits with 1 when anything differs. With --from, makes a benchmark of a set instead,
    to be run with `blade eval run --root DIR --benchmark SET`; rows that cannot be judged as they are meant are left
    out and told. --check exits with 1 when a right answer fails or an empty one passes.
    """
    from blade.errors import UsageError

    if kind is None and (out is not None or split is not None or check):
        raise UsageError("--out, --split and --check say what to do with a set; name it with --from SET.")
    if kind is None:
        make_again(name, root, write=write, as_json=as_json)
    elif out is None and not check:
        raise UsageError("--from SET needs --out DIR, where to write the benchmark, or --check, or both.")
    else:
        make_external(kind, Path(name), out, split=split, check=check, as_json=as_json)


def make_again(name: str, root: Path | None, *, write: bool, as_json: bool) -> None:
    """A benchmark's own tasks."""
    from blade.benchmarks import find_benchmark
    from blade.errors import ProblemsFound
    from blade.evals.prepare import prepare as make

    made = make(find_benchmark(name, root), write=write)
    render(made, as_json=as_json)
    if made.problems:
        raise ProblemsFound(f"{made.benchmark}: {'; '.join(made.problems)}.")


def make_external(kind: str, source: Path, out: Path | None, *, split: str | None, check: bool, as_json: bool) -> None:
    """A benchmark of somebody's set, or what its own answers score."""
    from blade.cli.terminal import print_as_json
    from blade.environments.external import check_external, load_external, write_package
    from blade.errors import ProblemsFound

    place = None
    if out is None:
        external = load_external(kind, source, split=split)
    else:
        external, place = write_package(kind, source, out, split=split)
    checked = check_external(external) if check else None
    if as_json:
        told = {"benchmark": place, "environment": external.environment, "tasks": len(external.tasks)}
        print_as_json({**told, "left_out": external.left_out, "check": checked})
    else:
        tell_external(external, place or source)
        if checked is not None:
            tell_checked(checked)
    if checked is not None and checked.problems:
        raise ProblemsFound(f"{len(checked.problems)} of {checked.tasks} tasks are judged wrongly.")


def tell_external(external: "External", place: Path) -> None:
    """What was made of a set, and the first rows that were left out."""
    from blade.report.numbers import plural
    from blade.report.text import one_line

    for row in external.left_out[:MOST_TOLD]:
        typer.echo(one_line(f"left out: line {row.line}, {row.reason}", 300), err=True)
    if len(external.left_out) > MOST_TOLD:
        typer.echo(f"and {len(external.left_out) - MOST_TOLD} more; --json lists them all", err=True)
    written, left = plural(len(external.tasks), "task"), plural(len(external.left_out), "row")
    typer.echo(one_line(f"{place}: {written} for {external.environment}, {left} left out", 300))


def tell_checked(checked: "Checked") -> None:
    """How right and empty answers fared."""
    from blade.report.text import one_line

    for problem in checked.problems[:MOST_TOLD]:
        typer.echo(one_line(problem, 300), err=True)
    tried = checked.tasks - checked.without_gold
    without = f"; {checked.without_gold} tasks come without one" if checked.without_gold else ""
    typer.echo(f"{checked.gold_passes} of {tried} right answers pass{without}")


def render(made: "Prepared", *, as_json: bool) -> None:
    """What was made, for a program or a person."""
    from blade.cli.terminal import print_as_json
    from blade.report.text import one_line

    if as_json:
        import msgspec

        print_as_json({**msgspec.structs.asdict(made), "problems": made.problems})
        return
    state = "written" if made.written else "as frozen" if made.sha256 == made.frozen_sha256 else "not as frozen"
    typer.echo(one_line(f"{made.benchmark}: {made.tasks} tasks, {state}, sha256 {made.sha256}", 300))
