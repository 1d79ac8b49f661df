"""How far two labellers agree beyond chance: Cohen's kappa (Cohen 1960) with an interval over tasks.

The interval is a percentile bootstrap over tasks. Kappa is unknown, not 0 and not 1, when chance alone would make the
two agree always, as it is when both only ever gave one label.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from blade.metrics.values import Interval

RESAMPLES = 2000


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far two labellers say the same of the same tasks."""

    n: int
    """Tasks both labelled."""
    agreed: int
    """Tasks they gave the same label."""
    kappa: float | None
    """Agreement beyond chance; 1 is perfect, 0 is chance."""
    ci95: Interval | None
    """95 % interval of kappa over tasks."""


def agree(first: Sequence[str], second: Sequence[str], rng: np.random.Generator) -> Agreement:
    """Agreement of two labellers on the same tasks, in the same order."""
    names = sorted({*first, *second})
    code = {name: number for number, name in enumerate(names)}
    pairs = np.array([(code[a], code[b]) for a, b in zip(first, second, strict=True)], dtype=np.int64).reshape(-1, 2)
    drawn = rng.integers(len(pairs), size=(RESAMPLES, len(pairs))) if len(pairs) else np.empty((0, 0), dtype=np.int64)
    found = [value for draw in drawn if (value := kappa(pairs[draw], len(names))) is not None]
    value = kappa(pairs, len(names))
    known = value is not None and len(found) >= RESAMPLES // 2
    return Agreement(
        n=len(pairs),
        agreed=int((pairs[:, 0] == pairs[:, 1]).sum()),
        kappa=value,
        ci95=(float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))) if known else None,
    )


def kappa(pairs: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", labels: int) -> float | None:
    """(observed - expected) / (1 - expected), where expected is what the two labellers' own rates would give."""
    if not len(pairs):
        return None
    observed = float((pairs[:, 0] == pairs[:, 1]).mean())
    rates = [np.bincount(column, minlength=labels) / len(pairs) for column in pairs.T]
    expected = float(rates[0] @ rates[1])
    return None if expected >= 1.0 else (observed - expected) / (1.0 - expected)
