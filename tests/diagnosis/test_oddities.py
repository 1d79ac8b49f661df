"""Endings that are odd beside the rest of the run, in words no rule knows."""

from pathlib import Path

from rollout_rows import Row, analyze_rows, call, message, result, rollout

TASKS = range(20)
CITIES = ("Amara", "Belfort", "Cadiz", "Dover", "Evora", "Ghent", "Hanko", "Izmir", "Jena", "Kotor")
GIBBERISH = "Grmpf blorx zwuck."


def asks(task: int) -> Row:
    """What a task is about: a town and a number."""
    return {"params": {"input": [message(f"Book a room in {CITIES[task % 10]} for guest G{task}77.", "user")]}}


def booked(task: int, repeat: int, reward: float = 1.0, *, output: list[Row] | None = None, **fields: object) -> Row:
    """An attempt that books the room and says so."""
    usual = [call("book"), result(f'{{"room": {task}, "guest": "G{task}77"}}'), message(f"G{task}77 has a room now.")]
    return rollout(task, repeat, reward, output=usual if output is None else output, **asks(task), **fields)


def passing() -> list[Row]:
    return [booked(task, repeat) for task in TASKS for repeat in range(2)]


def failing(tasks: range, output: list[Row]) -> list[Row]:
    return [booked(task, 2, 0.0, output=output) for task in tasks]


