from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, call, message, result, rollout, write_rows

from blade.diagnosis.signals import RULES

TOOLS: Row = {"params": {"tools": [{"type": "function", "name": "search"}]}}
PLAIN = [rollout(task, 0) for task in range(90, 94)]
"""Rollouts with nothing remarkable: what is odd must be odd beside them."""
WORKING = [rollout(task, 0, output=[call(), result("found"), message("done")], **TOOLS) for task in range(90, 94)]


def signals(folder: Path, rows: list[Row], *, beside: list[Row] | None = None) -> dict[str, list[str]]:
    """Every signal in some rows, with its citations."""
    analysis = analyze_rows(folder, [*rows, *(PLAIN if beside is None else beside)])
    return {signal.code: signal.citations for signal in analysis.signals}


def failing(output: list[Row] | None = None, **fields: Any) -> Row:
    return rollout(1, 0, 0.0, output=output, **fields)


@pytest.mark.parametrize(
    ("code", "row", "cited"),
    [
        pytest.param("failed_rollout", failing(response={"id": "x-killed"}), "1:0", id="legacy_killed"),
        pytest.param("failed_rollout", failing(response={"status": "failed"}), "1:0", id="status_failed"),
        pytest.param("provider_error", failing(response={"error": "boom"}), "1:0", id="response_error"),
        pytest.param("provider_error", failing(response={"error": {"code": 429}}), "1:0", id="response_error_object"),
        pytest.param("timeout", failing(agent_timed_out=True), "1:0", id="agent_timed_out"),
        pytest.param("timeout", failing(agent_timeout_error=1), "1:0", id="agent_timeout_error"),
        pytest.param("timeout", failing(response={"id": "x-timeout"}), "1:0", id="legacy_timeout"),
        pytest.param("sandbox_fault", failing(memory_limit_exceeded_error=1), "1:0", id="memory_limit"),
        pytest.param("verifier_exception", failing(exception_type="RuntimeError"), "1:0", id="exception_type"),
        pytest.param("verifier_exception", failing(judge_error="no reply"), "1:0", id="judge_error_text"),
        pytest.param("verifier_exception", failing(judge_error={"code": 500}), "1:0", id="judge_error_object"),
        pytest.param("verifier_exception", failing(judge_error=True), "1:0", id="judge_error_flag"),
        pytest.param("verifier_exception", failing(invalid_judge_response=True), "1:0", id="invalid_judge_response"),
        pytest.param("verifier_exception", failing(_ng_failure_class="judge_failed"), "1:0", id="judge_failed"),
        pytest.param("verifier_unfinished", failing(evaluation_completed=False), "1:0", id="not_completed"),
        pytest.param("simulated_user_failure", failing(failure_labels=["user_failure"]), "1:0", id="user_label"),
        pytest.param("simulated_user_failure", failing(num_user_failures=2), "1:0", id="user_count"),
        pytest.param("environment_failure", failing(failure_labels=["a", "tool_failure"]), "1:0", id="tool_label"),
        pytest.param(
            "truncated", failing(response={"incomplete_details": {"reason": "max_output_tokens"}}), "1:0#1", id="tokens"
        ),
        pytest.param("truncated", failing(truncated=True), "1:0#1", id="turns"),
        pytest.param("context_overflow", failing(context_length_exceeded_error=1), "1:0", id="context_field"),
        pytest.param("empty_output", failing([]), "1:0", id="no_items"),
        pytest.param("empty_output", failing([message("")]), "1:0#1", id="no_words"),
        pytest.param("empty_output", failing([message("<think>only this</think>")]), "1:0#1", id="only_thinking"),
        pytest.param("unparsable_answer", failing(parse_failed=True), "1:0#1", id="parse_failed"),
        pytest.param("unparsable_answer", failing(no_answer=1.0), "1:0#1", id="no_answer"),
        pytest.param("unparsable_answer", failing(extraction_successful=False), "1:0#1", id="not_extracted"),
        pytest.param(
            "repeated_tool_call",
            failing([call("a"), call("b"), call("b"), result("x"), call("b"), message("y")]),
            "1:0#5",
            id="third_time",
        ),
        pytest.param("no_tool_call", failing([message("42")], **TOOLS), "1:0#1", id="offered"),
        pytest.param("stopped_early", failing(finished_naturally=False), "1:0#1", id="runner_says_so"),
        pytest.param("no_patch", failing(patch_exists=False), "1:0", id="no_patch"),
        pytest.param("no_patch", failing(apply_failed=True), "1:0", id="does_not_apply"),
    ],
)  # fmt: skip
def test_a_signal_is_seen_and_cited_at_its_item(tmp_path: Path, code: str, row: Row, cited: str) -> None:
    assert signals(tmp_path, [row]).get(code) == [cited]


