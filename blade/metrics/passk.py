"""pass@k and pass^k of one task, from n rollouts of which c succeeded.

Both are the unbiased hypergeometric estimators: pass@k of Chen et al. 2021 (arXiv 2107.03374) and pass^k of
Yao et al. 2024 (arXiv 2406.12045). They are products of k ratios, each at most 1, so nothing overflows
however large n is.
"""

from collections.abc import Sequence

import numpy as np

from blade.metrics.values import Floats, Ints


def pass_at_k(n: Ints, c: Ints, k: int) -> Floats:
    """Chance that at least one of k rollouts drawn without replacement succeeds; nan where n < k."""
    return 1.0 - chance_all(n, np.subtract(n, c), k)


def pass_pow_k(n: Ints, c: Ints, k: int) -> Floats:
    """Chance that all of k rollouts drawn without replacement succeed; nan where n < k."""
    return chance_all(n, c, k)


def chance_all(n: Ints, marked: Ints, k: int) -> Floats:
    """C(marked, k) / C(n, k): chance that k of n drawn without replacement are marked; nan where n < k."""
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    n, marked = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(marked, dtype=np.int64))
    # Runs have thousands of tasks but few distinct (n, marked), so the product is taken once for each.
    width = int(n.max(initial=0)) + 1
    pairs, inverse = np.unique(n * width + marked, return_inverse=True)
    distinct_n, distinct_marked = np.divmod(pairs, width)
    return _ratio_of_combinations(distinct_n, distinct_marked, k)[inverse].reshape(n.shape)


def _ratio_of_combinations(n: Ints, marked: Ints, k: int) -> Floats:
    ratio = np.where(n >= k, 1.0, np.nan)
    for drawn in range(k):
        left = np.maximum(n - drawn, 1)
        ratio *= np.maximum(marked - drawn, 0) / left
    return ratio


def ks_to_report(most: int) -> Sequence[int]:
    """Every k up to 16 rollouts; beyond that powers of two and the most, so the table stays readable."""
    if most <= 16:
        return range(1, most + 1)
    powers = [2**power for power in range(most.bit_length()) if 2**power < most]
    return [*powers, most]
