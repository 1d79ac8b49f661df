"""Small runs from literal rewards, as files and as outcomes, for the tests of comparison."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rollout_rows import Row, in_own_words, read_rows, rollout

from blade.diagnosis import AnalyzeOptions, Diagnosed, diagnose
from blade.metrics import Outcomes

Rewards = Sequence[Sequence[float | None]]


def outcomes(
    rewards: Rewards, *, tasks: Sequence[str] | None = None, cluster: Sequence[int] | None = None, graded: bool = False
) -> Outcomes:
    """Outcomes of tasks t0, t1, … (or `tasks`) with these rewards; None is an unscored row."""
    flat = np.array([np.nan if reward is None else reward for task in rewards for reward in task], dtype=np.float64)
    return Outcomes(
        tasks=list(tasks) if tasks else [f"t{i}" for i in range(len(rewards))],
        task=np.repeat(np.arange(len(rewards)), [len(task) for task in rewards]),
        repeat=np.array([i for task in rewards for i in range(len(task))], dtype=np.int64),
        reward=flat,
        success=np.full(len(flat), np.nan) if graded else flat,
        infrastructure=np.zeros(len(flat), dtype=np.bool_),
        expected=np.array([len(task) for task in rewards]),
        cluster=None if cluster is None else np.array(cluster),
    )


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
