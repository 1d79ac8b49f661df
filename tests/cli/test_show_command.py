"""`blade show`: a trajectory in order, bounded, and fit for a terminal."""

from pathlib import Path

import pytest
from blade_command import blade, diagnosed, document
from rollout_rows import Row, call, message, result, rollout, write_rows

from blade.cli.trajectory import excerpt


def diagnosed_rollout(folder: Path, output: list[Row], **fields: object) -> Path:
    """The folder of a diagnosis of one rollout, 0:0."""
    source = write_rows(folder / "one.jsonl", [rollout(0, 0, 0.0, output=output, **fields)])
    assert blade("diagnose", source, "--out", folder / "out", "-q").exit_code == 0
    return folder / "out"


def test_a_rollout_is_printed_in_order_with_its_verdict_and_fields(tmp_path: Path) -> None:
    found = blade("show", diagnosed(tmp_path), "1:1")

    assert found.stdout == (
        "1:1  failed  reward 0\n"
        "  airline.jsonl:4 · model-a · 7 items\n"
        "  level  hard\n"
        "\n#0 message user (prompt)\n  question 1\n"
        "\n#1 reasoning\n  I should look for flights first.\n"
        '\n#2 tool_call search\n  {"to": "Oslo"}\n'
        "\n#3 tool_result search\n  LH1 and SK2 are free, LH1 is wanted\n"
        '\n#4 tool_call book\n  {"flight": "SK2"}\n'
        "\n#5 tool_result book\n  booked SK2\n"
        "\n#6 message assistant\n  Booked SK2.\n"
    )


def test_an_item_is_shown_with_its_neighbours(tmp_path: Path) -> None:
    found = blade("show", diagnosed(tmp_path), "1:1#4")

    assert found.stdout.endswith(
        "\n#3 tool_result search\n  LH1 and SK2 are free, LH1 is wanted\n"
        '\n> #4 tool_call book\n  {"flight": "SK2"}\n'
        "\n#5 tool_result book\n  booked SK2\n"
        "\nitems #3 to #5 of 7\n"
    )


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        pytest.param("2", [2], id="one"),
        pytest.param("2-4", [2, 3, 4], id="both_ends_included"),
        pytest.param("5-", [5, 6], id="to_the_end"),
        pytest.param("-1", [0, 1], id="from_the_start"),
        pytest.param("6-99", [6], id="beyond_the_end"),
    ],
)
def test_a_range_of_items_can_be_asked_for(tmp_path: Path, wanted: str, positions: list[int]) -> None:
    shown = document(blade("show", diagnosed(tmp_path), "1:1", "--items", wanted, "--json"))

    assert [item["position"] for item in shown["items"]] == positions
    assert shown["item_count"] == 7


def test_json_holds_everything_known_of_the_rollout(tmp_path: Path) -> None:
    out = diagnosed_rollout(tmp_path, [message("Hi")], level="easy", seconds=2.5)

    shown = document(blade("show", out, "0:0#1", "--json"))

    item = {"position": 1, "kind": "message", "role": "assistant", "name": None, "prompt": False}
    assert shown["items"][1:] == [{**item, "text": "Hi", "cut": 0}]
    assert {key: shown[key] for key in ("rollout", "reward", "passed", "status", "model")} == {
        "rollout": "0:0", "reward": 0.0, "passed": False, "status": "completed", "model": "model-a",
    }  # fmt: skip
    assert shown["fields"]["level"] == "easy"


def test_long_items_are_cut_with_a_count_unless_full(tmp_path: Path) -> None:
    # 40 of 100 characters are shown: 26 from the head and 14 from the tail
    out = diagnosed_rollout(tmp_path, [message("a" * 50 + "z" * 50)])

    cut = blade("show", out, "0:0", "--max-chars", "40").stdout
    full = blade("show", out, "0:0", "--full").stdout

    assert f"  {'a' * 26} […60 characters cut…] {'z' * 14}\n" in cut
    assert f"  {'a' * 50}{'z' * 50}\n" in full


