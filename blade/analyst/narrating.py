"""Writing the narrative: differences between passing and failing rollouts first, then section by section.

Each part is a small question of its own. What does not hold after a bounded number of answers is left out and recorded
as not written, with the last reason.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from blade.analyst.contrasting import HEADING, Pair, Told, accept_difference, pairs
from blade.analyst.conversation import Talk, talk
from blade.analyst.points import Offers, accept_points
from blade.analyst.sections import Wanted, ask_section, make_offers, writable
from blade.audit.narrated import Standard
from blade.llm.model import Model, Request, Sampling
from blade.report.report import PROSE_SECTIONS
from blade.report.workspace import Workspace

Progress = Callable[[str, str | None], None]
"""Called with each part that was asked for, and why it is not written."""
Thing = TypeVar("Thing")
Found = TypeVar("Found")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question of the narrative."""

    about: str
    """The section; for a comparison of two rollouts, their citations."""
    request: Request
    """What is sent."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A narrative that was asked for."""

    sections: dict[str, str]
    """Templates by heading, in the order of the report."""
    not_written: dict[str, str]
    """Sections that never held, with the last reason."""


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """How the narrative is written."""

    dives: int
    """Tasks of which a passing and a failing rollout are compared, at most."""
    chars: int
    """Characters of trajectories shown per task, about."""
    attempts: int
    """Answers taken before a part counts as not written."""
    concurrency: int
    """Questions asked at once."""
    sampling: Sampling
    """How answers are drawn."""


class Writer(NamedTuple):
    """Who writes, how, and what it is held against."""

    model: Model
    how: Writing
    standard: Standard
    progress: Progress


def plan_story(workspace: Workspace, how: Writing) -> list[Asked]:
    """What would be asked with the labels as they are now; what the model finds on the way adds to it."""
    standard = Standard(workspace)
    asked = [
        Asked(about=pair.name, request=pair.request(how.sampling))
        for pair in pairs(workspace, standard, most=how.dives, chars=how.chars)
    ]
    offers = make_offers(standard, [])
    return asked + [
        Asked(about=one.heading, request=ask_section(one, offers, standard, told=[], sampling=how.sampling))
        for one in writable(offers)
    ]


async def narrate(workspace: Workspace, model: Model, how: Writing, *, progress: Progress) -> Story:
    """Asks for every part."""
    writer = Writer(model, how, Standard(workspace), progress)
    compared = list(pairs(workspace, writer.standard, most=how.dives, chars=how.chars))
    differences = await each(compared, lambda pair: tell_difference(pair, writer), how.concurrency)
    told = [found.value for found in differences if found.value is not None]
    offers = make_offers(writer.standard, told)
    wanted = writable(offers)
    written = await each(wanted, lambda one: write_section(one, offers, told, writer), how.concurrency)
    parts = {one.heading: found for one, found in zip(wanted, written, strict=True)}
    if differences:
        parts[HEADING] = dives_of(differences, told)
    held = {heading: part.value for heading, part in parts.items() if part.value is not None}
    lacking = {heading: part.problem for heading, part in parts.items() if part.value is None}
    return Story(sections=in_order(held), not_written=in_order(lacking))


def dives_of(differences: Sequence[Talk[Told]], told: Sequence[Told]) -> Talk[str]:
    """All differences as one section."""
    text = "\n".join(one.template for one in told) or None
    return Talk(text, [], None if told else differences[-1].problem)


async def tell_difference(pair: Pair, writer: Writer) -> Talk[Told]:
    """What tells the rollouts of a pair apart."""

    def accepted(text: str) -> Told:
        return accept_difference(text, pair, writer.standard)

    found = await talk(writer.model, pair.request(writer.how.sampling), accepted, attempts=writer.how.attempts)
    writer.progress(pair.name, None if found.value else found.problem)
    return found


async def write_section(wanted: Wanted, offers: Offers, told: Sequence[Told], writer: Writer) -> Talk[str]:
    """A section's template."""

    def accepted(text: str) -> str:
        return accept_points(text, wanted.heading, wanted.needs, offers=offers, standard=writer.standard)

    request = ask_section(wanted, offers, writer.standard, told=told, sampling=writer.how.sampling)
    found = await talk(writer.model, request, accepted, attempts=writer.how.attempts)
    writer.progress(wanted.heading, None if found.value else found.problem)
    return found


async def each(things: Sequence[Thing], ask: Callable[[Thing], Awaitable[Found]], concurrency: int) -> list[Found]:
    """What is found for each, a bounded number under way at once."""
    gate = asyncio.Semaphore(concurrency)

    async def one(thing: Thing) -> Found:
        async with gate:
            return await ask(thing)

    return list(await asyncio.gather(*map(one, things)))


def in_order(sections: dict[str, str]) -> dict[str, str]:
    """Sections in the order of the report."""
    return {heading: sections[heading] for heading in PROSE_SECTIONS if heading in sections}
