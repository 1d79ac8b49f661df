import shutil
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, message, read_rows, rollout, without, write_rows

import blade
from blade.diagnosis import analyze
from blade.rollouts.copies import is_copy

ROWS: list[Row] = [rollout(task, repeat, (task + repeat) % 2) for task in range(3) for repeat in range(2)]


def copied(folder: Path, rows: list[Row]) -> bool:
    return is_copy(read_rows(folder / "a", ROWS), read_rows(folder / "b", rows))


def test_the_same_rows_in_another_order_are_a_copy(tmp_path: Path) -> None:
    assert copied(tmp_path, [{"note": "renamed", **row} for row in reversed(ROWS)])


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(ROWS[:-1], id="one_row_less"),
        pytest.param([*ROWS[:-1], rollout(2, 1, 0.0)], id="another_score"),
        pytest.param([*ROWS[:-1], rollout(2, 1, 1, output=[message("else")])], id="another_answer"),
        pytest.param([*ROWS[:-1], rollout(2, 2, 1)], id="another_key"),
    ],
)
def test_a_run_that_differs_anywhere_is_no_copy(tmp_path: Path, changed: list[Row]) -> None:
    assert not copied(tmp_path, changed)


def test_a_copy_that_lost_its_sidecars_is_a_copy(tmp_path: Path) -> None:
    write_rows(tmp_path / "a" / "run_materialized_inputs.jsonl", [without(rollout(n, 0), "response") for n in range(5)])
    write_rows(tmp_path / "a" / "run_failures.jsonl", [rollout(4, 0, 0, _ng_failure_class="transient")])
    assert copied(tmp_path, [{"note": 1, **row} for row in ROWS])


def test_scores_alone_may_agree_by_chance_but_not_byte_for_byte(tmp_path: Path) -> None:
    rows: list[Row] = [{"task_id": n, "score": n % 2} for n in range(4)]
    first = read_rows(tmp_path / "a", rows)
    again = read_rows(tmp_path / "b", [{"x": 1, **row} for row in rows])
    shutil.copy(tmp_path / "a" / "run.jsonl", tmp_path / "copy.jsonl")
    assert (is_copy(first, again), is_copy(first, blade.read(tmp_path / "copy.jsonl"))) == (False, True)


def test_runs_cut_from_one_file_are_not_copies_for_that(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"task_id": n, "variant": v, "score": n % 2} for n in range(4) for v in "ab"]
    first, second = blade.read_all(write_rows(tmp_path / "r.jsonl", rows), group_by=("variant",))
    assert not is_copy(first, second)


def test_a_copy_is_reported_with_the_name_of_the_other_run(tmp_path: Path) -> None:
    for name in ("base", "rerun"):
        write_rows(tmp_path / f"{name}.jsonl", ROWS)
    first, second = blade.read_all(tmp_path)
    analysis = analyze(first, others=[first, second])
    assert analysis.inputs.copies == ["rerun"]
    [finding] = analysis.health
    assert (finding.code, finding.cause, finding.message) == (
        "copied_run",
        "DA",
        "the run rerun holds the same rollouts",
    )
