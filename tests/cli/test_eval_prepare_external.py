"""`blade eval prepare --from SET FILE --out DIR`, as a user calls it."""

import json
from pathlib import Path

import pytest
from blade_command import blade, document

from blade.cli.eval_prepare import KINDS
from blade.environments.external import external_kinds

ROWS = [{"question": "Two and two?", "answer": "#### 4"}, {"question": "?", "answer": "unknown"}]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_a_benchmark_is_written_and_what_was_left_out_is_told(source: Path, tmp_path: Path) -> None:
    found = blade("eval", "prepare", "--from", "gsm8k", source, "--out", tmp_path / "mine")

    assert found.exit_code == 0
    assert found.stdout == f"{tmp_path / 'mine' / 'benchmarks' / 'gsm8k'}: 1 task for numeric, 1 row left out\n"
    assert found.stderr == "left out: line 2, its answer has no number after ####\n"


def test_json_lists_every_row_left_out(source: Path, tmp_path: Path) -> None:
    found = document(blade("eval", "prepare", "--from", "gsm8k", source, "--out", tmp_path, "--json"))

    assert (found["environment"], found["tasks"]) == ("numeric", 1)
    assert found["left_out"] == [{"line": 2, "reason": "its answer has no number after ####"}]


def test_the_new_benchmark_is_listed_under_its_root(source: Path, tmp_path: Path) -> None:
    blade("eval", "prepare", "--from", "gsm8k", source, "--out", tmp_path)
    (listed,) = document(blade("list", "benchmarks", "--root", tmp_path, "--json"))

    assert (listed["name"], listed["environment"], listed["domain"]) == ("gsm8k", "numeric", "math")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--from", "gsm8k"], 2, "--from SET needs --out DIR, where to write the benchmark, or --check, or both"),
        (["--check"], 2, "say what to do with a set; name it with --from SET"),
        (["--from", "squad", "--out", "x"], 2, "no set is named 'squad'"),
        (["--from", "mmlu", "--out", "x"], 3, "no row is a task of mmlu; line 1: "),
    ],
)
def test_what_cannot_be_done_is_said(source: Path, words: list[str], code: int, said: str) -> None:
    found = blade("eval", "prepare", source, *words)

    assert found.exit_code == code
    assert said in found.stderr


def test_right_and_empty_answers_are_judged_without_writing_anything(source: Path, tmp_path: Path) -> None:
    found = blade("eval", "prepare", "--from", "gsm8k", source, "--check")
    listed = document(blade("eval", "prepare", "--from", "gsm8k", source, "--check", "--json"))

    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "1 of 1 right answers pass")
    assert listed["check"] == {"tasks": 1, "gold_passes": 1, "without_gold": 0, "problems": []}
    assert [path.name for path in tmp_path.iterdir()] == ["set.jsonl"]


def test_a_task_that_its_own_answer_fails_is_a_problem(tmp_path: Path) -> None:
    row = {"prompt": "def f():\n", "entry_point": "f", "canonical_solution": "    return 2\n"}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**row, "test": "def check(candidate):\n    assert candidate() == 1\n"}))
    found = blade("eval", "prepare", "--from", "humaneval", path, "--check")

    assert (found.exit_code, "1 of 1 tasks are judged wrongly" in found.stderr) == (1, True)
    assert "humaneval-000001: its right answer fails" in found.stderr


def test_the_help_names_every_set() -> None:
    assert ", ".join(external_kinds()) in " ".join(KINDS.split())
