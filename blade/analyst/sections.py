"""The sections a model is asked for, and what it is given to write them from."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from blade.analyst.contrasting import Told
from blade.analyst.facts import Offer, facts_of, quotes_of
from blade.analyst.points import Needs, Offers, schema_for
from blade.analyst.quoting import fenced, instructions
from blade.audit.narrated import Standard
from blade.diagnosis.labels import is_by_rule
from blade.llm.model import Request, Sampling, user_message

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
