"""Does an exposure go with an outcome *within* strata? Mantel-Haenszel over tasks.

Pooled over tasks, everything that hard tasks have in common looks like a reason to fail. Within a task only the
rollouts differ, so a difference there is not the task's. Mantel & Haenszel 1959; variance of the log odds ratio by
Robins, Breslow & Greenland 1986.
"""

import math

import msgspec
import numpy as np

from blade.metrics.values import Bools, Floats, Interval, Ints


class Association(msgspec.Struct, frozen=True, kw_only=True):
    """How an exposure and an outcome go together within strata."""

    strata: int
    """Strata where both the exposure and the outcome vary: only these say anything."""
    odds_ratio: float | None
    """Common odds ratio; above 1 when the exposed have the outcome more often; `None` when it is 0/0 or infinite."""
    ci95: Interval | None
    """95 % interval of the odds ratio."""
    excess: float
    """Outcomes among the exposed beyond what chance within the strata would give."""
    p_value: float | None
    """Two-sided; `None` without an informative stratum."""


def associate(stratum: Ints, exposed: Bools, outcome: Bools) -> Association:
    """Mantel-Haenszel association of two flags over strata."""
    a, b, c, d = (cells(stratum, x & y) for x in (exposed, ~exposed) for y in (outcome, ~outcome))
    n = a + b + c + d
    informative = ((a + b) * (c + d) * (a + c) * (b + d)) > 0
    a, b, c, d, n = (cell[informative] for cell in (a, b, c, d, n))
    if not len(n):
        return Association(strata=0, odds_ratio=None, ci95=None, excess=0.0, p_value=None)
    expected = (a + b) * (a + c) / n
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (n**2 * (n - 1))
    excess = float((a - expected).sum())
    ratio, interval = odds_ratio(a, b, c, d, n)
    return Association(
        strata=len(n), odds_ratio=ratio, ci95=interval, excess=excess, p_value=p_value(excess, float(variance.sum()))
    )


def cells(stratum: Ints, mask: Bools) -> Floats:
    width = int(stratum.max(initial=-1)) + 1
    return np.bincount(stratum[mask], minlength=width).astype(np.float64)


def p_value(excess: float, variance: float) -> float:
    """Chi-square with one degree of freedom; continuity-corrected, since strata are a handful of rollouts."""
    distance = max(abs(excess) - 0.5, 0.0)
    # The upper tail of chi-square with one degree of freedom at x is erfc(√(x/2)).
    return math.erfc(distance / math.sqrt(2 * variance)) if variance > 0 else 1.0


def odds_ratio(a: Floats, b: Floats, c: Floats, d: Floats, n: Floats) -> tuple[float | None, Interval | None]:
    r, s = a * d / n, b * c / n
    top, bottom = float(r.sum()), float(s.sum())
    if top == 0 or bottom == 0:
        return None, None
    p, q = (a + d) / n, (b + c) / n
    spread = (
        float((p * r).sum()) / (2 * top**2)
        + float((p * s + q * r).sum()) / (2 * top * bottom)
        + float((q * s).sum()) / (2 * bottom**2)
    )
    ratio = top / bottom
    reach = 1.959964 * math.sqrt(spread)
    return ratio, (ratio * math.exp(-reach), ratio * math.exp(reach))
