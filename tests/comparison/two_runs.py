"""Small runs from literal rewards, as files and as outcomes, for the tests of comparison."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rollout_rows import Row, in_own_words, read_rows, rollout
from small_runs import run

from blade.diagnosis import AnalyzeOptions, Diagnosed, diagnose
from blade.metrics import Outcomes

Rewards = Sequence[Sequence[float | None]]


def outcomes(
    rewards: Rewards, *, tasks: Sequence[str] | None = None, cluster: Sequence[int] | None = None, graded: bool = False
) -> Outcomes:
    """Outcomes of tasks t0, t1, … (or `tasks`) with these rewards; None is an unscored row."""
    return run(*rewards, tasks=tasks, cluster=cluster, continuous=graded)


def rows_of(rewards: Rewards, **fields: Any) -> list[Row]:
    """Gym rows of tasks 0, 1, … with these rewards."""
    return [
        rollout(task, repeat, reward, **fields)
        for task, attempts in enumerate(rewards)
        for repeat, reward in enumerate(attempts)
    ]


def run_of(folder: Path, rows: Sequence[Row], **options: Any) -> Diagnosed:
    """The diagnosed run that some rows make, each answer in the run's own words; `options` go to the analysis."""
    return diagnose(read_rows(folder, [in_own_words(row, folder.name) for row in rows]), AnalyzeOptions(**options))
