from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, call, message, result, rollout, without, write_rows

from blade.diagnosis import Analysis, Label, draft_labels
from blade.diagnosis.analysis import Cause

INFRASTRUCTURE: Row = {"agent_timed_out": True}
VERIFIER: Row = {"exception_type": "RuntimeError"}
BEHAVIOUR: Row = {"is_refusal": True}


def attempts(*fields: dict[str, Any] | None, task: str = "t") -> list[Row]:
    """Attempts at one task: `None` passes, anything else fails with these fields."""
    return [rollout(task, n, float(f is None), **(f or {})) for n, f in enumerate(fields)]


def cause(folder: Path, rows: list[Row]) -> tuple[str, str, str]:
    """Label, confidence and author of the one task that is not always passed."""
    [found] = analyze_rows(folder, rows).causes
    return found.label, found.confidence, found.author


def labelled(analysis: Analysis) -> dict[str, str]:
    return {cause.task: cause.label for cause in analysis.causes}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(INFRASTRUCTURE | VERIFIER | BEHAVIOUR, "IR", id="infrastructure_before_all"),
        pytest.param(VERIFIER | BEHAVIOUR, "TI", id="verifier_before_behaviour"),
        pytest.param(BEHAVIOUR, "BI", id="behaviour_before_knowledge"),
        pytest.param({}, "KG?", id="knowledge_last"),
    ],
)
def test_the_model_is_blamed_only_for_what_nobody_else_did(
    tmp_path: Path, fields: dict[str, Any], expected: str
) -> None:
    assert cause(tmp_path, attempts(fields, fields))[0] == expected


def test_a_task_whose_only_failures_are_infrastructure_is_infrastructures(tmp_path: Path) -> None:
    rows = attempts(None, INFRASTRUCTURE, None, {"response": {"error": "overloaded"}})
    assert cause(tmp_path, rows) == ("IR", "medium", "rule:failed_rollout")


def test_a_failure_the_runner_admits_is_certain_and_a_timeout_is_not(tmp_path: Path) -> None:
    admitted = {"response": {"id": "x-killed"}}
    assert cause(tmp_path, attempts(None, admitted, admitted)) == ("IR", "high", "rule:failed_rollout")
    assert cause(tmp_path / "b", attempts(None, INFRASTRUCTURE)) == ("IR", "medium", "rule:timeout")


def test_what_explains_most_failures_is_the_cause(tmp_path: Path) -> None:
    rows = attempts(BEHAVIOUR, BEHAVIOUR, BEHAVIOUR, BEHAVIOUR, INFRASTRUCTURE)
    assert cause(tmp_path, rows) == ("BI", "medium", "rule:refusal")


def test_half_explained_failures_leave_low_confidence(tmp_path: Path) -> None:
    for fields in (INFRASTRUCTURE, VERIFIER, BEHAVIOUR):
        assert cause(tmp_path, attempts(None, None, fields, {}))[1] == "low"


def test_a_task_that_always_passes_has_no_label(tmp_path: Path) -> None:
    rows = [*attempts(None, None, task="good"), *attempts({}, {}, task="poor")]
    assert list(labelled(analyze_rows(tmp_path, rows))) == ["poor"]


def test_failures_nobody_explains_are_a_matter_of_knowledge(tmp_path: Path) -> None:
    assert cause(tmp_path / "a", attempts(None, {})) == ("UK?", "low", "rule:sometimes")
    assert cause(tmp_path / "b", attempts({}, {})) == ("KG?", "low", "rule:never")


def test_one_wrong_answer_every_time_is_a_gap(tmp_path: Path) -> None:
    same = [rollout("t", n, 0.0, output=[message("Paris")]) for n in range(3)]
    assert cause(tmp_path, same) == ("KG", "medium", "rule:stable_wrong_answer")


def test_a_tool_error_alone_decides_nothing(tmp_path: Path) -> None:
    output = [call(), result("Error: no"), call("b"), result("yes"), message("done")]
    rows = [rollout("t", n, float(n == 0), output=[*output, message(f"say {n}")]) for n in range(2)]
    assert cause(tmp_path, rows)[0] == "UK?"


def test_a_missing_task_was_lost_and_an_unscored_one_is_a_matter_of_data(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", [rollout(n, 0) for n in range(3)])
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 1.0), without(rollout(1, 0), "reward")])
    assert labelled(analysis) == {"1": "DA", "2": "IR"}
    assert [cause.reason for cause in analysis.causes] == [
        "none of its 1 rollouts has a score",
        "no rollout of this task is there",
    ]


def test_an_unscored_failure_of_infrastructure_stays_infrastructures(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(1, 0, _ng_failure_class="kill_shaped")])
    assert labelled(analyze_rows(tmp_path, [rollout(0, 0, 1.0)])) == {"1": "IR"}


def test_without_a_notion_of_success_there_is_nothing_to_explain(tmp_path: Path) -> None:
    assert analyze_rows(tmp_path, [rollout(n, 0, n / 3) for n in range(3)]).causes == []


def test_a_label_cites_the_failing_rollouts_it_rests_on(tmp_path: Path) -> None:
    rows = [
        rollout("t", 0, 1.0, is_refusal=True),
        *(rollout("t", n, 0.0, output=[message("I'm sorry, but I can't help.")]) for n in range(1, 6)),
    ]
    [found] = analyze_rows(tmp_path, rows).causes
    assert [evidence.citation for evidence in found.evidence] == ["t:1#1", "t:2#1", "t:3#1"]
    assert {evidence.quote for evidence in found.evidence} == {"I'm sorry, but I can't help."}
    assert found.reason == "5 of 5 failing rollouts: declined the task"


def test_the_labels_of_an_analysis_are_its_causes(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, attempts(None, BEHAVIOUR))
    [label], [found] = draft_labels(analysis), analysis.causes
    assert label == Label(
        task="t",
        cause=found.label,
        confidence=found.confidence,
        author=found.author,
        reason=found.reason,
        evidence=found.evidence,
    )
    assert isinstance(found, Cause)
