"""Errors of model services in records: told by their type, and by nothing else."""

from pathlib import Path
from typing import Any

import pytest
from rollout_rows import analyze_rows

from blade.rollouts.provider_errors import provider_error

LONG = " and so on" * 40


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("RateLimitError", "RateLimitError"),
        ("openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down'}}" + LONG, "RateLimitError"),
        ("litellm.exceptions.ServiceUnavailableError: OpenAIException - busy", "ServiceUnavailableError"),
        ("APITimeoutError('Request timed out.')", "APITimeoutError"),
        ("<class 'httpx.ReadTimeout'>", "ReadTimeout"),
        ("Error code: 429 - {'error': 'slow down'}", "HTTP 429"),
        ("Error: Request timed out.", "APITimeoutError"),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "overloaded_error"),
        ('{"error": {"code": 429, "message": "exhausted", "status": "RESOURCE_EXHAUSTED"}}', "HTTP 429"),
        ('API Error: 529 {"type": "error"}', "HTTP 529"),
        ('{"error": {"code": 400, "type": "invalid_request_error"}}', None),
        ('{"error": {"type": ["rate_limit_error"]}}', None),
        ('{"error": "no such order"}', None),
        ("503 Server Error: Service Unavailable for url: http://localhost:1/v1", "HTTP 503"),
        ("Connection error.", "APIConnectionError"),
        ("Error code: 400 - {'error': 'the context is too long'}", None),
        ("404 Client Error: Not Found for url: http://localhost:1/page", None),
        ("ConnectionError: the code that the model wrote found no server", None),
        ("RateLimitErrors were not handled by the answer", None),
        ("AssertionError: expected 429", None),
        ("500 rows expected, 499 found", None),
        ("The tool said RateLimitError", None),
        ("", None),
    ],
)
def test_a_providers_error_is_told_by_its_type(text: str, named: str | None) -> None:
    assert provider_error(text) == named


def record(task: int, repeat: int, score: float | None, **fields: Any) -> dict[str, Any]:
    return {"task_id": f"t{task}", "trial": repeat, "score": score, **fields}


@pytest.mark.parametrize("score", [0.0, None])
@pytest.mark.parametrize(
    "broken",
    [
        {"error": "openai.RateLimitError: Error code: 429 - slow down" + LONG},
        {"Error Type": "RateLimitError"},
        {"exception": {"type": "RateLimitError", "message": "slow down"}},
        {"response": "Error: openai.RateLimitError: slow down, please"},
    ],
)
def test_rollouts_that_a_provider_broke_are_infrastructures(
    tmp_path: Path, broken: dict[str, Any], score: float | None
) -> None:
    said = {"response": "RateLimitError"}  # an answer, and nobody's error
    rows = [record(task, repeat, float(task % 2), **said) for task in range(2, 8) for repeat in (0, 1)]
    rows += [record(0, repeat, score, **broken) for repeat in (0, 1)]
    rows += [record(1, 0, 1.0, **broken)]

    analysis = analyze_rows(tmp_path, rows)

    [cause] = [cause for cause in analysis.causes if cause.task == "t0"]
    assert (cause.label, "RateLimitError" in cause.reason) == ("IR", True)
    assert analysis.coverage.infrastructure == 2, "a rollout that passed all the same is a pass"


def test_an_error_that_no_provider_made_is_a_mode_and_no_cause(tmp_path: Path) -> None:
    rows = [record(task, repeat, 1.0, error=None) for task in range(2, 8) for repeat in (0, 1)]
    rows += [record(0, repeat, 0.0, error="SandboxError: it died") for repeat in (0, 1)]
    rows += [record(1, repeat, 0.0, error=None) for repeat in (0, 1)]

    analysis = analyze_rows(tmp_path, rows)

    assert [(mode.title, mode.failed, mode.passed) for mode in analysis.modes] == [
        ("`error` is SandboxError: it died", 2, 0)
    ]
    assert [cause.label for cause in analysis.causes] == ["?", "?"]


def test_a_completion_that_was_cut_off_ended_at_a_limit(tmp_path: Path) -> None:
    rows = [record(task, 0, 0.0, finish_reason="length") for task in range(3)]
    rows += [record(task, 0, 1.0, finish_reason="stop") for task in range(3, 6)]

    analysis = analyze_rows(tmp_path, rows)

    assert analysis.coverage.truncated == 3
    assert [mode.title for mode in analysis.modes] == ["ended with `length` (limit, model)"]
