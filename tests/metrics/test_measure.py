import msgspec
import numpy as np
import pytest
from small_runs import run

import blade.metrics
from blade.metrics import Buckets, Metric, Outcomes, measure


def values(metrics: dict[str, Metric]) -> list[float]:
    return [round(metric.value, 3) for metric in metrics.values() if metric.value is not None]


def test_tau_bench_airline_numbers_come_out_as_published() -> None:
    # 50 tasks × 4, of which 14 have c = 0 and 10 have c = 4. With a, b, d tasks at c = 1, 2, 3: a + b + d = 26;
    # pass^1 = (a + 2b + 3d + 40)/200 = 0.42 and pass^2 = (b + 3d + 60)/300 = 0.2733, so a = 12, b = 10, d = 4.
    counts = np.repeat([0, 1, 2, 3, 4], [14, 12, 10, 4, 10])
    measures = measure(run(*([1.0] * c + [0.0] * (4 - c) for c in counts)))
    assert values(measures.metrics.pass_pow_k) == [0.42, 0.273, 0.22, 0.2]
    assert values(measures.metrics.pass_at_k) == [0.42, 0.567, 0.66, 0.72]
    buckets = measures.buckets
    assert [len(buckets.always), len(buckets.sometimes), len(buckets.never), len(buckets.missing)] == [10, 26, 14, 0]
    assert measures.metrics.consistency.value == 0.2
    assert measures.metrics.retry_value.value == pytest.approx(0.72 - 0.42)


def test_uneven_repeats_weigh_tasks_equally_and_rollouts_beside_it() -> None:
    metrics = measure(run([1, 0, 1, 0], [0], [1, 1])).metrics
    # Task rates 1/2, 0, 1; 4 of 7 rollouts succeed.
    assert metrics.pass_at_1.value == pytest.approx(0.5)
    assert metrics.pass_at_1_micro.value == pytest.approx(4 / 7)
    assert (metrics.pass_at_1.n, metrics.pass_at_1_micro.n) == (3, 7)
    # pass@2: 1 − C(2,2)/C(4,2) = 5/6 and 1, the one-rollout task being short.
    assert metrics.pass_at_k["2"].value == pytest.approx(11 / 12)
    assert (metrics.pass_at_k["2"].n, metrics.pass_at_k["2"].short) == (2, 1)


def test_equal_repeats_make_micro_and_macro_agree() -> None:
    metrics = measure(run([1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0])).metrics
    assert metrics.pass_at_1_micro.value == metrics.pass_at_1.value
    assert metrics.pass_at_1_micro.se == pytest.approx(metrics.pass_at_1.se)
    assert metrics.pass_at_1_micro.ci95 == pytest.approx(metrics.pass_at_1.ci95)


def test_missing_and_unscored_rollouts_are_not_failures() -> None:
    measures = measure(run([1, None], [0, 1], [], [None, None], expected=[2, 2, 2, 2]))
    assert measures.metrics.pass_at_1.value == pytest.approx(0.75)
    # Rows present 2 + 2 + 0 + 2 of 8 expected.
    assert measures.metrics.coverage == Metric(value=0.75, n=8, definition="rollouts present / rollouts expected")
    assert measures.buckets == Buckets(always=["t0"], sometimes=["t1"], never=[], missing=["t2", "t3"])
    assert [(task.rollouts, task.n, task.rate) for task in measures.tasks] == [
        (2, 1, 1.0),
        (2, 2, 0.5),
        (0, 0, None),
        (2, 0, None),
    ]


def test_surplus_rollouts_do_not_hide_missing_ones() -> None:
    assert measure(run([1, 1, 1], [0], expected=[2, 2])).metrics.coverage.value == 0.75


def test_graded_rewards_without_a_rule_leave_mean_reward_as_headline() -> None:
    measures = measure(run([0.5, 1.0], [0.25, 0.25], [], continuous=True))
    assert measures.headline == "mean_reward"
    assert measures.metrics.mean_reward.value == 0.5
    assert (measures.metrics.pass_at_1.value, measures.metrics.pass_at_1.n) == (None, 0)
    assert (measures.metrics.pass_at_k, measures.metrics.consistency.value) == ({}, None)
    assert measures.buckets == Buckets(always=[], sometimes=[], never=[], missing=["t2"])
    assert (measures.misplacement, measures.lowest_rate_behind_always) == ([], None)


def test_one_rollout_per_task_says_nothing_about_retries() -> None:
    measures = measure(run([1], [0], [1]))
    assert (measures.metrics.retry_value.value, measures.metrics.retry_value.short) == (None, 3)
    assert measures.variance is None


def test_retries_are_valued_at_the_most_common_number_of_rollouts() -> None:
    # k = 2: gains of 1 − 1/2 and 0; the task with one rollout is short and does not drag k down to 1.
    retry = measure(run([1, 0], [0, 0], [1])).metrics.retry_value
    assert (retry.value, retry.n, retry.short) == (0.25, 2, 1)


def test_an_empty_run_has_no_numbers() -> None:
    nothing = np.array([], dtype=np.int64)
    empty = Outcomes(
        tasks=[],
        task=nothing,
        repeat=nothing,
        reward=nothing.astype(float),
        success=nothing.astype(float),
        infrastructure=nothing.astype(bool),
        expected=nothing,
    )
    measures = measure(empty)
    assert (measures.metrics.mean_reward.value, measures.metrics.coverage.value, measures.repeats) == (None, None, 0)


def test_measures_survive_json() -> None:
    measures = measure(run([1, 0], [1, 1], [], expected=[2, 2, 2], cluster=[0, 1, 1]))
    assert msgspec.json.decode(msgspec.json.encode(measures), type=type(measures)) == measures


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry for each of the 1 tasks"):
        run([1, 0], expected=[2, 2])


def test_all_names_what_the_room_offers() -> None:
    assert sorted(set(blade.metrics.__all__)) == sorted(blade.metrics.__all__)
    public = {
        name for name, value in vars(blade.metrics).items() if getattr(value, "__module__", "").startswith("blade")
    }
    assert public <= set(blade.metrics.__all__)
