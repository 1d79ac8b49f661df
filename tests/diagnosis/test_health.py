from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, message, rollout, write_rows

from blade.diagnosis import Analysis, contrast
from blade.diagnosis.analysis import Finding

GOOD: list[Row] = [rollout(n, 0, n % 2, output=[message(f"it is {n}")]) for n in range(50, 54)]


def finding(analysis: Analysis, code: str) -> Finding:
    [found] = [finding for finding in analysis.health if finding.code == code]
    return found


def found(folder: Path, rows: list[Any], **options: Any) -> list[str]:
    return [finding.code for finding in analyze_rows(folder, rows, **options).health]


def test_a_sound_run_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD) == []


def test_bad_lines_are_counted_and_the_first_is_explained(tmp_path: Path) -> None:
    bad = finding(analyze_rows(tmp_path, [*GOOD, "oops", "[1]"]), "bad_lines")
    said = "2 lines could not be used; the first is line 5: is not JSON: begins with 'oops', expected an object"
    assert (bad.cause, bad.rows, bad.message) == ("DA", 2, said)


def test_a_score_that_is_no_number_is_unscored_and_not_missing(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [*GOOD, rollout(9, 0, "n/a")])
    said = "1 row whose score is not a number; the first is line 5: reward is 'n/a', expected a number"
    assert finding(analysis, "bad_scores").message == said
    assert [(bad.file, bad.line) for bad in analysis.inputs.bad_scores] == [("run.jsonl", 5)]
    coverage = analysis.coverage
    assert (coverage.unscored, coverage.missing, coverage.malformed, coverage.rollouts) == (1, 0, 0, 5)


def test_copied_and_conflicting_rows_are_told_apart(tmp_path: Path) -> None:
    rows = [*GOOD, GOOD[0], rollout(60, 0, 1.0), rollout(60, 0, 0.0)]
    analysis = analyze_rows(tmp_path, rows)
    same, other = finding(analysis, "identical_duplicates"), finding(analysis, "conflicting_duplicates")
    assert (same.message, same.citations) == ("1 key claimed by more than one identical row", ["50:0"])
    assert (other.message, other.citations) == ("1 key claimed by more than one conflicting row", ["60:0"])


def test_keeping_all_conflicting_rows_does_not_break_the_finding(tmp_path: Path) -> None:
    rows = [*GOOD, rollout(60, 0, 1.0), rollout(60, 0, 0.0)]
    analysis = analyze_rows(tmp_path, rows, duplicates="all")
    assert finding(analysis, "conflicting_duplicates").citations == ["60:0"]
    assert (analysis.coverage.duplicates, analysis.coverage.rollouts) == (0, 6)


def test_missing_rollouts_say_by_whom_they_were_expected(tmp_path: Path) -> None:
    missing = finding(analyze_rows(tmp_path, GOOD, expected_repeats=3), "missing_rollouts")
    assert (missing.cause, missing.rows, missing.message) == (
        "IR",
        8,
        "8 rollouts of 4 tasks missing (expected by flag)",
    )


def test_one_partial_score_on_every_row_is_a_score_of_the_batch(tmp_path: Path) -> None:
    constant = finding(analyze_rows(tmp_path, [rollout(n, 0, 0.25) for n in range(3)]), "constant_reward")
    assert (constant.cause, constant.rows) == ("DA", 3)
    for name, reward in {"none": 0.0, "all": 1.0}.items():
        assert "constant_reward" not in found(tmp_path / name, [rollout(n, 0, reward) for n in range(3)])


def test_infrastructure_and_verifier_faults_cite_only_what_did_not_pass(tmp_path: Path) -> None:
    rows = [
        *GOOD,
        rollout(0, 0, 1.0, agent_timed_out=True),
        rollout(1, 0, 0.0, agent_timed_out=True),
        rollout(2, 0, 0.0, exception_type="KeyError"),
        rollout(3, 0, 0.0, memory_limit_exceeded_error=1),
    ]
    analysis = analyze_rows(tmp_path, rows)
    told = {item.code: (item.cause, item.citations) for item in analysis.health}
    assert told == {
        "timeout": ("IR", ["1:0"]),
        "sandbox_fault": ("IR", ["3:0"]),
        "verifier_exception": ("TI", ["2:0"]),
    }


def test_data_comes_before_infrastructure_and_that_before_the_verifier(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(7, 0, _ng_failure_class="transient")])
    rows: list[Any] = [
        "oops",
        *GOOD,
        rollout(2, 0, 0.0, exception_type="KeyError"),
        rollout(8, 0, 0.0, agent_timed_out=True),
    ]
    causes = [finding.cause for finding in analyze_rows(tmp_path, rows).health]
    assert causes == sorted(causes, key=["DA", "IR", "TI"].index)
    assert set(causes) == {"DA", "IR", "TI"}


def test_a_finding_says_what_the_headline_is_without_its_rows(tmp_path: Path) -> None:
    rows = [rollout(0, 0, 1.0), rollout(1, 0, 0.0), rollout(2, 0, 0.0, agent_timed_out=True)]
    # 1 of 3 passes; without the one that timed out, 1 of 2.
    analysis = analyze_rows(tmp_path, rows)
    assert analysis.metrics.pass_at_1.value == 1 / 3
    assert finding(analysis, "timeout").headline_without == 0.5


def mixed(tasks: int) -> list[Row]:
    """Tasks with two passes and a failure each."""
    return [
        rollout(n, k, float(k < 2), output=[message(f"answer {n} {k} of many")]) for n in range(tasks) for k in range(3)
    ]


def test_pairs_are_of_whole_tasks_and_counts_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrast, "MOST_ROLLOUTS", 5)
    found = analyze_rows(tmp_path, mixed(4)).contrast
    assert (found.tasks, found.rollouts, len(found.pairs)) == (4, 12, 1)


def test_a_task_that_is_cut_by_the_budget_gives_no_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrast, "MOST_ROLLOUTS", 2)
    assert analyze_rows(tmp_path, mixed(4)).contrast.pairs == []


def test_conflicting_rows_of_several_models_are_several_runs(tmp_path: Path) -> None:
    rows = [rollout(n, 0, n % 2, response={"model": model}) for model in ("model-a", "model-b") for n in range(2)]
    found = finding(analyze_rows(tmp_path, rows), "conflicting_duplicates")
    assert found.message == "2 keys claimed by more than one conflicting row, of 2 models (model-a, model-b)"
    assert found.hint == "these are several runs: diagnose them with --group-by model"
