"""`blade skill validate`: whether a skill is one, and a good one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from blade.cli.options import AsJson, epilog
from blade.errors import ProblemsFound

if TYPE_CHECKING:
    from blade.errors import Problem

EPILOG = epilog("blade skill validate skills", "blade skill validate skills/my-skill --run-scripts --json")


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


USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""What the parser raises for any wrong use; typer's versions keep it in different places."""
DOTS = {"…", "..."}
HELP = {"--help", "-h"}
"""Asking for it prints it at once, so such a command is not parsed."""


def command_complaint(words: Sequence[str], whole: bool) -> str | None:
    """What is wrong with the words after `blade`; of a mention only the command and its flags are looked at."""
    from typer.main import get_command

    from blade.cli.main import app

    command: Any = get_command(app)
    rest = list(words)
    name = "blade"
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        following = command.commands.get(rest[0])
        if following is None:
            return None if not whole and is_placeholder(rest[0]) else f"there is no command {rest[0]!r} in {name}"
        command, name, rest = following, f"{name} {rest[0]}", rest[1:]
    if isinstance(command, TyperGroup):
        return group_complaint(name, rest, whole=whole)
    runs = whole and not HELP & set(rest)
    return parse_complaint(command, name, rest) if runs else flag_complaint(command, name, rest)


def group_complaint(name: str, rest: list[str], *, whole: bool) -> str | None:
    """A group alone is a fine thing to mention, and `--help` a fine thing to ask it."""
    if not whole or (HELP | {"--version"}) & set(rest):
        return None
    return f"{name} needs a command"


def parse_complaint(command: Any, name: str, rest: list[str]) -> str | None:
    """What the command's own parser says."""
    try:
        with command.make_context(name, rest):
            return None
    except USAGE_ERROR as error:
        return str(error.format_message())


def flag_complaint(command: Any, name: str, rest: list[str]) -> str | None:
    known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)} | HELP
    unknown = [flag for word in rest if word.startswith("-") and (flag := word.partition("=")[0]) not in known]
    return f"{name} knows no {unknown[0]}" if unknown and unknown[0] != "-" else None


def is_placeholder(word: str) -> bool:
    return word in DOTS or word.isupper()
