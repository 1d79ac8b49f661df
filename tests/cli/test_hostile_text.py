"""Nothing a rollout, a file name or an argument says can do anything to the terminal."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from blade_command import blade, blade_process
from rollout_rows import Row, call, message, result, rollout, write_rows

ESCAPE = "\x1b[31mred\x1b]0;title\x07\x9b2J\x08\r\x7f"
BIDI = "\u202egnp.exe\u2066x\u2069\u200b"
MARKUP = "[bold red]alarm[/] [link=http://evil.example]here[/link] :skull:"
HOSTILE = f"{ESCAPE}{BIDI}{MARKUP}"
LEVEL = "\u202elevel[red]"
FIELDS = ("--task-field", "task_id", "--repeat-field", "_ng_rollout_index", "--slice", LEVEL)
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


KEY = f"task {HOSTILE}"

Words = list[str | Path]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of a diagnosis in which everything is hostile."""
    thought = f"<think>{HOSTILE}</think>{HOSTILE}"
    rows = [hostile_rollout(KEY, n, said=f"{thought} {n} {HOSTILE}") for n in (0, 1)]
    others = [hostile_rollout(f"{n}{HOSTILE}", 0, said=thought, level=n % 2) for n in range(6)]
    source = write_rows(tmp_path / "evil.jsonl", [*rows, *others, f"{HOSTILE} is not JSON"])
    found = blade("diagnose", source, "--out", tmp_path / "out", "-q", *FIELDS)
    assert found.exit_code == 0, found.stderr
    return tmp_path / "out"


def hostile_rollout(task: str, repeat: int, *, said: str, level: int = 0) -> Row:
    output = [message(said), call(HOSTILE, HOSTILE), result(HOSTILE)]
    hostile = {"task_id": task, LEVEL: f"{level}{HOSTILE}", "response": {"model": HOSTILE}, "group": HOSTILE}
    return rollout(0, repeat, level or repeat, output=output, **hostile)


COMMANDS: dict[str, Callable[[Path], Words]] = {
    "diagnose": lambda out: ["diagnose", out.parent / "evil.jsonl", "--out", out, *FIELDS],
    "diagnose_groups": lambda out: ["diagnose", out.parent / "evil.jsonl", "--out", out / "g", "--group-by", "group"],
    "show": lambda out: ["show", out, f"{KEY}:0"],
    "diff": lambda out: ["diff", out, f"{KEY}:0", f"{KEY}:1"],
    "label": lambda out: ["label", out, KEY, "--cause", "BI", "--cite", f"{KEY}:0", "--reason", HOSTILE],
    "report": lambda out: ["report", out],
    "unknown_rollout": lambda out: ["show", out, f"{HOSTILE}:0"],
    "unknown_folder": lambda _: ["show", HOSTILE.replace("/", ""), "0:0"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_lets_a_control_character_through(out: Path, name: str) -> None:
    found = blade(*COMMANDS[name](out))

    assert found.output
    assert UNSAFE.findall(found.output) == []


@pytest.mark.parametrize("name", ["show", "diff"])
def test_markup_is_printed_as_it_stands(out: Path, name: str) -> None:
    assert MARKUP in blade(*COMMANDS[name](out), env={"COLUMNS": "1000"}).stdout


def test_hostile_fields_and_levels_are_in_the_summary(out: Path) -> None:
    found = blade(*COMMANDS["diagnose"](out), env={"COLUMNS": "1000"}).stdout

    assert "level[red]" in found.partition("What explains the score")[2]


def test_json_keeps_every_character_and_sends_none_to_the_terminal(out: Path) -> None:
    found = blade(*COMMANDS["show"](out), "--json", "--full")

    assert UNSAFE.findall(found.stdout) == []
    assert json.loads(found.stdout)["items"][-1]["text"] == HOSTILE


def test_the_summary_with_colours_holds_only_our_own_sequences(out: Path) -> None:
    done = blade_process(*COMMANDS["diagnose"](out), env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})

    said = re.sub("\x1b\\[[0-9;]*m", "", done.stdout.decode())
    assert done.returncode == 0, done.stderr
    assert UNSAFE.findall(said) == []
    assert b"\x1b[" in done.stdout


def test_commands_that_are_printed_quote_what_a_shell_would_act_on(tmp_path: Path) -> None:
    rows = [{"task_id": "a; rm -rf ~ $(x)", "reward": 0, "output": "no"}]
    source = write_rows(tmp_path / "r.jsonl", rows)

    found = blade("diagnose", source, "--out", tmp_path / "out dir")

    assert f"blade show '{tmp_path}/out dir' 'a; rm -rf ~ $(x):0'\n" in found.stdout


def test_files_of_a_diagnosis_hold_no_character_that_acts_on_a_reader(out: Path) -> None:
    blade("label", out, KEY, "--cause", "BI", "--cite", f"{KEY}:0", "--reason", HOSTILE, "--author", "human:ada")
    files = [*out.glob("*.json*"), *out.glob("*.md")]

    assert len(files) >= 4
    assert [file.name for file in files if UNSAFE.search(file.read_text(encoding="utf-8"))] == []
    assert KEY in {task["task"] for task in json.loads((out / "analysis.json").read_text())["tasks"]}
