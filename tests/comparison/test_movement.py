from pathlib import Path

from rollout_rows import rollout, without
from two_runs import outcomes, rows_of, run_of

from blade.comparison import CompareOptions, compare
from blade.comparison.comparison import Driver, DriverSide, Failing, McNemar
from blade.comparison.movement import count_majorities
from blade.comparison.pairing import pair


def test_tasks_move_between_buckets(tmp_path: Path) -> None:
    base = rows_of([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    candidate = [*rows_of([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), without(rollout(4, 0), "reward")]
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", candidate)).transitions

    moved = {(before, after): n for before, row in found.items() for after, n in row.items() if n}
    assert moved == {
        ("always", "always"): 1,
        ("sometimes", "never"): 1,
        ("never", "sometimes"): 1,
        ("always", "never"): 1,
        ("always", "missing"): 1,
    }


def test_a_task_passes_when_more_than_half_of_it_does() -> None:
    base = outcomes([[1.0, 1.0, 0.0], [1.0, 0.0], [1.0], [0.0]])
    candidate = outcomes([[1.0, 1.0, 1.0], [1.0, 1.0], [0.0], [0.0]])

    # Half is not more than half: t1 passes in the candidate alone. One on each side: p = 1.
    assert count_majorities(pair(base, candidate)) == McNemar(
        both=1, only_base=1, only_candidate=1, neither=1, p_value=1.0
    )


def test_a_driver_says_what_happened_and_what_to_read(tmp_path: Path) -> None:
    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    base = rows_of([[1.0, 0.0], [1.0, 1.0]])
    worse = [rollout(0, 0, 1.0), rollout(0, 1, 0.0), rollout(1, 3, 1.0), rollout(1, 4, 0.0, response=cut)]
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", worse))

    # A passing rollout of the better run, a failing one of the worse: 1:4 failed.
    assert found.drivers == [
        Driver(
            task="1",
            direction="regressed",
            base=DriverSide(c=2, n=2, mean=1.0, bucket="always", citation="1:0"),
            candidate=DriverSide(c=1, n=2, mean=0.5, bucket="sometimes", citation="1:4"),
            delta=-0.5,
            contribution=-0.25,
            failing=[Failing(part="truncated", title="ran out of tokens or turns", rollouts=1)],
        )
    ]


def test_regressions_come_first_the_largest_of_each_direction_on_top(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))
    after = rows_of([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    found = compare(base, run_of(tmp_path / "b", after), CompareOptions(drivers=2))

    assert [(driver.task, driver.delta) for driver in found.drivers] == [
        ("4", -1.0),
        ("1", -0.5),
        ("3", 1.0),
        ("0", 0.5),
    ]
    assert (found.regressed_tasks, found.improved_tasks) == (3, 2)


def test_in_graded_runs_the_lowest_and_the_highest_rewards_are_read(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[0.2, 0.9, 0.4]]))
    (driver,) = compare(base, run_of(tmp_path / "b", rows_of([[0.3, 0.1, 0.2]]))).drivers

    assert (driver.base.citation, driver.candidate.citation) == ("0:1", "0:1")
    assert (driver.base.c, driver.base.bucket, driver.base.n) == (None, None, 3)
