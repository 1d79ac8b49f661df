"""The README is true: its session is real output, its commands and flags exist, its Python runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_tree import all_commands

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SESSION = re.compile(r"(<!-- session -->\n```console\n)(.*?)(```\n<!-- /session -->)", re.DOTALL)
COMMANDS = re.compile(r"^\$ (?:.*\| )?(blade .*?)(?:\s+#.*)?$", re.MULTILINE)


def run_session(commands: list[str], folder: Path) -> str:
    """What a terminal of 100 columns shows for some commands, one after the other."""
    (folder / "blade").symlink_to(ROOT / "blade")
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(ROOT),
    }
    shown = ""
    for command in commands:
        words = [sys.executable, "-m", "blade", *shlex.split(command)[1:]]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
        shown += f"$ {command}\n{done.stdout.decode()}\n"
    return "\n".join(line.rstrip() for line in shown.rstrip().splitlines()) + "\n"


def test_the_session_is_what_the_commands_print(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")
    match = SESSION.search(text)
    assert match is not None
    commands = [line[2:] for line in match[2].splitlines() if line.startswith("$ ")]
    shown = run_session(commands, tmp_path)

    if request.config.getoption("--update-golden"):
        README.write_text(text[: match.start(2)] + shown + text[match.end(2) :], encoding="utf-8")
    assert shown == SESSION.search(README.read_text(encoding="utf-8"))[2]  # type: ignore[index]


@pytest.mark.parametrize("command", sorted(set(COMMANDS.findall(README.read_text(encoding="utf-8")))))
def test_every_command_in_the_readme_parses(command: str) -> None:
    words = shlex.split(command)[1:]
    commands = all_commands()
    name = next((name for name in (" ".join(words[:1]), " ".join(words[:2])) if name in commands), None)
    assert name is not None, f"there is no such command: {command}"
    flags = {flag for option in commands[name].params for flag in option.opts}
    assert {word for word in words if word.startswith("--")} <= flags


def test_every_command_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in all_commands() if f"`blade {name}" not in text] == []


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    demo = ROOT / "blade" / "cli" / "demo_data" / "rollouts.jsonl"
    (tmp_path / "rollouts.jsonl").write_bytes(demo.read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code[1]], cwd=tmp_path, env=environment, check=True, capture_output=True)
