"""Tasks that are copies of each other, with the same expected answer or with another."""

from pathlib import Path
from typing import Any

from rollout_rows import Row, analyze_rows, call, message, result, rollout

ASKED: dict[str, Any] = {
    "params": {"input": [message("Transcribe the recording.", "user")], "metadata": {"audio": "UklGRg=="}}
}


def asked(task: int, expected: str, *, reward: float = 0.0, **fields: Any) -> Row:
    return rollout(task, 0, reward, expected_answer=expected, **fields)


def found(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    return {finding.code: finding.citations for finding in analyze_rows(folder, rows).health}


OTHERS = [asked(task, f"answer {task}", reward=task % 2) for task in range(50, 60)]


def test_one_request_with_two_expected_answers_cannot_be_right_twice(tmp_path: Path) -> None:
    rows = [*OTHERS, asked(0, "hello", **ASKED), asked(1, "good night", **ASKED)]
    assert found(tmp_path, rows) == {"conflicting_twins": ["0:0", "1:0"]}


def test_a_failure_under_such_a_request_is_the_datas(tmp_path: Path) -> None:
    rows = [*OTHERS, asked(0, "hello", reward=1.0, **ASKED), asked(1, "good night", **ASKED)]
    cause = next(cause for cause in analyze_rows(tmp_path, rows).causes if cause.task == "1")
    assert (cause.label, cause.author) == ("DA", "rule:conflicting_twins")


def test_a_request_that_differs_in_what_is_heard_is_another(tmp_path: Path) -> None:
    other: dict[str, Any] = {"params": {**ASKED["params"], "metadata": {"audio": "AAAA"}}}
    rows = [*OTHERS, asked(0, "hello", **ASKED), asked(1, "good night", **other)]
    assert "conflicting_twins" not in found(tmp_path, rows)


def test_the_same_request_with_the_same_answer_is_a_twin(tmp_path: Path) -> None:
    rows = [*OTHERS, asked(0, "hello", **ASKED), asked(1, "hello", **ASKED)]
    assert found(tmp_path, rows) == {"twin_tasks": ["0:0", "1:0"]}


def test_what_tools_or_users_say_may_make_the_difference(tmp_path: Path) -> None:
    output = [call(), result("it is cold"), message("cold")]
    rows = [*OTHERS, *(asked(task, f"a{task}", output=output, **ASKED) for task in range(2))]
    assert "conflicting_twins" not in found(tmp_path, rows)
