"""How well a report supports a fact, measured against how well the golden report does.

The support of a passage is the share of the fact's words it has, rare ones weighing more, times the share of the fact's
values. A report is as good as the golden one on a fact when it supports it as well; a passage
that is nearly the fact, or nearly the golden report's passage, with a turned negation refutes it.
Standard library only.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from blade.audit.markdown import CODE, QUOTED
from blade.golden.facts import Fact
from blade.golden.passages import Passage, Passages, code_value, number_value

Verdict = Literal["met", "denied", "absent"]
LEAST = 0.6
"""Support, relative to the golden report's, from which on a fact is asserted."""
ALIKE = 0.72
"""Share of words in order from which on two passages say the same thing or its opposite."""
WEAKEST = 0.10
"""The least support by the golden report that others can be measured by."""
LEAST_BOUND, BOUND = 0.25, 0.8
"""A passage with every value of a fact's check, and this share of its other words, supports it so well."""


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
    """How much each word says: the fewer passages of the golden report have it, the more."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        texts = [set(one.words) for one in passages]
        self.seen = Counter(word for words in texts for word in words)
        self.total = len(texts) + 1

    def __call__(self, word: str) -> float:
        return math.log((self.total + 1) / (self.seen[word] + 0.5))


class Wanted:
    """A fact as it is looked for."""

    def __init__(self, fact: Fact, rarity: Rarity) -> None:
        self.fact, self.passage = fact, Passage(fact.fact, 0)
        self.values = values_of(fact, self.passage)
        self.weights = {word: rarity(word) for word in self.passage.known}
        self.total = sum(self.weights.values())
        bare = Passage(CODE.sub(" ", QUOTED.sub(" ", fact.fact)), 0)
        self.plain = {word: self.weights[word] for word in set(bare.spoken) & self.passage.known}

    def support(self, passage: Passage) -> float:
        """How well a passage supports the fact, from 0 to 1."""
        shared = sum(self.weights[word] for word in self.passage.known & passage.known)
        if not self.total:
            return 0.0
        held = len(self.values & passage.values) / len(self.values) if self.values else 1.0
        score = shared / self.total * (0.25 + 0.75 * held)
        told = sum(weight for word, weight in self.plain.items() if word in passage.known)
        is_bound = self.fact.check is not None and held == 1.0 and told >= LEAST_BOUND * sum(self.plain.values())
        return max(score, BOUND) if is_bound else score

    def best(self, passages: Sequence[Passage]) -> tuple[float, Passage | None]:
        """The passage that supports the fact most, and how well."""
        scored = [(self.support(one), -place) for place, one in enumerate(passages)]
        score, place = max(scored, default=(0.0, 0))
        return (score, passages[-place]) if score > 0.0 else (0.0, None)


class Judge:
    """Holds reports against one golden report."""

    def __init__(self, golden: Passages) -> None:
        self.golden = golden
        self.rarity = Rarity([*golden.sentences, *golden.rows])
        self._wanted: dict[str, tuple[Wanted, float, Passage | None]] = {}

    def wanted(self, fact: Fact) -> tuple[Wanted, float, Passage | None]:
        """A fact, how well the golden report supports it, and the one sentence of it that does most."""
        if fact.fact not in self._wanted:
            wanted = Wanted(fact, self.rarity)
            self._wanted[fact.fact] = (wanted, wanted.best(self.golden.all)[0], wanted.best(self.golden.sentences)[1])
        return self._wanted[fact.fact]

    def look_for(self, fact: Fact, report: Passages, said: Passages) -> Met:
        """Whether a report supports a fact as well as the golden one does.

        Args:
            report: what it says in sentences.
            said: what it says that the golden report does not, of which nothing may refute the fact.
        """
        wanted, model, place = self.wanted(fact)
        score, best = wanted.best(report.all)
        relative = min(1.0, score / model) if model else 0.0
        references = [(said.all, wanted.passage), *([(said.sentences, place)] if place is not None else [])]
        opposite = (one for passages, other in references for one in passages if is_opposite(one, other))
        verdict: Verdict = "met" if best is not None and relative >= LEAST else "absent"
        if (denial := next(opposite, None)) is not None:
            verdict, best, relative = "denied", denial, 0.0
        by, line = "check" if fact.check is not None else "words", best.line if best and verdict != "absent" else 0
        return Met(fact=fact, verdict=verdict, support=relative, line=line, by=by, can_tell=model >= WEAKEST)


def values_of(fact: Fact, wanted: Passage) -> frozenset[str]:
    """Values that a passage must have: those of the check where there is one, else those of the sentence."""
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
