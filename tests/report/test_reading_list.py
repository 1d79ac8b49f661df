"""The reading list, and the citations and commands it is made of."""

import shlex

import msgspec
import pytest
from sample_analyses import Golden, binary_analysis, continuous_analysis, with_text

from blade.report.citations import cited, item_of, reading_commands, rollout_of, task_of
from blade.report.reading_list import render_reading_list


def test_the_reading_list_is_as_it_was_reviewed(golden: Golden) -> None:
    golden("reading_list.md", render_reading_list(binary_analysis()).text)


def test_a_run_with_nothing_to_read_says_so() -> None:
    assert "\nNothing is left to read.\n" in render_reading_list(continuous_analysis()).text


def test_a_task_key_cannot_leave_its_command() -> None:
    analysis = with_text("'; rm -rf ~ #")
    (command,) = reading_commands(analysis.reading_list[0].read)

    assert shlex.split(command) == ["blade", "show", "DIR", "route'; rm -rf ~ #:0"]


def test_a_task_key_is_not_taken_for_an_option() -> None:
    assert reading_commands(["-1:0", "-1:2"])[1:] == ["blade show DIR -- -1:2", "blade diff DIR -- -1:0 -1:2"]


@pytest.mark.parametrize(
    ("citation", "parts"),
    [
        pytest.param("12:3", ("12", "12:3", None), id="rollout"),
        pytest.param("12:3#5", ("12", "12:3", 5), id="item"),
        pytest.param("a:b#4:0", ("a:b#4", "a:b#4:0", None), id="key_with_colon_and_hash"),
        pytest.param("two\nlines:0#1", ("two\nlines", "two\nlines:0", 1), id="key_with_a_line_end"),
    ],
)
def test_citations_are_taken_apart(citation: str, parts: tuple[str, str, int | None]) -> None:
    assert (task_of(citation), rollout_of(citation), item_of(citation)) == parts


def test_two_rollouts_are_shown_and_compared() -> None:
    assert reading_commands(["12:3", "12:5"]) == [
        "blade show DIR 12:3",
        "blade show DIR 12:5",
        "blade diff DIR 12:3 12:5",
    ]


def test_citations_beyond_the_first_are_counted() -> None:
    assert cited(["1:0", "1:1#4", "2:0"], 2) == "`1:0`, `1:1#4` and 1 more"
    assert cited(["1:0", "1:1", "2:0"], 2, limit=3) == "`1:0`, `1:1` and at least 1 more"


def test_every_task_of_the_analysis_list_is_listed() -> None:
    analysis = binary_analysis()
    many = [msgspec.structs.replace(analysis.reading_list[0], task=f"t{number}") for number in range(50)]
    text = render_reading_list(msgspec.structs.replace(analysis, reading_list=many)).text

    assert [f"Task `t{number}`" in text for number in range(50)] == [True] * 50
