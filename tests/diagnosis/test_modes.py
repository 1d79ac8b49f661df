from pathlib import Path
from typing import Any

from rollout_rows import Row, analyze_rows, call, message, result, rollout

from blade.diagnosis.analysis import Mode


def modes_of(folder: Path, rows: list[Row], **options: Any) -> dict[str, Mode]:
    return {mode.title: mode for mode in analyze_rows(folder, rows, **options).modes}


def desk(task: int, repeat: int, *, said: str, passed: bool) -> Row:
    """A rollout that asks one tool, is told something, and answers."""
    output = [call("book", f'{{"seat": {task}}}'), result(said), message(f"Seat {task} of {repeat}: done.")]
    return rollout(task, repeat, float(passed), output=output)


def test_what_a_tool_says_where_rollouts_fail_is_a_mode_in_its_own_words(tmp_path: Path) -> None:
    rows = [
        desk(task, repeat, said=f"Error: seat {task}{repeat}A is taken" if repeat < 2 else "booked", passed=repeat >= 2)
        for task in range(8)
        for repeat in range(4)
    ]
    mode = modes_of(tmp_path, rows)["`book` answers: Error: seat … is taken"]
    assert (mode.failed, mode.passed, len(mode.tasks), mode.basis) == (16, 0, 8, "within tasks")
    assert mode.citations[:2] == ["0:0#2", "0:1#2"]
    assert mode.headroom is not None and mode.headroom.value == 0.5


def test_a_warning_in_every_rollout_is_boilerplate_whatever_it_says(tmp_path: Path) -> None:
    rows = [
        desk(task, repeat, said=f"Error: connection reset by peer {task}", passed=repeat % 2 == 0)
        for task in range(8)
        for repeat in range(4)
    ]
    assert modes_of(tmp_path, rows) == {}


def test_without_trajectories_endings_tests_and_fields_still_give_modes(tmp_path: Path) -> None:
    def attempt(task: int, repeat: int) -> Row:
        timed_out = repeat == 0
        ending = {"kind": "timeout", "origin": "agent", "name": "agent_timeout"} if timed_out else {"kind": "completed"}
        tests = {"test_smoke": "passed", "test_large": "failed" if repeat < 2 else "passed"}
        return {
            "task": f"t{task}", "repeat": repeat, "reward": float(repeat >= 2), "ending": ending, "tests": tests,
            "prompt": [], "output": [],
        }  # fmt: skip

    found = modes_of(tmp_path, [attempt(task, repeat) for task in range(8) for repeat in range(4)])
    assert {"`test_large` fails", "ended with `agent_timeout` (timeout, agent)"} <= set(found)
    assert "`test_smoke` fails" not in found


def test_what_describes_the_task_is_no_mode(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float(task % 2 == 0 and repeat > 0), topic="law" if task % 2 else "art")
        for task in range(10)
        for repeat in range(3)
    ]
    assert not any("topic" in title for title in modes_of(tmp_path, rows))


def test_the_verdict_itself_is_no_mode(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float(repeat > 1), verdict_id=int(repeat > 1)) for task in range(8) for repeat in range(4)
    ]
    assert not any("judged" in title for title in modes_of(tmp_path, rows))


def test_observations_made_in_the_same_rollouts_are_one_mode(tmp_path: Path) -> None:
    rows = [
        desk(task, repeat, said="Error: locked" if repeat == 0 else "booked", passed=repeat > 1)
        | {"verifier_note": "seat missing" if repeat == 0 else "fine"}
        for task in range(8)
        for repeat in range(4)
    ]
    found = modes_of(tmp_path, rows)
    assert list(found) == ["`book` answers: Error: locked"]
    assert "`verifier_note` is seat missing" in found["`book` answers: Error: locked"].also


def test_a_rollout_that_never_calls_what_others_call_shows_it(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float(repeat > 0), output=[message(f"It is {task}.")])
        if repeat == 0
        else desk(task, repeat, said=f"found {task}", passed=True)
        for task in range(8)
        for repeat in range(4)
    ]
    assert "`book` is not called" in modes_of(tmp_path, rows)


def test_a_check_that_differences_tell_in_detail_is_no_mode(tmp_path: Path) -> None:
    def attempt(task: int, repeat: int) -> Row:
        passed, given = repeat >= 2, task if repeat >= 2 else 99
        call = {"type": "function_call", "name": "cancel", "arguments": f'{{"id": {given}}}', "call_id": "c"}
        return {
            "task": f"t{task}", "repeat": repeat, "reward": float(passed), "ending": {"kind": "completed"},
            "tests": {"database": "passed" if passed else "failed"},
            "expected": {"calls": [{"name": "cancel", "arguments": {"id": task}}]},
            "prompt": [{"role": "user", "content": "please"}],
            "output": [call, {"type": "function_call_output", "call_id": "c", "output": "done"}],
        }  # fmt: skip

    found = modes_of(tmp_path, [attempt(task, repeat) for task in range(8) for repeat in range(4)])
    assert any("`cancel` was called with another `id`" in title for title in found)
    assert not any("database" in title for title in found)
