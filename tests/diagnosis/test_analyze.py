import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, analyze_rows, call, message, read_rows, result, rollout, without, write_rows

import blade
from blade.diagnosis import Analysis, AnalyzeOptions, analyze
from blade.errors import UsageError
from blade.metrics import Variant


def variants(analysis: Analysis) -> dict[tuple[str, str], float | None]:
    return {(v.missing, v.infrastructure): v.metric.value for v in analysis.sensitivity}


def test_rewards_of_zero_and_one_make_their_own_rule(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 1.0), rollout(1, 0, 0.9999999999999998), rollout(2, 0, 0)])
    assert (analysis.success.kind, analysis.success.rule, analysis.headline) == ("binary", "reward >= 1.0", "pass_at_1")
    assert analysis.metrics.pass_at_1.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param("reward >= 0.5", 0.75, id="reward"),
        pytest.param("verdict.grade == pass", 0.25, id="nested_text"),
        pytest.param("verdict.grade != pass", 0.75, id="not_a_text"),
        pytest.param("ok == true", 0.5, id="flag"),
        pytest.param("steps < 2", 0.5, id="number"),
    ],
)
def test_success_can_be_stated_by_any_field(tmp_path: Path, rule: str, expected: float) -> None:
    rows = [
        rollout(n, 0, n / 2, verdict={"grade": "pass" if n == 0 else "fail"}, ok=n % 2 == 0, steps=n) for n in range(4)
    ]
    analysis = analyze_rows(tmp_path, rows, success=rule)
    assert (analysis.success.kind, analysis.metrics.pass_at_1.value) == ("rule", expected)
    assert analysis.success.source == "given with --success"


def test_a_rule_on_a_field_some_rows_lack_leaves_those_unknown(tmp_path: Path) -> None:
    rows = [rollout(0, 0, 1.0, ok=True), rollout(1, 0, 1.0, ok=False), rollout(2, 0, 1.0)]
    analysis = analyze_rows(tmp_path, rows, success="ok == true")
    assert (analysis.metrics.pass_at_1.value, analysis.buckets.missing) == (0.5, ["2"])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        pytest.param("okay == true", "no row has a field 'okay'; did you mean ok", id="no_such_field"),
        pytest.param('ok == "yes"', "ok is never a text; it is true", id="flag_compared_with_a_text"),
        pytest.param(
            "grade >= 1", 'grade is never a number or true/false; it is "A"', id="text_compared_with_a_number"
        ),
    ],
)
def test_a_rule_that_can_never_hold_is_the_users_mistake(tmp_path: Path, rule: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        analyze_rows(tmp_path, [rollout(0, 0, 1.0, ok=True, grade="A")], success=rule)


def test_a_rule_on_another_field_gives_failed_attempts_no_verdict(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(1, 0, 0.0, ok=False, _ng_failure_class="transient")])
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 1.0, ok=True)], success="ok == true")
    assert (analysis.metrics.pass_at_1.value, analysis.buckets.missing) == (1.0, ["1"])


def test_graded_rewards_speak_by_their_mean_and_fill_no_bucket(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 0.5), rollout(0, 1, 1.0), rollout(1, 0, 0.25)])
    # Task means 0.75 and 0.25.
    assert (analysis.success.kind, analysis.headline, analysis.metrics.mean_reward.value) == (
        "continuous",
        "mean_reward",
        0.5,
    )
    assert msgspec.to_builtins(analysis.buckets) == {"always": [], "sometimes": [], "never": [], "missing": []}


def test_a_run_without_scores_has_no_headline(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [without(rollout(n, 0), "reward") for n in range(2)])
    assert (analysis.success.kind, analysis.metrics.mean_reward.value, analysis.coverage.unscored) == (
        "unscored",
        None,
        2,
    )
    assert analysis.buckets.missing == ["0", "1"]


