"""How the option a model means is found in what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.environments.choice.verifier import find_letter, judge, lettered

OPTIONS = ["a farmer", "5 cents", "10 cents", "none of these", "10"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Answer: B", ("B", "marked"), id="marked"),
        pytest.param("It costs more.\n**Answer:** (C) 10 cents", ("C", "marked"), id="marked_with_its_text"),
        pytest.param("The correct answer is B.", ("B", "marked"), id="sentence"),
        pytest.param("Answer: A because he farms", ("A", "marked"), id="reason_after_it"),
        pytest.param("Answer: B\nNo.\nAnswer: D", ("D", "marked"), id="the_last_mark_counts"),
        pytest.param(r"Answer: B, so \boxed{\text{C}}", ("C", "boxed"), id="the_box_counts_more"),
        pytest.param("D", ("D", "letter"), id="letter_alone"),
        pytest.param("Answer: b", ("B", "marked"), id="small_letter"),
        pytest.param("Answer: (b) 5 cents", ("B", "marked"), id="small_letter_in_brackets"),
        pytest.param("B) 5 cents, as the rest is a dollar.", ("B", "letter"), id="letter_first"),
        pytest.param("The ball is cheap.\n\n(B)", ("B", "letter"), id="letter_last"),
        pytest.param("Option C", ("C", "letter"), id="option_word"),
        pytest.param(
            "Answer: D\nThe answer is not certain.", ("D", "marked"), id="a_mark_without_a_letter_is_passed_over"
        ),
        pytest.param("Answer: 5 cents", ("B", "option_text"), id="text_of_an_option"),
        pytest.param("So it must be 10 cents.", ("C", "option_text"), id="the_longer_text_counts"),
        pytest.param("Answer: A farmer", ("A", "option_text"), id="a_word_is_no_letter_but_the_text_is_there"),
        pytest.param("Answer: A\n\nQuestion: Which?\nAnswer: B", ("A", "marked"), id="made_up_next_question"),
    ],
)
def test_the_option_an_answer_means_is_found(text: str, expected: tuple[str, str]) -> None:
    assert find_letter(text, OPTIONS) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Answer: F", id="no_such_letter"),
        pytest.param("A dog would never do that.", id="article"),
        pytest.param("Either 5 cents or 10 cents.", id="two_options"),
        pytest.param("A) a farmer\nB) 5 cents\nC) 10 cents", id="options_repeated"),
        pytest.param("It goes on, " * 10 + "and 5 cents are part of it.", id="named_in_passing"),
        pytest.param(r"\boxed{7}", id="box_without_a_letter"),
        pytest.param("Answer: A or B", id="a_choice_of_letters"),
        pytest.param("Answer: AB", id="two_letters"),
        pytest.param("Because of x.", id="word_that_begins_with_a_letter"),
    ],
)
def test_a_text_that_chooses_nothing_has_no_answer(text: str) -> None:
    assert find_letter(text, OPTIONS) is None


def test_whether_the_trap_was_walked_into_is_told() -> None:
    task = {"options": OPTIONS, "expected_answer": "B", "lure": "C"}
    verdicts = [judge(task, text) for text in ("Answer: B", "Answer: C", "Answer: D", "who knows")]

    assert [(verdict.reward, verdict.fields["took_lure"]) for verdict in verdicts] == [
        *((1.0, False), (0.0, True), (0.0, False), (0.0, None))
    ]


def test_a_question_without_a_known_trap_says_nothing_of_it() -> None:
    assert judge({"options": OPTIONS, "expected_answer": "B"}, "B").fields["took_lure"] is None


def test_options_are_shown_with_letters() -> None:
    assert lettered(["yes", "no"]) == "A) yes\nB) no"


@given(st.text())
def test_no_text_stops_the_judging(text: str) -> None:
    assert judge({"options": OPTIONS, "expected_answer": "B"}, text).reward in (0.0, 1.0)
