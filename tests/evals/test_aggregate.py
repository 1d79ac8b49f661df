import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, rollout, unindexed, without, write_rows

from blade.diagnosis import analyze
from blade.errors import InputError, ProblemsFound
from blade.evals.aggregate import Aggregated, AggregateOptions, write_aggregate
from blade.evals.entries import Coverage
from blade.metrics.recipes import RECIPES

NAMED: Row = {"agent_ref": {"type": "responses_api_agents", "name": "desk"}}


def scored(task: int, repeat: int, reward: Any, **fields: Any) -> Row:
    usage = {"usage": {"input_tokens": 10 * (repeat + 1), "details": {"cached": 3}}}
    return rollout(task, repeat, reward, **{"response": usage, **NAMED, **fields})


ROWS = [scored(7, 0, 0.0, ok=False), scored(0, 1, 0.0, ok=True), scored(0, 0, 1.0, ok=True, note="x", steps=None)]
"""Task 0 passes one of two, task 7 none of one; in the order they ended."""


def aggregated(folder: Path, rows: list[Row | str], **options: Any) -> tuple[Aggregated, list[dict[str, Any]]]:
    path = write_rows(folder / "run.jsonl", rows)
    result = write_aggregate(path, AggregateOptions(**options))
    return result, json.loads(result.path.read_text())


def entry(folder: Path, rows: list[Row | str], **options: Any) -> dict[str, Any]:
    """The entry of the only agent."""
    [only] = aggregated(folder, rows, **options)[1]
    return only


def expect(folder: Path, *keys: tuple[int, int], **fields: Any) -> None:
    rows = [without(rollout(task, repeat, **{**NAMED, **fields}), "reward", "response") for task, repeat in keys]
    write_rows(folder / "run_materialized_inputs.jsonl", rows)


def test_an_entry_has_gyms_keys_and_ours_beside_them(tmp_path: Path) -> None:
    found = entry(tmp_path, [*ROWS])
    assert list(found) == ["agent_ref", "agent_metrics", "key_metrics", "blade", "group_level_metrics"]
    assert found["agent_ref"] == {"name": "desk"}
    assert (tmp_path / "run_aggregate_metrics.json").read_text().startswith('[\n  {\n    "agent_ref": {\n')


def test_statistics_are_over_rollouts_and_pass_at_k_over_tasks_in_percent(tmp_path: Path) -> None:
    metrics = entry(tmp_path, [*ROWS])["agent_metrics"]
    # Rewards 1, 0, 0 and input tokens 10, 20, 10; task 0 passes 1 of 2, task 7 0 of 1.
    assert metrics["mean/reward"] == pytest.approx(1 / 3)
    assert (metrics["mean/ok"], metrics["max/input_tokens"], metrics["median/input_tokens"]) == (2 / 3, 20.0, 10.0)
    assert (metrics["pass@1/accuracy"], metrics["pass@2/accuracy"]) == (25.0, 100.0)
    assert metrics["pass@1[avg-of-2]/accuracy"] == 25.0
    assert metrics["per_sample_aggregate"] == {"accuracy": [50.0, 0.0]}
    assert not [key for key in metrics if key.endswith(("/note", "/steps", "/details", "/_ng_task_index"))]


def test_key_metrics_are_all_means_and_the_largest_k(tmp_path: Path) -> None:
    found = entry(tmp_path, [*ROWS])
    assert list(found["key_metrics"]) == [
        *("mean/reward", "mean/ok", "mean/input_tokens"),
        *("pass@1[avg-of-2]/accuracy", "pass@2/accuracy"),
    ]