def test_the_headline_is_told_with_missing_and_infrastructure_counted_both_ways(tmp_path: Path) -> None:
    inputs = [rollout(task, repeat) for task in range(3) for repeat in range(2)]
    write_rows(tmp_path / "run_materialized_inputs.jsonl", [without(row, "reward", "response") for row in inputs])
    write_rows(tmp_path / "run_failures.jsonl", [rollout(1, 1, _ng_failure_class="kill_shaped")])
    rows = [rollout(0, 0, 1.0), rollout(0, 1, 0.0, agent_timed_out=True), rollout(1, 0, 1.0), rollout(2, 0, 0.0)]
    analysis = analyze_rows(tmp_path, rows)
    # Task 0: pass, time-out; task 1: pass, killed (no score); task 2: fail, and one rollout that was never written.
    assert variants(analysis) == {
        # 1/2, 1/1, 0/1
        ("excluded", "included"): pytest.approx((0.5 + 1 + 0) / 3),
        # Without the time-out and the kill: 1/1, 1/1, 0/1
        ("excluded", "excluded"): pytest.approx((1 + 1 + 0) / 3),
        # The kill and the missing one as failures: 1/2, 1/2, 0/2
        ("as_failures", "included"): pytest.approx((0.5 + 0.5 + 0) / 3),
        # Neither time-out nor kill counts, the missing one does: 1/1, 1/1, 0/2
        ("as_failures", "excluded"): pytest.approx((1 + 1 + 0) / 3),
    }
    assert isinstance(analysis.sensitivity[0], Variant)
    assert analysis.sensitivity[0].metric.value == analysis.metrics.pass_at_1.value
    coverage = analysis.coverage
    assert (coverage.expected_rollouts, coverage.rollouts, coverage.missing) == (6, 5, 1)
    assert (coverage.unscored, coverage.failed, coverage.infrastructure) == (1, 1, 2)


def test_tasks_of_a_cluster_make_the_headline_less_certain(tmp_path: Path) -> None:
    rows = [rollout(n, 0, float(n < 4), family=f"f{n // 2}") for n in range(8)]
    alone = analyze_rows(tmp_path, rows).metrics.pass_at_1
    together = analyze_rows(tmp_path, rows, cluster_field="family").metrics.pass_at_1
    assert alone.value == together.value
    assert alone.se is not None
    assert together.se is not None
    assert together.se > alone.se


def test_models_and_agents_are_counted(tmp_path: Path) -> None:
    rows = [rollout(n, 0, response={"model": "m" if n else "k"}, agent_ref={"name": "a"}) for n in range(3)]
    inputs = analyze_rows(tmp_path, [*rows, without(rollout(3, 0), "response")]).inputs
    assert [(count.value, count.rollouts) for count in inputs.models] == [("m", 2), (None, 1), ("k", 1)]
    assert [(count.value, count.rollouts) for count in inputs.agents] == [("a", 3), (None, 1)]


SCENE: list[Row | str] = [
    *(
        rollout(
            f"task {task}",
            repeat,
            (task + repeat) % 2,
            output=[call(), result("Error: timed out"), message(f"reply {task * repeat % 3}")],
            category="xyz"[task % 3],
            extracted_answer=None if task == 5 else "A",
            agent_ref={"name": f"agent-{repeat}"},
        )
        for task in range(7)
        for repeat in range(3)
    ),
    rollout("task 1", 0, 0.0),
    "broken",
]
SCRIPT = """
import sys, msgspec, blade
run = blade.read(sys.argv[1], jobs=int(sys.argv[2]), use_cache=sys.argv[3] == "cache")
sys.stdout.buffer.write(msgspec.json.encode(blade.analyze(run, slices=["category"])))
"""


