import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.metrics.adjusting import benjamini_hochberg, holm


def test_holm_multiplies_by_what_is_left_and_never_falls() -> None:
    # Sorted 0.01 · 4, 0.02 · 3, 0.03 · 2 (raised to 0.06), 0.9 · 1
    assert holm([0.02, 0.9, 0.01, 0.03]) == pytest.approx([0.06, 0.9, 0.04, 0.06])


def test_benjamini_hochberg_divides_by_rank_and_never_rises() -> None:
    # Sorted 0.01 · 4/1 = 0.04 (lowered to 0.04), 0.02 · 4/2 = 0.04, 0.03 · 4/3 = 0.04, 0.9 · 4/4
    assert benjamini_hochberg([0.02, 0.9, 0.01, 0.03]) == pytest.approx([0.04, 0.9, 0.04, 0.04])


def test_nothing_to_adjust_is_left_alone() -> None:
    assert (holm([]), benjamini_hochberg([]), holm([0.3]), benjamini_hochberg([0.3])) == ([], [], [0.3], [0.3])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_stricter_of_the_two_and_both_only_raise(p: list[float]) -> None:
    for plain, mild, strict in zip(p, benjamini_hochberg(p), holm(p), strict=True):
        assert plain <= mild + 1e-15 and mild <= strict + 1e-15 and strict <= 1.0