@pytest.mark.parametrize(
    ("code", "row"),
    [
        pytest.param("failed_rollout", failing(response={"status": None, "error": None}), id="null_status_is_normal"),
        pytest.param("failed_rollout", failing(agent_error_kind="other"), id="error_kind_is_on_passing_rows_too"),
        pytest.param("failed_rollout", failing(failure_reason="none"), id="failure_reason_none"),
        pytest.param("failed_rollout", failing(_ng_failure_class="legitimate"), id="the_model_failed"),
        pytest.param("provider_error", failing([call(), result("503 service unavailable"), message("x")]), id="a_tool"),
        pytest.param(
            "provider_error", failing([message("The rate limit of a channel is Shannon's. " * 20)]), id="long_prose"
        ),
        pytest.param("provider_error", failing(params={"input": "rate limit"}), id="prompt"),
        pytest.param("provider_error", failing(response={"error": {}}), id="empty_error_object"),
        pytest.param("timeout", failing(agent_timed_out=False, eval_timed_out=None), id="did_not_time_out"),
        pytest.param("timeout", failing([message("It timed out. " * 60)]), id="prose_about_a_timeout"),
        pytest.param(
            "sandbox_fault",
            failing(
                [call(), result("No space left on device"), call("rm"), result("ok"), call(), result("1"), message("x")]
            ),
            id="got_over_it",
        ),
        pytest.param("sandbox_fault", failing(memory_limit_exceeded_error=0), id="no_memory_error"),
        pytest.param("verifier_exception", failing(exception_type="", judge_error="None"), id="empty_errors"),
        pytest.param("verifier_exception", failing(verifier_error=False, judge_error=None), id="false_errors"),
        pytest.param("verifier_exception", failing(error_mode="correct"), id="error_mode_correct"),
        pytest.param("verifier_exception", failing(failure_reason="judge_evaluation_failed"), id="judge_said_no"),
        pytest.param("verifier_unfinished", failing(evaluation_completed=True), id="finished"),
        pytest.param("verifier_unfinished", failing(evaluation_completed=None), id="not_said"),
        pytest.param("simulated_user_failure", failing(failure_labels=["agent_failure"]), id="agent_failed"),
        pytest.param("environment_failure", failing(failure_labels=[], num_tool_failures=0), id="no_label"),
        pytest.param("truncated", failing(response={"incomplete_details": None}, truncated=False), id="complete"),
        pytest.param("context_overflow", failing([message("The maximum context length is. " * 30)]), id="prose"),
        pytest.param("empty_output", failing([call()]), id="a_call_is_an_output"),
        pytest.param("empty_output", failing([], response={"error": "boom"}), id="failed_before_it_spoke"),
        pytest.param("unparsable_answer", failing(parse_failed=False, no_answer=0), id="parsed"),
        pytest.param("repeated_tool_call", failing([call(), call(), message("y")]), id="twice"),
        pytest.param(
            "repeated_tool_call", failing([call("a", f'{{"page": {n}}}') for n in range(5)]), id="other_arguments"
        ),
        pytest.param("no_tool_call", failing([message("42")]), id="nothing_offered"),
        pytest.param("no_tool_call", failing([message("42")], params={"tools": []}), id="empty_list_offered"),
        pytest.param("stopped_early", failing([call(), result("x"), message("done")]), id="answered"),
        pytest.param("stopped_early", failing([], finished_naturally=True), id="nothing_to_stop"),
        pytest.param("no_patch", failing(patch_exists=True, apply_failed=False), id="patched"),
    ],
)
def test_what_only_looks_like_a_signal_is_none(tmp_path: Path, code: str, row: Row) -> None:
    assert code not in signals(tmp_path, [row])


