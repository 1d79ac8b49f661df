"""`blade skill install`: put skills where an agent looks for them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.errors import InputError, ProblemsFound

if TYPE_CHECKING:
    from blade.skillkit.install import Installed

EPILOG = epilog(
    "blade skill install --agent claude",
    "blade skill install blade-analysis tau --agent codex --user",
    "blade skill install my-skills/my-benchmark --agent agents --dry-run",
)


class AgentName(StrEnum):
    """Which agents' folders are known."""

    claude = "claude"
    codex = "codex"
    agents = "agents"


def install(
    agent: Annotated[
        list[AgentName],
        typer.Option(help="Whose folder: .claude/skills, .codex/skills, or .agents/skills, which many read."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Skills by name, or folders of skills; all that come with BLADE."),
    ] = None,
    user: Annotated[bool, typer.Option("--user", help="For all of your projects, in your home folder.")] = False,
    project: Annotated[Path, typer.Option(metavar="DIR", help="Project that is installed into.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that somebody edited there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy skills into an agent's folder; safe to repeat.

    Files that were edited there are never overwritten without --force: their skill is refused, and the command exits
    with 1. Files you added stay. A skill that breaks the Agent Skills specification is not installed.
    """
    from blade.skillkit.install import install_skill, place_for
    from blade.skillkit.shelf import find_skill, read_shelf

    sources = [find_skill(name) for name in names] if names else [Path(skill["path"]) for skill in read_shelf()[0]]
    check_all(sources)
    places = list(dict.fromkeys(place_for(one.value, user=user, project=project) for one in agent))
    done = [install_skill(source, place, force=force, dry_run=dry_run) for place in places for source in sources]
    render(done, as_json=as_json, dry_run=dry_run)
    refused = [one.skill for one in done if one.action == "refused"]
    if refused:
        raise ProblemsFound(f"{', '.join(refused)} edited there and left alone; --force overwrites the edits.")


def check_all(sources: list[Path]) -> None:
    """Refuses the whole request when a skill is none."""
    from blade.skillkit.check import Rules, check_skill

    for source in sources:
        problems = check_skill(source, Rules(ours=False))
        if problems:
            raise InputError(f"{problems[0].where}: {problems[0].message}; see it all with `blade skill validate`.")


def render(done: "list[Installed]", *, as_json: bool, dry_run: bool) -> None:
    """A line per skill, or all of it for a program."""
    from blade.cli.terminal import print_as_json
    from blade.report.text import one_line

    if as_json:
        print_as_json(done)
        return
    for one in done:
        files = one.kept if one.action == "refused" else one.changed
        said = f" ({len(files)} file{'s' * (len(files) != 1)}: {shortened(files)})" if files else ""
        would = "would be " if dry_run and one.action in ("installed", "updated") else ""
        typer.echo(one_line(f"{would}{one.action}  {one.place}{said}"))


def shortened(files: list[str]) -> str:
    return ", ".join(files[:4]) + (", ..." if len(files) > 4 else "")