def test_every_task_has_its_counts_its_pass_at_k_and_its_rollouts_in_order(tmp_path: Path) -> None:
    first, second = entry(tmp_path, [*ROWS])["group_level_metrics"]
    assert (first["_ng_task_index"], second["_ng_task_index"]) == (0, 7)
    assert (first["pass@1/accuracy"], first["pass@2/accuracy"], first["std/input_tokens"]) == (50.0, 100.0, 50**0.5)
    assert first["rollout_infos"] == [
        {"rollout_id": "0:0", "_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "input_tokens": 10, "ok": 1},
        {"rollout_id": "0:1", "_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0, "input_tokens": 20, "ok": 1},
    ]
    assert (first["sample"], first["num_rollouts"], second["num_rollouts"]) == ({"agent_ref": {"name": "agent"}}, 2, 1)


def test_usage_wins_in_statistics_and_the_row_in_its_own_record_as_gym_has_it(tmp_path: Path) -> None:
    found = entry(tmp_path, [scored(0, 0, 1.0, input_tokens=99)])
    assert found["agent_metrics"]["mean/input_tokens"] == 10.0
    assert found["group_level_metrics"][0]["rollout_infos"][0]["input_tokens"] == 99


def test_what_is_missing_is_known_from_the_materialized_inputs(tmp_path: Path) -> None:
    expect(tmp_path, (0, 0), (0, 1), (7, 0), (7, 1), (9, 0), (9, 1))
    found = entry(tmp_path, [*ROWS])
    assert found["blade"]["coverage"] == {
        "tasks": 3,
        "expected_rollouts": 6,
        "rollouts": 3,
        "missing": 3,
        "unscored": 0,
        "tasks_without_rollouts": [9],
    }
    counts = ("expected_num_rollouts", "missing_num_rollouts", "reward_profile_completion_pct")
    assert [[group[key] for key in counts] for group in found["group_level_metrics"]] == [[2, 0, 100.0], [2, 1, 50.0]]


def test_without_inputs_nothing_is_claimed_to_be_complete(tmp_path: Path) -> None:
    result, [found] = aggregated(tmp_path, [*ROWS])
    assert found["blade"]["coverage"]["missing"] is None
    assert result.notes == ["without materialized inputs nobody says how many rollouts were expected"]


def test_the_headline_has_an_interval_over_tasks_and_follows_the_success_rule(tmp_path: Path) -> None:
    rows: list[Row | str] = [scored(task, 0, reward) for task, reward in enumerate([0.2, 0.9, 0.9, 0.4])]
    graded = entry(tmp_path, rows)["blade"]["metrics"]
    assert (graded["pass_at_1"]["value"], graded["mean_reward"]["value"]) == (None, pytest.approx(0.6))
    ruled = entry(tmp_path, rows, success="reward >= 0.9")["blade"]["metrics"]["pass_at_1"]
    low, high = ruled["ci95"]
    assert ruled["value"] == 0.5 and 0.0 < low < 0.2 and 0.8 < high < 1.0


def test_the_interval_is_the_diagnosiss_own(tmp_path: Path) -> None:
    from blade.api import read

    rows: list[Row | str] = [
        scored(task, repeat, float((task * repeat) % 3 == 1)) for task in range(9) for repeat in range(3)
    ]
    ours = entry(tmp_path, rows)["blade"]["metrics"]
    theirs = analyze(read(tmp_path / "run.jsonl")).metrics
    assert tuple(ours["pass_at_1"]["ci95"]) == theirs.pass_at_1.ci95
    assert ours["pass_at_3"]["value"] == theirs.pass_at_k["3"].value


def test_failed_attempts_are_counted_by_class(tmp_path: Path) -> None:
    failures = [rollout(3, n, 0.0, _ng_failure_class="transient") for n in range(2)]
    write_rows(tmp_path / "run_failures.jsonl", [*failures, rollout(4, 0, 0.0), "{torn"])
    result, [found] = aggregated(tmp_path, [*ROWS])
    assert found["blade"]["failed_attempts"] == {"transient": 2, "unknown": 1, "unreadable": 1} == result.failures


def test_rows_without_an_agent_take_it_from_the_inputs_or_are_told(tmp_path: Path) -> None:
    bare = [without(row, "agent_ref") for row in ROWS]
    result, [found] = aggregated(tmp_path, [*bare])
    assert found["agent_ref"] == {"name": None}
    assert "3 rows have no agent_ref; they are kept under an agent without a name" in result.notes
    expect(tmp_path, (0, 0), (0, 1), (7, 0))
    assert entry(tmp_path, [*bare])["agent_ref"] == {"name": "desk"}


def test_every_agent_has_an_entry_by_name_with_its_own_coverage(tmp_path: Path) -> None:
    rows: list[Row | str] = [scored(n, 0, float(n), agent_ref={"name": name}) for n, name in enumerate(["b", "a"])]
    inputs = [rollout(n, r, agent_ref={"name": name}) for n, name in enumerate("ba") for r in range(n + 1)]
    write_rows(tmp_path / "run_materialized_inputs.jsonl", inputs)
    found = aggregated(tmp_path, rows)[0].agents
    assert [(agent.name, agent.metrics["mean/reward"], agent.coverage.missing) for agent in found] == [
        ("a", 1.0, 1),
        ("b", 0.0, 0),
    ]


@pytest.mark.parametrize(("policy", "reward"), [("first", 1.0), ("last", 0.0)])
def test_of_two_rows_with_one_key_the_chosen_one_counts(tmp_path: Path, policy: str, reward: float) -> None:
    result, [found] = aggregated(tmp_path, [scored(0, 0, 1.0), scored(0, 0, 0.0)], duplicates=policy)
    assert (found["agent_metrics"]["mean/reward"], found["blade"]["coverage"]["rollouts"]) == (reward, 1)
    assert result.notes[0] == "1 rows have the key of another row and were counted once"


def test_rows_that_contradict_each_other_are_refused_and_rows_that_agree_are_one(tmp_path: Path) -> None:
    with pytest.raises(ProblemsFound, match=r"rollout 0:0 is there twice and differs, in run.jsonl:1 and run.jsonl:2"):
        aggregated(tmp_path, [scored(0, 0, 1.0), scored(0, 0, 0.0)])
    assert entry(tmp_path, [scored(0, 0, 1.0), scored(0, 0, 1.0)])["blade"]["coverage"]["rollouts"] == 1


def test_rollouts_that_nobody_asked_for_are_refused(tmp_path: Path) -> None:
    expect(tmp_path, (0, 0), (0, 1))
    with pytest.raises(ProblemsFound, match="1 rollouts, the first 7:0, are not among the inputs in run_mat"):
        aggregated(tmp_path, [*ROWS])


def test_lines_that_are_no_rollouts_are_told_and_left_out(tmp_path: Path) -> None:
    result, [found] = aggregated(tmp_path, [*ROWS, '{"_ng_task_index": 8, "rew', "[1]", ""])
    assert found["blade"]["coverage"]["rollouts"] == 3
    assert result.notes[0].startswith("2 lines are not rollouts; the first is run.jsonl:4: ")


@pytest.mark.parametrize("text", ["", "<PLACEHOLDER ROW>\n", "{}\n"])
def test_a_file_without_rollouts_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=r"run\.jsonl: holds no rollouts"):
        write_aggregate(path)
    assert not (tmp_path / "run_aggregate_metrics.json").exists()


def test_rows_without_indices_are_told_apart_by_their_request(tmp_path: Path) -> None:
    rows: list[Row | str] = [unindexed("one?", 1.0), unindexed("two?", 0.0), unindexed("one?", 0.0)]
    found = entry(tmp_path, rows)
    assert sorted(group["num_rollouts"] for group in found["group_level_metrics"]) == [1, 2]


def test_compressed_files_and_numbers_no_float_can_hold_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    line = json.dumps(scored(0, 0, 1.0)).replace('"reward": 1.0', f'"reward": 1.0, "huge": {10**400}')
    path.write_bytes(gzip.compress(line.encode()))
    result = write_aggregate(path)
    assert result.path == tmp_path / "run_aggregate_metrics.json"
    assert "mean/huge" not in result.agents[0].metrics


def test_the_recipe_of_the_server_an_agent_is_named_after_is_taken(tmp_path: Path) -> None:
    shared: Row = {"difficulty": "easy", "agent_ref": {"name": "lcb_code_gen_simple_agent"}}
    rows: list[Row | str] = [
        rollout(0, 0, 0.5, extracted_model_code="a", **shared),
        rollout(0, 1, 0.0, extracted_model_code=None, **shared),
        rollout(1, 0, 1.0, extracted_model_code="b", **shared),
    ]
    metrics = entry(tmp_path, rows)["agent_metrics"]
    # Half a point is a pass: task 0 has one of two, task 1 its only one. One of two has no answer, and the answer that
    # is there wins the vote. One score alone has no deviation.
    assert (metrics["pass@1/accuracy"], metrics["pass@1/no_answer"], metrics["majority@2/accuracy"]) == (75, 25, 100)
    assert metrics["pass@1[avg-of-2]/accuracy/avg_sample_std_dev"] == pytest.approx(0.5**0.5)
    assert metrics["easy/pass@2/accuracy"] == 100.0


def test_two_scores_of_one_server_count_the_rows_that_have_them(tmp_path: Path) -> None:
    agent: Row = {"agent_ref": {"name": "math_with_judge_simple_agent"}}
    rows: list[Row | str] = [
        rollout(0, 0, 1.0, library_reward=0.0, judge_evaluations=[{"v": 1}], extracted_answer="4", **agent),
        rollout(1, 0, 1.0, library_reward=1.0, judge_evaluations=None, extracted_answer=None, **agent),
    ]
    metrics = entry(tmp_path, rows)["agent_metrics"]
    assert (metrics["pass@1/symbolic_accuracy"], metrics["pass@1/judge_accuracy"]) == (50.0, 100.0)
    assert metrics["pass@1/no_answer"] == 50.0


def test_slices_of_a_benchmark_are_subsets(tmp_path: Path) -> None:
    rows: list[Row | str] = [scored(n, 0, float(n), level=["easy", "hard"][n]) for n in range(2)]
    metrics = entry(tmp_path, rows, slices=("level", "absent"))["agent_metrics"]
    assert (metrics["easy/pass@1/accuracy"], metrics["hard/pass@1/accuracy"]) == (0.0, 100.0)


def test_error_rates_are_over_tasks_and_over_all_words(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        rollout(0, 0, 0.0, wer=0.5, wer_c=0.5, wer_pc=0.5, per=0.0, text="two words", pred_text="x"),
        rollout(
            1, 0, 1.0, wer=0.0, wer_c=0.1, wer_pc=0.3, per=1.0, text="six words are in this sentence", pred_text=""
        ),
    ]
    metrics = entry(tmp_path, rows, recipe=RECIPES["asr_with_pc"])["agent_metrics"]
    # One error in eight words; the mean of 50 % and 10 %.
    assert (metrics["corpus_wer@k=1"], metrics["wer_c@k=1"]) == (12.5, pytest.approx(30.0))
    assert not [key for key in metrics if key.startswith("majority")]


def test_memory_does_not_grow_with_the_length_of_trajectories(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", (scored(n, 0, 1.0, blob="x" * 50_000) for n in range(400)))
    tracemalloc.start()
    write_aggregate(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 20_000_000 and peak < 5_000_000


def test_numbers_beyond_reckoning_are_passed_over(tmp_path: Path) -> None:
    usage = {"usage": {"input_tokens": 10**400}}
    odd: list[Row | str] = [scored(0, 1, 10**400), scored(0, 2, 1e300)]
    metrics = entry(tmp_path, [scored(0, 0, 1.0, response=usage), *odd, scored(0, 3, 0.0)])["agent_metrics"]

    # Rewards 1 and 0; tokens 20, 30 and 40.
    assert (metrics["mean/reward"], metrics["mean/input_tokens"]) == (0.5, 30.0)


def test_coverage_counts_a_surplus_nowhere_else(tmp_path: Path) -> None:
    expect(tmp_path, (0, 0), (0, 1), (7, 0))
    found = aggregated(tmp_path, [*ROWS[:2], scored(0, 0, None)])[0].agents[0].coverage
    assert found == Coverage(tasks=2, expected_rollouts=3, rollouts=3, missing=0, unscored=1, tasks_without_rollouts=[])
