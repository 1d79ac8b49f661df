"""The summary on a screen, on paper and on a terminal that knows only ASCII."""

import json
import os
import pty
import re
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from blade_command import airline, blade, blade_process
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from rollout_rows import rollout, write_rows

from blade.cli.summary import bar, share_cells
from blade.cli.terminal import command
from blade.report.text import safe_json


def test_the_summary_of_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.chdir(tmp_path)

    found = blade("diagnose", airline(tmp_path), "--out", "out", "--slice", "level", "--expected-repeats", "3")

    golden("cli/summary.txt", found.stdout)


def test_the_table_of_several_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.chdir(tmp_path)

    found = blade("diagnose", airline(tmp_path), "--out", "out", "--group-by", "level")

    golden("cli/runs.txt", found.stdout)


def test_names_of_runs_come_last_and_whole(tmp_path: Path) -> None:
    rows = [rollout(n, 0, float(n % 2), suite="a_rather_long_name_of_a_suite_" + "xy"[n % 2]) for n in range(8)]
    rows += [rollout(n, 0, 1.0, suite="long " * 12 + "end") for n in range(8)]
    source = write_rows(tmp_path / "run.jsonl", rows)
    found = blade("diagnose", source, "--out", tmp_path / "o", "--group-by", "suite", env={"COLUMNS": "100"}).stdout

    assert re.search(r"^ +pass@1 100.0 %  .*  a_rather_long_name_of_a_suite_y$", found, re.MULTILINE)
    assert found.count("long " * 12 + "end\n") == 1
    assert "missing" not in found.partition("Compared")[0]


def test_a_field_is_said_to_differ_only_when_more_than_chance_does(tmp_path: Path) -> None:
    # easy: 18 of 20 tasks pass; hard: 2 of 20; odd and even tasks: 10 of 20 each.
    rows = [rollout(n, 0, float(n % 20 < (2 if n < 20 else 18)), level="hard" if n < 20 else "easy") for n in range(40)]
    rows = [{**row, "odd": bool(row["_ng_task_index"] % 2)} for row in rows]
    seen = blade("diagnose", write_rows(tmp_path / "run.jsonl", rows), "--out", tmp_path / "o").stdout
    asked = blade("diagnose", tmp_path / "run.jsonl", "--out", tmp_path / "o", "--slice", "odd").stdout

    assert "By `level`: lowest `hard` 10.0 % (20 tasks), highest `easy` 90.0 % (20 tasks)." in seen
    assert tuple("intervals overlap" in " ".join(shown.split()) for shown in (seen, asked)) == (False, True)


def test_a_pipe_gets_neither_colours_nor_blanks_at_line_ends(tmp_path: Path) -> None:
    lines = blade("diagnose", airline(tmp_path), "--out", tmp_path / "o").stdout.splitlines()

    assert "\x1b" not in "".join(lines)
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_narrow_terminal_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    found = blade("diagnose", airline(tmp_path), "--out", "o", env={"COLUMNS": "40"})

    assert max(map(len, found.stdout.splitlines())) <= 40


def test_paths_at_the_end_are_never_cut(tmp_path: Path) -> None:
    out = tmp_path / "a-long-name" / "that-is-wider-than-the-terminal"

    found = blade("diagnose", airline(tmp_path), "--out", out, env={"COLUMNS": "40"})

    assert found.stdout.splitlines()[-2:] == [f"  {out}/report.html in a browser", f"  {out}/report.md as text"]


def test_an_ascii_terminal_gets_stand_ins(tmp_path: Path) -> None:
    done = blade_process("diagnose", airline(tmp_path), "--out", tmp_path / "o", env={"PYTHONIOENCODING": "ascii"})

    assert done.returncode == 0, done.stderr
    # 64 cells for three tasks: 21 1/3 each, and the cell that is left goes to the first
    assert f"{'#' * 22}{'+' * 21}{'-' * 21}\n# always 1   + sometimes 1   - never 1" in done.stdout.decode("ascii")


def seen_on_a_terminal(*words: str | Path, env: dict[str, str]) -> str:
    """What a process prints when both its outputs are a terminal."""
    master, slave = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **env}
    settings = {name: value for name, value in settings.items() if value or name == "NO_COLOR"}
    with Popen([sys.executable, "-m", "blade", *map(str, words)], stdout=slave, stderr=slave, stdin=PIPE, env=settings):
        os.close(slave)
        said = b""
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:  # how Linux says that the other side is closed
            pass
    os.close(master)
    return said.decode()


def test_a_terminal_gets_colours(tmp_path: Path) -> None:
    assert "\x1b[32m█" in seen_on_a_terminal("diagnose", airline(tmp_path), "--out", tmp_path / "o", env={})


def test_no_color_is_honoured(tmp_path: Path) -> None:
    said = seen_on_a_terminal("diagnose", airline(tmp_path), "--out", tmp_path / "o", env={"NO_COLOR": "1"})

    assert "\x1b[3" not in said
    assert "█ always 1" in said


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([1, 1, 0, 0], [5, 5, 0, 0], id="halves"),
        pytest.param([999, 1, 0, 0], [9, 1, 0, 0], id="a_rare_bucket_is_still_seen"),
        pytest.param([0, 0, 0, 0], [0, 0, 0, 0], id="nothing"),
    ],
)
def test_cells_are_shared_in_proportion(sizes: list[int], expected: list[int]) -> None:
    assert share_cells(sizes, 10) == expected


@given(sizes=st.lists(st.integers(0, 10_000), min_size=4, max_size=4), width=st.integers(4, 200))
def test_a_bar_is_as_wide_as_it_should_be_and_forgets_no_bucket(sizes: list[int], width: int) -> None:
    cells = share_cells(sizes, width)

    assert sum(cells) == (width if any(sizes) else 0)
    assert [cell > 0 for cell in cells] == [size > 0 for size in sizes]
    assert len(bar(sizes, width=width)) == sum(cells)


def test_words_a_shell_would_change_are_quoted() -> None:
    assert command("blade", "show", "my out", "12:3#5", "$(x)") == "blade show 'my out' 12:3#5 '$(x)'"


@given(st.text())
def test_json_means_the_same_after_it_is_made_safe(text: str) -> None:
    whole = text.encode("utf-8", "replace").decode()

    assert json.loads(safe_json(json.dumps(whole, ensure_ascii=False).encode())) == whole