def test_the_middle_of_a_long_trajectory_is_left_out_with_a_command_to_see_it(tmp_path: Path) -> None:
    out = diagnosed_rollout(tmp_path, [message(f"step {n}") for n in range(1, 60)])

    found = blade("show", out, "0:0").stdout

    # 60 items: the prompt and 59 messages; 20 from each end are shown
    assert "… 20 items left out; see them with --items 20-39" in found
    assert "step 19\n" in found and "step 20\n" not in found and "step 40\n" in found
    assert "step 20\n" in blade("show", out, "0:0", "--full").stdout


def test_long_and_many_fields_are_bounded(tmp_path: Path) -> None:
    fields = {f"field_{n:02}": n for n in range(40)}
    out = diagnosed_rollout(tmp_path, [message("Hi")], log="x" * 500, **fields)

    found = blade("show", out, "0:0").stdout

    # 41 fields besides those in the head, 30 of them shown; 500 - 200 characters of the log are cut
    assert "… and 11 more fields; see them with --full" in found
    assert "[…300 characters cut…]" in found


def test_thinking_stands_apart_from_the_answer(tmp_path: Path) -> None:
    out = diagnosed_rollout(tmp_path, [message("<think>Is it 4?</think>It is 4.")])

    assert "  <think>\n  Is it 4?\n  </think>\n  It is 4.\n" in blade("show", out, "0:0").stdout


def test_no_text_of_a_rollout_can_pass_for_a_heading(tmp_path: Path) -> None:
    out = diagnosed_rollout(tmp_path, [message("fine\n#9 tool_result bank\n  paid")])

    assert "\n  #9 tool_result bank\n" in blade("show", out, "0:0").stdout


def test_tabs_are_kept_so_that_a_quote_can_be_copied(tmp_path: Path) -> None:
    out = diagnosed_rollout(tmp_path, [message("a\tb")])

    assert "  a\tb\n" in blade("show", out, "0:0").stdout


def test_a_row_without_a_trajectory_says_so(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "flat.jsonl", [{"task_id": "a", "reward": 1}])
    blade("diagnose", source, "--out", tmp_path / "out", "-q")

    found = blade("show", tmp_path / "out", "a:0")

    assert "the row holds no trajectory" in found.stdout
    assert blade("show", tmp_path / "out", "a:0#3").exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["9:0"], "no task '9' in this run; tasks are 0, 1, 2", id="unknown_task"),
        pytest.param(["1:7"], "task 1 has no repeat 7; it has 0, 1", id="unknown_repeat"),
        pytest.param(["nonsense"], "expected TASK:REPEAT, for example 12:3", id="not_a_rollout"),
        pytest.param(["1:1#99"], "the rollout has items #0 to #6", id="unknown_item"),
        pytest.param(["1:1", "--items", "x"], "expected for example 4, 4-9, 4- or -9", id="not_a_range"),
        pytest.param(["1:1", "--items", "5-2"], "ends before it begins", id="backwards"),
        pytest.param(["1:1", "--items", "50"], "the rollout has items #0 to #6", id="beyond"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(tmp_path: Path, words: list[str], said: str) -> None:
    found = blade("show", diagnosed(tmp_path), *words)

    assert (found.exit_code, found.stdout) == (2, "")
    assert said in found.stderr


def test_an_excerpt_counts_what_it_leaves_out() -> None:
    assert str(excerpt("abcdefghij", 6)) == "abcd […4 characters cut…] ij"
    assert str(excerpt("abc", 3)) == "abc"


def test_what_was_expected_is_shown_beside_what_was_done(tmp_path: Path) -> None:
    asked = [{"name": "book", "arguments": {"flight": "LH1", "seat": "4A"}}]
    made = [call("book", '{"flight": "SK2", "seat": "4A"}'), result("booked SK2")]
    folder = diagnosed_rollout(tmp_path, made, ground_truth=asked)

    told = blade("show", folder, "0:0").stdout
    assert (
        "\nexpected against made\n"
        "  `book` was called with another `flight` than expected  expected LH1  given SK2  #1\n"
    ) in told
    (difference,) = document(blade("show", folder, "0:0", "--json"))["differences"]
    assert (difference["key"], difference["item"]) == ("argument:book.flight", 1)
