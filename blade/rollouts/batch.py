"""The output items of many rows end to end, so that each question about them is one pass over arrays.

Asking a hundred thousand items one question each through a Python function costs more than reading them; here each
question is asked of all items of one kind at once.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.layout import RawItem
from blade.rollouts.pieces import Indices, Pieces
from blade.rollouts.steps import (
    CALL,
    ENVIRONMENT,
    KINDS,
    MESSAGE,
    REASONING,
    RESULT,
    Trajectory,
    expanded,
    kinds_of,
    name_of,
    payloads_of,
)

TOOL_CALLS = attrgetter("tool_calls")


class Items(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Items of many rows, row after row."""

    row: Indices
    """Whose each is."""
    kinds: npt.NDArray[np.int64]
    """What each is: an index into `KINDS`."""
    payloads: Pieces
    """The undecoded text of each."""
    digests: npt.NDArray[np.uint64]
    """For calls: a number that the same calls of the same tool share; 0 for other items."""
    names: Callable[[Indices], list[str | None]]
    """The tools that some calls name."""
    call_ids: Callable[[Indices], list[str | None]]
    """What ties some calls to their results; `None` for nothing."""


class Group(NamedTuple):
    """The items of one kind."""

    items: Indices
    """Which they are."""
    payloads: Pieces
    """Their undecoded texts."""


class Batch:
    """The output items of many rows, and how many items the prompt of each has."""

    def __init__(self, items: Items, before: Indices) -> None:
        self.items, self.before = items, before
        self.rows = len(before)
        self.row, self.kinds = items.row, items.kinds
        self.sizes = np.bincount(items.row, minlength=self.rows)
        first = before - np.cumsum(self.sizes) + self.sizes
        self.position = np.arange(len(items.row)) + first[items.row]

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
        return Group(chosen, self.items.payloads.take(chosen))

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


def batch_of(prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> Batch:
    """Rows whose items were decoded one by one."""
    items, sizes = end_to_end(outputs, prompt=False)
    _, before = end_to_end(prompts, prompt=True)
    return Batch(decoded_items(items, np.repeat(np.arange(len(sizes)), sizes)), before)


def decoded_items(items: Sequence[RawItem], row: Indices) -> Items:
    kinds = kinds_of(items)
    payloads: list[msgspec.Raw] = [msgspec.Raw()] * len(items)
    digests = np.zeros(len(items), dtype=np.uint64)
    for kind in range(len(KINDS)):
        chosen = np.flatnonzero(kinds == kind).tolist()
        for at, payload in zip(chosen, payloads_of([items[at] for at in chosen], kind), strict=True):
            payloads[at] = payload
        if kind == CALL:
            # A hash of Python's may be negative; the arrays hold what is left of it without a sign.
            calls = np.array([hash((items[at].name, bytes(payloads[at]))) for at in chosen], dtype=np.int64)
            digests[chosen] = calls.view(np.uint64)
    return Items(
        row=row,
        kinds=kinds,
        payloads=Pieces.of(payloads),
        digests=digests,
        names=lambda chosen: [name_of(items[at], CALL) for at in chosen.tolist()],
        call_ids=lambda chosen: [items[at].call_id or items[at].tool_call_id or None for at in chosen.tolist()],
    )


def end_to_end(trajectories: Sequence[Trajectory], *, prompt: bool) -> tuple[list[RawItem], Indices]:
    """The steps of all trajectories in one list, and how many each has."""
    lists = [t if isinstance(t, list) else expanded(t, prompt=prompt) for t in trajectories]
    items = list(chain.from_iterable(lists))
    if any(map(TOOL_CALLS, items)):
        lists = [expanded(steps, prompt=prompt) for steps in lists]
        items = list(chain.from_iterable(lists))
    return items, np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
