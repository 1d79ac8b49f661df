"""A section in a form that a weak model can fill: points, each a few plain words with the facts and quotes behind it.

The words are the model's and hold no number, no quotation, no markup and no word that sweeps over rollouts nobody
counted; figures and quotes are named from a list, and stand behind the words as the engine writes them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from blade.analyst.conversation import NotAccepted, read_json
from blade.analyst.facts import Offer
from blade.audit.figures import find_figures
from blade.audit.markdown import QUOTED
from blade.audit.narrated import MARKUP, Standard
from blade.errors import BladeError
from blade.report.narrative import FrontMatter, Narrative
from blade.report.text import md, plain

MOST_POINTS, MOST_TITLE, MOST_TEXT, MOST_NAMED = 5, 80, 500, 4
LOCAL = frozenset({"any", "both", "neither", "no", "only"})
"""Universal words that mostly speak of the one thing at hand."""
NONE_OF_THEM = re.compile(r"\bno (?:\w+ )?(?:tasks?|rollouts?|attempts?|runs?|failures?|passes)\b", re.IGNORECASE)
UNIVERSAL = re.compile(r"\b(?:all|every|each|none|no|only|never|always|nobody|neither|any|both|exclusively)\b", re.I)
SUPERLATIVE = re.compile(r"\b(?:most|least|best|worst|majority|minority|dominant|\w{3,}(?<!for)est)\b", re.I)
FACTOR = re.compile(r"\b(?:twice|double[ds]?|half|halve[ds]?|triple[ds]?|thirds?|quarters?|times|fold)\b", re.I)
SPOKEN = re.compile(r"(?<!\w)['‘][^'‘’]{3,}['’](?!\w)")
NAME = re.compile(r"\b[FQR]\d+\b")

Needs = Literal["facts", "quotes", "facts or quotes"]


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to say."""

    title: str
    """The point in at most eight words, without numbers."""
    text: str
    """One to three plain sentences, without numbers and without quotations."""
    facts: list[str]
    """Names of facts from the list that support it, such as F3."""
    quotes: list[str]
    """Names of quotes from the list that show it, such as Q2."""


class Points(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section."""

    points: list[Point]
    """One to five points, the weightiest first."""


DECODER = msgspec.json.Decoder(Points)


class Offers(NamedTuple):
    """What may be named, by name."""

    facts: Mapping[str, Offer]
    quotes: Mapping[str, Offer]


def schema_for(offers: Offers) -> dict[str, Any]:
    """The form's JSON Schema, in which only what is offered can be named."""
    schema = msgspec.json.schema(Points)
    fields = schema["$defs"]["Point"]["properties"]
    for field, known in (("facts", offers.facts), ("quotes", offers.quotes)):
        if known:
            fields[field]["items"]["enum"] = list(known)
    return schema


def accept_points(text: str, heading: str, needs: Needs, *, offers: Offers, standard: Standard) -> str:
    """The template of a section that a reply amounts to, once everything in it was looked up.

    Raises:
        NotAccepted: with what is wrong, in words for the model.
    """
    points = read_json(text, DECODER).points
    if not 1 <= len(points) <= MOST_POINTS:
        raise NotAccepted(f"you gave {len(points)} points; give one to {MOST_POINTS}.")
    template = "\n".join(compose(point, needs, offers) for point in points)
    check_section(heading, template, standard)
    return template


def compose(point: Point, needs: Needs, offers: Offers) -> str:
    """A point as the narrative has it: the words, then figures, then quotes."""
    facts = named(point.facts, offers.facts, "fact")
    quotes = named(point.quotes, offers.quotes, "quote")
    proof = {"facts": facts, "quotes": quotes, "facts or quotes": [*facts, *quotes]}[needs]
    if not proof:
        raise NotAccepted(f"the point {point.title[:60]!r} names no {needs}; every point needs one at least.")
    title, words = check_words(point.title, MOST_TITLE).rstrip(".:"), check_words(point.text, MOST_TEXT)
    figures = f" In figures: {'; '.join(facts)}." if facts else ""
    spoken = f" In their words: {', '.join(quotes)}." if quotes else ""
    return f"- **{md(title)}.** {sentence(words)}{figures}{spoken}"


def named(names: Sequence[str], known: Mapping[str, Offer], what: str) -> list[str]:
    """The templates of what a point names."""
    strangers = [name for name in names if name not in known]
    if strangers:
        there = f"they are {', '.join(known)}" if known else "there are none"
        raise NotAccepted(f"there is no {what} {strangers[0][:40]!r}; {there}.")
    if len(names) > MOST_NAMED:
        raise NotAccepted(f"a point names {len(names)} {what}s; name at most {MOST_NAMED}.")
    return [known[name].template for name in dict.fromkeys(names)]


def sentence(words: str) -> str:
    """Words of a model as Markdown, ending in a full stop."""
    return md(words if words.endswith((".", "!", "?")) else f"{words}.")


def check_words(given: str, most: int) -> str:
    """Words of a model in one line.

    Raises:
        NotAccepted: they say more than words may.
    """
    words = " ".join(plain(given).split())
    problem = wrong_with(words, most)
    if problem:
        raise NotAccepted(f"{words[:60]!r} {problem}.")
    return words


def wrong_with(words: str, most: int) -> str:
    """What is wrong with some words; nothing when they may stand."""
    if not any(character.isalpha() for character in words):
        return "says nothing; write a sentence"
    if len(words) > most:
        return f"has {len(words)} characters; at most {most} are taken"
    if found := re.search(r"[{}`]", words) or MARKUP.search(words):
        return f"holds {found[0]!r}; write plain words without code, links or markup"
    if found := QUOTED.search(words) or SPOKEN.search(words):
        return f"quotes {found[0][:40]!r}; write it in your own words and name a quote from the list"
    if found := NAME.search(words):
        return f"speaks of {found[0]}, which a reader of the report does not know; name it under facts or quotes"
    return swept(words)


def swept(words: str) -> str:
    """Which number or sweeping word some words state by themselves."""
    for figure in find_figures(words):
        if not (figure.word and figure.value <= 1):
            said = words[figure.start : figure.end].strip()
            return f"states {said!r}; write no numbers, also not in words, and name a fact instead"
    for pattern in (NONE_OF_THEM, UNIVERSAL, SUPERLATIVE, FACTOR):
        for found in pattern.finditer(words):
            if found[0].lower() not in LOCAL:
                return f"says {found[0]!r}, which nobody has counted; leave it out and name a fact instead"
    return ""


def check_section(heading: str, template: str, standard: Standard) -> None:
    """Raises `NotAccepted` unless the section can be filled and everything in it holds."""
    front = FrontMatter(author="llm:blade", model=standard.analysis.inputs.run)
    narrative = Narrative(where="your answer", front=front, sections={heading: template}, lines={heading: 1})
    try:
        standard.fill(narrative, heading)
    except BladeError as error:
        raise NotAccepted(f"{error}") from error
