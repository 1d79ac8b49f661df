"""`blade demo`: the whole story on shipped data."""

import shlex
from pathlib import Path

import pytest
from blade_command import blade


def test_the_demo_diagnoses_shows_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    found = blade("demo")

    assert found.exit_code == 0, found.stderr
    for words in ("$ blade diagnose", "$ blade show blade-demo", "$ blade diff blade-demo", "pass@1", "They part"):
        assert words in found.stdout
    assert found.stdout.splitlines()[-2].startswith("Open blade-demo/report.html in a browser")
    assert (tmp_path / "blade-demo" / "report.md").exists()


def test_the_commands_the_demo_prints_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = blade("demo", "--out", "a b").stdout

    lines = [line.removeprefix("$ blade ").rstrip("─ ") for line in printed.splitlines() if line.startswith("$ blade ")]

    assert len(lines) == 3
    assert [blade(*words).exit_code for words in map(shlex.split, lines)] == [0, 0, 0]


def test_the_demo_can_be_run_again(tmp_path: Path) -> None:
    first, second = blade("demo", "--out", tmp_path / "d"), blade("demo", "--out", tmp_path / "d")

    assert (second.exit_code, second.stdout) == (0, first.stdout)


def test_the_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    found = blade("demo", "--out", tmp_path)

    assert found.exit_code == 2
    assert "choose another folder with --out" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
