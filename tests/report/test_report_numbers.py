"""Numbers as they are written in reports: fixed digits, and unknown never shown as 0."""

from collections.abc import Callable
from typing import Any

import pytest

from blade.report import numbers
from blade.report.listing import Listing, first


@pytest.mark.parametrize(
    ("write", "value", "expected"),
    [
        pytest.param(numbers.percent, 0.42, "42.0 %", id="percent"),
        pytest.param(numbers.percent, 1.0, "100.0 %", id="all"),
        pytest.param(numbers.percent, -0.0, "0.0 %", id="no_negative_zero"),
        pytest.param(numbers.percent, None, "n/a (n=0)", id="unknown_percent"),
        pytest.param(numbers.interval, (0.312, 0.5349), "31.2 % to 53.5 %", id="interval"),
        pytest.param(numbers.interval, None, "–", id="no_interval"),
        pytest.param(numbers.number, 0.5124, "0.512", id="number"),
        pytest.param(numbers.number, -1234.5, "-1,234.500", id="large_number"),
        pytest.param(numbers.number, None, "n/a (n=0)", id="unknown_number"),
        pytest.param(numbers.number_interval, (0.1, 0.25), "0.100 to 0.250", id="number_interval"),
        pytest.param(numbers.points, 0.081, "8.1 pp", id="standard_error"),
        pytest.param(numbers.signed_pp, 0.0321, "+3.2 pp", id="gain"),
        pytest.param(numbers.signed_pp, -0.0321, "-3.2 pp", id="loss"),
        pytest.param(numbers.signed_pp, -0.0001, "+0.0 pp", id="nothing"),
        pytest.param(numbers.signed_pp_interval, (-0.01, 0.02), "-1.0 pp to +2.0 pp", id="gain_interval"),
        pytest.param(numbers.signed_number, 0.03, "+0.030", id="gain_of_reward"),
        pytest.param(numbers.signed_number_interval, (-0.1, 0.2), "-0.100 to +0.200", id="reward_gain_interval"),
        pytest.param(numbers.p_value, 0.0314, "0.031", id="p_value"),
        pytest.param(numbers.p_value, 1e-9, "≤ 0.001", id="tiny_p_value"),
        pytest.param(numbers.count, 12345, "12,345", id="count"),
        pytest.param(numbers.count, 0, "0", id="zero_is_known"),
        pytest.param(numbers.count, None, "n/a (n=0)", id="unknown_count"),
        pytest.param(numbers.amount, 99.96, "100.0", id="amount_below_100"),
        pytest.param(numbers.amount, 1234.5, "1,235", id="amount"),
        pytest.param(numbers.signed_amount, -607.4, "-607", id="less"),
        pytest.param(numbers.signed_amount_interval, (-607.4, 12.34), "-607 to +12.3", id="amount_interval"),
        pytest.param(numbers.tokens, 1234.0, "1,234", id="tokens"),
        pytest.param(numbers.seconds, 12.34, "12.3 s", id="seconds"),
        pytest.param(numbers.seconds, 90.0, "1.5 min", id="minutes"),
        pytest.param(numbers.seconds, 5400.0, "1.5 h", id="hours"),
        pytest.param(numbers.seconds, None, "n/a (n=0)", id="unknown_seconds"),
        pytest.param(numbers.size, 999, "999 B", id="bytes"),
        pytest.param(numbers.size, 5542, "5.5 kB", id="kilobytes"),
        pytest.param(numbers.size, 999_999, "1.0 MB", id="nearly_a_megabyte"),
    ],
)
def test_numbers_are_written_with_fixed_digits(write: Callable[[Any], str], value: Any, expected: str) -> None:
    assert write(value) == expected


def test_a_share_of_nothing_is_unknown() -> None:
    assert [numbers.share(1, 4), numbers.share(0, 4), numbers.share(0, 0), numbers.share(None, 4)] == [
        "25.0 %",
        "0.0 %",
        "n/a (n=0)",
        "n/a (n=0)",
    ]


def test_a_noun_follows_its_count() -> None:
    assert [numbers.plural(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
    assert numbers.plural(2, "class", "classes") == "2 classes"


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        pytest.param(first("abc", 3), Listing(shown=["a", "b", "c"]), id="all"),
        pytest.param(first("abc", 2), Listing(shown=["a", "b"], rest=1), id="some"),
        pytest.param(first("abc", 2, total=9), Listing(shown=["a", "b"], rest=7), id="more_than_listed"),
        pytest.param(first("abc", 2, limit=3), Listing(shown=["a", "b"], rest=1, at_least=True), id="cut_before"),
        pytest.param(first("abc", 2, limit=4), Listing(shown=["a", "b"], rest=1), id="not_cut_before"),
    ],
)
def test_a_listing_counts_what_it_does_not_show(listing: Listing[str], expected: Listing[str]) -> None:
    assert listing == expected


def test_a_listing_says_when_nobody_counted_the_rest() -> None:
    assert [first("abc", 2).more, first("abc", 2, limit=3).more] == ["1 more", "at least 1 more"]
