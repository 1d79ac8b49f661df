"""A report's numbers held against named facts, by the words and things around them.

A number is looked up by what its clause (or its row and column) mentions, then its sentence, then its heading, then the
run. It holds when a fact of that name says so. It is contradicted only when no fact of that name does and nothing else
in the clause could narrow what it is about; otherwise nobody can tell.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.audit.claims import NUMERIC, Claim
from blade.audit.facts import Fact, Thing, Words, says, shown_value
from blade.audit.figures import agrees
from blade.audit.knowledge import Knowledge
from blade.audit.outcome import Check
from blade.audit.restated import SUPPOSED
from blade.audit.scopes import HARMLESS, PLAIN, Scope, own_mentions, scopes
from blade.audit.told import Told

REMAINDER = re.compile(r"\s+more\b")
UNKNOWN = "no named value of the rows fits these words"


class Candidate(NamedTuple):
    """A fact that a number may be about."""

    fact: Fact
    """The fact."""
    name: Words
    """The words that name it."""
    leftover: Words
    """Words that it does not explain."""


def check_numbers(told: Told, knowledge: Knowledge) -> Iterator[Check]:
    """Every number of a report."""
    for speech in told.speeches:
        before: Fact | None = None
        for claim in speech:
            if claim.kind in NUMERIC:
                check, fact = check_number(claim, told, speech, knowledge, before)
                before = fact or before
                yield check


def check_number(
    claim: Claim, told: Told, speech: Sequence[Claim], knowledge: Knowledge, before: Fact | None
) -> tuple[Check, Fact | None]:
    """One number, and the fact it turned out to be about."""
    if claim.kind == "figure" and not claim.unit and REMAINDER.match(claim.words, claim.end):
        return check_remainder(claim, told, speech, knowledge), None
    wrong: Candidate | None = None
    for scope in scopes(claim, told, speech, knowledge):
        found = best(candidates(claim, scope, knowledge, before))
        holding = next((one for one in found if holds(claim, one.fact)), None)
        if holding is not None:
            return Check(claim=claim, holds=True, true=shown_value(holding.fact), why=holding.fact.path), holding.fact
        sure = [one for one in found if scope.is_own and not one.leftover and is_plain(claim, one.fact)]
        wrong = wrong or next(iter(sure), None)
        if wrong is not None and scope.things:
            break
    if wrong is not None:
        true = shown_value(wrong.fact, claim.figures[0])
        return Check(claim=claim, holds=False, true=true, why=f"the rows give {true} ({wrong.fact.path})"), wrong.fact
    return Check(claim=claim, holds=None, why=UNKNOWN), None


def check_remainder(claim: Claim, told: Told, speech: Sequence[Claim], knowledge: Knowledge) -> Check:
    """`a, b and 3 more`: listed and left out together are a count of what the list is about."""
    listed = len(re.findall(r"`[^`]*`", claim.words[: claim.start]))
    things, _ = own_mentions(claim, told, speech, knowledge)
    counts = [fact for thing in things for fact in knowledge.facts[thing] if fact.unit == "count" and fact.ends is None]
    fitting = next((fact for fact in counts if fact.value == listed + claim.values[0]), None)
    if fitting is None:
        return Check(claim=claim, holds=None, why="it counts what a list leaves out")
    return Check(claim=claim, holds=True, why=fitting.path)


def is_plain(claim: Claim, fact: Fact) -> bool:
    """Whether a sentence asserts rather than supposes; gains are suppositions by nature."""
    first, last = claim.words.rfind(";", 0, claim.start) + 1, claim.words.find(";", claim.end)
    said = claim.words[first : last if last >= 0 else None]
    supposed = claim.table is None and SUPPOSED.search(said) is not None
    return not supposed or fact.unit == "gain" or (fact.thing is not None and fact.thing.kind in ("mode", "work"))


def holds(claim: Claim, fact: Fact) -> bool:
    """Whether a claim says a fact."""
    first, last = claim.figures[0], claim.figures[-1]
    if claim.kind == "fraction":
        return bool(says(first, fact)) and (not fact.wholes or any(agrees(last, whole) for whole in fact.wholes))
    if fact.ends is not None:
        return bool(says(first, fact, fact.ends[0])) and bool(says(last, fact, fact.ends[1]))
    return bool(says(first, fact))


def fits(claim: Claim, fact: Fact) -> bool:
    """Whether a claim can be about a fact at all: a pair about two numbers, a count about a count."""
    if claim.kind in ("interval", "change"):
        return fact.ends is not None and says(claim.figures[0], fact, fact.ends[0]) is not None
    if claim.kind == "fraction":
        return fact.ends is None and fact.unit == "count" and bool(fact.wholes)
    return fact.ends is None and says(claim.figures[0], fact) is not None


def candidates(claim: Claim, scope: Scope, knowledge: Knowledge, before: Fact | None) -> Iterator[Candidate]:
    """Facts that the words of a scope name."""
    ordered = sorted(scope.things, key=lambda thing: (thing.kind, thing.key))
    holders: Sequence[Thing | None] = ordered or [None]
    for thing in holders:
        for fact in knowledge.facts.get(thing, ()):
            if not fits(claim, fact):
                continue
            allowed = HARMLESS | (thing.words if thing else frozenset())
            for name in fact.names:
                leftover = scope.words - name - allowed
                if name <= scope.words and (name or is_enough(fact, leftover)):
                    yield candidate(claim, fact, name, leftover)
    if before is not None and claim.kind in ("interval", "spread") and claim.table is None:
        sibling = knowledge.by_path.get(re.sub(r"\.\w+$", ".ci95", before.path))
        if sibling is not None and fits(claim, sibling):
            yield Candidate(sibling, scope.words, frozenset())


def is_enough(fact: Fact, leftover: Words) -> bool:
    """Whether a thing without a name beside it names a fact; a gain only where nothing else is said."""
    return fact.thing is not None and not (fact.unit == "gain" and leftover)


def candidate(claim: Claim, fact: Fact, name: Words, leftover: Words) -> Candidate:
    """A fact under one of its names; that a percentage is the share of some tasks takes more than the word tasks."""
    if claim.unit == "%" and fact.unit == "count" and name <= PLAIN:
        return Candidate(fact, frozenset(), leftover | name | {"share"})
    return Candidate(fact, name, leftover)


def best(found: Iterator[Candidate]) -> list[Candidate]:
    """The candidates with the fullest name, those that explain most first."""
    ranked = sorted(found, key=lambda one: (-len(one.name), len(one.leftover)))
    return [one for one in ranked if len(one.name) == len(ranked[0].name)]
