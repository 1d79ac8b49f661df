import json
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import keys, reasons

import blade
from blade.errors import UsageError
from blade.rollouts import Run

VERDICTS = [True, False, True, True]


def read(folder: Path, document: Any, **options: Any) -> Run:
    path = folder / "results.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return blade.read(path, **options)


def found(run: Run) -> tuple[list[str], list[float | None]]:
    return keys(run), [run.rollout(key).reward for key in keys(run)]


NAMED = (["a/0:0", "a/1:0", "a/2:0", "a/3:0"], [1.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("around", [lambda rows: rows, lambda rows: {"date": "today", "mean": 0.75, "eval": rows}])
@pytest.mark.parametrize("shape", [lambda row: row, lambda row: [row]], ids=["objects", "lists_of_one"])
def test_records_under_their_tasks_are_rollouts(tmp_path: Path, around: Any, shape: Any) -> None:
    rows = {f"a/{i}": shape({"passed": ok, "note": "x"}) for i, ok in enumerate(VERDICTS)}
    assert found(read(tmp_path, around(rows))) == NAMED


def test_attempts_that_repeat_the_name_of_their_task_are_rollouts(tmp_path: Path) -> None:
    rows = {
        f"a/{i}": [{"name": f"a/{i}", "passed": ok, "text": f"{i}{n}"} for n in range(2)]
        for i, ok in enumerate(VERDICTS)
    }
    run = read(tmp_path, {"eval": rows}, task_field="name", reward_field="passed")
    assert (len(run.table), len(run.table.tasks)) == (8, 4)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            {"columns": ["task_id", "passed"], "data": [[f"a/{i}", ok] for i, ok in enumerate(VERDICTS)]}, id="split"
        ),
        pytest.param({"task_id": [f"a/{i}" for i in range(4)], "passed": VERDICTS}, id="lists"),
        pytest.param(
            {"task_id": {str(i): f"a/{i}" for i in range(4)}, "passed": {str(i): ok for i, ok in enumerate(VERDICTS)}},
            id="numbered_cells",
        ),
    ],
)
def test_columns_are_rows(tmp_path: Path, document: Any) -> None:
    assert found(read(tmp_path, document)) == NAMED


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({s: {"model": "m", "accuracy": 0.4 + i / 10} for i, s in enumerate("abc")}, id="shares_of_sets"),
        pytest.param({s: {"passed": 1, "failed": 0} for s in "abc"}, id="nothing_but_numbers"),
        pytest.param({s: [{"done": False, "act": "x"}] * (i + 1) for i, s in enumerate("abc")}, id="steps_of_episodes"),
        pytest.param({s: {"passed": True, "note": "x"} for s in "ab"}, id="too_few"),
        pytest.param({"solved_ids": ["a", "b", "c"], "unsolved_ids": ["d", "e", "f"]}, id="lists_of_tasks"),
        pytest.param({"train_loss": [3, 2, 1], "valid_loss": [3, 2, 2]}, id="curves"),
    ],
)
def test_what_may_be_a_summary_is_asked_about(tmp_path: Path, document: Any) -> None:
    with pytest.raises(UsageError, match="holds one JSON object"):
        read(tmp_path, document)


def test_a_table_that_was_asked_about_can_be_taken(tmp_path: Path) -> None:
    document = {s: {"model": "m", "accuracy": i / 4} for i, s in enumerate("abc")}
    with pytest.raises(UsageError, match="--format json-table"):
        read(tmp_path, document)
    assert found(read(tmp_path, document, format="json-table")) == (["a:0", "b:0", "c:0"], [0.0, 0.25, 0.5])


def test_a_row_is_found_again_by_its_number(tmp_path: Path) -> None:
    run = read(tmp_path, {s: {"passed": True, "note": s * 3} for s in "abc"})
    assert run.rollout("b:0").fields["note"] == "bbb"


def write_rollouts(folder: Path, name: str = "{}.json", **fields: Any) -> None:
    for i, ok in enumerate(VERDICTS):
        path = folder / name.format(f"t{i}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"success": ok, "error": None, **fields}, indent=1), encoding="utf-8")


@pytest.mark.parametrize("name", ["{}.json", "{}/result.json"])
def test_a_folder_with_an_object_per_rollout_is_one_run(tmp_path: Path, name: str) -> None:
    write_rollouts(tmp_path / "run", name)
    run = blade.read(tmp_path / "run")
    assert found(run) == (["t0:0", "t1:0", "t2:0", "t3:0"], [1.0, 0.0, 1.0, 1.0])
    assert run.rollout("t1:0").fields["error"] is None


def test_a_broken_file_among_them_is_told(tmp_path: Path) -> None:
    write_rollouts(tmp_path)
    (tmp_path / "zz.json").write_text("{", encoding="utf-8")
    run = blade.read(tmp_path)
    assert (len(run.table), reasons(run)) == (4, [(1, "zz.json: is not a JSON object")])


def test_summaries_of_several_runs_are_no_rollouts(tmp_path: Path) -> None:
    for name in "abc":
        path = tmp_path / name / "results.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"model": name, "accuracy": 0.4}), encoding="utf-8")
    with pytest.raises(UsageError, match="holds one JSON object"):
        blade.read(tmp_path)
