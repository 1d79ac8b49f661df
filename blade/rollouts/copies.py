"""Runs that are another run's rollouts under a new name."""

import numpy as np

from blade.rollouts.table import Run

SAMPLE = 200


def is_copy(run: Run, other: Run) -> bool:
    """Whether two runs hold the same keys, scores and trajectories; a sample of large runs is read to make sure."""
    mine, theirs = run.table, other.table
    if len(mine) != len(theirs) or not len(mine) or mine.tasks != theirs.tasks:
        return False
    same_keys = np.array_equal(mine.task, theirs.task) and np.array_equal(mine.repeat, theirs.repeat)
    if not same_keys or not np.array_equal(mine.reward, theirs.reward, equal_nan=True):
        return False
    rows = np.unique(np.linspace(0, len(mine) - 1, min(len(mine), SAMPLE)).astype(np.int64)).tolist()
    pairs = zip(by_key(run, rows), by_key(other, rows), strict=True)
    return all(first == second for first, second in pairs) and says_anything(run, rows)


def by_key(run: Run, rows: list[int]) -> list[list[str]]:
    found = {(rollout.task, rollout.repeat): [item.text for item in rollout.items] for rollout in run.rollouts(rows)}
    return [found[key] for key in sorted(found)]


def says_anything(run: Run, rows: list[int]) -> bool:
    """Whether there is output to compare; runs that hold nothing but scores may agree by chance."""
    return bool((run.table.rows.fact("text_bytes")[rows] > 0).any())
