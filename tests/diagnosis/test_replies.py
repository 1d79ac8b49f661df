"""Faults of what surrounds the agent: told by other attempts that made the same calls, and by no word."""

from pathlib import Path

import pytest
from rollout_rows import Row, analyze_rows, call, message, result, rollout

DOWN = "Error: upstream refused the connection"
BUSY = "The service is busy, come back later"
FOUND = "three orders are open"


def looked(task: int, repeat: int, said: str, *more: Row, reward: float = 0.0) -> Row:
    """An attempt that looks the customer up, which every attempt does in the same way, and then this."""
    return rollout(task, repeat, reward, output=[call("look", f'{{"id": {task}}}', "c0"), result(said, "c0"), *more])


def passed(task: int, repeat: int, said: str = FOUND) -> Row:
    return looked(task, repeat, said, message("done"), reward=1.0)


def labels(tmp_path: Path, rows: list[Row]) -> dict[str, str]:
    return {cause.task: cause.label for cause in analyze_rows(tmp_path, rows).causes}


@pytest.mark.parametrize("said", [DOWN, BUSY])
def test_calls_that_other_attempts_got_answered_were_infrastructures_to_fail(tmp_path: Path, said: str) -> None:
    rows = [passed(task, repeat) for task in range(6) for repeat in (0, 1, 2)]
    rows += [looked(task, 3, said) for task in range(3)]
    rows += [looked(4, 3, FOUND, message("something else"))]

    analysis = analyze_rows(tmp_path, rows)

    assert {cause.task: cause.label for cause in analysis.causes} == {"0": "IR", "1": "IR", "2": "IR", "4": "?"}
    assert [(mode.failed, mode.cause) for mode in analysis.modes] == [(3, "IR")]
    first = analysis.causes[0]
    assert "failed at calls that it answers in other attempts" in first.reason
    assert [(proof.citation, proof.quote) for proof in first.evidence] == [("0:3#2", said)]


def test_trying_again_in_vain_is_no_fault_of_the_agent_and_passing_over_an_error_may_be(tmp_path: Path) -> None:
    again = [call("look", '{"id": 9}', "c1"), result(DOWN, "c1"), message("I cannot look you up")]
    rows = [passed(task, repeat) for task in range(6) for repeat in (0, 1)]
    rows += [looked(task, 2, DOWN, *again) for task in range(3)]
    rows += [looked(5, 2, DOWN, message("all is well"))]

    assert labels(tmp_path, rows) == {"0": "IR", "1": "IR", "2": "IR", "5": "?"}


def test_an_error_that_every_attempt_gets_for_the_same_calls_proves_nothing(tmp_path: Path) -> None:
    rows = [passed(task, repeat) for task in range(3, 6) for repeat in (0, 1, 2)]
    rows += [looked(task, repeat, "Error: no such customer") for task in range(3) for repeat in (0, 1, 2)]

    assert set(labels(tmp_path, rows).values()) == {"?"}


def test_a_tool_that_never_answers_twice_alike_proves_nothing(tmp_path: Path) -> None:
    drawn = ["you have 12", "you have 19", "you have 15"]
    rows = [passed(task, repeat, f"{drawn[repeat]}, seat {task}") for task in range(6) for repeat in (0, 1, 2)]
    rows += [looked(task, 3, "you are out") for task in range(3)]

    assert set(labels(tmp_path, rows).values()) == {"?"}


def test_what_passing_rollouts_are_told_too_proves_nothing(tmp_path: Path) -> None:
    rows = [passed(task, repeat) for task in range(6) for repeat in (0, 1)]
    rows += [looked(task, 2, DOWN) for task in range(2)]
    rows += [passed(task, 2, DOWN) for task in range(2, 6)]

    assert set(labels(tmp_path, rows).values()) == {"?"}
