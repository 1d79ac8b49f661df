import numpy as np
import pytest
from small_runs import run

from blade.metrics import EffortSummary, compare_effort


def test_effort_is_compared_pooled_and_inside_the_same_task() -> None:
    # t0 fails at 30 and passes at 10: +20. t1: 5 − 9 = −4. t2 has only failures, so it is pooled but not paired.
    outcomes = run([1, 0], [1, 0], [0])
    (tokens,) = compare_effort(outcomes, {"tokens": np.array([10.0, 30.0, 9.0, 5.0, 100.0])})
    # 90 % of the way through two values: 9 + 0.9; through three: 30 + 0.8 · 70.
    assert tokens.passing == EffortSummary(n=2, unknown=0, mean=9.5, median=9.5, p90=9.9)
    assert tokens.failing == EffortSummary(n=3, unknown=0, mean=45.0, median=30.0, p90=86.0)
    # SD of 20 and −4 is 12√2, so the error of their mean is 12.
    assert (tokens.within_task.value, tokens.within_task.n) == (8.0, 2)
    assert tokens.within_task.se == pytest.approx(12.0)
    assert (tokens.tasks_where_failing_took_more, tokens.tasks_where_failing_took_less, tokens.tasks_tied) == (1, 1, 0)


def test_unknown_effort_is_counted_and_left_out() -> None:
    (steps,) = compare_effort(run([1, 0, None]), {"steps": np.array([np.nan, 4.0, 7.0])})
    assert steps.passing == EffortSummary(n=0, unknown=1, mean=None, median=None, p90=None)
    assert steps.failing == EffortSummary(n=1, unknown=0, mean=4.0, median=4.0, p90=4.0)
    assert (steps.within_task.value, steps.within_task.n) == (None, 0)
