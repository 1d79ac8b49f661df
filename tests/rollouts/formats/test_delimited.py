from pathlib import Path

import pytest
from rollout_rows import reasons

import blade

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
