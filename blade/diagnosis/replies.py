"""Tools that fail at calls which they answer in another attempt at the same task.

Two attempts that have made the same calls so far, to the letter, have given their tools no reason to treat them
differently. Where one of them gets an error for the next call and the other an answer, what differs is what surrounds
the agent: a service that was down, a sandbox that died, a state that an earlier attempt left behind. No word of the
error is read for that. Of what is no error by its form, more is asked: that all other attempts got one answer, to the
letter, since there are tools that never answer twice alike.
"""

import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Mode
from blade.diagnosis.modes import MOSTLY, Tested
from blade.diagnosis.noting import Noted
from blade.diagnosis.observations import said_as_error
from blade.diagnosis.templates import template_of
from blade.engine import share
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Item, Run

TOLD = ("tool_error", "tool_says")
LEAST = 2
"""Failing rollouts whose calls were answered elsewhere; other attempts that got one and the same answer."""
MORE = 3
"""How many of these rollouts there must be for each one whose calls were not answered elsewhere."""


class Reply(NamedTuple):
    """What a tool gave to a call."""

    calls: bytes
    """A digest of all calls so far and of the one this is given to."""
    said: str
    """What it says, particulars masked."""
    text: int
    """A hash of what it says to the letter."""
    is_error: bool
    """Whether it is an error by its form."""
    item: int
    """Where it stands."""
    is_final: bool
    """Whether the rollout ends with it, or the agent called the tool again and got nothing else from it."""


class BrokenTool(NamedTuple):
    """Something a tool said that its surroundings made it say."""

    said: str
    """What it says, particulars masked."""
    places: dict[int, int]
    """Failing rollout in which it was the tool's last word -> where it stands."""


def broken_tools(run: Run, noted: Noted, outcomes: Outcomes) -> list[BrokenTool]:
    """What tools say to nearly only failing rollouts, and to some of them for calls answered in other attempts."""
    suspects = suspects_in(noted, outcomes)
    if not suspects:
        return []
    task = run.table.task
    rows = np.flatnonzero(np.isin(task, np.unique(task[np.concatenate(list(suspects.values()))])))

    def look(mine: Ints) -> list[tuple[int, list[Reply]]]:
        found = run.numbered_rollouts(mine.tolist())
        return [(row, replies_in([item for item in rollout.items if not item.prompt])) for row, rollout in found]

    replies = dict(chain.from_iterable(share(look, run.shared_out(rows))))
    attempts: dict[int, list[int]] = {}
    for row in rows.tolist():
        attempts.setdefault(int(task[row]), []).append(row)
    siblings = {row: [other for other in attempts[int(task[row])] if other != row] for row in rows.tolist()}
    found = [judge(said, failing.tolist(), replies, siblings) for said, failing in suspects.items()]
    return [one for one in found if one is not None]


def blamed_on_tools(modes: Sequence[Mode], mined: Sequence[Tested], broken: Sequence[BrokenTool]) -> list[Mode]:
    """The modes, those of them that a tool's surroundings made with their cause."""
    made = {one.said for one in broken}
    told = [one.observation.kind in TOLD and one.observation.said in made for one in mined]
    return [msgspec.structs.replace(mode, cause="IR") if it else mode for mode, it in zip(modes, told, strict=True)]


def suspects_in(noted: Noted, outcomes: Outcomes) -> dict[str, Ints]:
    """What tools said to several failing rollouts, and to hardly any that passed -> the failing ones."""
    if outcomes.is_continuous:
        return {}
    seen: dict[str, list[Ints]] = {}
    for (kind, _, said), found in noted.observations.incidences():
        if kind in TOLD:
            seen.setdefault(said, []).append(found.rows)
    rows = {said: np.unique(np.concatenate(parts)) for said, parts in seen.items()}
    failing = {said: mine[outcomes.success[mine] != 1.0] for said, mine in rows.items()}
    return {said: mine for said, mine in failing.items() if len(mine) >= max(LEAST, MOSTLY * len(rows[said]))}


def judge(
    said: str, failing: Sequence[int], replies: dict[int, list[Reply]], siblings: dict[int, list[int]]
) -> BrokenTool | None:
    """What was said as the doing of the tool's surroundings; `None` where other attempts do not show that."""
    places, otherwise, alike = dict[int, int](), 0, 0
    for row in failing:
        mine = next((one for one in replies[row] if one.said == said and one.is_final), None)
        if mine is None:
            continue
        places[row] = mine.item
        given = [one for other in siblings[row] for one in replies[other] if one.calls == mine.calls]
        answers = [one.text for one in given if one.said != said and not one.is_error]
        is_one = len(set(answers)) == 1
        otherwise += is_one and len(answers) >= (1 if mine.is_error else LEAST)
        alike += bool(given) and (not answers or not (is_one or mine.is_error))
    return BrokenTool(said, places) if otherwise >= max(LEAST, MORE * alike) else None


def replies_in(items: Sequence[Item]) -> list[Reply]:
    """Every reply of a tool in a trajectory."""
    so_far, calls, latest = hashlib.blake2b(digest_size=8), dict[str | None, Item](), None
    found: list[tuple[Reply, str]] = []
    for item in items:
        if item.kind == "tool_call":
            so_far.update(f"\0{item.name}\0{item.text}".encode("utf-8", "replace"))
            calls[item.call_id], latest = item, item
        elif item.kind == "tool_result" and (call := calls.get(item.call_id, latest)) is not None:
            this = so_far.copy()
            this.update(f"\0{call.name}\0{call.text}".encode("utf-8", "replace"))
            error = said_as_error(item.text, item.error)
            said = error or template_of(item.text)
            reply = Reply(this.digest(), said, hash(item.text), bool(error), item.position, is_final=False)
            found.append((reply, call.name or ""))
    spoken = max((item.position for item in items if item.kind in ("message", "environment")), default=-1)
    return [
        reply._replace(is_final=is_final(reply, [one for one, other in found[place + 1 :] if other == tool], spoken))
        for place, (reply, tool) in enumerate(found)
    ]


def is_final(reply: Reply, later: Sequence[Reply], spoken: int) -> bool:
    """Whether nothing got past a reply: an agent that goes on without another try may have overlooked it."""
    in_vain = all(one.is_error or one.said == reply.said for one in later)
    return in_vain and (bool(later) or spoken < reply.item)
