"""BLADE, the Benchmark Level Analysis and Diagnostics Engine.

    import blade

    run = blade.read("rollouts.jsonl")
    analysis = blade.analyze(run)
    print(analysis.metrics.pass_at_1.value, analysis.buckets.sometimes)
    blade.compare(run, blade.read("candidate.jsonl")).verdict
    blade.to_polars(run)          # one row per rollout; blade.to_pandas(run) likewise

Names are loaded when they are first used, so that `import blade` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blade._version import __version__

if TYPE_CHECKING:
    from blade.api import analyze, compare, read, read_all, to_pandas, to_polars
    from blade.comparison import Comparison
    from blade.diagnosis import Analysis, AnalyzeOptions, Label
    from blade.errors import BladeError, InputError, ProblemsFound, UsageError
    from blade.rollouts import BadLine, Item, ReadOptions, Rollout, RolloutTable, Run

_HOMES = {
    "Analysis": "blade.diagnosis",
    "AnalyzeOptions": "blade.diagnosis",
    "BadLine": "blade.rollouts",
    "BladeError": "blade.errors",
    "Comparison": "blade.comparison",
    "InputError": "blade.errors",
    "Item": "blade.rollouts",
    "Label": "blade.diagnosis",
    "ProblemsFound": "blade.errors",
    "ReadOptions": "blade.rollouts",
    "Rollout": "blade.rollouts",
    "RolloutTable": "blade.rollouts",
    "Run": "blade.rollouts",
    "UsageError": "blade.errors",
    "analyze": "blade.api",
    "compare": "blade.api",
    "read": "blade.api",
    "read_all": "blade.api",
    "to_pandas": "blade.api",
    "to_polars": "blade.api",
}

__all__ = [
    "Analysis",
    "AnalyzeOptions",
    "BadLine",
    "BladeError",
    "Comparison",
    "InputError",
    "Item",
    "Label",
    "ProblemsFound",
    "ReadOptions",
    "Rollout",
    "RolloutTable",
    "Run",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "read",
    "read_all",
    "to_pandas",
    "to_polars",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'blade' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
