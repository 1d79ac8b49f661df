"""Mantel-Haenszel against hand arithmetic and scipy."""

import numpy as np
import pytest
from scipy import stats

from blade.metrics.stratified import associate


def flags(text: str) -> np.ndarray:
    return np.array([character == "1" for character in text])


def test_two_strata_give_the_odds_ratio_of_the_textbook_formula() -> None:
    # Stratum 0: a=2 b=1 c=1 d=2, n=6. Stratum 1: a=1 b=1 c=0 d=2, n=4.
    # OR = (2*2/6 + 1*2/4) / (1*1/6 + 1*0/4) = (4/6 + 2/4) / (1/6) = 7
    stratum = np.array([0] * 6 + [1] * 4)
    found = associate(stratum, flags("1110001100"), flags("1101001000"))

    assert found.strata == 2
    assert found.odds_ratio == pytest.approx(7.0)
    # excess = (2 - 3*3/6) + (1 - 2*1/4) = 0.5 + 0.5
    assert found.excess == pytest.approx(1.0)


def test_p_value_is_the_continuity_corrected_chi_square_of_one_stratum() -> None:
    table = np.array([[12, 5], [3, 10]])
    exposed = np.repeat([True, True, False, False], table.ravel())
    outcome = np.repeat([True, False, True, False], table.ravel())
    found = associate(np.zeros(30, dtype=np.int64), exposed, outcome)

    # With one stratum MH differs from Yates' chi-square only by n-1 in place of n.
    yates = stats.chi2_contingency(table, correction=True).statistic
    assert found.p_value == pytest.approx(stats.chi2.sf(yates * 29 / 30, 1), rel=1e-9)


def test_a_stratum_where_nothing_varies_says_nothing() -> None:
    found = associate(np.array([0, 0, 1, 1]), flags("1100"), flags("1011"))
    assert (found.strata, found.p_value, found.odds_ratio) == (0, None, None)


def test_simpsons_paradox_vanishes_within_strata() -> None:
    # Hard task: fails 8 of 10 whether exposed or not, and is mostly exposed; easy task the other way round.
    stratum = np.repeat([0, 1], [10, 10])
    exposed = flags("1111111100" + "1100000000")
    outcome = flags("1111110011"[:8] + "10" + "1000000001"[:2] + "00000001")
    pooled = associate(np.zeros(20, dtype=np.int64), exposed, outcome)
    within = associate(stratum, exposed, outcome)

    assert pooled.p_value is not None and within.p_value is not None
    assert within.p_value > pooled.p_value
