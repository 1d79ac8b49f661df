import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.errors import UsageError


def chat(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user" if n == 0 else "assistant", "content": text} for n, text in enumerate(texts)]


def write_scores(folder: Path) -> Path:
    path = folder / "scores.csv"
    path.write_text("instance_id,resolved\na-1,1\nb-2,0\nc-3,0\n", encoding="utf-8")
    return path


def texts(run: blade.Run, key: str) -> list[str]:
    return [item.text for item in run.rollout(key).items]


def test_trajectories_in_files_of_their_own_join_scores_by_file_name(tmp_path: Path) -> None:
    for name in ("a-1", "b-2"):
        (tmp_path / f"{name}.traj.json").write_text(json.dumps({"messages": chat("do", name)}), encoding="utf-8")
    run = blade.read(write_scores(tmp_path), trajectories=str(tmp_path / "*.json"), join="instance_id=file")
    assert (run.table.tasks, run.table.reward.tolist()) == (["a-1", "b-2", "c-3"], [1.0, 0.0, 0.0])
    assert (texts(run, "b-2:0"), texts(run, "c-3:0")) == (["do", "b-2"], [])
    assert run.notes == ["1 row has no trajectory with the same instance_id"]


@pytest.mark.parametrize("form", [json.dumps, lambda rows: "\n".join(map(json.dumps, rows))], ids=["array", "lines"])
def test_a_file_of_messages_alone_is_one_trajectory(tmp_path: Path, form: Callable[[Any], str]) -> None:
    (tmp_path / "b-2.json").write_text(form(chat("do", "it", "so")), encoding="utf-8")
    run = blade.read(write_scores(tmp_path), trajectories=str(tmp_path / "b-2.json"), join="instance_id=file")
    assert texts(run, "b-2:0") == ["do", "it", "so"]
    assert run.notes == ["2 rows have no trajectory with the same instance_id"]


def test_trajectories_of_one_file_join_scores_by_a_field(tmp_path: Path) -> None:
    rows = [{"info": {"id": name}, "history": chat("do", name)} for name in ("b-2", "a-1", "x")]
    place = tmp_path / "trajectories.jsonl"
    place.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = blade.read(write_scores(tmp_path), trajectories=str(place), join="instance_id=info.id")
    assert texts(run, "a-1:0") == ["do", "a-1"]
    assert run.notes == [
        "1 row has no trajectory with the same instance_id",
        "1 of 3 trajectories belong to no row",
    ]


def test_the_second_row_of_a_task_gets_its_second_trajectory(tmp_path: Path) -> None:
    scores = tmp_path / "scores.jsonl"
    scores.write_text("\n".join(json.dumps({"task_id": "a", "score": s}) for s in (1, 0)), encoding="utf-8")
    place = tmp_path / "t.jsonl"
    place.write_text(
        "\n".join(json.dumps({"task_id": "a", "messages": chat("do", text)}) for text in ("one", "two")),
        encoding="utf-8",
    )
    run = blade.read(scores, trajectories=str(place), join="task_id")
    assert (texts(run, "a:0"), texts(run, "a:1")) == (["do", "one"], ["do", "two"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"join": "a"}, "--trajectories and --join go together", id="one_of_two"),
        pytest.param(
            {"trajectories": "*.json", "join": "instance_id=nope"}, "no trajectory has a field 'nope'", id="no_field"
        ),
    ],
)
def test_a_join_that_cannot_be_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.json").write_text(json.dumps({"messages": chat("x", "y")}), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        blade.read(write_scores(tmp_path), **options)


@pytest.mark.parametrize(
    ("field", "why"),
    [
        pytest.param("nope", "no row has this field", id="no_field"),
        pytest.param("resolved", "no value of it is the file of a trajectory", id="other_values"),
    ],
)
def test_a_join_that_finds_nothing_is_refused(tmp_path: Path, field: str, why: str) -> None:
    (tmp_path / "a-1.traj.json").write_text(json.dumps({"messages": chat("do", "it")}), encoding="utf-8")
    with pytest.raises(UsageError, match=f"no row of .*scores.csv has a trajectory: {why}"):
        blade.read(write_scores(tmp_path), trajectories=str(tmp_path / "*.json"), join=f"{field}=file")
