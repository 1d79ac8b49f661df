from pathlib import Path

import numpy as np
import pytest
from rollout_rows import rollout, without
from two_runs import outcomes, rows_of, run_of

from blade.comparison import compare
from blade.comparison.pairing import pair
from blade.errors import UsageError


def test_a_task_is_paired_when_both_runs_scored_it() -> None:
    base = outcomes([[1.0], [1.0], [None], [0.0]], tasks=["a", "b", "c", "d"])
    candidate = outcomes([[0.0], [None], [1.0], [1.0]], tasks=["b", "d", "a", "e"])
    found = pair(base, candidate)

    # a: 1 → 1, b: 1 → 0; c and e are in one run, d has no score in the candidate
    assert found.tasks == ["a", "b", "c", "d", "e"]
    assert found.names(found.paired) == ["a", "b"]
    assert found.differences.tolist() == [0.0, -1.0]


def test_uneven_repeats_weigh_tasks_alike() -> None:
    found = pair(outcomes([[1.0, 0.0], [0.0]]), outcomes([[1.0, 1.0, 1.0, 0.0], [1.0]]))

    # 3/4 − 1/2 and 1 − 0
    assert found.differences.tolist() == [0.25, 1.0]


def test_order_of_tasks_is_natural_whatever_the_runs_order() -> None:
    found = pair(outcomes([[1.0], [0.0]], tasks=["t10", "t2"]), outcomes([[0.0], [0.0]], tasks=["t2", "t10"]))

    assert found.tasks == ["t2", "t10"]
    assert found.differences.tolist() == [0.0, -1.0]


def test_rounding_is_no_difference() -> None:
    found = pair(outcomes([[0.1, 0.1, 0.1]], graded=True), outcomes([[0.1]], graded=True))

    assert (0.1 + 0.1 + 0.1) / 3 != 0.1
    assert found.differences.tolist() == [0.0]


def test_tasks_that_either_run_puts_together_are_one_cluster() -> None:
    base = outcomes([[1.0]] * 4, cluster=[5, 5, 6, 7])
    candidate = outcomes([[1.0]] * 4, cluster=[0, 1, 1, 2])

    # The base joins t0 and t1, the candidate t1 and t2; t3 stays alone.
    assert pair(base, candidate).cluster is not None
    assert np.asarray(pair(base, candidate).cluster).tolist() == [0, 0, 0, 3]


def test_runs_without_a_task_in_common_are_refused_with_what_they_have() -> None:
    with pytest.raises(UsageError, match=r"no scored task in common \(their tasks begin a, b and x\)"):
        pair(outcomes([[1.0], [1.0]], tasks=["a", "b"]), outcomes([[1.0]], tasks=["x"]))


def test_what_is_not_paired_is_counted_and_listed_on_its_side(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", [rollout(t, 0, float(t < 3)) for t in range(5)])
    rows = [rollout(t, 0, float(t < 3)) for t in range(2, 4)] + [without(rollout(4, 0), "reward")]
    found = compare(base, run_of(tmp_path / "b", rows))

    # Base: 3/5 over all, 1/2 over tasks 2 and 3. Tasks 0 and 1 are unknown to the candidate, 4 has no score there.
    assert (found.base.headline.value, found.base.paired, found.paired_tasks) == (0.6, 0.5, 2)
    assert (found.base.not_in_other_tasks, found.base.only_scored_here_tasks) == (["0", "1"], ["4"])
    assert (found.candidate.not_in_other, found.candidate.only_scored_here) == (0, 0)
    assert any("3 of 5 tasks have no counterpart; its headline is 60.0 %" in warning for warning in found.warnings)


def test_runs_judged_by_different_rules_are_refused(tmp_path: Path) -> None:
    rows = rows_of([[1.0, 0.0], [0.5, 0.0]])
    base = run_of(tmp_path / "a", rows, success="reward >= 1.0")

    with pytest.raises(UsageError, match=r"different rules \(reward >= 1.0 and reward >= 0.5\); give one"):
        compare(base, run_of(tmp_path / "b", rows, success="reward >= 0.5"))


def test_one_graded_run_makes_the_comparison_graded(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[1.0], [0.0]]))
    found = compare(base, run_of(tmp_path / "b", rows_of([[0.5], [0.25]])))

    # (0.5 − 1 + 0.25 − 0) / 2
    assert (found.metric, found.delta.value, found.transitions, found.mcnemar) == ("mean_reward", -0.125, {}, None)
    assert found.success.kind == "continuous"
    assert "mean reward of all is compared" in found.success.source


def test_a_run_without_scores_is_refused(tmp_path: Path) -> None:
    scored = run_of(tmp_path / "a", rows_of([[1.0]]))
    unscored = run_of(tmp_path / "b", [without(rollout(0, 0), "reward")])

    with pytest.raises(UsageError, match="no rollout has a score"):
        compare(scored, unscored)
