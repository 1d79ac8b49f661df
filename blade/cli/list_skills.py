"""`blade list skills`: which Agent Skills there are."""

from pathlib import Path
from typing import Annotated, Any

import typer

from blade.cli.options import AsJson, epilog

EPILOG = epilog("blade list skills", "blade list skills tau --json", "blade list skills --root Gym")


def skills(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this one.", show_default=False)] = None,
    as_json: AsJson = False,
    root: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Checkout, or folder of skills; by default those that come with BLADE."),
    ] = None,
) -> None:
    """List Agent Skills and what each is for.

    Says too whether a skill brings a taxonomy pack and scripts.
    """
    from blade.cli.list_benchmarks import say_problems
    from blade.cli.terminal import print_as_json
    from blade.skillkit.shelf import describe, find_skill, read_shelf
    from blade.skillkit.skill import read_skill

    if name is not None:
        entry = describe(read_skill(find_skill(name, root)))
        if as_json:
            print_as_json(entry)
        else:
            show([entry], whole=True)
        return
    found, problems = read_shelf(root)
    say_problems(problems)
    if as_json:
        print_as_json(found)
    else:
        show(found, whole=False)


def show(entries: list[dict[str, Any]], *, whole: bool) -> None:
    """Name and parts on a line, the description under it; of many, its first sentence."""
    from blade.cli.terminal import foreign, indented, make_console, put

    console = make_console()
    for entry in entries:
        brings = ["a taxonomy pack"] * entry["taxonomy"] + entry["scripts"]
        line = foreign(entry["name"], "cyan")
        line.append_text(foreign(f"  brings {', '.join(brings)}" if brings else "", "dim"))
        put(console, line)
        said = entry["description"]
        if not whole:
            said = said.partition(". ")[0].removesuffix(".") + "."
        put(console, indented(foreign(said, "" if whole else "dim"), 4))
        if whole:
            put(console, indented(foreign(entry["path"], "dim"), 4))
