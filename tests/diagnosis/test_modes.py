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


def test_a_rollout_without_any_call_is_one_mode_not_one_for_each_tool(tmp_path: Path) -> None:
    def attempt(task: int, repeat: int) -> Row:
        calls = [{"name": name, "arguments": {"id": task}} for name in ("find", "cancel")]
        made = [
            {"type": "function_call", "call_id": one["name"], **one, "arguments": f'{{"id": {task}}}'} for one in calls
        ]
        return {
            "task": f"t{task}", "repeat": repeat, "reward": float(repeat > 1), "ending": {"kind": "completed"},
            "expected": {"calls": calls}, "prompt": [{"role": "user", "content": "please"}],
            "output": made if repeat > 1 else [{"role": "assistant", "content": "No."}],
        }  # fmt: skip

    found = modes_of(tmp_path, [attempt(task, repeat) for task in range(8) for repeat in range(4)])
    mode = found["no tool was called although calls were expected"]
    assert (mode.failed, mode.passed, mode.kind) == (16, 0, "difference")
    assert not any("was expected and not called" in title for title in found)


def test_a_list_counts_a_rollout_once_whatever_it_repeats(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float(repeat > 0), kept=[repeat > 0, repeat > 0 or task > 6, True])
        for task in range(8)
        for repeat in range(3)
    ]
    traits = {trait.trait: trait for trait in analyze_rows(tmp_path, rows).contrast.traits}
    # Eight failing rollouts; seven of them have `false` twice, one has it once.
    assert not any(one.passing[0] > one.passing[1] or one.failing[0] > one.failing[1] for one in traits.values())


def test_the_score_under_another_name_is_no_trait(tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float(repeat > 1), info={"score": repeat > 1, "part": float(repeat > 1)} if task else {})
        | {"mood": "sad" if repeat < 2 and task % 3 else "fine"}
        for task in range(9)
        for repeat in range(4)
    ]
    traits = [trait.trait for trait in analyze_rows(tmp_path, rows).contrast.traits]
    assert any("`mood`" in trait for trait in traits)
    assert not any("info." in trait for trait in traits)


def test_an_error_that_names_something_else_each_time_is_one_mode(tmp_path: Path) -> None:
    def error(task: int, repeat: int) -> str:
        return f"AttributeError: 'Desk' object has no attribute 'seat{task}{repeat}'" if repeat == 0 else "none at all"

    rows = [
        rollout(task, repeat, float(repeat > 0), error_text=error(task, repeat))
        for task in range(60)
        for repeat in range(3)
    ]
    mode = modes_of(tmp_path, rows)["`error_text` says: AttributeError: … object has no attribute …"]
    assert (mode.failed, mode.passed) == (60, 0)


def test_names_in_a_list_of_failures_beside_one_of_passes_are_checks(tmp_path: Path) -> None:
    def report(repeat: int) -> dict[str, Any]:
        failed = ["test_io.py::test_large"] if repeat == 0 else []
        done = [] if repeat == 0 else ["test_io.py::test_large"]
        return {"FAIL_TO_PASS": {"success": done, "failure": failed}, "PASS_TO_PASS": {"success": ["a"], "failure": []}}

    rows = [
        rollout(task, repeat, float(repeat > 0), tests_status=report(repeat))
        for task in range(8)
        for repeat in range(3)
    ]
    found = modes_of(tmp_path, rows)
    mode = found["`test_io.py::test_large` in `tests_status.FAIL_TO_PASS` is failure"]
    assert (mode.failed, mode.passed) == (8, 0)


def test_a_word_that_stands_for_the_verdict_is_no_mode_but_is_said(tmp_path: Path) -> None:
    rows = [rollout(task, 0, float(task % 3 > 0), status="done" if task % 3 else "timeout") for task in range(12)]
    analysis = analyze_rows(tmp_path, rows)
    [mirror] = analysis.mirrors
    assert (mirror.field, mirror.value, mirror.failed, mirror.passed) == ("status", "timeout", 4, 0)
    assert analysis.modes == []
    flags = [rollout(task, 0, float(task % 3 > 0), good=bool(task % 3)) for task in range(12)]
    assert analyze_rows(tmp_path, flags).mirrors == [], "a flag says the verdict again"
