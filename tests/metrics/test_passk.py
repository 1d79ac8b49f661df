from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.metrics import pass_at_k, pass_pow_k
from blade.metrics.passk import ks_to_report


@given(st.integers(1, 60), st.data())
def test_both_estimators_equal_their_combinatorial_definitions(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    counts = np.array([n]), np.array([c])
    assert pass_at_k(*counts, k)[0] == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)
    assert pass_pow_k(*counts, k)[0] == pytest.approx(comb(c, k) / comb(n, k), abs=1e-12)


def test_tasks_short_of_k_have_no_value() -> None:
    np.testing.assert_array_equal(pass_at_k(np.array([0, 1, 2]), np.array([0, 1, 1]), 2), [np.nan, np.nan, 1.0])


def test_a_hundred_thousand_rollouts_do_not_overflow() -> None:
    # Drawing 2 of 100000 of which half pass: 1 − (50000/100000)(49999/99999).
    value = pass_at_k(np.array([100_000]), np.array([50_000]), 2)
    np.testing.assert_allclose(value, 1 - 0.5 * 49_999 / 99_999, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(pass_pow_k(np.array([100_000]), np.array([50_000]), 60_000), [0.0])


@pytest.mark.parametrize(
    ("most", "ks"), [(0, []), (1, [1]), (5, [1, 2, 3, 4, 5]), (17, [1, 2, 4, 8, 16, 17]), (32, [1, 2, 4, 8, 16, 32])]
)
def test_many_rollouts_are_reported_at_powers_of_two(most: int, ks: list[int]) -> None:
    assert list(ks_to_report(most)) == ks


def test_k_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k(np.array([3]), np.array([1]), 0)