def analysis_of(path: Path, *, seed: str, jobs: str = "1", cache: str = "no", cwd: Path | None = None) -> bytes:
    arguments = [sys.executable, "-c", SCRIPT, str(path), jobs, cache]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(arguments, env=environment, capture_output=True, check=True, cwd=cwd).stdout


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "here" / "run.jsonl", SCENE)
    write_rows(tmp_path / "here" / "run_failures.jsonl", [rollout("task 9", 0, _ng_failure_class="transient")])
    first = analysis_of(path, seed="1")
    assert analysis_of(path, seed="2", cache="cache") == first
    assert analysis_of(path, seed="3", jobs="2", cache="cache") == first
    assert analysis_of(Path("run.jsonl"), seed="4", jobs="2", cwd=path.parent) == first


def test_several_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blade.rollouts.ranges.MIN_RANGE", 500)
    path = write_rows(tmp_path / "run.jsonl", SCENE)
    alone, together = (blade.read(path, jobs=jobs, use_cache=False) for jobs in (1, 3))
    assert msgspec.json.encode(analyze(together)) == msgspec.json.encode(analyze(alone))


def test_an_analysis_does_not_say_where_on_the_machine_it_was_made(tmp_path: Path) -> None:
    folder = tmp_path / "secret place"
    write_rows(folder / "run.jsonl", SCENE)
    write_rows(folder / "other.jsonl", ["<PLACEHOLDER ROW>"])
    write_rows(folder / "third.jsonl", [{"note": "no score"}])
    (folder / "run_aggregate_metrics.json").write_text(json.dumps([{"agent_metrics": {"mean/reward": 0.9}}]))
    (folder / "run_failures.jsonl").write_text("broken\n")
    [run] = blade.read_all(folder)
    text = msgspec.json.encode(analyze(run)).decode()
    assert [part for part in (str(tmp_path), "secret place", str(Path.cwd())) if part in text] == []
    assert "skipped other.jsonl" in text


def test_an_analysis_survives_its_file(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, SCENE)
    assert msgspec.json.decode(msgspec.json.encode(analysis), type=Analysis) == analysis


REWARDS = st.sampled_from([0, 1, 1.0, 0.0, True, False, None, "abc", [1]])
KEYS = st.tuples(st.integers(0, 4), st.integers(0, 2))
LINES = st.lists(st.tuples(KEYS, REWARDS) | st.just("not a row"), min_size=1, max_size=14)


@settings(max_examples=60, deadline=None)
@given(lines=LINES, copies=st.lists(st.integers(0, 13), max_size=4))
def test_nothing_is_lost_between_lines_and_numbers(
    lines: list[Any], copies: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows: list[Row | str] = [rollout(99, 0, 1.0)]
    for n, line in enumerate(lines):
        rows.append(line if isinstance(line, str) else rollout(line[0][0], line[0][1], line[1], note=n))
    rows += [rows[index] for index in copies if index < len(rows)]
    analysis = analyze_rows(tmp_path_factory.mktemp("h"), rows)
    coverage, buckets = analysis.coverage, analysis.buckets
    assert coverage.rollouts + coverage.duplicates + coverage.malformed == len(rows)
    assert coverage.rollouts + coverage.missing == coverage.expected_rollouts
    placed = [*buckets.always, *buckets.sometimes, *buckets.never, *buckets.missing]
    assert sorted(placed) == sorted(task.task for task in analysis.tasks)
    assert len(placed) == coverage.tasks
    assert analysis.metrics.pass_at_1.value is not None
    assert 0 <= analysis.metrics.pass_at_1.value <= 1
    assert {cause.task for cause in analysis.causes} == set(placed) - set(buckets.always)
    assert msgspec.json.decode(msgspec.json.encode(analysis), type=Analysis) == analysis


def test_options_can_be_given_whole(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(n, 0, n / 2, kind=str(n)) for n in range(3)])
    analysis = analyze(run, AnalyzeOptions(success="reward >= 0.5", slices=("kind",)))
    assert (analysis.success.rule, [table.field for table in analysis.slices if table.asked]) == (
        "reward >= 0.5",
        ["kind"],
    )
