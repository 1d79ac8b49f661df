"""Items of a trajectory: which of them a rule speaks of, and what they say.

Of an assistant's message only what was said counts, not the thinking before it. A long text is looked at from both
ends (`expressions.WINDOW`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from blade.diagnosis.packs.conditions import ItemIs
from blade.diagnosis.packs.expressions import Span
from blade.rollouts.features import split_thinking
from blade.rollouts.values import Item


class Sighting(NamedTuple):
    """An item that is as a rule says."""

    position: int
    """Its place in the trajectory."""
    text: str
    """What it says."""
    span: Span | None
    """The part of the text that matched."""


def find_item(rule: ItemIs, items: Sequence[Item]) -> Sighting | None:
    """The item a rule speaks of, if there is one."""
    chosen = [item for item in items if is_like(item, rule)]
    if rule.position == "first":
        chosen = chosen[:1]
    elif rule.position == "last":
        chosen = chosen[-1:]
    for item in chosen:
        text = said(item)
        if rule.matches is None:
            return Sighting(item.position, text, None)
        span = rule.matches.search(text)
        if span is not None:
            return Sighting(item.position, text, span)
    return None


def is_like(item: Item, rule: ItemIs) -> bool:
    """Whether an item is of the kind, role and tool a rule names."""
    if item.prompt != rule.prompt or (rule.kind is not None and item.kind != rule.kind):
        return False
    if rule.role is not None and item.role != rule.role:
        return False
    return rule.name is None or (item.name is not None and rule.name.search(item.name) is not None)


def said(item: Item) -> str:
    """The text of an item without thinking."""
    return split_thinking(item.text)[1] if item.kind == "message" and not item.prompt else item.text
