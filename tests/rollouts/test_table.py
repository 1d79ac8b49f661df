from pathlib import Path

import pytest
from rollout_rows import read_rows, rollout

from blade.errors import UsageError
from blade.rollouts.table import split_citation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:3", ("12", 3)),
        ("12:3#5", ("12", 3)),
        ("a:b:3#4", ("a:b", 3)),
        ("a#1:2", ("a#1", 2)),
        ("x:1#2:3", ("x:1#2", 3)),
        (":0", ("", 0)),
        ("line\nbreak:0", ("line\nbreak", 0)),
    ],
)
def test_a_citation_ends_with_its_repeat_and_item(text: str, expected: tuple[str, int]) -> None:
    assert split_citation(text) == expected


@pytest.mark.parametrize("text", ["", "12", "12:", "12:x", "12:-1", "12:3#", "12:3#x", f"1:{'9' * 5000}"])
def test_anything_else_is_no_citation(text: str) -> None:
    with pytest.raises(UsageError, match="is not a rollout; expected TASK:REPEAT, for example 12:3"):
        split_citation(text)


@pytest.mark.parametrize("text", ["1:2", "1:2#7", "`1:2`", " 1:2 ", "`1:2#0`"])
def test_a_rollout_is_found_as_people_write_it(tmp_path: Path, text: str) -> None:
    run = read_rows(tmp_path, [rollout(1, repeat, 0.5 * repeat) for repeat in range(3)])
    assert run.rollout(text).reward == 1.0


def test_an_unknown_task_names_those_there_are(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(task, 0) for task in range(12)])
    with pytest.raises(UsageError, match="no task '99' in this run; tasks are 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"):
        run.row("99:0")


def test_an_unknown_repeat_names_those_there_are(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(5, repeat) for repeat in (0, 2, 11)])
    with pytest.raises(UsageError, match="task 5 has no repeat 1; it has 0, 2, 11"):
        run.row("5:1")
    with pytest.raises(UsageError, match="task 5 has no repeat 99999999999999999"):
        run.row("5:99999999999999999")


def test_an_item_is_cited_behind_its_rollout(tmp_path: Path) -> None:
    table = read_rows(tmp_path, [rollout(5, 2)]).table
    assert [table.citation(0), table.citation(0, 3), table.citation(0, -1)] == ["5:2", "5:2#3", "5:2"]


def test_a_model_and_an_agent_that_are_numbers_are_named_by_their_text(tmp_path: Path) -> None:
    rows = [rollout(n, 0, 1.0, response={"model": 7}, agent_ref={"name": 3}) for n in range(2)]
    found = read_rows(tmp_path, rows).rollout("1:0")

    assert {type(found.model), type(found.agent)} <= {str, type(None)}
