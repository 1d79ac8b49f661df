"""Rollouts that left the changes their tasks expect: by their users' doing, by a call too many, by one too few.

Which tools matter is learned from the run: what passing rollouts do unexpectedly too (hand over to a human, write a
note) is no change the verifier looks at.
"""

from collections import Counter

from blade.diagnosis.odd_results import Odd
from blade.diagnosis.readings import Reading, Readings
from blade.metrics.values import Floats

FREE = 0.3
"""Share of rollouts that deviate by a tool and pass all the same, from which on the tool does not matter."""


def departures(readings: Readings, success: Floats) -> list[Odd]:
    """Every rollout whose changes differ from those its task expects; nobody misled one that passes all the same."""
    free = free_tools(readings, success)
    return [odd for reading in readings.all for odd in departure(reading, free, failed=success[reading.row] == 0.0)]


def free_tools(readings: Readings, success: Floats) -> set[str]:
    """Tools whose calls do not change the verdict."""
    deviating = [reading for reading in readings.all if reading.deviation is not None]
    made = Counter(tool for reading in deviating if reading.deviation for tool in reading.deviation.tools())
    passing = [reading.deviation for reading in deviating if success[reading.row] == 1.0]
    passed = Counter(tool for deviation in passing if deviation for tool in deviation.tools())
    return {tool for tool, count in passed.items() if count >= FREE * made[tool]}


def departure(reading: Reading, free: set[str], *, failed: bool) -> list[Odd]:
    """The signal of one rollout, if any, where it shows."""
    left = None if reading.deviation is None else reading.deviation.without(free)
    if left is None:
        return []
    if failed and reading.misled_at is not None:
        return [("user_off_script", reading, reading.misled_at)]
    wrong = left.first_made()
    return [("missing_action", reading, reading.gave_up_at) if wrong is None else ("wrong_action", reading, wrong)]
