"""`blade diff`: two rollouts of one task, up to and after the place where they part."""

from typing import Annotated

import typer

from blade.cli.options import AsJson, Folder, MaxChars, epilog

EPILOG = epilog("blade diff out 12:3 12:5", "blade diff out 12:3 12:5 --context 6 --json")


def diff(
    folder: Folder,
    left: Annotated[str, typer.Argument(metavar="TASK:REPEAT", help="The first rollout.", show_default=False)],
    right: Annotated[str, typer.Argument(metavar="TASK:REPEAT", help="The second rollout.", show_default=False)],
    context: Annotated[int, typer.Option(min=0, metavar="N", help="Items to show after the first difference.")] = 3,
    max_chars: MaxChars = 600,
    any_task: Annotated[bool, typer.Option("--any-task", help="Compare rollouts of different tasks too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where two rollouts of one task part.

    That is the first item and the first tool call that differ.
    """
    from blade.cli.folders import open_folder
    from blade.cli.side_by_side import compare, print_comparison
    from blade.cli.terminal import make_console, print_as_json

    pair = compare(open_folder(folder), left, right, context=context, max_chars=max_chars, any_task=any_task)
    if as_json:
        print_as_json(pair.shown())
    else:
        print_comparison(make_console(), pair)
