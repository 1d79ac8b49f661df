"""Last words that many tasks share: heard whatever they are, and only where others pass."""

from pathlib import Path

from rollout_rows import Row, analyze_rows, call, message, result, rollout

TASKS = range(4)


def passing(repeats: int = 3) -> list[Row]:
    return [rollout(task, repeat) for task in TASKS for repeat in range(repeats)]


def ending(output: list[Row], *, reward: float = 0.0) -> list[Row]:
    """One more attempt at every task, which ends like this."""
    return [rollout(task, 9, reward, output=output) for task in TASKS]


def signals(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    return {signal.code: signal.citations for signal in analyze_rows(folder, rows).signals}


def test_the_same_words_to_four_tasks_that_others_solve_are_a_stock_answer(tmp_path: Path) -> None:
    # Others pass 3 of 3; with one more imagined failure each attempt fails with chance 1/4: (1/4)^5 < 0.001.
    rows = [*passing(), *ending([message("This is not the place for that.")])]
    rows.append(rollout(0, 8, 0.0, output=[message("This is not the place for that.")]))
    assert signals(tmp_path, rows) == {"stock_answer": ["0:8#1", "0:9#1", "1:9#1", "2:9#1", "3:9#1"]}


def test_four_equal_failures_may_be_chance(tmp_path: Path) -> None:
    # (1/4)^4 is more than 0.001, and passing answers are not about their tasks either
    passed = [rollout(task, repeat, output=[message("Yes indeed.")]) for task in TASKS for repeat in range(3)]
    assert signals(tmp_path, [*passed, *ending([message("This is not the place for that.")])]) == {}


def test_of_many_shared_endings_one_may_fail_by_chance(tmp_path: Path) -> None:
    words = ("This is not the place for that.", "Another sentence that is shared.", "A third one, and still shared.")
    rows = [*passing(), rollout(0, 8, 0.0, output=[message(words[0])]), *ending([message(words[0])])]
    others = [
        rollout(task, 10 + n, float(task > 0), output=[message(text)])
        for n, text in enumerate(words[1:])
        for task in TASKS
    ]
    # Alone, (1/4)^5 = 0.00098 is less than 0.001; of three endings it is not less than a third of that.
    assert "stock_answer" in signals(tmp_path, rows)
    assert "stock_answer" not in signals(tmp_path, [*rows, *others])


def test_words_that_pass_once_are_an_answer(tmp_path: Path) -> None:
    same = [message("Your request has been recorded.")]
    rows = [*passing(8), *ending(same), rollout(0, 8, 1.0, output=same)]
    assert signals(tmp_path, rows) == {}


def test_tasks_that_nobody_solves_say_nothing(tmp_path: Path) -> None:
    failed = [rollout(task, repeat, 0.0) for task in TASKS for repeat in range(8)]
    rows = [*failed, rollout(9, 0, 1.0), *ending([message("This is not the place for that.")])]
    assert signals(tmp_path, rows) == {}


def test_a_dump_that_ends_many_tasks_is_the_providers(tmp_path: Path) -> None:
    dumps = [rollout(task, 9, 0.0, output=[message(f"<oops id={task}77> backend {task} gave up")]) for task in TASKS]
    assert signals(tmp_path, [*passing(8), *dumps]) == {"provider_error": [f"{task}:9#1" for task in TASKS]}


def test_a_tools_words_that_end_many_tasks_are_the_sandboxs(tmp_path: Path) -> None:
    found = signals(tmp_path, [*passing(8), *ending([call(), result("nobody is at home")])])
    assert found["sandbox_fault"] == [f"{task}:9#2" for task in TASKS]
