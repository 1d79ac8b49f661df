"""Every command explains itself, quickly."""

import os
import subprocess
import sys

import pytest
from blade_command import blade, blade_process
from command_tree import all_commands
from typer.core import TyperGroup
from typer.main import get_command

from blade import __version__
from blade.cli.main import SECTIONS, app

COMMANDS = sorted(all_commands())
GROUPS = sorted(name for name, command in get_command(app).commands.items() if isinstance(command, TyperGroup))  # type: ignore[attr-defined]
EXIT_CODES = "Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable."


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_an_example_and_its_exit_codes(command: str) -> None:
    found = blade(*command.split(), "--help")

    assert found.exit_code == 0
    assert f"\n    blade {command}" in found.stdout
    assert EXIT_CODES in found.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_argument_has_help(command: str) -> None:
    parameters = all_commands()[command].params

    assert [parameter.name for parameter in parameters if not parameter.help] == []


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_no_line_in_a_list_of_commands_is_cut(group: str) -> None:
    listed = blade(*group.split(), "--help").stdout.partition("Commands:" if group else "Understand a run:")[2]

    assert listed and "..." not in listed


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_says_what_it_is_for_and_lists_its_commands(group: str) -> None:
    found = blade(group, "--help").stdout

    mine = [command.split()[1] for command in COMMANDS if command.startswith(f"{group} ")]
    assert mine and all(f"\n  {name} " in found for name in mine)
    assert EXIT_CODES in found


def test_the_commands_are_listed_in_the_order_of_use() -> None:
    found = blade("--help").stdout

    listed = [line.split()[0] for line in found.partition("Understand a run:")[2].splitlines() if line.startswith("  ")]
    assert listed[:6] == ["diagnose", "show", "diff", "label", "report", "view"]


def test_the_exit_codes_are_in_the_main_help() -> None:
    assert EXIT_CODES in blade("--help").stdout


def test_no_command_at_all_shows_the_help() -> None:
    assert "Understand a run:" in blade().output


def test_the_version_is_printed_with_those_of_what_matters() -> None:
    first, *others = blade_process("--version").stdout.decode().splitlines()

    assert first == f"blade {__version__}"
    assert [line.split()[0] for line in others] == [
        "python", "msgspec", "numpy", "zstandard", "openai", "anthropic",
    ]  # fmt: skip


def test_completion_for_a_shell_can_be_had() -> None:
    # The shell is named: whoever runs the tests may have none above it.
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "blade", "--show-completion", "bash"]
    assert "_COMPLETE" in subprocess.run(command, capture_output=True, text=True, env=named).stdout


def test_help_loads_neither_the_engine_nor_what_it_draws_with() -> None:
    code = "import sys, blade.cli.main; print(*(m for m in {heavy} if m in sys.modules))"
    heavy = ["numpy", "scipy", "jinja2", "zstandard", "rich", "blade.rollouts", "blade.report"]

    done = subprocess.run([sys.executable, "-c", code.format(heavy=heavy)], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"


def test_help_is_there_at_once() -> None:
    def seconds() -> float:
        before = os.times()
        blade_process("--help")
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    # 0.07 to 0.14 s of a processor, whatever else it has to do
    assert min(seconds() for _ in range(5)) < 0.5


def test_every_command_is_listed_under_what_it_is_for() -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(set(named) & set(known)) == sorted(known)
    assert len(named) == len(set(named))
