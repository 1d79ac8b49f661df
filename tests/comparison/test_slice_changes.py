from collections.abc import Sequence
from pathlib import Path

import pytest
from rollout_rows import Row, rollout
from two_runs import run_of

from blade.comparison import CompareOptions, compare
from blade.errors import UsageError


def rows(level: str, rewards: Sequence[float], *, start: int = 0) -> list[Row]:
    """One rollout of each task, all at one level."""
    return [rollout(start + task, 0, reward, level=level) for task, reward in enumerate(rewards)]


def test_every_level_has_its_own_difference_and_an_adjusted_p(tmp_path: Path) -> None:
    base = rows("easy", [1.0] * 8) + rows("hard", [0.0] * 4 + [1.0] * 4, start=8)
    after = rows("easy", [0.0] * 8) + rows("hard", [0.0] * 4 + [1.0] * 4, start=8)
    (cut,) = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", after)).slices

    easy, hard = cut.levels
    assert (cut.field, cut.asked, cut.unassigned, cut.simpson) == ("level", False, 0, False)
    assert (easy.base, easy.candidate, easy.base_tasks) == (1.0, 0.0, 8)
    assert easy.delta is not None and hard.delta is not None
    # Eight tasks that all got worse: p = 2 / 2^8, times two levels.
    assert (easy.delta.value, easy.delta.p_value, easy.p_holm) == (-1.0, 2 / 256, 4 / 256)
    assert (hard.delta.value, hard.delta.p_value, hard.p_holm) == (0.0, 1.0, 1.0)


def test_a_headline_that_moves_against_every_level_is_called_out(tmp_path: Path) -> None:
    # The candidate is worse at both levels but has mostly easy tasks: 0.5 over all in the base, 0.7 in the candidate.
    base = rows("easy", [1.0] * 4) + rows("hard", [1.0] * 2 + [0.0] * 6, start=20)
    after = rows("easy", [1.0] * 7 + [0.0]) + rows("hard", [0.0] * 2, start=20)
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", after))
    (cut,) = found.slices

    # Easy 1 → 7/8 over 12 tasks, hard 1/4 → 0 over 10: (−1/8 · 12 − 1/4 · 10) / 22
    assert found.change.value == pytest.approx(0.2)
    assert cut.simpson
    assert cut.standardised == pytest.approx(-4 / 22)
    assert any("Simpson's paradox" in warning for warning in found.warnings)


def test_a_field_can_be_asked_for(tmp_path: Path) -> None:
    first = [rollout(t, 0, float(t % 2), topic=f"t{t % 3}", odd=str(t)) for t in range(6)]
    second = [rollout(t, 0, 1.0, topic=f"t{t % 3}", odd=str(t)) for t in range(6)]
    found = compare(
        run_of(tmp_path / "a", first), run_of(tmp_path / "b", second), CompareOptions(slices=("odd",))
    ).slices[0]

    assert (found.field, found.asked, [level.level for level in found.levels]) == ("odd", True, list("012345"))


def test_a_field_that_a_run_lacks_cannot_be_asked_for(tmp_path: Path) -> None:
    with_field = run_of(tmp_path / "a", rows("easy", [1.0, 0.0]))
    without_field = run_of(tmp_path / "b", [rollout(0, 0, 1.0), rollout(1, 0, 1.0)])

    with pytest.raises(UsageError, match="no row has a field 'level'"):
        compare(with_field, without_field, CompareOptions(slices=("level",)))


def test_a_list_puts_a_task_at_each_of_its_levels(tmp_path: Path) -> None:
    first = [rollout(0, 0, 0.0, tools=["a", "b"]), rollout(1, 0, 1.0, tools=["b"])]
    second = [rollout(0, 0, 1.0, tools=["a", "b"]), rollout(1, 0, 1.0, tools=["b"])]
    options = CompareOptions(slices=("tools",))
    (cut,) = compare(run_of(tmp_path / "a", first), run_of(tmp_path / "b", second), options).slices

    assert [(level.level, level.base, level.candidate) for level in cut.levels] == [("a", 0.0, 1.0), ("b", 0.5, 1.0)]
