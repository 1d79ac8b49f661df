import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.errors import UsageError
from blade.rollouts.documents import records_at

TRIALS = [{"task_id": "a", "passed": True}, {"task_id": "b", "passed": False}]


def write(folder: Path, value: Any, name: str = "results.json", indent: int | None = 1) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 1])
def test_the_one_list_with_scores_holds_the_records(tmp_path: Path, indent: int | None) -> None:
    path = write(tmp_path, {"name": "x", "tags": [{"n": 1}], "results": TRIALS}, indent=indent)
    run = blade.read(path)
    assert (run.table.tasks, run.table.reward.tolist()) == (["a", "b"], [1.0, 0.0])
    assert run.rollout("b:0").fields["task_id"] == "b"


def test_a_score_of_the_summary_is_not_a_rollout(tmp_path: Path) -> None:
    run = blade.read(write(tmp_path, {"accuracy": 0.5, "results": TRIALS}))
    assert len(run.table) == 2


def test_a_lone_summary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds one JSON object and no list of records(.|\n)*--format records"):
        blade.read(write(tmp_path, {"accuracy": 0.398, "n": 80}))


def test_numbers_that_may_be_rollouts_under_their_tasks_are_refused_with_both_readings(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"one JSON object.*\n  blade .*--format json-table.*\n  jq -c 'to_entries"):
        blade.read(write(tmp_path, {"a": {"score": 1}, "b": {"score": 0}}))


def test_a_lone_object_that_the_user_calls_a_record_is_one(tmp_path: Path) -> None:
    path = write(tmp_path, {"task_id": "a", "score": 1})
    assert len(blade.read(path, format="records").table) == 1
    assert len(blade.read(path, task_field="task_id", reward_field="score").table) == 1


def test_several_lists_are_asked_about_with_commands_to_copy(tmp_path: Path) -> None:
    path = write(tmp_path, {"runs": {"first": TRIALS, "second": TRIALS}})
    with pytest.raises(UsageError) as error:
        blade.read(path)
    assert str(error.value).split("\n")[1:] == [
        f"  blade diagnose {path} --records runs.first",
        f"  blade diagnose {path} --records runs.second",
        f"  blade diagnose {path} --format json-table    # a table by task or in columns",
        f"  blade diagnose {path} --format records    # the object is a rollout",
    ]
    assert len(blade.read(path, records="runs.second").table) == 2


def test_the_inner_list_of_a_json_line_is_never_expanded(tmp_path: Path) -> None:
    row = {"instance_id": "x", "history": [{"success": True}, {"success": False}], "resolved": True}
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    run = blade.read(path, task_field="instance_id")
    assert (run.table.tasks, run.table.reward.tolist()) == (["x"], [1.0])


def test_records_keep_their_places_in_the_document() -> None:
    data = b'{"other": [{"a": 1}],\n "in": {"ner": [{"a": 1},\n {"a": 1}, {"a": 3}]}, "name": "x"}'
    found = records_at(data, "in.ner")
    assert [(record.data, record.line) for record in found] == [(b'{"a": 1}', 2), (b'{"a": 1}', 3), (b'{"a": 3}', 3)]
    assert [data[record.offset :][:8] for record in found] == [b'{"a": 1}', b'{"a": 1}', b'{"a": 3}']


def test_a_path_that_leads_nowhere_names_what_is_there() -> None:
    with pytest.raises(UsageError, match="there is no 'b'; names there are: a, c"):
        records_at(b'{"a": [], "c": 1}', "b")
