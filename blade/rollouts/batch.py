"""The output items of many rows end to end, so that each question about them is one pass over arrays.

Asking a hundred thousand items one question each through a Python function costs more than reading them; here each
question is asked of all items of one kind at once.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.layout import RawItem
from blade.rollouts.steps import (
    CALL,
    ENVIRONMENT,
    MESSAGE,
    REASONING,
    RESULT,
    Trajectory,
    expanded,
    kinds_of,
    payloads_of,
)

Indices = npt.NDArray[np.int64]
TOOL_CALLS = attrgetter("tool_calls")


class Group(NamedTuple):
    """The items of one kind."""

    items: Indices
    """Which they are."""
    payloads: list[msgspec.Raw]
    """Their undecoded texts."""
    lengths: Indices
    """Bytes of each."""


class Batch:
    """The output items of many rows."""

    def __init__(self, prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> None:
        self.rows = len(outputs)
        self.items, self.sizes = end_to_end(outputs, prompt=False)
        self.kinds = kinds_of(self.items)
        _, self.before = end_to_end(prompts, prompt=True)
        self.row = np.repeat(np.arange(self.rows), self.sizes)
        first = self.before - np.cumsum(self.sizes) + self.sizes
        self.position = np.arange(len(self.items)) + first[self.row]

    @cached_property
    def messages(self) -> Group:
        """What agents said."""
        return self._group(MESSAGE)

    @cached_property
    def reasoning(self) -> Group:
        """What agents thought."""
        return self._group(REASONING)

    @cached_property
    def calls(self) -> Group:
        """Calls of tools, by their arguments."""
        return self._group(CALL)

    @cached_property
    def results(self) -> Group:
        """What tools answered."""
        return self._group(RESULT)

    @cached_property
    def turns(self) -> Group:
        """What environments and users said in between."""
        return self._group(ENVIRONMENT)

    def _group(self, kind: int) -> Group:
        chosen = np.flatnonzero(self.kinds == kind)
        payloads = payloads_of(list(map(self.items.__getitem__, chosen.tolist())), kind)
        return Group(chosen, payloads, np.fromiter(map(len, payloads), dtype=np.int64, count=len(payloads)))

    def first(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the first of its `items`; -1 where it has none."""
        return self.last(items[::-1], values[::-1])

    def last(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the last of its `items`; -1 where it has none."""
        out = np.full(self.rows, -1)
        out[self.row[items]] = values
        return out

    def last_of(self, group: Group) -> Indices:
        """For each row the place in the group of its last member; -1 where it has none."""
        return self.last(group.items, np.arange(len(group.items)))


def end_to_end(trajectories: Sequence[Trajectory], *, prompt: bool) -> tuple[list[RawItem], Indices]:
    """The steps of all trajectories in one list, and how many each has."""
    lists = [t if isinstance(t, list) else expanded(t, prompt=prompt) for t in trajectories]
    items = list(chain.from_iterable(lists))
    if any(map(TOOL_CALLS, items)):
        lists = [expanded(steps, prompt=prompt) for steps in lists]
        items = list(chain.from_iterable(lists))
    return items, np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