def signals(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    return {signal.code: signal.citations for signal in analyze_rows(folder, rows).signals}


def cited(tasks: range, item: int) -> list[str]:
    return [f"{task}:2#{item}" for task in tasks]


def test_an_answer_after_a_result_unlike_all_others_overlooks_an_error(tmp_path: Path) -> None:
    ignored = [call("book"), result("guest already has one"), message("G077 has a room now.")]
    assert signals(tmp_path, [*passing(), *failing(range(1), ignored)]) == {"ignored_tool_error": ["0:2#3"]}


def test_an_unusual_result_that_says_no_to_nothing_is_no_error(tmp_path: Path) -> None:
    fine = [call("book"), result('{"suite": 4}'), message("G077 has a suite now.")]
    assert signals(tmp_path, [*passing(), *failing(range(1), fine)]) == {}


def test_a_result_that_passing_rollouts_end_on_too_is_no_error(tmp_path: Path) -> None:
    output = [call("book"), result("guest already has one"), message("G077 has a room now.")]
    rows = [*passing(), booked(5, 3, output=output), *failing(range(1), output)]
    assert signals(tmp_path, rows) == {}


def test_one_who_says_that_it_went_wrong_overlooks_nothing(tmp_path: Path) -> None:
    honest = [call("book"), result("guest already has one"), message("Sorry, there is no second room for G077.")]
    assert signals(tmp_path, [*passing(), *failing(range(1), honest)]) == {}


def test_a_rollout_that_breaks_off_at_such_a_result_lost_its_machine(tmp_path: Path) -> None:
    found = signals(tmp_path, [*passing(), *failing(range(1), [call("book"), result("peer not there")])])
    assert found["sandbox_fault"] == ["0:2#2"]


def test_one_who_gives_up_where_others_break_off_lost_it_too(tmp_path: Path) -> None:
    cut = [call("book"), result("peer not there")]
    rows = [*passing(), *failing(range(1), cut), booked(1, 2, 0.0, output=[*cut, message("Nothing answers any more.")])]
    assert signals(tmp_path, rows)["sandbox_fault"] == ["0:2#2", "1:2#2"]


def test_an_error_after_which_a_tool_worked_again_is_no_end(tmp_path: Path) -> None:
    got_over = [call("book"), result("peer not there"), call("book"), result('{"room": 1, "guest": "G177"}')]
    rows = [
        *passing(),
        booked(1, 2, 0.0, output=[*got_over, message("G177 has a room now.")]),
        *failing(range(1), [call("book"), result("peer not there")]),
    ]
    assert "sandbox_fault" not in signals(tmp_path, rows)


def test_one_who_asks_a_lost_machine_until_a_limit_lost_it(tmp_path: Path) -> None:
    asked = [[call("book", f'{{"try": {n}}}', f"c{n}"), result("peer not there", f"c{n}")] for n in range(3)]
    limit = {"incomplete_details": {"reason": "max_output_tokens"}}
    row = booked(0, 2, 0.0, output=[item for pair in asked for item in pair], response=limit)
    assert signals(tmp_path, [*passing(), row])["sandbox_fault"] == ["0:2#6"]


def test_one_who_makes_the_same_call_again_is_in_a_loop_and_lost_nothing(tmp_path: Path) -> None:
    again = [item for n in range(3) for item in (call("book", call_id=f"c{n}"), result("guest unknown", f"c{n}"))]
    found = signals(tmp_path, [*passing(), *failing(range(1), [*again, message("G077 is with us.")])])
    assert found == {"repeated_tool_call": ["0:2#5"], "ignored_tool_error": ["0:2#7"]}


def test_what_passing_rollouts_met_and_got_over_is_no_end(tmp_path: Path) -> None:
    slip = [call("book"), result("guest 17 unknown"), call("book"), result('{"room": 1, "guest": "G177"}')]
    rows = [*passing(), booked(1, 3, output=[*slip, message("G177 has a room now.")])]
    found = signals(tmp_path, [*rows, *failing(range(1), [call("book"), result("guest 23 unknown")])])
    assert found.keys() == {"stopped_early"}


def test_a_usual_result_at_the_end_is_an_early_stop(tmp_path: Path) -> None:
    cut = [call("book"), result('{"room": 0, "guest": "G077"}')]
    assert signals(tmp_path, [*passing(), *failing(range(1), cut)]) == {"stopped_early": ["0:2#2"]}


def test_words_about_nothing_to_three_tasks_are_a_stock_answer(tmp_path: Path) -> None:
    rows = [*passing(), *failing(range(3), [call("book"), result('{"room": 1, "guest": "x"}'), message(GIBBERISH)])]
    assert signals(tmp_path, rows) == {"stock_answer": cited(range(3), 3)}


def test_words_about_nothing_to_one_task_prove_nothing(tmp_path: Path) -> None:
    output = [call("book"), result('{"room": 1, "guest": "x"}'), message(GIBBERISH)]
    assert signals(tmp_path, [*passing(), *failing(range(1), output)]) == {}


def test_the_same_words_about_each_task_are_its_answer(tmp_path: Path) -> None:
    rows = [booked(t, 2, 0.0, output=[call("book"), result("{}"), message(f"I left G{t}77 alone.")]) for t in range(4)]
    found = signals(tmp_path, [*passing(), *rows])
    assert not found.keys() & {"stock_answer", "refusal", "provider_error"}


def test_one_who_says_no_without_a_call_where_all_others_call_declines(tmp_path: Path) -> None:
    rows = [*passing(), *failing(range(1), [message("I have to pass on this one.")])]
    assert signals(tmp_path, rows)["refusal"] == ["0:2#1"]


def test_a_task_that_passes_without_a_call_needs_none(tmp_path: Path) -> None:
    idle = rollout(30, 0, output=[message("Guests may cancel, yes.")])
    no = rollout(30, 1, 0.0, output=[message("I would rather not say.")])
    assert signals(tmp_path, [*passing(), idle, no]) == {}


def test_a_service_that_speaks_in_the_models_place_is_a_provider_error(tmp_path: Path) -> None:
    rows = [*passing(), *failing(range(2), [message("Server is busy, please try later.")])]
    assert signals(tmp_path, rows)["provider_error"] == cited(range(2), 1)


POLITE = "Sorry, I'd rather not answer that right now."


def declines(task: int, repeat: int, words: str = POLITE) -> Row:
    return booked(task, repeat, 0.0, output=[message(words)])


def test_polite_words_that_all_come_in_one_repeat_are_a_services(tmp_path: Path) -> None:
    # Eight of eight in one of three repeats: (1/3)^7 = 0.0005.
    rows = [*passing(), *(declines(task, 2) for task in range(8))]
    assert signals(tmp_path, rows)["provider_error"] == cited(range(8), 1)


def test_the_same_words_in_every_repeat_decline(tmp_path: Path) -> None:
    rows = [*passing(), *(declines(task, 2 + task % 3) for task in range(8))]
    found = signals(tmp_path, rows)
    assert len(found["refusal"]) == 8
    assert "provider_error" not in found


def test_an_outage_in_several_wordings_is_one_outage(tmp_path: Path) -> None:
    # Seven of seven in one of three repeats, by chance 3 * (1/3)^7 = 0.001; eight are enough.
    wordings = ("Down we are, come back.", "Nothing to be had here today.", "Come back, come back, they said.")
    rows = [*passing(), *(declines(task, 2, wordings[task % 3]) for task in range(8))]
    assert signals(tmp_path, rows)["provider_error"] == cited(range(8), 1)


def test_words_to_several_tasks_are_about_none_though_they_hit_the_name_of_one(tmp_path: Path) -> None:
    output = [call("book"), result('{"room": 1, "guest": "x"}'), message("Grmpf blorx Cadiz zwuck.")]
    assert signals(tmp_path, [*passing(), *failing(range(3), output)]) == {"stock_answer": cited(range(3), 3)}


def test_an_answer_that_was_parsed_is_an_answer(tmp_path: Path) -> None:
    passed = [rollout(task, 0, extracted_answer=f"A{task}") for task in TASKS]
    wrong = [
        rollout(task, 1, 0.0, output=[message("Service not available, it says.")], extracted_answer="no")
        for task in range(4)
    ]
    assert "provider_error" not in signals(tmp_path, [*passed, *wrong])


def test_nothing_is_odd_beside_too_few(tmp_path: Path) -> None:
    few = [booked(task, 0) for task in range(7)]
    rows = [*few, *failing(range(1), [call("book"), result('{"room": 1}'), message("I have to pass on this one.")])]
    assert signals(tmp_path, rows) == {}


FENCED = [message('```json\n{"a": 1}\n```')]


def test_data_in_a_fence_where_only_bare_data_passes_failed_by_its_form(tmp_path: Path) -> None:
    passed = rollout(0, 0, output=[message('{"a": 1}')])
    rows = [passed, rollout(1, 0, 0.0, output=FENCED), rollout(2, 0, 0.0, output=[message('{"b": 1}')])]
    causes = {cause.task: (cause.label, cause.author) for cause in analyze_rows(tmp_path, rows).causes}
    assert causes == {"1": ("BI", "rule:fenced_answer"), "2": ("KG?", "rule:never")}


def test_a_fence_that_passes_once_is_no_fault(tmp_path: Path) -> None:
    rows = [rollout(0, 0, output=[message('{"a": 1}')]), rollout(1, 0, output=FENCED)]
    assert signals(tmp_path, [*rows, rollout(2, 0, 0.0, output=FENCED)]) == {}
