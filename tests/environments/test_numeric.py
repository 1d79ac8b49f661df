"""How a number is found in what a model says, and when it is right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.environments import Verdict, load_environment
from blade.environments.numeric.numbers import read_number, write_number
from blade.environments.numeric.verifier import ENVIRONMENT, find_answer, judge


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Answer: 12", "12", id="marked"),
        pytest.param("**Answer:** 12 apples (3 bags of 4)", "12", id="number_first_in_the_marked_line"),
        pytest.param("Answer: after 3 days she has 12.", "12", id="number_last_in_the_marked_line"),
        pytest.param("Answer: 3 * 4 = 12 apples", "12", id="after_the_equals_sign"),
        pytest.param("Answer:\n\n  12\nThat was easy, 1 minute.", "12", id="on_the_next_line"),
        pytest.param("Answer: 5\nWait, that is wrong.\nAnswer: 6", "6", id="the_last_mark_counts"),
        pytest.param("Answer: 18.\nThat answer is incorrect.\nI tried 3 times.", "18", id="mark_without_a_number"),
        pytest.param("The answer is: $1,250.50", "1250.5", id="currency_and_commas"),
        pytest.param("the final answer is **-7**", "-7", id="negative"),
        pytest.param("4 + 3 = 7\n#### 7", "7", id="hashes"),
        pytest.param(r"So \boxed{\frac{3}{4}} of it, or 75%", "0.75", id="boxed_fraction"),
        pytest.param(r"\boxed{12\text{ km}}", "12", id="boxed_with_a_unit"),
        pytest.param(r"\boxed{\frac12}", "0.5", id="boxed_fraction_without_braces"),
        pytest.param("Answer: -0.0", "0", id="negative_zero"),
        pytest.param("Answer: １２ or so", "12", id="digits_of_another_script"),
        pytest.param(r"\[ \boxed{1{,}200} \]", "1200", id="latex_comma"),
        pytest.param(r"Answer: $3 \times 10^{2}$", "300", id="power_of_ten"),
        pytest.param("Answer: 1 1/2 hours", "1.5", id="mixed_number"),
        pytest.param("Answer: 2½", "2.5", id="vulgar_fraction"),
        pytest.param("Answer: 2/3", "2/3", id="fraction_without_an_end"),
        pytest.param("Answer: 25 %", "25", id="percent"),
        pytest.param("She eats 3 and keeps 9.", "9", id="last_number"),
        pytest.param("12 - 3 = 9", "9", id="difference_is_no_negative"),
        pytest.param("Answer: 9\n\nQuestion: 1 + 1?\nAnswer: 2", "9", id="made_up_next_question"),
    ],
)
def test_the_number_an_answer_means_is_found(text: str, expected: str) -> None:
    found = find_answer(text)

    assert found is not None
    assert write_number(found.value) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("I cannot tell.", id="no_number"),
        pytest.param("Answer: " + "9" * 5000, id="endless_digits"),
        pytest.param("Answer: 12 or 13", id="a_choice"),
        pytest.param("Of 5 it is 6.\nAnswer: $12 or $13", id="a_choice_of_sums"),
        pytest.param("Answer: 12,13,14", id="a_list"),
        pytest.param("Answer: 11 12 13", id="a_row"),
        pytest.param("Answer: 10-12", id="a_range"),
        pytest.param("Answer: 10^3", id="a_power_left_open"),
        pytest.param("Answer: 0,5", id="a_decimal_comma"),
        pytest.param(r"\boxed{x} where 3 of 4 are known", id="nothing_in_the_box"),
    ],
)
def test_a_text_without_an_answer_has_none(text: str) -> None:
    verdict = judge({"expected_answer": "4"}, text)

    assert verdict == Verdict(reward=0.0, fields={"extracted_answer": None, "answer_form": None, "slip": None})


def test_how_the_answer_was_marked_is_told() -> None:
    texts = [r"\boxed{5}", "Answer: 5", "It is 5", "Answer: see above, 5 it is", "5. Answer: unknown"]

    assert [found.form for text in texts if (found := find_answer(text))] == [
        *("boxed", "marked", "last_number", "marked", "last_number")
    ]


def test_a_wrong_answer_is_told_by_the_mistake_that_leads_to_it() -> None:
    task = {"expected_answer": "12", "slips": {"forgot_change": "20", "added_twice": "24"}}
    slips = [judge(task, f"Answer: {number}").fields["slip"] for number in (12, 20, 24, 25)]

    assert slips == [None, "forgot_change", "added_twice", None]


def test_a_tolerance_is_kept_and_not_exceeded() -> None:
    task = {"expected_answer": "3.33", "tolerance": "0.01"}

    assert [judge(task, f"Answer: {number}").reward for number in ("3.33", "3.34", "10/3", "3.35")] == [1, 1, 1, 0]


@given(st.fractions(), st.sampled_from(["Answer: {}", r"\boxed{{{}}}", "It is {}", "#### {}"]))
def test_every_number_that_is_written_is_read_again(value: object, form: str) -> None:
    text = str(value)

    assert judge({"expected_answer": text}, form.format(text)).reward == 1.0


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_decimals_are_written_as_they_were_read(value: object) -> None:
    read = read_number(f"{value:,}")

    assert read is not None
    assert read_number(write_number(read)) == read


@given(st.text())
def test_no_text_stops_the_judging(text: str) -> None:
    assert judge({"expected_answer": "1"}, text).reward in (0.0, 1.0)


def test_the_environment_is_found_by_its_name() -> None:
    assert load_environment("numeric") is ENVIRONMENT
