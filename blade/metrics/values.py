"""The small values every other module here speaks in: array types and one number with its uncertainty."""

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Interval = tuple[float, float]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number, how much data is behind it, how sure it is, and what it means."""

    value: float | None
    """The number; None when no data could give it."""
    n: int
    """How many tasks (or, for ratios of rollouts, rollouts) the value is taken over."""
    se: float | None = None
    """Standard error, with tasks (or clusters of tasks) as the sampling unit."""
    ci95: Interval | None = None
    """95 % confidence interval; None when one sampling unit or none was seen."""
    definition: str
    """What the number means, in one sentence."""
    short: int = 0
    """Tasks left out because they have fewer rollouts than the number needs."""


def unknown_metric(definition: str, *, short: int = 0) -> Metric:
    """Returns the metric that no data could give."""
    return Metric(value=None, n=0, definition=definition, short=short)
