"""Last words that rollouts of many tasks share, and that fail where other rollouts of the same tasks pass.

Nobody answers different tasks with the same sentence and is always wrong: such a sentence is an error message, a
refusal or another stock phrase. That can be told without knowing its words, so it also hears what no list knows.
"""

import numpy as np

from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts.phrases import MACHINE_BIT
from blade.rollouts.table import RolloutTable

FEWEST_TASKS = 3
CHANCE = 1e-3
"""How likely it may be at most that some shared ending fails by chance, given how often its tasks pass otherwise."""


def shared_endings(table: RolloutTable) -> Bools:
    """Rows whose last words are shared, and fail, beyond chance."""
    prints = table.rows.fact("ending")
    scored = ~np.isnan(table.reward)
    if not scored.any() or not (prints > 0).any():
        return np.zeros(len(table), dtype=bool)
    passing = scored & (table.reward > np.nanmin(table.reward))
    pairs, place = np.unique(np.stack([prints, table.task]), axis=1, return_inverse=True)
    ending, first = np.unique(pairs[0], return_index=True)
    group = np.repeat(np.arange(len(ending)), np.diff([*first, pairs.shape[1]]))
    rows = np.bincount(place.ravel(), minlength=pairs.shape[1])
    chances = log_chances(pairs[1], rows, table.task, passing)
    passed = np.bincount(group[place.ravel()], weights=passing, minlength=len(ending))
    shared = (np.bincount(group) >= FEWEST_TASKS) & (ending > 0)
    # Of many endings, one is always wrong by chance sooner or later.
    unlikely = np.bincount(group, weights=chances) < np.log(CHANCE / max(1, shared.sum()))
    return np.asarray((shared & (passed == 0) & unlikely)[group[place.ravel()]])


def log_chances(task: Ints, rows: Ints, tasks: Ints, passing: Bools) -> Floats:
    """For some rows of some tasks: the logarithm of the chance that all fail, by the other rows of each task."""
    width = int(tasks.max()) + 1
    others = np.bincount(tasks, minlength=width)[task] - rows
    passed = np.bincount(tasks, weights=passing, minlength=width)[task]
    return np.asarray(rows * np.log1p(-np.minimum(passed, others) / (others + 1.0)))


def is_machine(table: RolloutTable) -> Bools:
    """Rows whose last words nobody would say to a person."""
    return np.asarray((table.rows.fact("ending") & MACHINE_BIT) > 0)
