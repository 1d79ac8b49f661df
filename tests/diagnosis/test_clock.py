from pathlib import Path

import pytest
from rollout_rows import Row, read_rows, rollout

from blade.diagnosis.clock import Clock


def clock(folder: Path, rows: list[Row]) -> Clock:
    return Clock(read_rows(folder, rows).table)


def test_four_rollouts_of_one_repeat_in_five_are_hardly_chance(tmp_path: Path) -> None:
    found = clock(tmp_path, [rollout(task, repeat) for task in range(4) for repeat in range(5)])
    # rows are sorted by task, then repeat; (1/5)^3 = 0.008
    assert found.chance_of_repeat([0, 5, 10, 15]) == pytest.approx(0.008)
    assert found.chance([0, 5, 10, 16]) == 1.0


def test_rollouts_beside_others_of_their_repeat_share_their_chance(tmp_path: Path) -> None:
    found = clock(tmp_path, [rollout(task, repeat) for task in range(4) for repeat in range(5)])
    # three of four in one repeat of five: 5 * (4 * 0.2^3 * 0.8 + 0.2^4)
    assert found.chance_beside([0], [0, 5, 10, 16]) == pytest.approx(0.136)
    assert found.chance_beside([16], [0, 5, 10, 16]) == 1.0


def test_rollouts_of_the_only_repeat_are_chance(tmp_path: Path) -> None:
    assert clock(tmp_path, [rollout(task, 0) for task in range(20)]).chance(range(20)) == 1.0


def test_rollouts_made_one_after_the_other_are_hardly_chance(tmp_path: Path) -> None:
    found = clock(tmp_path, [rollout(task, 0, response={"created_at": 1000.0 + task}) for task in range(101)])
    # three of 101 places in a row span 0.02: 3 * 0.02^2 - 2 * 0.02^3
    assert found.chance_of_time([40, 41, 42]) == pytest.approx(0.001184)
    assert found.chance([40, 41, 42]) == found.chance_of_time([40, 41, 42])
