"""`blade validate`: is a benchmark package ready for others to use?"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.golden.package.checks import Check

EPILOG = epilog("blade validate word_math", "blade validate path/to/benchmark --phase rollouts --json")
MARKS = {"PASS": ("ok   ", ""), "FAIL": ("wrong", "red"), "SKIP": ("left ", "dim")}


class Phase(StrEnum):
    """What to check."""

    all = "all"
    skill = "skill"
    rollouts = "rollouts"
    golden = "golden"


def validate(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="Name or folder of a benchmark.", show_default=False)
    ],
    phase: Annotated[Phase, typer.Option(help="What to check.")] = Phase.all,
    min_anchor_facts: Annotated[int, typer.Option(min=0, metavar="N", help="Anchor facts expected per report.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Check a benchmark's skill, rollouts and golden reports."""
    from blade.cli.terminal import print_json
    from blade.golden.package.checks import as_json as to_json
    from blade.golden.package.checks import has_failed
    from blade.golden.package.validate import validate as validate_package

    checks = validate_package(folder_of(benchmark), phase=phase.value, least_facts=min_anchor_facts)
    if as_json:
        print_json(json.dumps(to_json(checks), indent=2, ensure_ascii=False).encode())
    else:
        print_checks(checks)
    raise typer.Exit(1 if has_failed(checks) else 0)


def folder_of(benchmark: str) -> Path:
    """The folder a user means: a path, or a name among the checkout's benchmarks."""
    given = Path(benchmark)
    if given.is_dir() or len(given.parts) != 1:
        return given
    places = [parent / "benchmarks" / benchmark for parent in (Path.cwd(), *Path.cwd().parents)]
    return next((place for place in places if place.is_dir()), given)


def print_checks(checks: "list[Check]") -> None:
    """One line per check, by phase, with what to do under those that fail."""
    from blade.cli.terminal import foreign, indented, make_console, put
    from blade.golden.package.checks import summary

    console = make_console()
    for phase in dict.fromkeys(check.phase for check in checks):
        put(console, foreign(phase.capitalize(), "bold"))
        for check in (check for check in checks if check.phase == phase):
            mark, style = MARKS[check.status]
            put(console, indented(foreign(f"{mark} {check.message}", style)))
            if check.hint:
                put(console, indented(foreign(check.hint), 4))
    put(console, foreign(summary(checks), "bold"))
