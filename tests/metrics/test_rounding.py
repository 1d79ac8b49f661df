"""One rounding for everything that is printed."""

import pytest

from blade.metrics.rounding import fixed, percent


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        pytest.param(71.25, 1, "71.3", id="half_goes_up"),
        pytest.param(39.25, 1, "39.3", id="half_after_an_even_digit"),
        pytest.param(100 * 0.7135, 1, "71.4", id="half_up_to_binary_noise"),
        pytest.param(2.5, 0, "3", id="whole"),
        pytest.param(-0.25, 1, "-0.3", id="away_from_zero"),
        pytest.param(-0.04, 1, "0.0", id="nothing_has_no_minus"),
        pytest.param(1234567.25, 1, "1,234,567.3", id="thousands"),
        pytest.param(float("nan"), 1, "nan", id="not_a_number"),
        pytest.param(float("inf"), 1, "inf", id="infinite"),
    ],
)
def test_a_number_is_rounded_as_people_round(value: float, digits: int, shown: str) -> None:
    assert fixed(value, digits) == shown


def test_a_share_and_its_percentage_agree() -> None:
    shares = [hit / 80 for hit in range(81)]
    assert [percent(share) for share in shares] == [f"{fixed(100 * share)} %" for share in shares]
    assert percent(57 / 80) == "71.3 %"


def test_a_difference_that_rounds_to_nothing_is_plus_nothing() -> None:
    assert [fixed(value, signed=True) for value in (-0.01, 0.01, 3.2)] == ["+0.0", "+0.0", "+3.2"]
