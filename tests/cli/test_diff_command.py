"""`blade diff`: two rollouts of one task, up to and after the place where they part."""

from pathlib import Path

import pytest
from blade_command import blade, booking, diagnosed, document
from rollout_rows import Row, call, message, rollout, write_rows


def diagnosed_pair(folder: Path, left: Row, right: Row) -> Path:
    """The folder of a diagnosis of two rollouts, 0:0 and 0:1."""
    source = write_rows(folder / "pair.jsonl", [left, right])
    assert blade("diagnose", source, "--out", folder / "out", "-q").exit_code == 0
    return folder / "out"


def test_what_differs_is_shown_and_what_is_common_is_counted(tmp_path: Path) -> None:
    found = blade("diff", diagnosed(tmp_path), "1:1", "1:0")

    assert found.stdout == (
        "1:1  failed  reward 0  6 items, 2 tool calls\n"
        "1:0  passed  reward 1  6 items, 2 tool calls\n"
        "\nThey part: the same for 3 items, then they differ.\n"
        '- #4 tool_call book\n  {"flight": "[SK2]"}\n'
        '+ #4 tool_call book\n  {"flight": "[LH1]"}\n'
        "\nThen:\n"
        "- #5 tool_result book\n  booked SK2\n"
        "+ #5 tool_result book\n  booked LH1\n"
        "- #6 message assistant\n  Booked SK2.\n"
        "+ #6 message assistant\n  Booked LH1.\n"
    )


def test_a_wide_terminal_gets_two_columns(tmp_path: Path) -> None:
    found = blade("diff", diagnosed(tmp_path), "1:1", "1:0", env={"COLUMNS": "120"})

    (line,) = [line for line in found.stdout.splitlines() if "[SK2]" in line]
    assert line.index('{"flight": "[LH1]"}') > 55


def test_other_wording_is_told_from_other_actions(tmp_path: Path) -> None:
    left = rollout(0, 0, 1.0, output=[message("Let me see."), call("search"), call("book")])
    right = rollout(0, 1, 0.0, output=[message("One moment."), call("search"), call("cancel")])

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1", "--context", "0").stdout

    assert "They part: the first item differs already.\n- #1 message assistant\n  Let me see.\n" in found
    assert "Actions: the same for 1 tool call, then they differ.\n- #3 tool_call book\n" in found


def test_the_same_actions_in_other_words_are_said_to_be_so(tmp_path: Path) -> None:
    left = rollout(0, 0, 1.0, output=booking("LH1", "Booked."))
    right = rollout(0, 1, 0.0, output=booking("LH1", "It is booked, sir."))

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert "All 2 tool calls are the same; only wording differs." in found


def test_a_side_that_ends_early_says_so(tmp_path: Path) -> None:
    left = rollout(0, 0, 1.0, output=[message("Done.")])
    right = rollout(0, 1, 0.0, output=[message("Done."), call("book")])

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert "They part: the same for 1 item, then they differ.\n- (ended before this)\n+ #2 tool_call book\n" in found


def test_rollouts_that_never_diverge_are_said_to_be_alike(tmp_path: Path) -> None:
    same = [message("Done.")]
    out = diagnosed_pair(tmp_path, rollout(0, 0, 1.0, output=same), rollout(0, 1, 0.0, output=same))

    assert "They never diverge: all 1 item are the same." in blade("diff", out, "0:0", "0:1").stdout
    assert document(blade("diff", out, "0:0", "0:1", "--json"))["item"] is None


def test_different_prompts_are_pointed_out(tmp_path: Path) -> None:
    left = rollout(0, 0, 1.0, params={"input": [message("Book a seat to Oslo", "user")]})
    right = rollout(0, 1, 0.0, params={"input": [message("Book a seat to Rome", "user")]})

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert "The prompts differ" in found
    assert "Book a seat to [Oslo]" in found


def test_a_simulated_user_who_words_things_anew_does_not_hide_where_actions_part(tmp_path: Path) -> None:
    left, right = (
        rollout(
            0,
            repeat,
            float(not repeat),
            params={"input": [message(f"{hello}, a seat please", "user")]},
            output=[message("Where to?"), message(f"{hello}, Oslo", "user"), call("book", f'{{"to": "{to}"}}')],
        )
        for repeat, hello, to in ((0, "Hi", "OSL"), (1, "Good day", "OSA"))
    )

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert "prompts differ" not in found and "They part" not in found
    assert "\n~ book  #3 #3\n" in found and "[OSL]" in found and "[OSA]" in found


def test_actions_are_aligned_and_the_verdict_is_held_against_what_is_expected(tmp_path: Path) -> None:
    left, right = (
        rollout(
            0,
            repeat,
            float(not repeat),
            params={"input": [message(f"{hello}, a seat please", "user")]},
            output=[message("Where to?"), message(f"{hello}, Oslo", "user"), *calls],
        )
        for repeat, hello, calls in (
            (0, "Hi", [call("look", '{"to": "OSL"}'), call("book", '{"to": "OSL"}')]),
            (1, "Good day", [call("look", '{"to": "OSL"}'), call("hand_over", "{}")]),
        )
    )

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert found.endswith('= look  #3 #3\n- book  #4  {"to": "OSL"}\n+ hand_over  #4  {}\n')


def test_json_holds_both_sides_and_the_words_that_differ(tmp_path: Path) -> None:
    pair = document(blade("diff", diagnosed(tmp_path), "1:1", "1:0", "--json", "--context", "1"))

    assert (pair["left"], pair["right"], pair["passed"], pair["common"]) == ("1:1", "1:0", [False, True], 3)
    assert [(c["side"], c["text"]) for c in pair["call"]["changes"] if c["side"] != "both"] == [
        ("left", "SK2"),
        ("right", "LH1"),
    ]
    assert [[item["text"] for item in side] for side in pair["after"]] == [["booked SK2"], ["booked LH1"]]


def test_long_items_are_bounded(tmp_path: Path) -> None:
    left = rollout(0, 0, 1.0, output=[message("a " * 2000)])
    right = rollout(0, 1, 0.0, output=[message("b " * 2000)])

    found = blade("diff", diagnosed_pair(tmp_path, left, right), "0:0", "0:1").stdout

    assert len(found) < 2000
    assert "characters cut" in found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["0:0", "1:0"], "different tasks; compare them with --any-task", id="other_task"),
        pytest.param(["0:0", "0:0"], "the same rollout; name two repeats", id="itself"),
        pytest.param(["0:0", "0:9"], "task 0 has no repeat 9; it has 0, 1", id="unknown"),
    ],
)
def test_a_pair_that_makes_no_sense_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    found = blade("diff", diagnosed(tmp_path), *words)

    assert (found.exit_code, found.stdout) == (2, "")
    assert said in found.stderr


def test_rollouts_of_different_tasks_are_compared_when_asked_to(tmp_path: Path) -> None:
    assert blade("diff", diagnosed(tmp_path), "0:0", "1:0", "--any-task").exit_code == 0
