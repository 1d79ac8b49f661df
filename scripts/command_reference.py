"""The reference page of every command, made from the commands themselves (`python scripts/command_reference.py`)."""

from collections.abc import Iterator
from enum import Enum
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

INTRODUCTION = """# Reference

Every command with its arguments and options, made from the code by `python scripts/command_reference.py`.
Every command also takes `--help`. Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable."""


def reference() -> str:
    """The whole page."""
    from blade.cli.main import app

    return "\n".join([INTRODUCTION, *sections(get_command(app), "blade")]) + "\n"


def sections(command: Any, name: str) -> Iterator[str]:
    """One section per command, groups before what is in them."""
    if isinstance(command, TyperGroup):
        for inner, found in command.commands.items():
            yield from sections(found, f"{name} {inner}")
        return
    yield f"\n## `{name}`\n"
    yield " ".join(str(command.help or "").split())
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name != "help"]
    shown = " ".join(placeholder(argument) for argument in arguments)
    yield f"\n```\n{name}{f' {shown}' if shown else ''} [OPTIONS]\n```\n"
    rows = [(f"`{placeholder(argument)}`", argument.help) for argument in arguments]
    rows += [(f"`{', '.join(option.opts)}`{value_of(option)}", option.help) for option in options]
    yield "| | |\n|---|---|"
    yield from (f"| {head} | {' '.join(str(said or '').split()).replace('|', chr(92) + '|')} |" for head, said in rows)


def placeholder(argument: Any) -> str:
    """What stands for an argument."""
    name = str(argument.metavar or argument.name.upper())
    return f"{name}..." if argument.nargs == -1 and not name.endswith("]") else name


def value_of(option: Any) -> str:
    """What an option takes."""
    if option.is_flag:
        return ""
    choices = [member.value for member in type(option.default)] if isinstance(option.default, Enum) else []
    given = " or ".join(choices) or option.metavar
    return f" {given}" if given else ""


if __name__ == "__main__":
    print(reference(), end="")
