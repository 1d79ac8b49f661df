"""What passing rollouts of a run have in common, so that a failing one can be odd beside them."""

from collections.abc import Iterable
from typing import NamedTuple

from blade.diagnosis.lexicon import is_bad_news
from blade.diagnosis.readings import Reading, Readings, Told
from blade.diagnosis.shapes import Met, Usual, usual_shapes
from blade.rollouts.phrases import fingerprint, owns_up

FEWEST_PASSING = 8
"""Passing rollouts that must be known before anything can be odd beside them."""
NEARLY_ALL = 0.9


class Usually(NamedTuple):
    """How passing rollouts go."""

    tools: dict[str, Usual]
    """What each tool says."""
    endings: set[Met]
    """What tools said last before all was well."""
    told: set[int]
    """Words of tools' answers."""
    said: set[int]
    """Last words of rollouts."""
    call_tools: bool
    idle: set[int]
    """Tasks that passed without a call."""
    mention_task: bool
    are_parsed: bool

    def surprise(self, told: Told) -> int:
        """How unusual what a tool said is: 2 very, 1 somewhat, 0 not."""
        usual = self.tools.get(told.kind.tool)
        return 0 if usual is None or told.kind in self.endings else usual.surprise(told.kind.shape)

    def has_met(self, told: Told) -> bool:
        """Whether a passing rollout met such a thing."""
        usual = self.tools.get(told.kind.tool)
        return told.words in self.told or (usual is not None and usual.shapes[told.kind.shape] > 0)

    def is_usual(self, told: Told) -> bool:
        """Whether a tool says such things where all is well."""
        usual = self.tools.get(told.kind.tool)
        return told.kind in self.endings or (usual is not None and usual.is_common(told.kind.shape))

    def would_call(self, reading: Reading) -> bool:
        """Whether a rollout made no call where others do, also at its task."""
        return self.call_tools and not reading.calls and reading.task not in self.idle


def learn(passing: list[Reading], readings: Readings) -> Usually:
    """How some passing rollouts go; of too few nothing is usual."""
    known = len(passing) >= FEWEST_PASSING
    fine = [reading for reading in passing if reading.told and not says_it_failed(reading.said)]
    return Usually(
        tools=usual_shapes({told.kind for told in reading.told} for reading in passing),
        endings={reading.told[-1].kind for reading in fine},
        told={told.words for reading in passing for told in reading.told},
        said={fingerprint(reading.said) for reading in passing},
        idle={reading.task for reading in passing if not reading.calls},
        call_tools=known and share(reading.calls > 0 for reading in passing) >= NEARLY_ALL,
        mention_task=known and share(readings.mentions_task(reading) for reading in passing) >= NEARLY_ALL,
        are_parsed=known and share(reading.is_parsed for reading in passing) >= NEARLY_ALL,
    )


def share(flags: Iterable[bool]) -> float:
    """How many of some flags are set; 0 of none."""
    found = list(flags)
    return sum(found) / len(found) if found else 0.0


def says_it_failed(message: str) -> bool:
    """Whether an answer says that something did not work."""
    return owns_up(message) or is_bad_news(message)
