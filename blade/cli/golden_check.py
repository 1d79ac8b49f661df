"""`blade golden check`: are golden packages still what their sources give, and still true?"""

from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.golden_build import Root
from blade.cli.options import AsJson, epilog
from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.golden.guard import Guarded

EPILOG = epilog("blade golden check", "blade golden check word_math fact_forms")


def check(
    benchmark: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK]...", help="Names or folders; all with golden reports by default."),
    ] = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Build every package again and compare it byte for byte."""
    import msgspec

    from blade.benchmarks import find_root
    from blade.cli.terminal import print_json
    from blade.golden.guard import check_source, find_golden_benchmarks
    from blade.golden.sources import find_source

    names = benchmark or find_golden_benchmarks(find_root(root))
    found: list[Guarded] = []
    for name in names:
        packages = check_source(find_source(name, root))
        if not packages:
            raise UsageError(f"{name}: has no golden reports; name a benchmark that has, or its folder.")
        found += packages
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode({"packages": found}), indent=2))
    else:
        print_guarded(found)
    raise typer.Exit(1 if any(one.problems for one in found) else 0)


def print_guarded(found: "list[Guarded]") -> None:
    """One line per package, and what is wrong under it."""
    from blade.cli.terminal import foreign, indented, make_console, put

    console = make_console()
    for one in found:
        state, style = ("drifted", "red") if one.problems else ("holds", "")
        put(console, foreign(f"{one.benchmark}  {one.model}: {state}", style))
        for problem in one.problems:
            put(console, indented(foreign(f"{problem.where}: {problem.message}")))
            put(console, indented(foreign(problem.hint), 4))
    if not found:
        put(console, foreign("There are no golden packages to check."))
