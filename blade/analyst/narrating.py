"""Writing the narrative: differences between passing and failing rollouts first, then section by section.

Each part is a small question of its own. What does not hold after a bounded number of answers is left out and recorded
as not written, with the last reason.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from blade.analyst.asking import AnalystOptions
from blade.analyst.contrasting import HEADING, Pair, Told, accept_difference, pairs
from blade.analyst.conversation import Talk, fenced, instructions, talk
from blade.analyst.facts import Offer, facts_of, quotes_of
from blade.analyst.points import Needs, Offers, accept_points, schema_for
from blade.audit.narrated import Standard
from blade.diagnosis.labels import is_by_rule
from blade.llm.model import Model, Request, Sampling, user_message
from blade.report.report import PROSE_SECTIONS
from blade.report.workspace import Workspace

INSTRUCTIONS = (
    instructions("writing.md")
    + """
{"points": [{"title": "...", "text": "...", "facts": ["F1"], "quotes": ["Q1"]}]}
"""
)
MOST_REASONS = 40


class Wanted(NamedTuple):
    """A section to be written."""

    heading: str
    ask: str
    needs: Needs


SECTIONS = (
    Wanted(
        "Executive Summary",
        "Two to four points: how the run went, what the loss comes from, what to do first.",
        "facts",
    ),
    Wanted(
        "Dominant Failure Modes",
        "One point for each way in which rollouts fail: what happens step by step, and why there.",
        "quotes",
    ),
    Wanted(
        "Findings No Table Shows",
        "One to three points that only a reader of the rollouts can know, such as a pass for the wrong reason, "
        "a verdict that is too kind or too strict, or failures that look alike and need opposite remedies.",
        "quotes",
    ),
    Wanted(
        "Recommendations",
        "Two to four points: what to change first, and which of the failures it would remove.",
        "facts or quotes",
    ),
)


def make_offers(standard: Standard, told: Iterable[Told]) -> Offers:
    """What sections may name."""
    more = [proof for one in told for proof in one.evidence]
    return Offers(by_name(facts_of(standard)), by_name(quotes_of(standard, more)))


def by_name(offers: Iterable[Offer]) -> dict[str, Offer]:
    return {offer.name: offer for offer in offers}


def writable(offers: Offers) -> list[Wanted]:
    """Sections for which there is something to name."""
    has = {"facts": offers.facts, "quotes": offers.quotes, "facts or quotes": offers.facts or offers.quotes}
    return [one for one in SECTIONS if has[one.needs]]


def ask_section(
    wanted: Wanted, offers: Offers, standard: Standard, *, told: Sequence[Told], sampling: Sampling
) -> Request:
    """The question about a section; all that comes from files or from models stands inside fences."""
    parts = [
        f"Facts:\n{fenced(listing(offers.facts))}",
        *([f"Quotes:\n{fenced(listing(offers.quotes))}"] if offers.quotes else []),
        *([f"What readers found:\n{fenced(found)}"] if (found := reasons(standard)) else []),
        *([f"What passing rollouts did that failing ones did not:\n{fenced(differences(told))}"] if told else []),
        f"Write the section {wanted.heading}. {wanted.ask} Every point needs {wanted.needs}.",
        "Answer with the JSON object only.",
    ]
    return Request(
        instructions=INSTRUCTIONS,
        input=[user_message("\n\n".join(parts))],
        sampling=sampling,
        schema=schema_for(offers),
    )


def listing(offers: Mapping[str, Offer]) -> str:
    return "\n".join(f"{name}: {offer.text}" for name, offer in offers.items())


def reasons(standard: Standard) -> str:
    """Why tasks fail, by those who have read them; by rules where nobody has."""
    causes = standard.analysis.causes
    read = [cause for cause in causes if not is_by_rule(cause.author)] or causes
    return "\n".join(f"task {cause.task}, {cause.label}: {cause.reason}" for cause in read[:MOST_REASONS])


def differences(told: Iterable[Told]) -> str:
    return "\n".join(f"task {one.task}: {one.words}" for one in told)


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


class Writer(NamedTuple):
    """Who writes, how, and what it is held against."""

    model: Model
    how: AnalystOptions
    standard: Standard
    progress: Progress


def plan_story(workspace: Workspace, how: AnalystOptions) -> list[Asked]:
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


async def narrate(workspace: Workspace, model: Model, how: AnalystOptions, *, progress: Progress) -> Story:
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
