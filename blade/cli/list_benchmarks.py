"""`blade list benchmarks`: which evaluations a checkout has."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from blade.benchmarks.listing import Has
    from blade.errors import Problem

EPILOG = epilog("blade list benchmarks", "blade list benchmarks word_math --json", "blade list benchmarks --root Gym")
TITLES = ("name", "domain", "agent", "environment", "repeats", "has")


def benchmarks(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only this one, with everything about it.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """List the benchmarks of a checkout.

    With domain, agent, environment, repeats, and what their packages hold. A checkout of NeMo Gym is read by the same
    rules. Configs that cannot be resolved are named on stderr with file and line, and hide no other benchmark.
    """
    from blade.benchmarks.catalog import find_benchmark, read_catalog
    from blade.benchmarks.listing import describe, list_benchmark

    if name is not None:
        show_details(describe(find_benchmark(name, root)), as_json=as_json)
        return
    catalog = read_catalog(root)
    say_problems(catalog.problems)
    show_listings([list_benchmark(benchmark) for benchmark in catalog.benchmarks], as_json=as_json, root=catalog.root)


def show_listings(listings: list[dict[str, Any]], *, as_json: bool, root: Path) -> None:
    """The rows for a program, or a table for a person."""
    from blade.cli.terminal import foreign, indented, make_console, print_as_json, put

    if as_json:
        print_as_json(listings)
        return
    console = make_console()
    if not listings:
        put(console, foreign(f"No benchmark is declared in {root}."))
        return
    for line, description in lines_of(listings):
        put(console, line)
        if description:
            put(console, indented(foreign(description, "dim"), 4))


def lines_of(listings: list[dict[str, Any]]) -> "Iterator[tuple[Text, str | None]]":
    """A line of columns per benchmark, with its description; first the titles."""
    from blade.cli.terminal import foreign

    rows = [
        (
            row["name"],
            row["domain"] or "–",
            row["agent"],
            row["environment"] or "–",
            str(row["num_repeats"]),
            parts(row["has"]),
        )
        for row in listings
    ]
    widths = [max(map(len, column)) for column in zip(TITLES, *rows, strict=True)]
    texts = [None, *(row["description"] for row in listings)]
    for cells, text in zip([TITLES, *rows], texts, strict=True):
        line = foreign("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
        line.stylize("dim" if cells is TITLES else "cyan", 0, None if cells is TITLES else len(cells[0]))
        line.no_wrap = True
        yield line, text


def parts(has: "Has") -> str:
    """Which parts of a package are there."""
    names = [name for name in ("data", "rollouts", "skill", "golden") if getattr(has, name)]
    return ", ".join(names) or "–"


def show_details(details: dict[str, Any], *, as_json: bool) -> None:
    """Everything about one benchmark."""
    from blade.cli.terminal import foreign, grid, make_console, print_as_json, put

    if as_json:
        print_as_json(details)
        return
    table = grid("", "", numbers=False)
    for name, value in details.items():
        shown = parts(value) if name == "has" else ", ".join(value) if isinstance(value, list) else value
        table.add_row(foreign(name.replace("_", " "), "dim"), foreign("–" if shown in (None, "") else str(shown)))
    put(make_console(), table)


def say_problems(problems: "list[Problem]") -> None:
    """What hides a benchmark, on stderr."""
    from blade.report.text import one_line

    for problem in problems:
        hint = f"; {problem.hint}" if problem.hint else ""
        typer.echo(f"blade: {one_line(f'{problem.where}: {problem.message}{hint}', 400)}", err=True)
