from small_runs import run

from blade.metrics import Outcomes, measure, vary_headline
from blade.metrics.sensitivity import NEGATIVE_REWARDS


def table(outcomes: Outcomes) -> dict[tuple[str, str], tuple[float | None, int, int, int]]:
    return {
        (v.missing, v.infrastructure): (v.metric.value, v.rollouts, v.added_failures, v.removed_rows)
        for v in vary_headline(outcomes)
    }


def test_the_headline_is_printed_under_all_four_ways_of_counting() -> None:
    # t0: pass, infrastructure failure scored 0. t1: pass, one missing. t2: never ran.
    outcomes = run([1, 0], [1], [], expected=[2, 2, 1], infrastructure=[1])
    assert table(outcomes) == {
        ("excluded", "included"): (0.75, 3, 0, 0),
        ("excluded", "excluded"): (1.0, 2, 0, 1),
        ("as_failures", "included"): ((0.5 + 0.5 + 0) / 3, 5, 2, 0),
        ("as_failures", "excluded"): ((1.0 + 0.5 + 0) / 3, 4, 2, 1),
    }


def test_an_unscored_infrastructure_failure_is_missing_unless_it_is_excluded() -> None:
    outcomes = run([1, None], [1, 1], infrastructure=[1])
    assert table(outcomes) == {
        ("excluded", "included"): (1.0, 3, 0, 0),
        ("excluded", "excluded"): (1.0, 3, 0, 1),
        ("as_failures", "included"): (0.75, 4, 1, 0),
        ("as_failures", "excluded"): (1.0, 3, 0, 1),
    }


def test_the_first_variant_is_the_headline_itself() -> None:
    measures = measure(run([1, 0, 1], [None, 1], [0, 0], expected=[3, 3, 3], infrastructure=[5]))
    assert measures.sensitivity[0].metric == measures.metrics.pass_at_1


def test_missing_rewards_count_as_zero_only_when_zero_is_the_worst() -> None:
    graded = vary_headline(run([0.5], [0.5], expected=[2, 1], continuous=True))
    signed = vary_headline(run([0.5], [-0.5], expected=[2, 1], continuous=True))
    assert [v.metric.value for v in graded] == [0.5, 0.5, 0.375, 0.375]
    assert [v.metric.value for v in signed] == [0.0, 0.0, None, None]
    assert [v.reason for v in signed] == [None, None, NEGATIVE_REWARDS, NEGATIVE_REWARDS]
