from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, keys, read_rows, rollout, unindexed, without, write_rows

import blade
from blade.rollouts import Run
from blade.rollouts.sidecars import read_published


def asked(task: int, repeat: int, **fields: Any) -> Row:
    """A row of the materialized inputs."""
    return {**without(rollout(task, repeat), "reward", "response"), **fields}


def failure(task: Any, repeat: Any, kind: str = "kill_shaped", **fields: Any) -> Row:
    """A row of the failures file."""
    return {**rollout(task, repeat, 0.0, output=[]), "_ng_failure_class": kind, **fields}


def write_inputs(folder: Path, rows: list[Row | str]) -> None:
    write_rows(folder / "run_materialized_inputs.jsonl", rows)


def write_failures(folder: Path, rows: list[Row | str]) -> None:
    write_rows(folder / "run_failures.jsonl", rows)


def statuses(run: Run) -> dict[str, tuple[str, str | None, float | None]]:
    found = {key: run.rollout(key) for key in keys(run)}
    return {key: (rollout.status, rollout.failure, rollout.reward) for key, rollout in found.items()}


def test_materialized_inputs_say_what_was_expected(tmp_path: Path) -> None:
    write_inputs(tmp_path, [asked(task, repeat) for task in (0, 1, 10) for repeat in range(2)])
    run = read_rows(tmp_path, [rollout(1, 0), rollout(0, 0), rollout(0, 1)])
    assert (run.expected_from, run.table.tasks, run.table.expected.tolist()) == (
        "materialized inputs",
        ["0", "1", "10"],
        [2, 2, 2],
    )


def test_what_was_asked_for_and_is_not_there_is_missing_by_task(tmp_path: Path) -> None:
    write_inputs(tmp_path, [asked(task, repeat) for task in (0, 1, 2) for repeat in range(2)])
    analysis = analyze_rows(tmp_path, [rollout(0, 0), rollout(0, 1, 0.0), rollout(1, 0)])
    # 6 expected, 3 there; task 2 has none at all.
    assert [(task.task, task.expected, task.rollouts) for task in analysis.tasks] == [
        ("0", 2, 2),
        ("1", 2, 1),
        ("2", 2, 0),
    ]
    assert (analysis.coverage.missing, analysis.buckets.missing) == (3, ["2"])
    assert [(f.code, f.rows, f.message) for f in analysis.health] == [
        ("missing_rollouts", 3, "3 rollouts of 2 tasks missing (expected by materialized inputs)")
    ]


def test_the_inputs_count_even_when_repeats_are_stated(tmp_path: Path) -> None:
    write_inputs(tmp_path, [asked(0, 0), asked(0, 1), asked(1, 0), asked(1, 1)])
    run = read_rows(tmp_path, [rollout(0, 0)], expected_repeats=5)
    assert (run.expected_from, run.table.expected.tolist()) == ("materialized inputs", [2, 2])
    assert run.notes == ["5 expected repeats are not used: the materialized inputs say what was asked for"]


def test_rollouts_nobody_asked_for_are_noted(tmp_path: Path) -> None:
    write_inputs(tmp_path, [asked(0, 0)])
    run = read_rows(tmp_path, [rollout(0, 0), rollout(7, 0)])
    assert run.notes == ["1 rollouts are not among the materialized inputs"]
    assert (run.table.tasks, run.table.expected.tolist()) == (["0", "7"], [1, 0])


