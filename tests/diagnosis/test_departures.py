"""Changes a task does not expect, changes left out, and users who asked for something else than their task."""

import json
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, call, message, read_rows, result, rollout

from blade.diagnosis.actions import Deviation, deviation_of
from blade.diagnosis.scripted_user import left_script

ORDER = {"id": "O1", "items": [{"item_id": "i-10", "name": "Lamp"}, {"item_id": "i-20", "name": "Water Bottle"}]}
BOTTLES = {
    "name": "Water Bottle",
    "variants": {
        "v-41": {"item_id": "v-41", "options": {"color": "black", "capacity": "1000ml"}},
        "v-42": {"item_id": "v-42", "options": {"color": "red", "capacity": "1000ml"}},
    },
}
LOOK_UP = [call("get_order", '{"id": "O1"}', "c1"), result(json.dumps(ORDER), "c1")]
SHOW = [call("get_product", '{"name": "bottle"}', "c2"), result(json.dumps(BOTTLES), "c2")]
DONE = message("All done.")


def expected(name: str, **arguments: Any) -> Row:
    return {"name": name, "arguments": arguments}


def act(name: str, *, told: str = "ok", **arguments: Any) -> list[Row]:
    return [call(name, json.dumps(arguments), f"{name}-{arguments}"), result(told, f"{name}-{arguments}")]


def user(text: str) -> Row:
    return message(text, "user")


def row(task: int, output: list[Row], reward: float, *wanted: Row, script: str = "") -> Row:
    return rollout(task, 0, reward, output=output, expected_actions=list(wanted), customer_scenario=script)


def deviation(folder: Path, output: list[Row], *wanted: Row) -> Deviation | None:
    return deviation_of(read_rows(folder, [row(0, output, 0.0, *wanted)]).rollout_at(0))


def misled_at(folder: Path, output: list[Row], *wanted: Row, script: str = "") -> int | None:
    found = read_rows(folder, [row(0, output, 0.0, *wanted, script=script)]).rollout_at(0)
    left = deviation_of(found)
    assert left is not None
    return left_script(found, left)


def test_the_expected_calls_in_any_order_of_their_values_are_no_deviation(tmp_path: Path) -> None:
    output = [*LOOK_UP, *act("return_items", items=["i-20", "i-10"], order="O1"), DONE]
    assert deviation(tmp_path, output, expected("return_items", order="O1", items=["i-10", "i-20"])) is None


def test_a_row_that_lists_no_calls_expects_nothing(tmp_path: Path) -> None:
    assert deviation_of(read_rows(tmp_path, [rollout(output=act("cancel", order="O1"))]).rollout_at(0)) is None


def test_where_no_change_is_expected_any_change_is_one_too_many(tmp_path: Path) -> None:
    found = deviation(tmp_path, [*LOOK_UP, *act("cancel", order="O1"), DONE], expected("get_order", id="O1"))
    assert found is not None
    assert ([action.name for action in found.extra], found.missing, found.first_made()) == (["cancel"], [], 3)


def test_a_call_with_other_values_stands_in_the_place_of_the_expected_one(tmp_path: Path) -> None:
    found = deviation(tmp_path, act("cancel", order="O2"), expected("cancel", order="O1"), expected("refund", to="A"))
    assert found is not None
    assert [(swap.made.values, swap.expected.values) for swap in found.swapped] == [
        (frozenset({("order", "O2")}), frozenset({("order", "O1")}))
    ]
    assert [action.name for action in found.missing] == ["refund"]


def test_a_call_its_tool_refused_changed_nothing(tmp_path: Path) -> None:
    refused = act("cancel", told="Error: order is closed", order="O2")
    assert deviation(tmp_path, [*refused, *act("cancel", order="O1")], expected("cancel", order="O1")) is None


def test_a_user_who_names_the_wrong_order_leaves_the_script(tmp_path: Path) -> None:
    output = [message("Which one?"), user("Cancel order W-777, please."), *act("cancel", order="W-777"), DONE]
    assert misled_at(tmp_path, output, expected("cancel", order="W-123")) == 2


@pytest.mark.parametrize(
    ("script", "left_at"),
    [
        pytest.param("You want order W-777 cancelled.", None, id="as_told"),
        pytest.param("Keep order W-777 and cancel order W-123.", 2, id="the_wrong_one_of_two"),
    ],
)
def test_a_user_who_says_what_it_was_told_keeps_to_its_script(tmp_path: Path, script: str, left_at: int | None) -> None:
    output = [message("Which one?"), user("Cancel order W-777, please."), *act("cancel", order="W-777"), DONE]
    assert misled_at(tmp_path, output, expected("cancel", order="W-123"), script=script) == left_at


def test_an_agent_that_picks_the_wrong_order_by_itself_is_not_misled(tmp_path: Path) -> None:
    output = [message("Which one?"), user("The older one, please."), *act("cancel", order="W-777"), DONE]
    assert misled_at(tmp_path, output, expected("cancel", order="W-123")) is None


