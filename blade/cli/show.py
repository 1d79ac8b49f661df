"""`blade show`: one trajectory, in order."""

from typing import Annotated

import typer

from blade.cli.options import AsJson, Folder, MaxChars, epilog

EPILOG = epilog("blade show out 12:3", "blade show out 12:3#5", "blade show out 12:3 --items 4-9 --full")


def show(
    folder: Folder,
    rollout: Annotated[
        str,
        typer.Argument(
            metavar="TASK:REPEAT[#ITEM]",
            help="The rollout; with an item, that item and its neighbours.",
            show_default=False,
        ),
    ],
    items: Annotated[str | None, typer.Option(metavar="A-B", help="Only these items, e.g. 4, 4-9, 4- or -9.")] = None,
    max_chars: MaxChars = 1000,
    full: Annotated[bool, typer.Option("--full", help="Show all items in full.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print one rollout, item by item.

    First how it ended and what the verifier said.
    """
    from blade.cli.folders import open_folder
    from blade.cli.terminal import make_console, print_as_json
    from blade.cli.trajectory import print_rollout, select_rollout

    workspace = open_folder(folder)
    chosen = select_rollout(workspace, rollout, items=items, max_chars=None if full else max_chars)
    if as_json:
        print_as_json(chosen.shown())
    else:
        print_rollout(make_console(), chosen)
