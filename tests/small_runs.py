"""Outcomes of small runs from literal rewards."""

from collections.abc import Sequence

import numpy as np

from blade.metrics import Outcomes


def run(
    *rewards: Sequence[float | None],
    tasks: Sequence[str] | None = None,
    expected: Sequence[int] | None = None,
    infrastructure: Sequence[int] = (),
    cluster: Sequence[int] | None = None,
    continuous: bool = False,
) -> Outcomes:
    """Outcomes of tasks t0, t1, … (or `tasks`) with these rewards; None is unscored; `infrastructure` lists rows."""
    flat = np.array([np.nan if reward is None else reward for task in rewards for reward in task], dtype=np.float64)
    return Outcomes(
        tasks=[f"t{i}" for i in range(len(rewards))] if tasks is None else list(tasks),
        task=np.repeat(np.arange(len(rewards)), [len(task) for task in rewards]),
        repeat=np.array([i for task in rewards for i in range(len(task))], dtype=np.int64),
        reward=flat,
        success=np.full(len(flat), np.nan) if continuous else flat,
        infrastructure=np.isin(np.arange(len(flat)), list(infrastructure)),
        expected=np.array([len(task) for task in rewards] if expected is None else expected),
        cluster=None if cluster is None else np.array(cluster),
    )
