"""How well a report supports a fact, measured against how well the golden report does.

A fact is looked for as what it says and what the golden report says where it supports it best: the words of the fact
count in full where that passage has them and half otherwise, the passage's own words a quarter, since an honest
report follows the run and not the fact. Rare words weigh more; words that the golden report never uses tell nothing. A
report supports the fact when one of its passages comes to half of what the golden report does; a passage that lacks the
fact's values supports it little, and one that is nearly the fact, or nearly the golden report's passage, with a turned
negation refutes it. Standard library only.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from blade.golden.facts import Fact
from blade.golden.passages import Passage, Passages, code_value, number_value, read_passages
from blade.golden.shallow import make_shallow

Verdict = Literal["met", "denied", "absent"]
LEAST = 0.5
"""Support, relative to the golden report's, from which on a fact is asserted."""
BESIDE, AROUND = 0.5, 0.25
"""How much words count that the fact has and its passage has not, and that the passage has and the fact has not."""
WITHOUT_VALUES = 0.25
"""How much a passage counts that has none of the fact's values."""
ALIKE = 0.72
"""Share of words in order from which on two passages say the same thing or its opposite."""
NOTHING = Passage("", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What became of a fact."""

    fact: Fact
    """The fact."""
    verdict: Verdict
    """Whether the report asserts it, denies it, or neither."""
    support: float = 0.0
    """How well it is supported, 1 being as well as by the golden report."""
    line: int = 0
    """Where; 0 when nowhere."""
    by: str = ""
    """What decided: its check, its words, or a model."""
    can_tell: bool = True
    """Whether the golden report supports it enough for others to be measured by that."""


class Rarity:
    """How much each word and value says: the fewer passages of the golden report have it, the more."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        texts = [one.known | one.values for one in passages]
        self.seen = Counter(term for terms in texts for term in terms)
        self.total = len(texts) + 1
        self.of_one = math.log((self.total + 1) / 1.5)
        """What a word says that a single passage has."""

    def __call__(self, term: str) -> float:
        return math.log((self.total + 1) / (self.seen[term] + 0.5))

    def of(self, terms: Iterable[str]) -> float:
        """What several say together."""
        return math.fsum(map(self, terms))


class Wanted:
    """A fact as it is looked for, once it is known where the golden report says it."""

    def __init__(self, fact: Fact, golden: Passages, rarity: Rarity) -> None:
        self.fact, self.passage, self.rarity = fact, Passage(fact.fact, 0), rarity
        values, words = values_of(fact), self.passage.known
        everything = rarity.of(words) or 1.0

        def share(one: Passage) -> float:
            return rarity.of(words & one.known) / everything * held(values, one, rarity)

        self.model = max(golden.all, key=share, default=NOTHING)
        """The golden report's passage that supports the fact best."""
        self.share = share(self.model)
        """How much of the fact that passage has."""
        self.sentence = max(golden.sentences, key=share, default=NOTHING)
        """The one sentence of it that does."""
        self.values = frozenset(value for value in values if self.model.states(value))
        said, model = words | self.values, self.model.known | self.values
        self.weights = {
            term: rarity(term) * (AROUND if term not in said else 1.0 if term in model else BESIDE)
            for term in said | model
            if rarity.seen[term] or term in self.values
        }
        self.total = math.fsum(weight for term, weight in self.weights.items() if term in said & model)
        self.can_tell = self.total >= rarity.of_one
        """Whether the golden report has as much of it as one rare word says, so that others can be measured by that."""

    def support(self, one: Passage) -> float:
        """How well a passage supports the fact: 1 when as well as the golden report's."""
        terms = self.weights.keys() & one.known | {value for value in self.values if one.states(value)}
        told = math.fsum(map(self.weights.__getitem__, terms)) / (self.total or 1.0)
        return min(1.0, told) * held(self.values, one, self.rarity)


def held(values: frozenset[str], one: Passage, rarity: Rarity) -> float:
    """How much a passage counts for the share of some values that it states."""
    if not values:
        return 1.0
    share = rarity.of(value for value in values if one.states(value)) / (rarity.of(values) or 1.0)
    return WITHOUT_VALUES + (1.0 - WITHOUT_VALUES) * share


class Judge:
    """Holds reports against one golden report."""

    def __init__(self, golden: str) -> None:
        self.golden, self.totals = read_passages(golden), read_passages(make_shallow(golden))
        self.rarity = Rarity(self.golden.each)
        self._wanted: dict[str, Wanted] = {}

    def wanted(self, fact: Fact) -> Wanted:
        """A fact as the golden report says it."""
        if fact.fact not in self._wanted:
            self._wanted[fact.fact] = Wanted(fact, self.golden, self.rarity)
        return self._wanted[fact.fact]

    def look_for(self, fact: Fact, report: Passages, said: Passages) -> Met:
        """Whether a report supports a fact as well as the golden one does.

        Args:
            report: what it says in sentences.
            said: what it says that the golden report does not, of which nothing may refute the fact.
        """
        wanted = self.wanted(fact)
        score, place = max(((wanted.support(one), -at) for at, one in enumerate(report.all)), default=(0.0, 0))
        verdict: Verdict = "met" if score >= LEAST else "absent"
        line = report.all[-place].line if verdict == "met" else 0
        references = (wanted.passage, wanted.sentence)
        if denial := next((one for one in said.all if any(is_opposite(one, other) for other in references)), None):
            verdict, score, line = "denied", 0.0, denial.line
        by = "check" if fact.check is not None else "words"
        return Met(fact=fact, verdict=verdict, support=score, line=line, by=by, can_tell=wanted.can_tell)


def values_of(fact: Fact) -> frozenset[str]:
    """Values that a passage must have: those of the check where there is one, else those of the sentence."""
    wanted = Passage(fact.fact, 0)
    check = fact.check
    if check is None:
        return wanted.values
    found = {code_value(code) for code in (*check.tasks, *check.citations)}
    found |= {f"^{check.label}"} if check.label else set()
    found |= {number_value(check.passed)} if check.passed is not None else set()
    if check.value is not None:
        forms = {number_value(check.value), number_value(round(100 * check.value, 1))}
        is_share = check.kind == "metric" and abs(check.value) <= 1.0
        found |= forms & wanted.values or {number_value(round(100 * check.value, 1) if is_share else check.value)}
    return frozenset(found) or wanted.values


def is_opposite(one: Passage, reference: Passage) -> bool:
    """Whether two passages are nearly the same words and differ in a negation."""
    if (one.negations - reference.negations) % 2 == 0 or len(reference.spoken) < 4:
        return False
    if len(one.known & reference.known) < ALIKE * len(reference.known):
        return False
    return SequenceMatcher(None, one.spoken, reference.spoken, autojunk=False).ratio() >= ALIKE
