"""Whether the rollouts that a diagnosis was made of are still there, and still what they were."""

from typing import NamedTuple

import numpy as np

from blade.audit.evidence import Evidence
from blade.rollouts import Run

SMALLEST = 1e-9
"""Relative to the scores: what may come of adding them in another order."""


class Drift(NamedTuple):
    """A run whose rows are no longer those that were diagnosed."""

    sentence: str
    is_changed: bool
    """Whether they are others; otherwise they are gone."""


def drifts(evidence: Evidence) -> list[Drift]:
    """What became of the rows of every run, where anything did and somebody knows where they were."""
    found: list[Drift] = []
    for source in evidence.sources:
        name = source.analysis.inputs.run
        then = {task.task: task.mean_reward for task in source.analysis.tasks if task.mean_reward is not None}
        if source.open_run is None:
            continue
        if source.run is None:
            gone = f"the rollouts of {name} are gone; numbers were held against analysis.json alone."
            found.append(Drift(gone, False))
        elif (now := means(source.run)).keys() != then.keys() or any(
            abs(now[task] - score) > SMALLEST * max(1.0, abs(score)) for task, score in then.items()
        ):
            changed = f"the rollouts of {name} have changed since they were diagnosed; run `blade diagnose` again."
            found.append(Drift(changed, True))
    return found


def means(run: Run) -> dict[str, float]:
    """The mean score of every task that has one."""
    scored = ~np.isnan(run.table.reward)
    task, width = run.table.task[scored], len(run.table.tasks)
    count = np.bincount(task, minlength=width)
    total = np.bincount(task, weights=run.table.reward[scored], minlength=width)
    return {run.table.tasks[at]: float(total[at] / count[at]) for at in np.flatnonzero(count).tolist()}
