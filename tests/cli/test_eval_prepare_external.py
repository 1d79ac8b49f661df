"""`blade eval prepare --from SET FILE --out DIR`, as a user calls it."""

import json
from pathlib import Path

import pytest
from blade_command import blade, document

ROWS = [{"question": "Two and two?", "answer": "#### 4"}, {"question": "?", "answer": "unknown"}]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_a_benchmark_is_written_and_what_was_left_out_is_told(source: Path, tmp_path: Path) -> None:
    found = blade("eval", "prepare", "--from", "gsm8k", source, "--out", tmp_path / "mine")

    assert found.exit_code == 0
    assert found.stdout == f"{tmp_path / 'mine' / 'benchmarks' / 'gsm8k'}: 1 tasks for numeric, 1 rows left out\n"
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
        (["--from", "gsm8k"], 2, "--from SET and --out DIR go together"),
        (["--from", "squad", "--out", "x"], 2, "no set is named 'squad'"),
        (["--from", "mmlu", "--out", "x"], 3, "none of its 2 rows is a task of mmlu"),
    ],
)
def test_what_cannot_be_done_is_said(source: Path, words: list[str], code: int, said: str) -> None:
    found = blade("eval", "prepare", source, *words)

    assert found.exit_code == code
    assert said in found.stderr
