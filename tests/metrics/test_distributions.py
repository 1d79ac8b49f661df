"""Our distributions against scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from blade.metrics.distributions import (
    beta_cdf,
    beta_quantile,
    beta_quantiles,
    even_odds_p,
    normal_quantile,
    student_quantile,
)

parameters = st.floats(0.3, 1e5)


@pytest.mark.parametrize("p", [0.001, 0.025, 0.5, 0.8, 0.975])
def test_quantiles_of_the_normal_distribution(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(float(special.ndtri(p)), rel=1e-14)


@pytest.mark.parametrize("freedom", [0.5, 1.0, 1.7, 2.0, 5.0, 29.0, 79.0, 299.0, 5e4, 1e7])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.8, 0.975, 0.995])
def test_quantiles_of_student_s_t(freedom: float, p: float) -> None:
    assert student_quantile(freedom, p) == pytest.approx(float(special.stdtrit(freedom, p)), rel=1e-10, abs=1e-12)


def test_without_freedom_there_is_no_quantile() -> None:
    assert math.isnan(student_quantile(0.0, 0.975))


@settings(max_examples=150, deadline=None)
@given(a=parameters, b=parameters, x=st.floats(0, 1))
def test_the_incomplete_beta_function(a: float, b: float, x: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), rel=1e-8, abs=1e-11)


@settings(max_examples=150, deadline=None)
@given(a=parameters, b=parameters, p=st.sampled_from([0.025, 0.2, 0.975]))
def test_quantiles_of_the_beta_distribution(a: float, b: float, p: float) -> None:
    assert beta_quantile(a, b, p) == pytest.approx(float(special.betaincinv(a, b, p)), rel=1e-9)


def test_many_quantiles_at_once_are_those_one_by_one() -> None:
    a, b = np.array([0.5, 3.0, 900.0]), np.array([40.5, 0.7, 1200.0])

    assert beta_quantiles(a, b, 0.975).tolist() == [beta_quantile(x, y, 0.975) for x, y in zip(a, b, strict=True)]


@given(first=st.integers(0, 60), second=st.integers(0, 60))
def test_an_uneven_split_of_even_odds(first: int, second: int) -> None:
    expected = float(stats.binomtest(first, first + second, 0.5).pvalue) if first + second else 1.0

    assert even_odds_p(first, second) == pytest.approx(expected, rel=1e-12)
