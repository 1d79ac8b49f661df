import numpy as np
import pytest
from two_runs import Rewards, outcomes

from blade.comparison.comparison import Settling
from blade.comparison.difference import Spread, spread_of
from blade.comparison.pairing import pair
from blade.comparison.verdict import REACH, noise_of, repeats_now, settle_tie, within_part


def settle(base: Rewards, candidate: Rewards) -> Settling:
    pairing = pair(outcomes(base), outcomes(candidate))
    spread = spread_of(pairing.differences, cluster=None, scale=pairing.scale)
    found = settle_tie(pairing, float(pairing.differences.mean()), spread)
    assert found is not None
    return found


def test_tasks_needed_grow_with_the_square_of_what_is_missing() -> None:
    base, candidate = [[0.0]] * 10, [[1.0]] * 3 + [[0.0]] * 7
    found = settle([*base[:9], [1.0]], candidate)

    # Differences +1 three times, −1 once, 0 six times: mean 0.2, squares 4 − 10 · 0.04 = 3.6, se² = 3.6 / 90 = 0.04.
    # Wanted se = 0.2 / 2.8016 = 0.07139: 10 · 0.04 / 0.005096 = 78.49
    assert found.tasks == 79
    assert found.repeats is None
    assert "cannot tell what more repeats would do" in found.sentence


def test_noise_of_repeats_is_the_sample_variance_over_repeats() -> None:
    pairing = pair(outcomes([[1.0, 0.0], [1.0, 1.0], [0.0]]), outcomes([[1.0, 0.0], [1.0, 1.0], [0.0]]))

    # Variances 0.5 and 0; the task tried once is taken at their mean 0.25: (0.5/2 + 0 + 0.25/1) / 9
    assert noise_of(pairing.base, pairing.paired) == pytest.approx(0.5 / 9)
    assert within_part(pairing) == pytest.approx(1.0 / 9)
    # Harmonic mean of 2, 2, 1, 2, 2, 1
    assert repeats_now(pairing) == pytest.approx(6 / 4)


def test_noise_alone_is_cured_by_repeats() -> None:
    # Every task is a coin in both runs; the candidate happened to win once more.
    coins = [[1.0, 0.0, 1.0, 0.0]] * 12
    found = settle(coins, [[1.0, 1.0, 1.0, 0.0], *coins[1:]])

    assert found.repeats is not None and found.repeats > 4
    assert f"or about {found.repeats:,} repeats of today's tasks" in found.sentence


def test_tasks_that_truly_differ_are_not_cured_by_repeats() -> None:
    base = [[0.0, 0.0]] * 5 + [[1.0, 1.0]] * 5
    found = settle(base, [[1.0, 1.0]] * 5 + [[0.0, 0.0]] * 4 + [[1.0, 1.0]])

    # No noise within tasks at all, so the floor is the error itself: squares 9 − 10 · 0.01, se² = 8.9 / 90.
    assert found.repeats is None
    assert found.floor == pytest.approx(np.sqrt(8.9 / 90))
    assert "no number of repeats would do" in found.sentence


def test_no_difference_leaves_nothing_to_settle() -> None:
    assert settle([[1.0]] * 3, [[1.0]] * 3).sentence == "there is no difference to settle"


def test_one_task_tells_nothing() -> None:
    pairing = pair(outcomes([[1.0]]), outcomes([[0.0]]))

    assert settle_tie(pairing, -1.0, None) is None


def test_the_reach_is_that_of_80_percent_power() -> None:
    assert pytest.approx(1.959964 + 0.841621, abs=1e-6) == REACH
    assert Spread(0.0, 1.0, 1e9).mde == pytest.approx(REACH, abs=1e-6)


def test_what_did_not_settle_it_is_never_said_to_be_enough() -> None:
    # By its error alone a difference this large is told; whoever asks was told that it is a tie.
    found = settle([[0.0, 0.0]] * 4, [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])

    assert (found.tasks or 0) > 4
    assert found.repeats is None or found.repeats > 2
