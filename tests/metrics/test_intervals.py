import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from blade.metrics import estimate_mean, estimate_rate, mean_over_tasks, mean_rate_interval, rate_interval
from blade.metrics.intervals import spread_of_mean

RATES = st.lists(st.integers(0, 5), min_size=2, max_size=40)


@given(RATES)
def test_a_rate_interval_holds_the_mean_inside_0_and_1_and_has_width(counts: list[int]) -> None:
    values = np.array(counts) / 5
    metric = estimate_rate(values, rollouts=5 * len(values), definition="d")
    assert metric.ci95 is not None and metric.value is not None
    low, high = metric.ci95
    assert 0.0 <= low <= metric.value <= high <= 1.0
    assert low < high


@given(RATES)
def test_failures_mirror_successes(counts: list[int]) -> None:
    values = np.array(counts) / 5
    ours = estimate_rate(values, rollouts=5 * len(values), definition="d").ci95
    mirrored = estimate_rate(1 - values, rollouts=5 * len(values), definition="d").ci95
    assert ours is not None and mirrored is not None
    assert ours == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-9)


def test_one_repeat_gives_the_beta_limits_of_a_binomial() -> None:
    # 6 of 30 tasks: limits of Beta(6.75, 24.75), each cutting off 2.5 %.
    metric = estimate_rate(np.repeat([1.0, 0.0], [6, 24]), rollouts=30, definition="d")
    assert metric.ci95 is not None
    np.testing.assert_allclose(betainc(6.75, 24.75, metric.ci95), [0.025, 0.975], atol=1e-9)


def test_a_lone_dissenter_does_not_make_repeats_count_as_tasks() -> None:
    # One success in 150 rollouts of 30 tasks: Beta(30/150 + .75, ...), not Beta(150/150 + .75, ...).
    values = np.array([0.2] + [0.0] * 29)
    metric = estimate_rate(values, rollouts=150, definition="d")
    assert metric.ci95 is not None
    np.testing.assert_allclose(betainc(0.95, 30.55, metric.ci95), [0.025, 0.975], atol=1e-9)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_unanimous_runs_are_as_sure_as_their_tasks_not_their_rollouts(rate: float) -> None:
    # 30 tasks alike: 97.5 % of Beta(0.75, 30.75) lies nearer to the unanimous value than the far limit.
    metric = estimate_rate(np.full(30, rate), rollouts=150, definition="d")
    assert metric.ci95 is not None
    near, far = sorted(abs(rate - limit) for limit in metric.ci95)
    assert near == 0.0
    assert betainc(0.75, 30.75, far) == pytest.approx(0.975)


def test_tasks_that_all_have_the_same_middling_rate_make_repeats_count_fully() -> None:
    # 10 tasks of 1 in 5: 10 successes in 50 as if rollouts were tasks, Beta(10.75, 40.75).
    metric = estimate_rate(np.full(10, 0.2), rollouts=50, definition="d")
    assert metric.ci95 is not None
    np.testing.assert_allclose(betainc(10.75, 40.75, metric.ci95), [0.025, 0.975], atol=1e-9)


def test_nothing_gives_nothing_and_one_task_gives_no_interval() -> None:
    nothing = estimate_rate(np.array([]), rollouts=0, definition="d")
    one = estimate_rate(np.array([0.4]), rollouts=5, definition="d")
    assert (nothing.value, nothing.n, nothing.se, nothing.ci95) == (None, 0, None, None)
    assert (one.value, one.n, one.se, one.ci95) == (0.4, 1, None, None)


def test_duplicating_tasks_inside_clusters_adds_no_certainty() -> None:
    values = np.array([0.0, 0.2, 0.4, 1.0])
    single = spread_of_mean(values)
    tripled = spread_of_mean(np.repeat(values, 3), np.repeat([7, 8, 9, 10], 3))
    assert tripled.se == pytest.approx(single.se)
    assert (tripled.units, tripled.dissenters) == (4.0, single.dissenters)


def test_one_cluster_gives_no_interval() -> None:
    metric = estimate_rate(np.array([0.0, 1.0]), rollouts=2, definition="d", cluster=np.array([1, 1]))
    assert (metric.value, metric.se, metric.ci95) == (0.5, None, None)


def test_unbounded_values_get_students_t() -> None:
    # Mean 2, SD 2, SE 2/√3; t(2 df, 97.5 %) = 4.302653.
    metric = estimate_mean(np.array([0.0, 2.0, 4.0]), definition="d")
    reach = 4.302652729911275 * 2 / 3**0.5
    assert metric.se == pytest.approx(2 / 3**0.5)
    assert metric.ci95 == pytest.approx((2 - reach, 2 + reach))


def test_identical_unbounded_values_give_no_interval_rather_than_a_point() -> None:
    assert mean_over_tasks(np.array([3.0, 3.0]), rollouts=2, definition="d").ci95 is None


def test_limits_of_one_task_are_known_only_with_trials() -> None:
    low, high = rate_interval(np.array([0, 2, 4]), np.array([0, 4, 4]))
    assert np.isnan([low[0], high[0]]).all()
    np.testing.assert_allclose(betainc(2.75, 2.75, [low[1], high[1]]), [0.025, 0.975])
    assert 0.3 < low[2] < 1.0 == high[2]


@pytest.mark.parametrize(("rate", "low", "high"), [(0.05, 0.93, 0.97), (0.3, 0.93, 0.97), (0.9, 0.93, 0.97)])
def test_intervals_cover_the_population_rate(rate: float, low: float, high: float) -> None:
    # 30 tasks of 5 repeats, task rates from Beta(2·rate, 2·(1 − rate)); 4000 runs, so ± 0.7 % is two sigma.
    rng = np.random.default_rng(1)
    rates = rng.binomial(5, rng.beta(2 * rate, 2 * (1 - rate), size=(4000, 30))) / 5
    dissenters = np.minimum((rates > 0).sum(axis=1), (rates < 1).sum(axis=1))
    se = rates.std(axis=1, ddof=1) / 30**0.5
    limits = mean_rate_interval(rates.mean(axis=1), se, units=30, rollouts=150, dissenters=dissenters)
    assert low < np.mean((limits.low <= rate) & (rate <= limits.high)) < high
