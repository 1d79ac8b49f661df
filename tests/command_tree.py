"""Every command there is, for tests that hold a rule over all of them."""

from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from blade.cli.main import app


def all_commands() -> dict[str, Any]:
    """Every command by the words after `blade`, such as `diagnose` and `eval run`."""
    return commands_of(get_command(app))


def commands_of(group: Any, *before: str) -> dict[str, Any]:
    """Every command below a group, groups inside it included."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        is_group = isinstance(command, TyperGroup)
        found.update(commands_of(command, *before, name) if is_group else {" ".join((*before, name)): command})
    return found
