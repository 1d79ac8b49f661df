import msgspec
import pytest
from small_runs import run

from blade.metrics import split_variance


def test_variance_splits_by_the_method_of_moments() -> None:
    # Task rates 1, 1/2, 0 of 2 rollouts. Within: (0 + 1/2 + 0)/3 = 1/6. Variance of rates 1/4, so between
    # 1/4 − (1/6)/2 = 1/6. Variance of the mean of 3 tasks: (1/6 + (1/6)/2)/3 = 1/12.
    split = split_variance(run([1, 1], [1, 0], [0, 0]))
    assert split is not None
    assert msgspec.structs.asdict(split) == pytest.approx(
        {
            "tasks": 3,
            "repeats": 2.0,
            "between": 1 / 6,
            "within": 1 / 6,
            "between_share": 0.5,
            "within_share": 0.5,
            "se_now": (1 / 12) ** 0.5,
            "se_repeats_doubled": ((1 / 6 + 1 / 24) / 3) ** 0.5,
            "se_tasks_doubled": (1 / 24) ** 0.5,
            "se_repeats_unlimited": (1 / 18) ** 0.5,
        }
    )


def test_tasks_alike_have_no_variance_between_them() -> None:
    split = split_variance(run([1, 0], [0, 1], [1, 0]))
    assert split is not None
    assert (split.between, split.between_share, split.within_share) == (0.0, 0.0, 1.0)


def test_unanimous_runs_have_no_shares() -> None:
    split = split_variance(run([1, 1], [1, 1]))
    assert split is not None
    assert (split.between, split.within, split.between_share) == (0.0, 0.0, None)


@pytest.mark.parametrize("rewards", [[[1], [0]], [[1, 0]], [[], []]], ids=["no_repeats", "one_task", "no_rows"])
def test_variance_needs_two_tasks_and_repeats(rewards: list[list[float]]) -> None:
    assert split_variance(run(*rewards)) is None