def test_fields_only_the_inputs_have_can_cut_the_run(tmp_path: Path) -> None:
    write_inputs(tmp_path, [asked(n, 0, difficulty=("easy", "hard")[n % 2], meta={"topic": "x"}) for n in range(4)])
    analysis = analyze_rows(tmp_path, [rollout(n, 0, n // 2) for n in range(4)], slices=("meta.topic",))
    # easy: tasks 0 and 2 with rewards 0 and 1; hard: tasks 1 and 3, likewise.
    assert [(s.field, s.asked, [(v.level, v.tasks, v.headline.value) for v in s.levels]) for s in analysis.slices] == [
        ("meta.topic", True, [("x", 4, 0.5)]),
        ("difficulty", False, [("easy", 2, 0.5), ("hard", 2, 0.5)]),
    ]


def test_failed_attempts_are_rollouts_without_a_score(tmp_path: Path) -> None:
    write_failures(tmp_path, [failure(0, 1, "timeout_exceeded"), failure(1, 0, "judge_failed")])
    run = read_rows(tmp_path, [rollout(0, 0)])
    assert statuses(run) == {
        "0:0": ("completed", None, 1.0),
        "0:1": ("failed", "timeout_exceeded", None),
        "1:0": ("failed", "judge_failed", None),
    }
    assert [(file.path.name, file.failed) for file in run.files] == [("run.jsonl", False), ("run_failures.jsonl", True)]


def test_a_failed_attempt_that_was_tried_again_is_recovered(tmp_path: Path) -> None:
    write_failures(tmp_path, [failure(0, 0), failure(0, 0), failure(0, 1), failure(0, 1, "timeout_exceeded")])
    run = read_rows(tmp_path, [rollout(0, 0)])
    # Both failures of 0:0 were replaced; of those of 0:1 the last one stands.
    assert (run.recovered, statuses(run)["0:1"]) == (2, ("failed", "timeout_exceeded", None))
    assert len(run.table) == 2


@pytest.mark.parametrize(
    ("content", "note"),
    [
        pytest.param("", None, id="empty"),
        pytest.param(
            "not json\n", "run_failures.jsonl: one of its lines could not be used; line 1 is not JSON", id="text"
        ),
        pytest.param('{"a": 1}\n', "run_failures.jsonl is not used: its rows lack what identifies", id="no_indices"),
        pytest.param('{"_ng_task_index": 3', "run_failures.jsonl: one of its lines could not be used", id="cut"),
        pytest.param("[]", None, id="array_of_nothing"),
        pytest.param("\x00\x01\x02", "run_failures.jsonl: is a binary file", id="binary"),
    ],
)
def test_a_broken_failures_file_is_noted_and_nothing_else(tmp_path: Path, content: str, note: str | None) -> None:
    (tmp_path / "run_failures.jsonl").write_text(content)
    run = read_rows(tmp_path, [rollout(0, 0), rollout(0, 1)])
    assert keys(run) == ["0:0", "0:1"]
    assert [text[: len(note or "")] for text in run.notes] == ([] if note is None else [note])


@pytest.mark.parametrize("content", ["", "not json\n", '{"a": 1}\n', "[]", "null\n", '{"_ng_task_index": "x"}\n'])
def test_broken_inputs_leave_the_expectation_to_what_was_seen(tmp_path: Path, content: str) -> None:
    (tmp_path / "run_materialized_inputs.jsonl").write_text(content)
    run = read_rows(tmp_path, [rollout(0, 0), rollout(0, 1)])
    assert (keys(run), run.expected_from) == (["0:0", "0:1"], "largest repeat count seen")


@pytest.mark.parametrize("ending", ["_aggregate_metrics.json", "_reward_profiling.jsonl", "_agent_metrics.json"])
@pytest.mark.parametrize(
    "content", ["", "[", "[1, null, []]", "NaN", "{}", '[{"agent_metrics": 3}]', '{"mean/reward":']
)
def test_broken_published_metrics_are_no_obstacle(tmp_path: Path, ending: str, content: str) -> None:
    (tmp_path / f"run{ending}").write_text(content)
    [check] = analyze_rows(tmp_path, [rollout(0, 0), rollout(1, 0, 0.0)]).inputs.published
    assert (check.file, check.compared, check.different) == (f"run{ending}", 0, [])


def test_failures_cannot_join_attempts_known_only_by_their_order(tmp_path: Path) -> None:
    write_failures(tmp_path, [failure(0, 0)])
    run = read_rows(tmp_path, [unindexed("q0"), unindexed("q1")])
    assert len(run.table) == 2
    assert run.notes == ["run_failures.jsonl is not used: its rows lack what identifies the rollouts"]


def test_a_sidecar_is_found_by_the_stem_of_its_file(tmp_path: Path) -> None:
    write_failures(tmp_path, [failure(9, 9)])
    write_rows(tmp_path / "run.v2_failures.jsonl", [failure(0, 5)])
    run = blade.read(write_rows(tmp_path / "run.v2.jsonl", [rollout(0, 0)]))
    assert keys(run) == ["0:0", "0:5"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('[{"a": 1}, {"b": 2}]', id="array"),
        pytest.param('\ufeff\n [\n {"a": 1},\n {"b": 2}\n]\n', id="pretty_with_mark"),
        pytest.param('{"a": 1}\n\nbroken\n{"b": 2}\n', id="lines"),
    ],
)
def test_published_records_are_read_from_an_array_or_from_lines(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    assert read_published(path) == [{"a": 1}, {"b": 2}]


def test_one_published_record_may_stand_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{\n  "a": 1\n}\n')
    assert read_published(path) == [{"a": 1}]
