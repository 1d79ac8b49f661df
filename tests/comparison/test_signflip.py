from collections.abc import Sequence
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from blade.comparison.difference import mcnemar_p, on_grid, sign_flip

FIFTHS = st.lists(st.integers(-5, 5), min_size=2, max_size=9)


def reference(differences: Sequence[float]) -> float:
    """The same test by scipy, all assignments of signs counted."""
    values = np.asarray(differences, dtype=np.float64)
    found = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True)
    return float(found.pvalue)


@given(FIFTHS)
def test_p_on_a_grid_is_that_of_scipy(fifths: list[int]) -> None:
    # scipy is given whole numbers: sums of fifths that are equal would differ by rounding there.
    assert sign_flip(np.asarray(fifths) / 5).p_value == pytest.approx(reference(fifths), abs=1e-9)


@given(st.lists(st.integers(-999, 999), min_size=2, max_size=9))
def test_p_of_differences_on_no_grid_is_that_of_scipy(whole: list[int]) -> None:
    assert sign_flip(np.asarray(whole) / np.sqrt(2.0)).p_value == pytest.approx(reference(whole), abs=1e-9)


def test_with_one_repeat_the_test_is_mcnemars() -> None:
    # 9 tasks lost, 2 won, 30 the same: 2 · (C(11,0) + C(11,1) + C(11,2)) / 2^11 = 134 / 2048
    differences = np.asarray([-1.0] * 9 + [1.0] * 2 + [0.0] * 30)

    assert sign_flip(differences).p_value == pytest.approx(134 / 2048)
    assert mcnemar_p(9, 2) == pytest.approx(2 * (comb(11, 0) + comb(11, 1) + comb(11, 2)) / 2**11)


def test_six_agreeing_tasks_are_the_fewest_that_can_matter() -> None:
    assert sign_flip(np.full(5, 0.2)).p_value == 2 / 2**5
    assert sign_flip(np.full(6, 0.2)).p_value == 2 / 2**6


def test_clusters_flip_as_one() -> None:
    # Twelve tasks in three clusters that all agree: 2 of 2^3 assignments are as extreme.
    differences = np.full(12, 0.5)

    assert sign_flip(differences, cluster=np.repeat([7, 3, 9], 4)).p_value == 2 / 2**3


def test_no_difference_at_all_is_no_evidence() -> None:
    assert sign_flip(np.zeros(40)) == (1.0, "exact")


def test_many_graded_differences_are_sampled_the_same_way_every_time() -> None:
    differences = np.random.default_rng(3).normal(0.2, 1.0, size=60)
    first, again = sign_flip(differences), sign_flip(-differences)

    assert first == again
    assert first.method == "simulated"
    assert first.p_value == pytest.approx(float(stats.ttest_1samp(differences, 0.0).pvalue), abs=0.02)


def test_a_large_run_of_uneven_repeats_is_still_counted_exactly() -> None:
    rng = np.random.default_rng(0)
    repeats = rng.integers(1, 9, size=400)
    differences = rng.integers(-1, 2, size=400) / repeats
    grid = on_grid(np.abs(differences[differences != 0]))

    assert grid is not None and grid.scale == 840  # the least common multiple of 1 … 8
    assert sign_flip(differences).method == "exact"
