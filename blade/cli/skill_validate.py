"""`blade skill validate`: whether a skill is one, and a good one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.errors import ProblemsFound

if TYPE_CHECKING:
    from blade.errors import Problem

EPILOG = epilog(
    "blade skill validate skills",
    "blade skill validate skills/my-skill --run-scripts --json",
)


def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Folders of skills, or folders that hold some.", show_default=False),
    ],
    spec_only: Annotated[
        bool, typer.Option("--spec-only", help="Hold them to the Agent Skills specification, and not to our own rules.")
    ] = False,
    run_scripts: Annotated[
        bool, typer.Option("--run-scripts", help="Also start every script with --help; only for skills you trust.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check Agent Skills against the specification.

    Looks at frontmatter, length, links, references, scripts, commands, taxonomy and evals. Prints every problem with
    its place and what to do, and exits with 1 if there is any.
    """
    from blade.cli.command_check import command_complaint
    from blade.skillkit.check import Rules, check_skill
    from blade.skillkit.skill import find_skills

    rules = Rules(ours=not spec_only, run_scripts=run_scripts, commands=command_complaint)
    folders = list(dict.fromkeys(folder for path in paths for folder in find_skills(path)))
    found = {folder: check_skill(folder, rules) for folder in folders}
    print_found(found, as_json=as_json)
    if not as_json and not run_scripts and not spec_only:
        say_what_was_not_run(folders)
    if total := sum(map(len, found.values())):
        raise ProblemsFound(f"{total} problem{'s' * (total > 1)} in {len(folders)} skill{'s' * (len(folders) > 1)}.")


def print_found(found: "dict[Path, list[Problem]]", *, as_json: bool) -> None:
    """One line per problem and per good skill, or all of it as one document."""
    import msgspec

    from blade.cli.terminal import print_json
    from blade.report.text import one_line

    if as_json:
        skills = [{"path": str(folder), "valid": not said, "problems": said} for folder, said in found.items()]
        print_json(msgspec.json.format(msgspec.json.encode({"skills": skills}), indent=2))
        return
    for folder, problems in found.items():
        for problem in problems:
            hint = f"; {problem.hint}" if problem.hint else ""
            typer.echo(one_line(f"{problem.where}: {problem.message}{hint}"))
        if not problems:
            typer.echo(one_line(f"{folder}: good"))


def say_what_was_not_run(folders: list[Path]) -> None:
    from blade.skillkit.scripts import script_files

    count = sum(len(script_files(folder)) for folder in folders)
    if count:
        were = "script was" if count == 1 else "scripts were"
        typer.echo(f"blade: {count} {were} not run; --run-scripts starts each with --help.", err=True)
