"""Which answers are the same but for harmless differences."""

import pytest

from blade.diagnosis.answers import same_answer


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("  The Cat. ", "the cat", id="case_space_and_full_stop"),
        pytest.param("12,400", "12400", id="thousands"),
        pytest.param("3.50", "3.5", id="trailing_zero"),
        pytest.param("0.50", "1/2", id="fraction"),
        pytest.param(r"\boxed{\frac{1}{2}}", "0.5", id="latex"),
        pytest.param("42 km", "42", id="unit"),
        pytest.param("```json\n{\"a\": 1, \"b\": 2}\n```", '{"b":2,"a":1}', id="fenced_json"),
        pytest.param(r"\boxed{C: the third}", "C", id="option_with_its_text"),
    ],
)  # fmt: skip
def test_harmless_differences_do_not_make_another_answer(given: str, expected: str) -> None:
    assert same_answer(given, expected)
    assert same_answer(expected, given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("cat", "c", id="word_that_begins_with_the_letter"),
        pytest.param("0.33", "1/3", id="rounded_fraction"),
        pytest.param('{"a":1}', '{"a":2}', id="other_json"),
        pytest.param("", "", id="nothing"),
        pytest.param("42 km 7", "42", id="two_numbers"),
        pytest.param("1/0", "1/0.0", id="no_number"),
        pytest.param("B) red\nC) blue\nB) red", "B", id="several_options"),
    ],
)
def test_real_differences_do(given: str, expected: str) -> None:
    assert not same_answer(given, expected)
