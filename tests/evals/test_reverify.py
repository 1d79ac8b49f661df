import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from own_benchmark import TASKS, sum_rollout, write_sums
from rollout_rows import Row, message, without, write_rows

from blade.environments import Environment, Verdict, load_environment
from blade.errors import InputError, UsageError
from blade.evals.reverify import Change, Reverified, ReverifyOptions, Trouble, reverify

RIGHT, WRONG = sum_rollout(0, 0, "2", 1.0), sum_rollout(1, 0, "41", 0.0)


def again(folder: Path, rows: Sequence[Row | str], *, judge: Any = None, **options: Any) -> Reverified:
    path = write_rows(folder / "run.jsonl", rows)
    environment: Environment = judge or load_environment("numeric")
    return reverify(path, write_sums(folder), environment, options=ReverifyOptions(**options))


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Breaking:
    """A verifier that breaks on one task, and gives others half a point."""

    name = "breaking"

    def verify(self, task: Row, items: Sequence[Any]) -> Verdict:
        if task["task_id"] == "sum-1":
            raise KeyError("gone")
        return Verdict(reward=0.5, fields={"grade": "half", "difficulty": "changed"})


def test_rewards_that_stand_are_no_changes(tmp_path: Path) -> None:
    result = again(tmp_path, [RIGHT, WRONG])
    assert (result.rollouts, result.judged, result.changed, result.failed) == (2, 2, [], [])
    assert (result.mean_before, result.mean_now, result.output) == (0.5, 0.5, None)


def test_every_changed_reward_is_named_with_both_values(tmp_path: Path) -> None:
    result = again(tmp_path, [{**RIGHT, "reward": 0.0}, WRONG, sum_rollout(1, 1, "40", None)])
    assert [(change.rollout, change.old, change.new) for change in result.changed] == [
        ("0:0", 0.0, 1.0),
        ("1:1", None, 1.0),
    ]


def test_the_rollouts_stay_and_a_new_file_has_the_verdicts_and_its_sidecars(tmp_path: Path) -> None:
    write_rows(
        tmp_path / "run_materialized_inputs.jsonl", [without(row, "reward", "response") for row in (RIGHT, WRONG)]
    )
    rows = [{**RIGHT, "reward": 0.0}, WRONG]
    again(tmp_path, rows, output=tmp_path / "new.jsonl")
    assert [row["reward"] for row in lines(tmp_path / "run.jsonl")] == [0.0, 0.0]
    assert [row["reward"] for row in lines(tmp_path / "new.jsonl")] == [1.0, 0.0]
    assert lines(tmp_path / "new.jsonl")[0]["response"] == RIGHT["response"]
    [entry] = json.loads((tmp_path / "new_aggregate_metrics.json").read_text())
    assert (entry["agent_metrics"]["easy/pass@1/accuracy"], entry["blade"]["coverage"]["missing"]) == (100.0, 0)
    assert (tmp_path / "new_failures.jsonl").read_bytes() == b""


def test_what_a_row_lacks_is_taken_from_the_inputs(tmp_path: Path) -> None:
    asked = {**without(RIGHT, "reward", "response"), "expected_answer": "3"}
    write_rows(tmp_path / "asked.jsonl", [asked])
    bare = without(RIGHT, *TASKS[0])
    result = again(tmp_path, [bare], inputs=tmp_path / "asked.jsonl")
    assert [(change.old, change.new) for change in result.changed] == [(1.0, 0.0)]


def test_without_inputs_it_is_taken_from_the_frozen_tasks_and_told(tmp_path: Path) -> None:
    result = again(tmp_path, [without(RIGHT, *TASKS[0]), without(WRONG, "expected_answer")])
    assert (result.judged, result.changed) == (2, [])
    assert result.notes == ["2 rows lack fields of their task, which were taken from sums.jsonl"]


def test_the_rows_own_fields_win_over_the_frozen_tasks(tmp_path: Path) -> None:
    assert again(tmp_path, [{**RIGHT, "expected_answer": "5", "reward": 0.0}]).changed == []


def test_a_verifier_that_breaks_costs_its_row_only(tmp_path: Path) -> None:
    result = again(tmp_path, [RIGHT, WRONG], judge=Breaking(), output=tmp_path / "new.jsonl")
    assert result.failed == [Trouble(rollout="0:0", why="KeyError: 'gone'")]
    assert result.changed == [Change(rollout="1:0", old=0.0, new=0.5, fields=["difficulty", "grade"])]
    assert [row["grade"] for row in lines(tmp_path / "new.jsonl")] == ["half"]
    [failure] = lines(tmp_path / "new_failures.jsonl")
    assert (failure["_ng_failure_class"], failure["_ng_task_index"], failure["reward"]) == ("verifier_failed", 0, 1.0)


def test_rows_without_output_keep_what_they_have_and_are_told(tmp_path: Path) -> None:
    result = again(tmp_path, [without(RIGHT, "response"), WRONG], output=tmp_path / "new.jsonl")
    assert result.unjudgeable == [Trouble(rollout="0:0", why="has no response with output items")]
    assert [row["reward"] for row in lines(tmp_path / "new.jsonl")] == [1.0, 0.0]


def test_opening_a_skill_is_no_part_of_what_is_judged(tmp_path: Path) -> None:
    from blade.evals.skills import TOOL

    seen: list[Any] = []

    class Watching(Breaking):
        def verify(self, task: Row, items: Sequence[Any]) -> Verdict:
            seen.extend(item["type"] for item in items)
            return Verdict(reward=1.0)

    opened = [
        {"type": "function_call", "name": TOOL, "call_id": "s", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "s", "output": "…"},
        message("Answer: 2"),
    ]
    again(tmp_path, [{**RIGHT, "response": {"output": opened}}], judge=Watching())
    assert seen == ["message"]


def test_order_is_kept_whatever_the_number_of_jobs_and_a_limit_counts_rows(tmp_path: Path) -> None:
    rows = [sum_rollout(n % 2, n, "2", 0.5) for n in range(40)]
    result = again(tmp_path, rows, jobs=4, limit=30, output=tmp_path / "new.jsonl")
    assert [row["_ng_rollout_index"] for row in lines(tmp_path / "new.jsonl")] == list(range(30))
    assert [change.rollout for change in result.changed] == [f"{n % 2}:{n}" for n in range(30)]


def test_lines_that_are_no_rollouts_are_told(tmp_path: Path) -> None:
    result = again(tmp_path, [RIGHT, "[1]", '{"torn'])
    assert result.rollouts == 1 and result.notes[0].startswith("2 lines are not rollouts; the first is run.jsonl:2")
    with pytest.raises(InputError, match=r"run\.jsonl: holds no rollouts; run.jsonl:1"):
        again(tmp_path, ["<PLACEHOLDER ROW>"])


def test_no_file_is_overwritten_by_accident(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text("precious")
    with pytest.raises(UsageError, match="exists; name another --output, or replace it with --overwrite"):
        again(tmp_path, [RIGHT], output=tmp_path / "new.jsonl")
    with pytest.raises(UsageError, match="holds the rollouts themselves"):
        again(tmp_path, [RIGHT], output=tmp_path / "run.jsonl", overwrite=True)
    assert again(tmp_path, [RIGHT], output=tmp_path / "new.jsonl", overwrite=True).judged == 1
