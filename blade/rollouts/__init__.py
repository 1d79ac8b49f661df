"""What came in: files of rollouts, read into runs."""

from blade.rollouts.columns import Column
from blade.rollouts.duplicates import Duplicate
from blade.rollouts.grouping import ReadOptions
from blade.rollouts.identity import Identity
from blade.rollouts.runs import read_runs
from blade.rollouts.table import RolloutTable, Run
from blade.rollouts.values import BadLine, Item, Rollout, Source, Usage, citation

__all__ = [
    "BadLine",
    "Column",
    "Duplicate",
    "Identity",
    "Item",
    "ReadOptions",
    "Rollout",
    "RolloutTable",
    "Run",
    "Source",
    "Usage",
    "citation",
    "read_runs",
]
