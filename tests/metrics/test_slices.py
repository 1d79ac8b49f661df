from small_runs import run

from blade.metrics import BucketCounts, slice_outcomes


def test_slices_come_in_natural_order_with_their_own_headline() -> None:
    outcomes = run([1, 0], [0, 0], [1, 1])
    slices = slice_outcomes(outcomes, ["level 10"] * 2 + ["level 2"] * 4)
    assert [(s.level, s.tasks, s.rollouts, s.headline.value, s.buckets) for s in slices] == [
        ("level 2", 2, 4, 0.5, BucketCounts(always=1, never=1)),
        ("level 10", 1, 2, 0.5, BucketCounts(sometimes=1)),
    ]


def test_a_row_may_belong_to_several_levels_or_none() -> None:
    slices = slice_outcomes(run([1, 0], [1]), [["a", "b", "a"], None, ["b"]])
    assert [(s.level, s.tasks, s.rollouts, s.headline.value) for s in slices] == [("a", 1, 1, 1.0), ("b", 2, 2, 1.0)]


def test_tasks_without_rows_are_missing_in_the_slice_they_belong_to() -> None:
    slices = slice_outcomes(run([1], [], expected=[1, 1]), ["easy"], task_levels=["easy", ["easy", "hard"]])
    assert [(s.level, s.tasks, s.rollouts, s.headline.value, s.buckets) for s in slices] == [
        ("easy", 2, 1, 1.0, BucketCounts(always=1, missing=1)),
        ("hard", 1, 0, None, BucketCounts(missing=1)),
    ]


def test_rows_of_one_task_may_fall_into_different_slices() -> None:
    slices = slice_outcomes(run([1, 0]), ["x", "y"])
    assert [s.buckets for s in slices] == [BucketCounts(always=1), BucketCounts(never=1)]


def test_clusters_follow_tasks_into_slices() -> None:
    outcomes = run([1], [0], [1], [1], cluster=[0, 0, 1, 2])
    one_cluster, two_clusters = slice_outcomes(outcomes, ["a", "a", "b", "b"])
    assert one_cluster.headline.ci95 is None
    assert two_clusters.headline.ci95 is not None


def test_a_continuous_run_has_slices_without_buckets() -> None:
    (only,) = slice_outcomes(run([0.5], [0.25], continuous=True), ["all", "all"])
    assert (only.headline.value, only.buckets) == (0.375, None)


def test_no_levels_give_no_slices() -> None:
    assert slice_outcomes(run([1]), [None]) == []
