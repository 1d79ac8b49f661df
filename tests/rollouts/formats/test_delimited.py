from pathlib import Path

import pytest
from rollout_rows import reasons

import blade
from blade.errors import InputError, UsageError

TABLE = 'task_id,score,notes\na,1,"said ""yes"",\nthen left"\nb,0,\nc,0.5,[1]\n'


@pytest.mark.parametrize(("name", "separator"), [("scores.csv", ","), ("scores.tsv", "\t")])
def test_a_table_is_read_row_by_row(tmp_path: Path, name: str, separator: str) -> None:
    path = tmp_path / name
    path.write_text(TABLE if separator == "," else "task_id\tscore\na\t1\nb\t0\nc\t0.5\n", encoding="utf-8")
    run = blade.read(path)
    assert (run.table.tasks, run.table.reward.tolist()) == (["a", "b", "c"], [1.0, 0.0, 0.5])


def test_a_cell_keeps_its_commas_quotes_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(TABLE, encoding="utf-8")
    run = blade.read(path)
    assert run.rollout("a:0").fields["notes"] == 'said "yes",\nthen left'
    assert run.rollout("b:0").fields["notes"] is None
    assert run.rollout("b:0").source is not None and run.source(1).line == 4


def test_a_row_of_another_width_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("task_id,score\na,1\nb\nc,1\n", encoding="utf-8")
    run = blade.read(path)
    assert run.table.tasks == ["a", "c"]
    assert reasons(run) == [(3, "has 1 cells, expected 2 as in the first line")]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("ID,Score\n1,1\n2,0.5\n".encode("utf-16"), id="unicode_text"),
        pytest.param("\ufeffid;score\n1;1\n2;0,5\n".encode(), id="semicolons_and_decimal_commas"),
        pytest.param(b"id\tscore,\n1\tTRUE\n2\t0.5\n".replace(b",", b""), id="tabs"),
        pytest.param(b"id|score|\n1|1|\n2|0.5|\n", id="bars_and_an_empty_column"),
    ],
)
def test_tables_as_spreadsheets_write_them_are_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(content)
    run = blade.read(path)
    assert (run.table.tasks, run.table.reward.tolist()) == (["1", "2"], [1.0, 0.5])


def test_two_columns_of_one_name_are_never_chosen_from(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,score,score\n1,1,0\n2,0,0\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no score found .*score \(1\), score \(2\)"):
        blade.read(path)
    run = blade.read(path, reward_field="score (2)")
    assert run.table.reward.tolist() == [0.0, 0.0]
    assert run.notes == ["several columns are called `score`; they are read as `score (1)`, `score (2)`"]


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,score\n", encoding="utf-8")
    with pytest.raises(InputError, match="has a header and no rows"):
        blade.read(path)


def test_bytes_that_are_not_utf_8_cost_no_row(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes("id,score,name\n1,1,Zoë\n2,0,x\n".encode("latin-1"))
    run = blade.read(path)
    assert (run.table.tasks, run.bad) == (["1", "2"], [])
    assert run.notes == ["some cells are not UTF-8 and are read with � in them; save the table as UTF-8"]
