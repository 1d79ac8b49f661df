import json
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, read_files, rollout, write_rows

from blade.diagnosis import analyze
from blade.diagnosis.analysis import PublishedCheck

AGENT: Row = {"agent_ref": {"name": "swe"}}
ROWS: list[Row] = [
    rollout(0, 0, 1.0, steps=2, ok=True, response={"usage": {"input_tokens": 10}}, **AGENT),
    rollout(0, 1, 0.0, steps=4, ok=False, response={"usage": {"input_tokens": 30}}, **AGENT),
    rollout(7, 0, 0.0, steps=6, ok=False, response={"usage": {"input_tokens": 20}}, **AGENT),
]
OVERALL = {
    # Over the three rollouts: rewards 1, 0, 0; steps 2, 4, 6; tokens 10, 30, 20.
    "mean/reward": 1 / 3, "max/reward": 1.0, "min/reward": 0.0, "median/reward": 0.0, "std/reward": (1 / 3) ** 0.5,
    "mean/steps": 4.0, "std/steps": 2.0, "mean/ok": 1 / 3, "mean/input_tokens": 20.0,
    # Task 0 passes one of two, task 7 none of one: (0.5 + 0) / 2.
    "pass@1/accuracy": 25.0, "pass@1[avg-of-2]/accuracy": 25.0, "pass@2/accuracy": 100.0,
}  # fmt: skip
FIRST = {"mean/reward": 0.5, "max/steps": 4, "mean/input_tokens": 20.0}
SECOND = {"mean/reward": 0.0, "max/steps": 6, "mean/input_tokens": 20.0}


def aggregate(overall: dict[str, Any] | None = None, tasks: list[Any] | None = None) -> list[Row]:
    groups = [{"_ng_task_index": 0, **FIRST}, {**SECOND, "_ng_task_index": 7}] if tasks is None else tasks
    return [{**AGENT, "agent_metrics": overall or OVERALL, "key_metrics": {}, "group_level_metrics": groups}]


def checked(folder: Path, ending: str, content: Any) -> PublishedCheck:
    """The check of one published file beside `ROWS`."""
    lines = content if isinstance(content, str) else json.dumps(content, indent=2)
    (folder / f"run{ending}").write_text(lines)
    [check] = analyze_rows(folder, ROWS).inputs.published
    return check


def test_an_aggregate_file_made_of_these_rows_agrees(tmp_path: Path) -> None:
    check = checked(tmp_path, "_aggregate_metrics.json", aggregate())
    assert check == PublishedCheck(file="run_aggregate_metrics.json", compared=12 + 3 + 3)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        pytest.param("mean/reward", 0.5, "mean/reward: published 0.5, rows give 0.333333", id="mean"),
        pytest.param("std/steps", 1.633, "std/steps: published 1.633, rows give 2", id="std"),
        pytest.param("pass@2/accuracy", 50.0, "pass@2/accuracy: published 50, rows give 100", id="pass_at_k"),
        pytest.param(
            "mean/steps", 4.00001, "mean/steps: published 4.00001, rows give 4", id="differs_in_the_sixth_digit"
        ),
        pytest.param(
            "mean/input_tokens", 20.00003, "mean/input_tokens: published 20.00003, rows give 20", id="shown_in_full"
        ),
    ],
)
def test_one_changed_value_is_told_with_both_values(tmp_path: Path, name: str, value: float, told: str) -> None:
    check = checked(tmp_path, "_aggregate_metrics.json", aggregate({**OVERALL, name: value}))
    assert (check.compared, check.different, check.not_recomputed) == (18, [told], [])


def test_a_changed_value_of_one_task_names_the_task(tmp_path: Path) -> None:
    tasks = [{"_ng_task_index": 0, **FIRST}, {"_ng_task_index": 7, **SECOND, "mean/reward": 1.0}]
    check = checked(tmp_path, "_aggregate_metrics.json", aggregate(tasks=tasks))
    assert check.different == ["task 7 mean/reward: published 1, rows give 0"]


def test_differences_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "run_aggregate_metrics.json").write_text(json.dumps(aggregate({"mean/reward": 0.9})))
    found = {finding.code: finding for finding in analyze_rows(tmp_path, ROWS).health}
    message = "run_aggregate_metrics.json: 1 of 7 published values differ from the rows"
    assert (found["published_metrics_differ"].message, found["published_metrics_differ"].cause) == (message, "DA")


def test_a_new_profile_names_its_tasks(tmp_path: Path) -> None:
    lines = [{**SECOND, "_ng_task_index": 7, "num_rollouts": 1}, {"_ng_task_index": 0, **FIRST, "sample": {}}]
    check = checked(tmp_path, "_reward_profiling.jsonl", "\n".join(map(json.dumps, lines)))
    assert check == PublishedCheck(file="run_reward_profiling.jsonl", compared=6)


