"""The first screen: it fits 40 lines for any run, and nothing to be copied is cut."""

import io
import random
from pathlib import Path

import pytest
from blade_command import blade
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text
from rollout_rows import Row, rollout, write_rows

from blade.cli.compare_summary import MOST_LINES as MOST_COMPARISON_LINES
from blade.cli.summary import MOST_LINES, fitting
from blade.cli.terminal import height, name_last
from blade.report.text import md, one_line, readable

LONG = "which of these statements about a long key is right "


def many_kinds(tasks: int, repeats: int, key: str) -> list[Row]:
    """Rollouts that fail in many ways, with fields that describe their tasks."""
    rng = random.Random(5)
    rows = []
    for task in range(tasks):
        for repeat in range(repeats):
            row = rollout(task, repeat, float(rng.random() < 0.4), level=f"level {task % 7}", size=task)
            row |= {"task_id": f"{key}{task}", "error": rng.choice([None, *(f"fault {n} of {key}" for n in range(30))])}
            rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("tasks", "repeats", "key"),
    [(1, 1, "t"), (40, 5, "t"), (60, 3, LONG)],
    ids=["one_rollout", "many", "long_keys"],
)
@pytest.mark.parametrize("columns", [80, 100])
def test_the_screen_of_a_run_has_at_most_40_lines(
    tmp_path: Path, tasks: int, repeats: int, key: str, columns: int
) -> None:
    rows: list[Row | str] = [*many_kinds(tasks, repeats, key), "{broken", '{"reward": 1}', "[1]"]
    source = write_rows(tmp_path / "run.jsonl", rows)
    found = blade("diagnose", source, "--out", tmp_path / "o", "--task-field", "task_id", env={"COLUMNS": f"{columns}"})

    assert found.exit_code == 0
    assert len(found.stdout.splitlines()) <= MOST_LINES == 40
    assert "…" not in found.stdout.replace("… and ", "")


@pytest.mark.parametrize("columns", [60, 100])
def test_warnings_and_fixes_leave_room_for_the_failure_modes(tmp_path: Path, columns: int) -> None:
    demo = Path(__file__).parents[2] / "blade/cli/demo_data/rollouts.jsonl"
    said = blade("diagnose", demo, "--out", tmp_path / "o", env={"COLUMNS": f"{columns}"}).stdout

    assert "\nFailure modes\n" in said
    assert "\nFix first\n" in said


@pytest.mark.parametrize("key", ["t", LONG], ids=["short_keys", "long_keys"])
@pytest.mark.parametrize("runs", [2, 9])
def test_the_screen_of_a_comparison_has_at_most_40_lines(tmp_path: Path, runs: int, key: str) -> None:
    sources = [write_rows(tmp_path / f"run{n}.jsonl", many_kinds(30 + n, 3, key)[n:]) for n in range(runs)]
    words = ("--out", tmp_path / "o", "--task-field", "task_id")
    found = blade("compare", *sources, *words, env={"COLUMNS": "100"})

    assert found.exit_code == 0, found.stderr
    assert len(found.stdout.splitlines()) <= MOST_COMPARISON_LINES == 40
    assert key.strip() in found.stdout


def test_entries_that_do_not_fit_are_counted() -> None:
    console = Console(file=io.StringIO(), width=20)
    lines = [Text("one"), Text("two words that take two lines"), Text("three")]

    kept = fitting(console, lines, 3, "in report.md")

    assert (kept[0], len(kept), height(console, *kept)) == (lines[0], 2, 3)  # "… and 2 more in report.md" takes two


def test_a_row_ends_with_its_name_whole() -> None:
    rows = name_last(["n", "name"], [["1", "a" * 300], ["10", "b"]])

    assert [line.plain for line in rows] == ["   n  name", f"   1  {'a' * 300}", "  10  b"]


@settings(deadline=None)
@given(st.text(alphabet="ab \\*_[]|~$<>&#+-=1.:;", max_size=60))
def test_what_a_terminal_shows_of_markdown_is_the_text_it_was_made_from(text: str) -> None:
    assert readable(md(text)) == one_line(text)


def test_both_texts_of_a_comparison_of_several_runs_hold(tmp_path: Path) -> None:
    sources = [write_rows(tmp_path / f"run{n}.jsonl", many_kinds(12, 2, "t")[n:]) for n in range(3)]
    blade("compare", *sources, "--out", tmp_path / "o", "--task-field", "task_id")

    for name in ("comparison.md", "appendix.md"):
        found = blade("check", tmp_path / "o" / name)
        assert found.exit_code == 0, found.stdout


def test_both_texts_of_a_diagnosis_hold(tmp_path: Path) -> None:
    rows: list[Row | str] = [*many_kinds(25, 3, "t"), "{broken", "[1]"]
    source = write_rows(tmp_path / "run.jsonl", rows)
    blade("diagnose", source, "--out", tmp_path / "o", "--task-field", "task_id", "--slice", "level")

    for name in ("report.md", "appendix.md"):
        found = blade("check", tmp_path / "o" / name)
        assert found.exit_code == 0, found.stdout
