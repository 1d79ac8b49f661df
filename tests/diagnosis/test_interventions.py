"""What repairs would be worth, and how sure that is."""

from pathlib import Path

import pytest
from rollout_rows import analyze_rows, rollout

from blade.diagnosis import Label, relabel


def test_teaching_what_is_not_known_can_cost_no_points(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [rollout(task, 0, float(task > 0)) for task in range(5)])
    assert analysis.interventions == []
    label = Label(task="0", cause="KG", confidence="high", author="human:ada", reason="never heard of it")
    (work,) = relabel(analysis, {"0": label}).interventions

    # One task of five fails: Student's limits are 20 ± 55.5 points, and no repair leads below 80 % or above 100 %.
    assert (work.target, work.in_tasks) == ("KG", ["0"]) and work.headroom.value == pytest.approx(0.2)
    assert work.headroom.ci95 == pytest.approx((0.0, 0.2))


def test_the_best_rollout_of_every_task_is_no_worse_than_all_of_them(tmp_path: Path) -> None:
    rows = [rollout(task, repeat, float(task > 0 or repeat)) for task in range(5) for repeat in range(2)]
    (oracle,) = [row for row in analyze_rows(tmp_path, rows).headroom if row.mode == "oracle"]

    # One task of five gains a half: 10 ± 27.8 points.
    assert oracle.gain.ci95 == pytest.approx((0.0, 0.1))


def test_a_mode_that_all_rollouts_of_a_task_have_is_bounded_by_full_score(tmp_path: Path) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    rows = [rollout(t, n, float(t > 1), response=cut if t < 2 else {}) for t in range(10) for n in range(2)]
    (mode,) = [row for row in analyze_rows(tmp_path, rows).headroom if row.unseen_tasks]

    assert mode.gain.value == pytest.approx(0.2)
    assert (mode.tasks, mode.unseen_tasks) == (2, 2)
