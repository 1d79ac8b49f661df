"""The formats BLADE knows, as data: where a format keeps its prompt, its output, its ids and its score.

A format is nothing but paths, so one reader serves them all, and `records` with the user's own paths serves
whatever nobody has heard of.
"""

from collections.abc import Sequence
from typing import Any

from blade.errors import UsageError
from blade.rollouts.formats import gym, own, records, tau_bench
from blade.rollouts.formats.format import Format, bare, value_at

__all__ = ["FORMATS", "Format", "bare", "detect", "named", "value_at"]

FORMATS: dict[str, Format] = {f.name: f for f in (gym.FORMAT, tau_bench.FORMAT, own.FORMAT, records.FORMAT)}


def named(name: str, samples: Sequence[Any]) -> Format:
    """The format with this name; an unknown one is the user's mistake."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}.")
    rows = [sample for sample in samples if isinstance(sample, dict)]
    return records.with_guessed_output(rows) if name == "records" else FORMATS[name]


def detect(samples: Sequence[Any]) -> Format:
    """The format a sample of decoded rows is in; whatever is not recognised is `records`."""
    rows = [sample for sample in samples if isinstance(sample, dict)]
    if any(gym.looks_like(row) for row in rows):
        return gym.FORMAT
    if any(tau_bench.looks_like(row) for row in rows):
        return tau_bench.FORMAT
    if rows and all(own.looks_like(row) for row in rows):
        return own.FORMAT
    return records.with_guessed_output(rows)
