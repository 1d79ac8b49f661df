"""Commands that belong together, as `blade eval run` and `blade eval profile` do.

A group is made in a file of its own (`eval_group.py`), where each of its commands adds itself, and is offered by
`main.py` once it has any.
"""

from typing import Any

import typer
from typer.core import TyperGroup

from blade.cli.options import EXIT_CODES


class InOrder(TyperGroup):
    """Lists commands in the order they were added, which is the order of use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


def make_group(help: str) -> typer.Typer:
    """An empty group; called without a command it shows its help."""
    return typer.Typer(
        cls=InOrder,
        help=help,
        epilog=EXIT_CODES,
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
    )


def offer(app: typer.Typer, name: str, group: typer.Typer) -> None:
    """Adds a group to the command line if it has commands."""
    if group.registered_commands:
        app.add_typer(group, name=name)
