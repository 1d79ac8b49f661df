"""The output steps of many rows end to end, so that each question about them is one pass over arrays.

Asking a hundred thousand steps one question each through a Python function costs more than reading them; here each
question is asked of all steps of one kind at once. Texts stay undecoded until somebody needs their words.
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
from blade.rollouts.openings import Openings
from blade.rollouts.steps import (
    CALL,
    MESSAGE,
    REASONING,
    RESULT,
    Trajectory,
    expanded,
    kind_of,
    kinds_of,
    payloads_of,
    texts_of,
)

TOOL_CALLS = attrgetter("tool_calls")
Indices = npt.NDArray[np.int64]


class Group(NamedTuple):
    """The steps of one kind."""

    at: Indices
    """Where they stand among all steps."""
    steps: list[RawItem]
    """The steps themselves."""
    payloads: list[msgspec.Raw]
    """Their undecoded texts."""


class Batch:
    """The output steps of many rows, row after row, the steps of their prompts, and how many each row has of those."""

    def __init__(
        self, steps: list[RawItem], row: Indices, kinds: Indices, asked: list[RawItem], before: Indices
    ) -> None:
        self.steps, self.row, self.kinds = steps, row, kinds
        self.asked, self.before = asked, before
        self.rows = len(before)
        self.sizes = np.bincount(row, minlength=self.rows)
        first = before - np.cumsum(self.sizes) + self.sizes
        self.position = np.arange(len(row)) + first[row]

    @cached_property
    def messages(self) -> Group:
        """What agents said."""
        return self.group(MESSAGE)

    @cached_property
    def reasoning(self) -> Group:
        """What agents thought."""
        return self.group(REASONING)

    @cached_property
    def calls(self) -> Group:
        """Calls of tools, by their arguments."""
        return self.group(CALL)

    @cached_property
    def results(self) -> Group:
        """What tools answered."""
        return self.group(RESULT)

    def group(self, kind: int) -> Group:
        """The steps of a kind."""
        at = np.flatnonzero(self.kinds == kind)
        steps = [self.steps[index] for index in at.tolist()]
        return Group(at, steps, payloads_of(steps, kind))

    @cached_property
    def calls_made_again(self) -> Indices:
        """The calls of which the same row has another that is likely to have the same arguments, by their number."""
        payloads, row = self.calls.payloads, self.row[self.calls.at]
        digests = np.fromiter(map(hash, map(bytes, payloads)), dtype=np.int64, count=len(payloads))
        order = np.lexsort((digests, row))
        first, second = order[:-1], order[1:]
        same = np.flatnonzero((row[first] == row[second]) & (digests[first] == digests[second]))
        return np.unique(order[np.concatenate([same, same + 1])])

    @cached_property
    def openings(self) -> Openings:
        """How the tools' answers begin."""
        return Openings(self.results.payloads)

    @cached_property
    def last_said(self) -> list[str | None]:
        """The last message of each row; `None` where there is none."""
        last = self.last(self.messages.at, np.arange(len(self.messages.at)))
        rows = np.flatnonzero(last >= 0)
        said: list[str | None] = [None] * self.rows
        texts = texts_of([self.messages.payloads[at] for at in last[rows].tolist()])
        for row, text in zip(rows.tolist(), texts, strict=True):
            said[row] = text
        return said

    def first(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the first of its `items`; -1 where it has none."""
        return self.last(items[::-1], values[::-1])

    def last(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the last of its `items`; -1 where it has none."""
        out = np.full(self.rows, -1)
        out[self.row[items]] = values
        return out

    def span(self, row: int) -> slice:
        """Where the steps of a row stand."""
        first = int(self.starts[row])
        return slice(first, first + int(self.sizes[row]))

    def asked_by(self, row: int) -> slice:
        """Where the steps of a row's prompt stand."""
        end = int(self.asked_ends[row])
        return slice(end - int(self.before[row]), end)

    @cached_property
    def asked_kinds(self) -> list[int]:
        """What each step of a prompt is."""
        return [kind_of(step.type, step.role, prompt=True) for step in self.asked]

    @cached_property
    def asked_ends(self) -> Indices:
        """Where the steps of each prompt end."""
        return np.asarray(np.cumsum(self.before))

    @cached_property
    def starts(self) -> Indices:
        """Where the steps of each row begin."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)


def batch_of(prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> Batch:
    """Rows whose items were decoded one by one."""
    steps, sizes = end_to_end(outputs, prompt=False)
    asked, before = end_to_end(prompts, prompt=True)
    return Batch(steps, np.repeat(np.arange(len(sizes)), sizes), kinds_of(steps), asked, before)


def end_to_end(trajectories: Sequence[Trajectory], *, prompt: bool) -> tuple[list[RawItem], Indices]:
    """The steps of all trajectories in one list, and how many each has."""
    if trajectories.count(None) == len(trajectories):
        return [], np.zeros(len(trajectories), dtype=np.int64)
    lists = [t if isinstance(t, list) else expanded(t, prompt=prompt) for t in trajectories]
    items = list(chain.from_iterable(lists))
    if any(map(TOOL_CALLS, items)):
        lists = [expanded(steps, prompt=prompt) for steps in lists]
        items = list(chain.from_iterable(lists))
    return items, np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
