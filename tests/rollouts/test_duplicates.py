import json
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, keys, read_rows, rollout, unindexed, write_rows

import blade
from blade.errors import ProblemsFound
from blade.rollouts import Duplicate, Run, Source


def reordered(row: Row) -> str:
    """The same row with its keys in another order and more white space."""
    return json.dumps(dict(reversed(row.items())), indent=None, separators=(" , ", " :  "))


def rewards(run: Run) -> dict[str, float]:
    return dict(zip(keys(run), run.table.reward.tolist(), strict=True))


def lines(duplicate: Duplicate) -> list[int]:
    return [row.line for row in duplicate.rows]


def test_the_same_row_twice_counts_once_and_is_reported(tmp_path: Path) -> None:
    first = json.dumps(rollout(0, 0))
    run = read_rows(tmp_path, [first, json.dumps(rollout(1, 0)), first])
    assert (keys(run), run.surplus) == (["0:0", "1:0"], 1)
    length = len(first)
    places = [(1, 0), (3, length + 1 + length + 1)]
    rows = [Source(file=str(tmp_path / "run.jsonl"), line=n, offset=at, length=length) for n, at in places]
    assert run.duplicates == [Duplicate(rollout="0:0", kind="identical", rows=rows)]


def test_key_order_and_white_space_make_no_other_row(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), reordered(rollout(0, 0))])
    assert [(d.kind, lines(d)) for d in run.duplicates] == [("identical", [1, 2])]


def test_of_conflicting_rows_the_first_is_scored_and_all_are_kept_apart(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, 1.0), rollout(0, 0, 0.0), rollout(0, 0, 1.0)])
    assert (rewards(run), run.surplus) == ({"0:0": 1.0}, 2)
    assert [(d.rollout, d.kind, lines(d)) for d in run.duplicates] == [("0:0", "conflicting", [1, 2, 3])]


@pytest.mark.parametrize(
    ("policy", "expected", "surplus", "order"),
    [
        pytest.param("first", {"0:0": 0.25, "0:1": 1.0}, 1, [1, 2], id="first"),
        pytest.param("last", {"0:0": 0.75, "0:1": 1.0}, 1, [2, 1], id="last"),
        pytest.param("all", {"0:0": 0.25, "0:1": 1.0, "0:2": 0.75}, 0, [1, 2], id="all"),
    ],
)
def test_the_policy_says_which_conflicting_row_is_scored(
    tmp_path: Path, policy: str, expected: dict[str, float], surplus: int, order: list[int]
) -> None:
    rows = [rollout(0, 0, 0.25), rollout(0, 0, 0.75), rollout(0, 1, 1.0)]
    run = read_rows(tmp_path, rows, duplicates=policy)
    assert (rewards(run), run.surplus, lines(run.duplicates[0])) == (expected, surplus, order)


def test_rows_kept_beside_each_other_can_all_be_cited(tmp_path: Path) -> None:
    rows = [rollout(task, 0, reward) for task in (0, 1) for reward in (0.1, 0.2, 0.3)]
    run = read_rows(tmp_path, [*rows, rows[0]], duplicates="all")
    assert keys(run) == ["0:0", "0:1", "0:2", "1:0", "1:1", "1:2"]
    assert [run.rollout(key).reward for key in keys(run)] == [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]
    assert run.surplus == 1


def test_disagreement_can_be_made_an_error_and_copies_are_none(tmp_path: Path) -> None:
    assert len(read_rows(tmp_path, [rollout(0, 0), rollout(0, 0)], duplicates="error").table) == 1
    with pytest.raises(ProblemsFound, match="3:1: 2 rows with this key disagree; choose --duplicates first, last or"):
        read_rows(tmp_path, [rollout(3, 1, 1.0), rollout(3, 1, 0.0)], duplicates="error")


def test_unindexed_rows_with_one_response_id_are_one_rollout(tmp_path: Path) -> None:
    first, second = (unindexed("q", 1.0, response={"id": name}) for name in ("resp-a", "resp-b"))
    first["response"]["id"], second["response"]["id"] = "resp-a", "resp-b"
    run = read_rows(tmp_path, [first, second, first])
    assert (run.table.repeat.tolist(), run.surplus) == ([0, 1], 1)
    assert [(d.rollout.endswith(":0"), d.kind, lines(d)) for d in run.duplicates] == [(True, "identical", [1, 3])]


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param({"response": {"created_at": 17.5}}, id="response_created_at"),
        pytest.param({"created_at": "2025-01-01T00:00:00Z"}, id="created_at"),
        pytest.param({"response_id": "r1"}, id="response_id"),
    ],
)
def test_any_field_only_one_rollout_can_have_tells_copies(tmp_path: Path, mark: dict[str, Any]) -> None:
    run = read_rows(tmp_path, [unindexed("q", **mark), unindexed("p", **mark), unindexed("q", **mark)])
    assert (len(run.table), run.surplus, len(run.duplicates)) == (2, 1, 1)


def test_attempts_between_copies_keep_running_numbers(tmp_path: Path) -> None:
    rows = [
        {"task_id": "t", "created_at": at, "score": score} for at, score in [(1, 0.1), (1, 0.1), (2, 0.2), (3, 0.3)]
    ]
    run = read_rows(tmp_path, rows)
    assert rewards(run) == {"t:0": 0.1, "t:1": 0.2, "t:2": 0.3}
    assert run.expected_from == "largest repeat count seen"
    assert run.table.expected.tolist() == [3]


def test_flat_records_that_say_the_same_are_attempts_of_their_own(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": "t", "score": 1}] * 3)
    assert (keys(run), run.surplus, run.duplicates) == (["t:0", "t:1", "t:2"], 0, [])


def test_rows_with_another_time_are_attempts_of_their_own(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": "t", "created_at": at, "score": 1} for at in (10, 11)])
    assert (keys(run), run.duplicates) == (["t:0", "t:1"], [])


def test_a_file_that_was_appended_to_itself_counts_once(tmp_path: Path) -> None:
    rows = [unindexed(f"q{n}", n % 2, response={"created_at": n + 1}) for n in range(5)]
    analysis = analyze_rows(tmp_path, rows + rows)
    assert (analysis.coverage.rollouts, analysis.coverage.duplicates, analysis.metrics.pass_at_1.value) == (5, 5, 0.4)
    assert [(f.code, f.rows) for f in analysis.health] == [("identical_duplicates", 5)]


def test_shards_that_share_a_few_rows_count_them_once(tmp_path: Path) -> None:
    write_rows(tmp_path / "part-1.jsonl", [rollout(n, 0) for n in range(6)])
    write_rows(tmp_path / "part-2.jsonl", [rollout(n, 0) for n in range(5, 12)])
    run = blade.read(tmp_path)
    assert (run.name, len(run.table), run.surplus) == ("part", 12, 1)
    assert [Path(row.file).name for row in run.duplicates[0].rows] == ["part-1.jsonl", "part-2.jsonl"]
