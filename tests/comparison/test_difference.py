import numpy as np
import pytest

from blade.comparison.difference import Scale, estimate_delta, spread_of
from blade.metrics import estimate_mean


def test_the_interval_of_differences_without_skew_is_students_t() -> None:
    differences = np.asarray([0.4, -0.2, 0.0, 0.6, 0.2])
    delta = estimate_delta(differences, cluster=None, scale=Scale(0.2))

    # mean 0.2; squares 0.04 + 0.16 + 0.04 + 0.16 + 0 = 0.4; se = √(0.4 / 4 / 5) = 0.141421; t(4) = 2.776445
    assert delta.value == pytest.approx(0.2)
    assert delta.se == pytest.approx(0.141421, abs=1e-6)
    assert delta.ci95 == pytest.approx((0.2 - 0.392649, 0.2 + 0.392649), abs=1e-6)


def test_few_tasks_that_jump_make_the_limit_on_their_side_reach_further() -> None:
    delta = estimate_delta(np.asarray([1.0, 1.0] + [0.0] * 8), cluster=None, scale=Scale(1.0))

    # mean 0.2, squares 1.6, se = √(1.6 / 90) = 0.133333, t(9) = 2.262157: ±0.301621;
    # cubes 2 · 0.8³ − 8 · 0.2³ = 0.96, skewness of the mean 0.96 / 1.6^1.5 = 0.474342,
    # by which the upper limit moves out 0.474342 · (1 + 2 t²) / 6 · se = 0.118425, and the lower one not at all
    assert delta.ci95 == pytest.approx((0.2 - 0.301621, 0.2 + 0.301621 + 0.118425), abs=1e-6)


def test_tasks_that_never_differ_leave_room_for_a_difference_that_was_not_seen() -> None:
    delta = estimate_delta(np.zeros(30), cluster=None, scale=Scale(1.0))

    # Two imagined tasks at ±1: se = √(2 / (31 · 32)) = 0.044901; t(29) = 2.045230
    assert (delta.value, delta.se, delta.p_value) == (0.0, 0.0, 1.0)
    assert delta.ci95 == pytest.approx((-0.091833, 0.091833), abs=1e-6)


def test_a_lone_differing_task_is_not_taken_for_all_variation_there_is() -> None:
    differences = np.asarray([0.5] + [0.0] * 19)
    spread = spread_of(differences, cluster=None, scale=Scale(0.25))

    # squares: 0.5² − 20 · 0.025² = 0.2375; with ±0.5 imagined: (0.2375 + 0.5) / (21 · 22)
    assert spread is not None
    assert spread.center == pytest.approx(0.5 / 22)
    assert spread.se == pytest.approx(np.sqrt(0.7375 / 462))


def test_clusters_widen_the_error_as_in_the_headline() -> None:
    differences = np.asarray([0.5, 0.5, 0.5, -0.25, -0.25, 0.0, 1.0, 1.0])
    cluster = np.asarray([0, 0, 0, 1, 1, 2, 3, 3])
    delta = estimate_delta(differences, cluster=cluster, scale=Scale(0.25))

    assert delta.se == estimate_mean(differences, definition="", cluster=cluster).se


def test_one_task_has_no_error_and_no_evidence() -> None:
    delta = estimate_delta(np.asarray([1.0]), cluster=None, scale=Scale(1.0))

    assert (delta.value, delta.se, delta.ci95, delta.p_value) == (1.0, None, None, 1.0)


def test_the_detectable_difference_is_the_one_seen_with_four_in_five_chances() -> None:
    spread = spread_of(np.asarray([0.4, -0.2, 0.0, 0.6, 0.2]), cluster=None, scale=Scale(0.2))

    # (t(4) at 0.975 + t(4) at 0.8) · se = (2.776445 + 0.940965) · 0.141421
    assert spread is not None
    assert spread.mde == pytest.approx(3.717410 * 0.141421, abs=1e-5)


def test_tasks_that_all_change_alike_leave_room_for_one_that_would_not() -> None:
    delta = estimate_delta(np.ones(30), cluster=None, scale=Scale(1.0, 1.0))

    # Imagined at 1 ± 1: se = √(2 / (31 · 32)), and no interval reaches beyond what a rate can change by.
    assert delta.ci95 == pytest.approx((1.0 - 0.091833, 1.0), abs=1e-6)
