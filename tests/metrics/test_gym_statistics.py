import pytest

from blade.metrics import field_stats, pass_metrics
from blade.metrics.gym import GymMetrics

A = [[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]


def family(metrics: GymMetrics, pattern: str, ks: range) -> list[object]:
    return [metrics.get(pattern.format(k=k)) for k in ks]


def test_binary_scores_give_unbiased_pass_at_k_and_macro_averages() -> None:
    metrics, ks = pass_metrics(A), range(1, 5)
    # pass@2 = (1 − C(2,2)/C(4,2) + 0 + 1)/3 = (5/6 + 1)/3.
    assert family(metrics, "pass@{k}/accuracy", ks) == pytest.approx([50, 1100 / 18, 200 / 3, 200 / 3], abs=1e-12)
    assert family(metrics, "pass@1[avg-of-{k}]/accuracy", ks) == pytest.approx([200 / 3, 50, 500 / 9, 50], abs=1e-12)


def test_runs_are_the_ith_rollouts_and_their_noise_is_a_sample_deviation() -> None:
    metrics = pass_metrics(A)
    runs = metrics["per_sample_aggregate"]
    assert isinstance(runs, dict)
    assert runs["accuracy"] == pytest.approx([200 / 3, 100 / 3, 200 / 3, 100 / 3])
    # Runs ± 50/3 around 50: √(4·(50/3)²/3) = 100/(3√3) = 19.245, and half of it.
    assert metrics["pass@1[avg-of-4]/accuracy/std_dev_across_runs"] == pytest.approx(100 / 27**0.5)
    assert metrics["pass@1[avg-of-4]/accuracy/std_err_across_runs"] == pytest.approx(50 / 27**0.5)
    assert "pass@1[avg-of-1]/accuracy/std_dev_across_runs" not in metrics


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([[0.5, 1], [0, 1], [0.2, 0.1]], [40, 220 / 3], id="graded_and_binary_tasks_mix_estimators"),
        pytest.param([[-2, 10], [0, 0]], [-100, 500], id="unbounded_scores_are_not_clipped"),
        pytest.param([[1, 0, 1, 0], [0], [1, 1]], [50, 1100 / 12, 100, 100], id="short_tasks_leave_the_denominator"),
    ],
)
def test_pass_at_k_keeps_gyms_edge_cases(scores: list[list[float]], expected: list[float]) -> None:
    metrics = pass_metrics(scores)
    assert family(metrics, "pass@{k}/accuracy", range(1, len(expected) + 1)) == pytest.approx(expected, abs=1e-12)


def test_majority_counts_answer_and_score_together_and_averages_ties() -> None:
    scores = [[1, 0, 1], [0, 1, 1], [0, 0, 0]]
    answers: list[list[str | None]] = [["x", "y", "x"], ["z", "z", None], [None, None, None]]
    metrics = pass_metrics(scores, answers=answers)
    # k = 3: x wins with 1; z judged both ways ties at 1/2; no answer at all is 0. Mean 1/2.
    assert metrics["majority@3/accuracy"] == pytest.approx(50.0)
    # k = 1: 1, 0, 0.
    assert metrics["majority@1/accuracy"] == pytest.approx(100 / 3)
    assert family(metrics, "majority@{k}/no_answer", range(1, 4)) == [0.0, 0.0, 0.0]
    # Missing answers per task 0, 1 and 3 of 3: pass@1 (0 + 1/3 + 1)/3, pass@2 (0 + 2/3 + 1)/3.
    assert metrics["pass@1/no_answer"] == pytest.approx(400 / 9)
    assert metrics["pass@2/no_answer"] == pytest.approx(500 / 9)


def test_majority_is_absent_without_answers_and_nothing_comes_from_nothing() -> None:
    assert not any(key.startswith("majority") for key in pass_metrics(A))
    assert (pass_metrics([]), pass_metrics([[], []])) == ({}, {})


def test_field_stats_skip_what_is_not_a_number_per_field() -> None:
    rows: list[dict[str, object]] = [
        {"reward": 1.0, "ok": True, "x": None, "s": "a"},
        {"reward": 0.0, "ok": False, "x": 3},
    ]
    assert field_stats(rows) == {
        **{"mean/reward": 0.5, "mean/ok": 0.5, "mean/x": 3.0},
        **{"max/reward": 1.0, "max/ok": 1.0, "max/x": 3.0},
        **{"min/reward": 0.0, "min/ok": 0.0, "min/x": 3.0},
        **{"median/reward": 0.5, "median/ok": 0.5, "median/x": 3.0},
        # Two values one apart: √(2 · ¼ / 1); x was seen once, so it has no deviation.
        **{"std/reward": pytest.approx(0.5**0.5), "std/ok": pytest.approx(0.5**0.5)},
    }


def test_a_single_row_has_deviation_zero() -> None:
    assert field_stats([{"reward": 1.0}])["std/reward"] == 0.0
    assert field_stats([]) == {}
