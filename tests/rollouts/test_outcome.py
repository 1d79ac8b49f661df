from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, keys, read_rows, rollout

from blade.rollouts import Usage


def outcome(folder: Path, response: dict[str, Any] | None = None, **fields: Any) -> Any:
    """The one rollout with this response, read between two plain ones."""
    rows = [rollout(0, 0), rollout(1, 0, 0.0, response=response or {}, **fields), rollout(2, 0)]
    return read_rows(folder, rows).rollout("1:0")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param({"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}, (5, 7), id="responses_api"),
        pytest.param({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}, (5, 7), id="chat_style"),
        pytest.param(
            {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}, (None, None), id="all_zero_is_unknown"
        ),
        pytest.param({"input_tokens": 5, "output_tokens": 0}, (5, 0), id="nothing_generated"),
        pytest.param({"input_tokens": None, "output_tokens": 7}, (None, 7), id="half_known"),
        pytest.param({}, (None, None), id="empty"),
        pytest.param(None, (None, None), id="null"),
    ],
)
def test_tokens_are_read_in_either_spelling(
    tmp_path: Path, usage: Any, expected: tuple[int | None, int | None]
) -> None:
    found = outcome(tmp_path, {"usage": usage})
    assert found.usage == Usage(input_tokens=expected[0], output_tokens=expected[1])


@pytest.mark.parametrize(
    ("response", "status", "failure"),
    [
        pytest.param({"status": None}, "completed", None, id="null_status_is_normal"),
        pytest.param({"status": "completed", "error": None}, "completed", None, id="completed"),
        pytest.param({"incomplete_details": {"reason": "max_output_tokens"}}, "truncated", None, id="out_of_tokens"),
        pytest.param({"incomplete_details": {"reason": None}}, "completed", None, id="no_reason_to_be_incomplete"),
        pytest.param({"incomplete_details": None, "status": "incomplete"}, "truncated", None, id="incomplete"),
        pytest.param({"error": {"code": "server_error", "message": "x"}}, "failed", None, id="error_object"),
        pytest.param({"error": "overloaded"}, "failed", None, id="error_text"),
        pytest.param({"error": {}}, "completed", None, id="empty_error_object"),
        pytest.param({"error": ""}, "completed", None, id="empty_error_text"),
        pytest.param({"status": "failed"}, "failed", None, id="failed"),
        pytest.param({"status": "cancelled"}, "failed", None, id="cancelled"),
        pytest.param({"id": "task-1-failed"}, "failed", "failed", id="legacy_failed"),
        pytest.param({"id": "task-1-timeout"}, "failed", "timeout", id="legacy_timeout"),
        pytest.param({"id": "task-1-killed"}, "failed", "killed", id="legacy_killed"),
        pytest.param({"id": "failed"}, "completed", None, id="an_id_that_is_the_word_itself"),
        pytest.param({"id": "resp-failed-2"}, "completed", None, id="an_id_that_only_contains_it"),
    ],
)
def test_how_a_rollout_ended_is_told_by_its_response(
    tmp_path: Path, response: dict[str, Any], status: str, failure: str | None
) -> None:
    found = outcome(tmp_path, response)
    assert (found.status, found.failure) == (status, failure)


def test_a_failure_class_in_the_main_file_makes_a_failed_rollout(tmp_path: Path) -> None:
    found = outcome(tmp_path, _ng_failure_class="judge_failed")
    assert (found.status, found.failure, found.reward) == ("failed", "judge_failed", 0.0)


@pytest.mark.parametrize(
    ("response", "fields", "expected"),
    [
        pytest.param({"created_at": 100.0, "completed_at": 160}, {}, 60.0, id="from_the_response"),
        pytest.param({"created_at": 100.0, "completed_at": 160}, {"agent_run_time": 5.5}, 5.5, id="own_clock_first"),
        pytest.param({"created_at": 100.0}, {}, None, id="no_end"),
        pytest.param({"created_at": 160.0, "completed_at": 100}, {}, None, id="ends_before_it_begins"),
    ],
)
def test_seconds_are_told_by_the_row_or_its_response(
    tmp_path: Path, response: dict[str, Any], fields: dict[str, Any], expected: float | None
) -> None:
    assert outcome(tmp_path, response, **fields).seconds == expected


def test_model_and_agent_are_read_where_they_stand(tmp_path: Path) -> None:
    found = outcome(tmp_path, {"model": "m-1"}, agent_ref={"type": "responses_api_agents", "name": "swe"})
    assert (found.model, found.agent) == ("m-1", "swe")


def test_what_no_row_says_is_unknown(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": "a", "score": 1}])
    found = run.rollout(keys(run)[0])
    assert (found.model, found.agent, found.usage, found.seconds, found.items) == (None, None, Usage(), None, [])


def test_a_verdict_in_words_is_enough_when_a_rule_names_it(tmp_path: Path) -> None:
    rows: list[Row | str] = [{"task_id": "a", "verdict": "pass"}, {"task_id": "a", "verdict": "fail"}]
    analysis = analyze_rows(tmp_path, rows, success='verdict == "pass"', fields=("verdict",))
    assert analysis.metrics.pass_at_1.value == 0.5