def test_every_rule_has_a_case_that_fires_and_one_that_must_not() -> None:
    def codes(test: Any) -> set[str]:
        return {case.values[0] for mark in test.pytestmark for case in mark.args[1]}

    everything = {rule.code for rule in RULES} - {"out_of_time"}  # only a typed ending says so
    assert codes(test_a_signal_is_seen_and_cited_at_its_item) == everything
    assert codes(test_what_only_looks_like_a_signal_is_none) == everything


def test_a_plain_run_shows_nothing(tmp_path: Path) -> None:
    assert signals(tmp_path, []) == {}
    assert signals(tmp_path, [], beside=WORKING) == {}


def test_a_signal_says_how_many_of_its_rollouts_passed(tmp_path: Path) -> None:
    rows = [rollout(n, 0, float(n < 2), agent_timed_out=n != 3) for n in range(4)]
    [signal] = analyze_rows(tmp_path, rows).signals
    # 0, 1 and 2 timed out, of which 0 and 1 passed.
    assert (signal.code, signal.rollouts, signal.passed, signal.failed, signal.tasks) == ("timeout", 3, 2, 1, 3)


def test_a_passing_timeout_is_no_infrastructure_failure(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 1.0, agent_timed_out=True), rollout(1, 0, 0.0)])
    assert (analysis.coverage.infrastructure, [finding.code for finding in analysis.health]) == (0, [])


def test_the_signals_with_most_failures_come_first(tmp_path: Path) -> None:
    rows = [rollout(n, 0, 0.0, agent_timed_out=n < 1, parse_failed=n < 2, truncated=n < 3) for n in range(4)]
    found = [(signal.code, signal.failed) for signal in analyze_rows(tmp_path, rows).signals]
    assert found == [("truncated", 3), ("unparsable_answer", 2), ("timeout", 1)]


def test_a_run_that_stores_no_output_is_not_empty(tmp_path: Path) -> None:
    assert "empty_output" not in signals(tmp_path, [rollout(n, 0, n % 2, output=[]) for n in range(5)], beside=[])
    flat: list[Row] = [{"task_id": n, "score": n % 2, "question": "?"} for n in range(5)]
    assert signals(tmp_path / "flat", flat, beside=[]) == {}


def test_failures_without_output_do_not_make_a_run_that_stores_none(tmp_path: Path) -> None:
    failures = [rollout(n, 0, output=[], _ng_failure_class="transient") for n in range(10, 16)]
    write_rows(tmp_path / "run_failures.jsonl", failures)
    assert signals(tmp_path, [failing([])], beside=PLAIN[:2])["empty_output"] == ["1:0"]


def test_a_missing_extract_is_seen_only_where_others_have_one(tmp_path: Path) -> None:
    rows = [rollout(n, 0, n % 2, extracted_answer=None if n == 2 else "4") for n in range(4)]
    assert signals(tmp_path, rows, beside=[]) == {"unparsable_answer": ["2:0#1"]}
    nothing = [rollout(n, 0, n % 2, extracted_answer=None) for n in range(4)]
    assert signals(tmp_path / "none", nothing, beside=[]) == {}


def test_rows_of_another_benchmark_lack_its_extract_for_a_reason(tmp_path: Path) -> None:
    rows = [{**rollout(n, 0, 0.0), ("extracted_answer", "parsed_option")[n % 2]: "A"} for n in range(4)]
    assert signals(tmp_path, rows, beside=[]) == {}


def test_reading_without_trajectories_keeps_the_structured_signals(tmp_path: Path) -> None:
    rows = [failing([], agent_timed_out=True), *PLAIN]
    analysis = analyze_rows(tmp_path, rows, features=False)
    assert {signal.code: signal.citations for signal in analysis.signals} == {"timeout": ["1:0"]}
