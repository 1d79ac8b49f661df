"""Whether a simulated user, and not the agent, left the task's script.

An agent that does what its user asks for cannot be blamed when the task expects something else: the user named the
value, chose the variant, never spoke of a thing the task wants changed, or ended the talk with the go-ahead. Things
are known by what tools said about them: the object that carries an id has its name and its attributes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from blade.diagnosis.actions import Deviation, Swap, decoded
from blade.rollouts import Item, Rollout
from blade.rollouts.formats import value_at

SCRIPTS = ("info.task.instruction", "task.user_scenario.instructions", "customer_scenario")
"""Where benchmarks keep what the simulated user is told."""
DEEPEST = 8
SHORTEST = 5
"""Characters, with a space at both ends, of a value that is not said by chance: `red` is one, `1` is none."""
GO_AHEAD = re.compile(r"\b(?:go\s+ahead|proceed|please\s+do|do\s+it|yes(?:,|\s+please)?)\b", re.IGNORECASE)
ASKS = re.compile(r"\?|\b(?:confirm|proceed|let\s+me\s+know)\b", re.IGNORECASE)
NOT_WORDS = re.compile(r"\W+")


class Turn(NamedTuple):
    """Something the user said."""

    at: int
    text: str
    """Plain words with a space at both ends."""


class Thing(NamedTuple):
    """What tools said about an id."""

    name: str | None
    attributes: dict[str, str]


class Talk(NamedTuple):
    """What the user said, what it was told to say, and the things they spoke of."""

    turns: list[Turn]
    script: str
    things: dict[str, Thing]

    def told_before(self, text: str, at: int) -> int | None:
        """The last turn before a position in which the user said a text that nobody says by chance."""
        wanted = plain(text)
        if len(wanted) < SHORTEST:
            return None
        return next((turn.at for turn in reversed(self.turns) if turn.at < at and wanted in turn.text), None)

    def strayed_before(self, text: str, at: int, *, instead: Sequence[str] = ()) -> int | None:
        """The same, unless the script has that text, and nothing of what should have been said instead."""
        keeps = plain(text) in self.script and not any(plain(other) in self.script for other in instead)
        return None if keeps else self.told_before(text, at)


def left_script(rollout: Rollout, deviation: Deviation) -> int | None:
    """Position of the user's turn that made the difference; `None` where the user is not to blame, or nobody's user."""
    turns = [Turn(i.position, plain(i.text)) for i in rollout.items if i.role == "user" and i.kind != "tool_result"]
    if not any(item.kind == "environment" and item.role == "user" for item in rollout.items):
        return None
    script = next((found for path in SCRIPTS if (found := value_at(rollout.fields, path))), "")
    talk = Talk(turns, plain(str(script)), things_in(rollout.items))
    asked = [at for swap in deviation.swapped if (at := asked_for(swap, talk)) is not None]
    if asked:
        return min(asked)
    return ended_early(rollout.items) if deviation.missing or deviation.swapped else None


def plain(text: str) -> str:
    return f" {NOT_WORDS.sub(' ', text.casefold()).strip()} "


def asked_for(swap: Swap, talk: Talk) -> int | None:
    """The turn in which the user asked for what was done in place of what was expected."""
    made, expected = swap
    for name, value in sorted(made.values - expected.values):
        instead = [other for key, other in expected.values - made.values if key == name]
        found = chosen(value, instead, talk, made.at) if instead else added(value, talk, made.at)
        if found is not None:
            return found
    return left_out(swap, talk)


def chosen(value: str, instead: Sequence[str], talk: Talk, at: int) -> int | None:
    """The turn in which the user named a value, or an attribute that only the chosen thing has."""
    if (named := talk.strayed_before(value, at, instead=instead)) is not None or value not in talk.things:
        return named
    mine = talk.things[value].attributes
    for other in [talk.things[name].attributes for name in instead if name in talk.things]:
        for key in sorted(mine.keys() & other.keys()):
            if mine[key] != other[key] and talk.told_before(other[key], at) is None:
                named = talk.strayed_before(mine[key], at, instead=[other[key]])
            if named is not None:
                return named
    return None


def added(value: str, talk: Talk, at: int) -> int | None:
    """The turn in which the user spoke of a thing that its script does not have."""
    thing = talk.things.get(value)
    if thing is None or thing.name is None or not talk.script.strip():
        return None
    return talk.strayed_before(thing.name, at)


def left_out(swap: Swap, talk: Talk) -> int | None:
    """The user's last turn before an action on some things, where the expected one has another it never spoke of."""
    made, expected = swap
    names = {key for key, _ in made.values - expected.values}
    lost = [value for key, value in sorted(expected.values - made.values) if key not in names]
    unsaid = [talk.things[value].name for value in lost if value in talk.things]
    if (
        not lost
        or len(unsaid) < len(lost)
        or any(n is None or talk.told_before(n, made.at) is not None for n in unsaid)
    ):
        return None
    return next((turn.at for turn in reversed(talk.turns) if turn.at < made.at), None)


def ended_early(items: Sequence[Item]) -> int | None:
    """The user's last turn, when it gives the go-ahead the agent asked for and ends the talk with it."""
    spoken = [item for item in items if item.kind in ("message", "environment", "tool_call", "tool_result")]
    if len(spoken) < 2 or spoken[-1].role != "user" or spoken[-2].kind != "message":
        return None
    gives, asks = GO_AHEAD.search(spoken[-1].text), ASKS.search(spoken[-2].text)
    return spoken[-1].position if gives and asks else None


def things_in(items: Sequence[Item]) -> dict[str, Thing]:
    """Id -> what tools said about it; of several objects with the id the one with most attributes."""
    out: dict[str, Thing] = {}
    for item in items:
        if item.kind == "tool_result":
            for key, thing in things_of(decoded(item.text), None, DEEPEST):
                if key not in out or len(thing.attributes) >= len(out[key].attributes):
                    out[key] = thing
    return out


def things_of(value: Any, name: str | None, depth: int) -> Iterator[tuple[str, Thing]]:
    """Every object with an id, by each of its ids; what has no name goes by that of what it is in."""
    if depth == 0:
        return
    if isinstance(value, list):
        for inner in value:
            yield from things_of(inner, name, depth - 1)
    if not isinstance(value, dict):
        return
    own = value.get("name") if isinstance(value.get("name"), str) else name
    ids = [inner for key, inner in value.items() if is_id(key) and isinstance(inner, str)]
    thing = Thing(own, dict(attributes_of(value, depth)))
    yield from ((key, thing) for key in ids)
    for key, inner in value.items():
        if isinstance(inner, dict) and any(mark.isdigit() for mark in str(key)):
            yield str(key), Thing(own, dict(attributes_of(inner, depth)))
        yield from things_of(inner, own, depth - 1)


def is_id(key: str) -> bool:
    return key == "id" or key.endswith("_id")


def attributes_of(value: dict[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    """Texts that describe a thing, those of objects in it too."""
    for key, inner in value.items():
        if isinstance(inner, str) and not is_id(key) and key != "name":
            yield key, inner
        elif isinstance(inner, dict) and depth > 1 and not any(mark.isdigit() for mark in str(key)):
            yield from attributes_of(inner, 1)