def test_an_old_profile_lists_tasks_in_ascending_order(tmp_path: Path) -> None:
    lines = [FIRST, {**SECOND, "mean/reward": 0.25}]
    check = checked(tmp_path, "_reward_profiling.jsonl", "\n".join(map(json.dumps, lines)))
    assert (check.compared, check.different) == (6, ["task 7 mean/reward: published 0.25, rows give 0"])


def test_an_old_profile_leaves_out_tasks_without_rollouts(tmp_path: Path) -> None:
    inputs = [rollout(task, 0) for task in (0, 3, 7)]
    write_rows(tmp_path / "run_materialized_inputs.jsonl", inputs)
    check = checked(tmp_path, "_reward_profiling.jsonl", "\n".join(map(json.dumps, [FIRST, SECOND])))
    assert (check.compared, check.different) == (6, [])


def test_agent_metrics_are_over_all_rollouts(tmp_path: Path) -> None:
    check = checked(tmp_path, "_agent_metrics.json", [{**AGENT, "mean/reward": 1 / 3, "max/steps": 6}])
    assert check == PublishedCheck(file="run_agent_metrics.json", compared=2)


def test_values_the_rows_cannot_give_are_named(tmp_path: Path) -> None:
    check = checked(
        tmp_path, "_agent_metrics.json", [{**AGENT, "mean/reward": 1 / 3, "mean/taste": 9, "pass@1/joy": 1}]
    )
    assert (check.compared, check.not_recomputed) == (1, ["mean/taste", "pass@1/joy"])


def test_a_field_called_task_or_answer_is_a_field_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "run_agent_metrics.json").write_text(
        json.dumps([{"mean/task": 2.0, "mean/answer": 3.0, "mean/agent": 4.0}])
    )
    rows = [{**rollout(n, 0, answer=3, agent=4), "task": 2} for n in range(2)]
    [check] = analyze_rows(tmp_path, rows).inputs.published
    assert (check.compared, check.different, check.not_recomputed) == (3, [], [])


def test_every_agent_is_held_to_its_own_rows(tmp_path: Path) -> None:
    rows = [rollout(n, 0, n, agent_ref={"name": f"agent-{n}"}) for n in range(2)]
    records = [{"agent_ref": {"name": f"agent-{n}"}, "mean/reward": n} for n in range(2)]
    (tmp_path / "run_agent_metrics.json").write_text(json.dumps(records))
    [check] = analyze_rows(tmp_path, rows).inputs.published
    assert (check.compared, check.different) == (2, [])


def test_failed_attempts_are_not_among_the_published_rows(tmp_path: Path) -> None:
    failure = rollout(7, 1, 0.0, steps=100, _ng_failure_class="transient", **AGENT)
    write_rows(tmp_path / "run_failures.jsonl", [failure])
    assert checked(tmp_path, "_aggregate_metrics.json", aggregate()).different == []


def test_every_shard_is_held_to_its_own_metrics(tmp_path: Path) -> None:
    for n in range(2):
        (tmp_path / f"part-{n}_agent_metrics.json").write_text(json.dumps([{"mean/reward": n}]))
    [run] = read_files(tmp_path, {f"part-{n}.jsonl": [rollout(n, 0, n)] for n in range(2)})
    assert [(check.compared, check.different) for check in analyze(run).inputs.published] == [(1, []), (1, [])]


def test_of_many_differences_two_hundred_are_listed_and_that_is_said(tmp_path: Path) -> None:
    rows: list[Row] = [rollout(n, 0, 1.0) for n in range(250)]
    write_rows(tmp_path / "run_reward_profiling.jsonl", [{"_ng_task_index": n, "mean/reward": 0.0} for n in range(250)])
    analysis = analyze_rows(tmp_path, rows)
    assert len(analysis.inputs.published[0].different) == 200
    [finding] = [finding for finding in analysis.health if finding.code == "published_metrics_differ"]
    assert finding.message == "run_reward_profiling.jsonl: at least 200 of 250 published values differ from the rows"


def test_values_over_tasks_that_share_a_value_are_recomputed(tmp_path: Path) -> None:
    rows = [rollout(n, 0, float(n > 0), level=level) for n, level in enumerate(["easy", "easy", "hard"])]
    record = {"blade": {"subsets": ["level"]}, "easy/pass@1/accuracy": 50.0, "hard/pass@1/accuracy": 0.0}
    (tmp_path / "run_agent_metrics.json").write_text(json.dumps([record]))
    [check] = analyze_rows(tmp_path, rows).inputs.published
    assert (check.compared, check.not_recomputed) == (2, [])
    assert check.different == ["hard/pass@1/accuracy: published 0, rows give 100"]
