"""Whether a command that some text tells a reader to run exists, and takes what it is given."""

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

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
