"""Signals that only a closer look finds: endings that are odd beside the rest of the run, and unexpected changes.

The former are the same signals that the table's rules find by words, so a report counts both together.
"""

import numpy as np

from blade.diagnosis.clock import Clock
from blade.diagnosis.departures import departures
from blade.diagnosis.odd_messages import fenced_answers, odd_messages
from blade.diagnosis.odd_results import is_stuck, odd_results
from blade.diagnosis.questions import Seen, any_of
from blade.diagnosis.readings import Readings
from blade.diagnosis.signals import Sightings, truncated
from blade.diagnosis.usual import learn
from blade.metrics.values import Floats
from blade.rollouts.table import RolloutTable


def look_closer(sightings: Sightings, table: RolloutTable, success: Floats, readings: Readings) -> Sightings:
    """The signals with those that a closer look at some rollouts adds."""
    odd = find_oddities(table, success, readings)
    return Sightings({code: any_of(seen, at(odd.get(code, {}))) for code, seen in sightings.seen.items()})


def find_oddities(table: RolloutTable, success: Floats, readings: Readings) -> dict[str, dict[int, int]]:
    """Signal -> row -> item."""
    limited = set(truncated(table).rows.tolist())
    passing = [reading for reading in readings.all if success[reading.row] == 1.0]
    usually = learn(passing, readings)
    failing = [reading for reading in readings.all if success[reading.row] == 0.0]
    ended = [reading for reading in failing if reading.row not in limited]
    # Who goes on asking a machine that is gone runs into a limit.
    asking = [reading for reading in failing if reading.row in limited and is_stuck(reading)]
    found = odd_results([*ended, *asking], readings, usually)
    found += odd_messages(ended, readings, usually, clock=Clock(table))
    found += fenced_answers(failing, passing)
    found += departures(readings, success)
    found += [("invalid_arguments", reading, reading.invalid_at) for reading in readings.all if reading.invalid_at]
    out: dict[str, dict[int, int]] = {}
    for code, reading, item in found:
        out.setdefault(code, {})[reading.row] = item
    return out


def at(places: dict[int, int]) -> Seen:
    rows = sorted(places)
    return Seen(np.asarray(rows, dtype=np.int64), np.asarray([places[row] for row in rows], dtype=np.int64))
