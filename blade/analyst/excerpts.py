"""A rollout as a reader needs it, within a budget: numbered items, the head and tail of long ones.

Rollouts are called R1, R2, … so that task keys, which come from files, never stand among our own words.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade.diagnosis.differences import Difference, in_words
from blade.rollouts import Item, Rollout, citation

FIELD_CHARS = 300
LEAST_ITEM_CHARS = 160
CUT = " […{count} characters left out…] "


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout to be read, under the name the reader knows it by."""

    name: str
    """`R1`, `R2`, …"""
    rollout: Rollout
    """The rollout, judged."""
    text: str
    """What is shown of it."""

    @property
    def citation(self) -> str:
        """`task:repeat`."""
        return citation(self.rollout.task, self.rollout.repeat)


def take_excerpt(
    name: str, rollout: Rollout, *, chars: int, hidden: Sequence[str] = (), differences: Sequence[Difference] = ()
) -> Excerpt:
    """The rollout's verdict, fields and items in about so many characters; `hidden` fields are left out."""
    lines = [verdict_line(rollout), *field_lines(rollout.fields, hidden), *map(difference_line, differences)]
    head = "\n".join(lines)
    per_item = max(LEAST_ITEM_CHARS, (chars - len(head)) // max(1, len(rollout.items)))
    return Excerpt(name=name, rollout=rollout, text="\n\n".join([head, *items_text(rollout.items, chars, per_item)]))


def verdict_line(rollout: Rollout) -> str:
    words = {True: "passed", False: "failed", None: "no verdict"}
    reward = "unknown" if rollout.reward is None else f"{rollout.reward:g}"
    ended = "" if rollout.status == "completed" else f", ended: {rollout.status} {rollout.failure or ''}".rstrip()
    return f"verdict: {words[rollout.success]}, reward {reward}{ended}"


def field_lines(fields: Mapping[str, Any], hidden: Sequence[str]) -> list[str]:
    """What the verifier and the task's own fields say."""
    shown = ((name, value) for name, value in fields.items() if name not in hidden and value is not None)
    return [f"field {name}: {clipped(json.dumps(value, ensure_ascii=False), FIELD_CHARS)}" for name, value in shown]


def difference_line(difference: Difference) -> str:
    """Something the task lists and the rollout did otherwise."""
    values = (("expected", difference.expected), ("given", difference.given), ("item", difference.item))
    said = (f"{word} {clipped(str(value), FIELD_CHARS)}" for word, value in values if value is not None)
    return f"difference: {'; '.join([in_words(difference), *said])}"


def items_text(items: Sequence[Item], chars: int, per_item: int) -> list[str]:
    """Items with their numbers; what a short item leaves of its share goes to the long ones."""
    short = sum(len(item.text) for item in items if len(item.text) <= per_item)
    long = [item for item in items if len(item.text) > per_item]
    share = max(per_item, (chars - short) // len(long)) if long else per_item
    return [f"#{item.position} {heading(item)}\n{clipped(item.text, share)}" for item in items]


def heading(item: Item) -> str:
    words = [item.kind, item.role or "", item.name or "", "(given to the agent)" if item.prompt else ""]
    return " ".join(word for word in words if word)


def clipped(text: str, most: int) -> str:
    """Head and tail of a long text; the tail is larger, because endings tell more."""
    if len(text) <= most:
        return text
    head, tail = most // 3, most - most // 3
    return text[:head] + CUT.format(count=len(text) - most) + text[-tail:]
