"""Quantiles and tails of the few distributions that intervals and tests need, without a library of 140 MB for them.

Everything rests on the regularised incomplete beta function, by its continued fraction (Press et al., Numerical
Recipes, section 6.4; DLMF 8.17.22), and on its inverse by Newton steps kept inside a bracket. Tests hold all of it
against scipy.
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from blade.metrics.values import Floats

NORMAL = NormalDist()
NEARLY_NORMAL = 5000
MOST_TERMS = 5_000
"""Terms of the fraction; it takes about the root of the larger parameter."""
MOST_STEPS = 100
TINY = 1e-300


def normal_quantile(p: float) -> float:
    """Where the standard normal distribution has reached `p`."""
    return NORMAL.inv_cdf(p)


def student_quantile(freedom: float, p: float) -> float:
    """Where Student's t with so many degrees of freedom has reached `p`; nan without freedom."""
    if not freedom > 0.0:
        return math.nan
    if p == 0.5:
        return 0.0
    if freedom >= NEARLY_NORMAL:
        z = normal_quantile(p)  # the expansion of Cornish and Fisher; what it leaves out is below 1e-12
        first, second = (z**3 + z) / 4.0, (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
        third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
        return z + first / freedom + second / freedom**2 + third / freedom**3
    # freedom / (freedom + t²) follows a beta distribution.
    share = beta_quantile(freedom / 2.0, 0.5, 2.0 * min(p, 1.0 - p))
    return math.copysign(math.sqrt(freedom * (1.0 - share) / share), p - 0.5)


def even_odds_p(first: int, second: int) -> float:
    """Exact two-sided p of a split this uneven when either side is as likely."""
    n = first + second
    tail = sum(math.comb(n, k) for k in range(min(first, second) + 1))
    return min(1.0, tail / 2 ** (n - 1)) if n else 1.0


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(log_beta(a, b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):  # the fraction converges fast on this side of the mean
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def log_beta(a: float, b: float) -> float:
    """Minus the logarithm of the beta function."""
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction by Lentz's method."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or TINY)
    value = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d, c = 1.0 / (1.0 + even * d or TINY), 1.0 + even / c or TINY
        value *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d, c = 1.0 / (1.0 + odd * d or TINY), 1.0 + odd / c or TINY
        value *= c * d
        if abs(c * d - 1.0) < 5e-16:
            break
    return value


@lru_cache(maxsize=65536)
def beta_quantile(a: float, b: float, p: float) -> float:
    """Where the beta distribution has reached `p`: Newton's steps, or the middle of the bracket where they leave it."""
    if not (a > 0.0 and b > 0.0):
        return math.nan
    if p <= 0.0 or p >= 1.0:
        return 0.0 if p <= 0.0 else 1.0
    low, high, x = 0.0, 1.0, a / (a + b)
    scale = log_beta(a, b)
    for _ in range(MOST_STEPS):
        over = beta_cdf(x, a, b) - p
        if over == 0.0:
            break
        low, high = (x, high) if over < 0.0 else (low, x)
        density = math.exp(min(scale + (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x), 700.0))
        step = x - over / density if density else math.nan
        following = step if low < step < high else (low + high) / 2.0
        settled = abs(following - x) <= 1e-14 * min(following, 1.0 - following)
        x = following
        if settled:
            break
    return x


def beta_quantiles(a: Floats, b: Floats, p: float) -> Floats:
    """The same of arrays."""
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return np.array([beta_quantile(x, y, p) for x, y in pairs], dtype=np.float64).reshape(a.shape)
