import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.metrics import Misplacement, misplacement
from blade.metrics.buckets import bucket_of, lowest_rate_behind_always, misplacement_table


@pytest.mark.parametrize(
    ("c", "n", "bucket"), [(0, 0, "missing"), (0, 3, "never"), (3, 3, "always"), (1, 3, "sometimes")]
)
def test_buckets_are_named_by_what_repeats_showed(c: int, n: int, bucket: str) -> None:
    assert bucket_of(c, n) == bucket


def test_a_task_solved_half_the_time_often_looks_extreme() -> None:
    # 0.5³ = 0.125 each way.
    assert misplacement(3, 0.5) == Misplacement(rate=0.5, k=3, always=0.125, never=0.125)


def test_the_table_covers_fair_to_nearly_perfect_tasks() -> None:
    assert [row.rate for row in misplacement_table(5)] == [0.5, 0.7, 0.8, 0.9, 0.95, 0.99]


@given(st.integers(1, 500))
def test_the_bound_behind_always_is_the_rate_that_passes_n_of_n_one_time_in_twenty(n: int) -> None:
    assert lowest_rate_behind_always(n) ** n == pytest.approx(0.05)