def test_a_user_who_chooses_the_other_variant_leaves_the_script(tmp_path: Path) -> None:
    output = [*SHOW, message("Black or red?"), user("Black, I think."), *act("exchange", item="v-41"), DONE]
    assert misled_at(tmp_path, output, expected("exchange", item="v-42")) == 4


def test_a_user_who_asked_for_the_expected_variant_does_not(tmp_path: Path) -> None:
    output = [*SHOW, user("Is there a black one? No, red it is."), *act("exchange", item="v-41"), DONE]
    assert misled_at(tmp_path, output, expected("exchange", item="v-42")) is None


def test_a_user_who_never_speaks_of_a_thing_leaves_it_out(tmp_path: Path) -> None:
    output = [*LOOK_UP, message("What shall go back?"), user("The lamp."), *act("send_back", items=["i-10"]), DONE]
    wanted = expected("send_back", items=["i-10", "i-20"])
    assert misled_at(tmp_path, output, wanted) == 4
    output[3] = user("The lamp and the water bottle.")
    assert misled_at(tmp_path, output, wanted) is None


@pytest.mark.parametrize(("script", "misled"), [("Return the lamp.", 4), ("Return lamp and water bottle.", None)])
def test_a_user_who_adds_a_thing_its_script_does_not_have_leaves_it(
    tmp_path: Path, script: str, misled: int | None
) -> None:
    said = user("The lamp and the water bottle.")
    output = [*LOOK_UP, message("What shall go back?"), said, *act("send_back", items=["i-10", "i-20"]), DONE]
    assert misled_at(tmp_path, output, expected("send_back", items=["i-10"]), script=script) == misled


def test_a_user_who_leaves_with_the_go_ahead_lets_nobody_act(tmp_path: Path) -> None:
    output = [user("Cancel it."), message("Shall I cancel order W-123?"), user("Yes, go ahead. Bye!")]
    assert misled_at(tmp_path, output, expected("cancel", order="W-123")) == 3
    output[-1] = user("No, I keep it. Bye!")
    assert misled_at(tmp_path, output, expected("cancel", order="W-123")) is None


def test_without_a_simulated_user_nobody_leaves_a_script(tmp_path: Path) -> None:
    assert misled_at(tmp_path, act("cancel", order="W-777"), expected("cancel", order="W-123")) is None


def signals(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    return {signal.code: signal.citations for signal in analyze_rows(folder, rows).signals}


def right(task: int) -> Row:
    return row(task, [*act("cancel", order=f"O{task}"), DONE], 1.0, expected("cancel", order=f"O{task}"))


def test_a_wrong_and_a_missing_change_are_signals_where_they_show(tmp_path: Path) -> None:
    wrong = row(8, [*act("cancel", order="O9"), DONE], 0.0, expected("cancel", order="O8"))
    missing = row(9, [message("I cannot do that."), user("Why?"), DONE], 0.0, expected("cancel", order="O9"))
    found = signals(tmp_path, [*map(right, range(4)), wrong, missing])
    assert {code: found[code] for code in ("wrong_action", "missing_action")} == {
        "wrong_action": ["8:0#1"],
        "missing_action": ["9:0#1"],
    }


def test_what_passing_rollouts_do_unexpectedly_too_does_not_matter(tmp_path: Path) -> None:
    noted = [*act("write_note", text="x"), DONE]
    rows = [*map(right, range(4)), row(7, noted, 1.0), row(8, noted, 0.0)]
    assert "wrong_action" not in signals(tmp_path, rows)


def test_a_wrong_change_to_a_task_that_never_passes_is_behaviour(tmp_path: Path) -> None:
    wrong = [row(8, [*act("cancel", order="O9"), DONE], 0.0, expected("cancel", order="O8"))]
    [cause] = analyze_rows(tmp_path, [*map(right, range(4)), *wrong]).causes
    assert (cause.label, cause.author, cause.evidence[0].citation) == ("BI", "rule:wrong_action", "8:0#1")


def test_a_wrong_change_to_a_task_that_passes_sometimes_does_not_say_why(tmp_path: Path) -> None:
    rows = [right(8) | {"_ng_rollout_index": number} for number in range(3)]
    wrong = row(8, [*act("cancel", order="O9"), DONE], 0.0, expected("cancel", order="O8")) | {"_ng_rollout_index": 3}
    [cause] = analyze_rows(tmp_path, [*map(right, range(4)), *rows, wrong]).causes
    assert (cause.label, cause.author) == ("UK", "rule:sometimes")


def test_a_user_off_script_is_the_tasks_fault(tmp_path: Path) -> None:
    output = [message("Which one?"), user("Cancel order W-777, please."), *act("cancel", order="W-777"), DONE]
    rows = [*map(right, range(4)), row(8, output, 0.0, expected("cancel", order="W-123"))]
    [cause] = analyze_rows(tmp_path, rows).causes
    assert (cause.label, cause.author, cause.evidence[0].citation) == ("TI", "rule:user_off_script", "8:0#2")
