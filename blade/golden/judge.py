"""The score of a report next to a golden one: what it knows, whether it is true, what it shows of the run.

    score = truth * detail * facts

Everything is measured by the golden report, which scores 1 by construction. Truth and detail multiply, so that nothing
is earned by what is false, nor by a list of the facts themselves: whoever has read the run cannot help saying things of
it that stand neither in the facts nor in the totals. Standard library only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from blade.audit.markdown import shown
from blade.golden.facts import WEIGHTS, Fact
from blade.golden.passages import Passage, Passages, read_passages
from blade.golden.support import ALIKE, Judge, Met, values_of

LEAST_DETAIL = 0.15
"""Share of detail, relative to the golden report's, that is enough."""
LEAST_ORDER, LEAST_KNOWN, TOO_FEW = 4, 0.05, 20
"""How much oftener known neighbours stand in their order than turned round, how many neighbours are known, and of how
many pairs, so that words are in sentences; of fewer pairs nobody can tell."""
WRONG_WEIGHS, PRIOR = 4, 16
"""What a false statement takes from truth, and how many true ones a report is credited with beforehand."""
CAP = 0.3
"""The most a report can score that invents evidence, takes itself back or has its parts mixed up."""
MOST_SHOWN = 200
TAKEN_BACK = re.compile(
    r"\b(?:everything|all|nothing)\b[^.]{0,40}\breport\b[^.]{0,20}\b(?:false|wrong|untrue|true|made up)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something a report says that was held against the golden report or the rows."""

    line: int
    """Where it stands."""
    said: str
    """What was said."""
    true: str = ""
    """What is so instead, if it is not."""
    is_made_up: bool = False
    """Whether it names or quotes what does not exist."""
    kinds: frozenset[str] = frozenset()
    """What in it can be wrong: numbers `#`, codes, capitals such as labels `^`, quotations `“`, its negation `!`;
    `=` for what was held to the rows."""
    wrong: frozenset[str] = frozenset()
    """Those of them that are."""

    @property
    def holds(self) -> bool:
        """Whether it is so."""
        return not self.wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a report is worth."""

    found: list[Met]
    """The anchor facts."""
    statements: list[Statement]
    """What it says that could be checked."""
    detail: float
    """How much it says of the run beyond the facts and the totals, from 0 to 1."""
    caps: list[str]
    """What limits it to `CAP`."""

    @property
    def facts(self) -> float:
        """The share of the facts' weight it supports."""
        judged = [one for one in self.found if one.can_tell] or self.found
        total = sum(WEIGHTS[one.fact.difficulty] for one in judged)
        met = (WEIGHTS[one.fact.difficulty] * one.support for one in judged if one.verdict == "met")
        return sum(met) / total if total else 0.0

    @property
    def truth(self) -> float:
        """How true it is: 1 when nothing it says is wrong, and as bad as it is in the kind of thing it is worst at."""
        held = Counter(kind for one in self.statements for kind in one.kinds)
        wrong = Counter(kind for one in self.statements for kind in one.wrong)
        worst = max((count / (held[kind] + PRIOR) for kind, count in wrong.items()), default=0.0)
        return max(0.0, 1.0 - WRONG_WEIGHS * worst)

    @property
    def earned(self) -> float:
        """What it comes to before truth."""
        return self.detail * self.facts

    @property
    def score(self) -> float:
        """The score, from 0 to 1."""
        return min(self.truth * self.earned, CAP if self.caps else 1.0)


read_golden = lru_cache(maxsize=2)(Judge)
"""A golden report is read once however many reports are held against it."""


def judge(
    report: str, golden: str, facts: Sequence[Fact], *, checked: Sequence[Statement] = (), found: Sequence[Met] = ()
) -> Judgement:
    """A report against a golden one.

    Args:
        checked: statements that somebody with the rows at hand has held to them.
        found: facts that somebody else has decided, in place of ours.
    """
    judging = read_golden(golden)
    said, best, totals = read_passages(report), judging.golden, judging.totals
    known = {one.text for one in best.sentences}
    new = Passages([one for one in said.sentences if one.text not in known], [])
    if not is_in_order(new, best, facts):
        said = new = Passages([], [])
    decided = {one.fact.id: one for one in found}
    detail, most = (share_of_detail(one, best, facts, totals) for one in (said, best))
    statements = [*compared(said, best), *checked]
    made_up = [f"line {one.line}: {one.said}: {one.true}" for one in statements if one.is_made_up]
    back = [f"line {one.line}: it takes itself back" for one in said.sentences if TAKEN_BACK.search(one.text)]
    return Judgement(
        found=[decided.get(fact.id) or judging.look_for(fact, said, new) for fact in facts],
        statements=statements,
        detail=min(1.0, detail / (LEAST_DETAIL * most)) if most else 1.0,
        caps=[*made_up[:1], *back[:1], *(["its parts stand under other headings"] if is_misplaced(said, best) else [])],
    )


def is_in_order(said: Passages, golden: Passages, facts: Sequence[Fact]) -> bool:
    """Whether words follow each other as in sentences and not as in a heap.

    Of two words that stand side by side in the golden report or in a fact, sentences have mostly the same one first,
    whatever they say; of words in no order each is first as often as the other.

    Args:
        said: what the report does not share with the golden one.
    """
    known = {pair for one in (*golden.sentences, *(Passage(fact.fact, 0) for fact in facts)) for pair in one.neighbours}
    found = [pair for one in said.sentences for pair in one.neighbours]
    same = sum((a, b) in known and (b, a) not in known for a, b in found)
    turned = sum((b, a) in known and (a, b) not in known for a, b in found)
    return len(found) < TOO_FEW or (same > LEAST_ORDER * turned and same > LEAST_KNOWN * len(found))


def share_of_detail(said: Passages, golden: Passages, facts: Sequence[Fact], totals: Passages) -> float:
    """Of all values and pairs of words that a report shares with the golden one, the share no fact and no total has.

    Pairs are hard to hit by chance: general remarks and lists of catchwords share words with the golden report, and
    hardly ever two in a row.
    """
    given = [Passage(fact.fact, 0) for fact in facts]
    known = details_of([*given, *totals.each]).union(*(values_of(fact) for fact in facts))
    shared = details_of(said.each) & details_of(golden.each) | details_of(said.each) & known
    return len(shared - known) / len(shared) if shared else 0.0


def details_of(passages: Iterable[Passage]) -> frozenset[object]:
    """Values, and words that stand side by side."""
    return frozenset(detail for one in passages for detail in (*one.values, *one.neighbours))


def compared(said: Passages, golden: Passages) -> Iterator[Statement]:
    """Sentences and rows that are the golden report's but for their values or their negations."""
    known, by_word = {one.text for one in golden.each}, dict[str, list[Passage]]()
    for one in golden.each:
        for word in set(one.spoken):
            by_word.setdefault(word, []).append(one)
    for one in said.each:
        other = one if one.text in known else nearest(one, by_word)
        if other is None:
            continue
        kinds = {value[0] for value in one.bound | other.bound} | (set() if one.is_row else {"!"})
        wrong = {value[0] for value in one.bound - other.bound}
        wrong |= {"!"} if not one.is_row and (one.negations - other.negations) % 2 else set()
        yield Statement(
            line=one.line,
            said=shown(one.text)[:MOST_SHOWN],
            true=shown(other.text)[:MOST_SHOWN] if wrong else "",
            kinds=frozenset(kinds),
            wrong=frozenset(wrong),
        )


def is_misplaced(said: Passages, golden: Passages) -> bool:
    """Whether most of what is taken from the golden report stands under the heading of another part of it."""
    homes: dict[str, set[str]] = {}
    for one in golden.sentences:
        homes.setdefault(one.text, set()).add(one.heading)
    headings = set[str]().union(*homes.values())
    placed = [one.heading in homes[one.text] for one in said.sentences if one.text in homes and one.heading in headings]
    return placed.count(False) > 2 + len(placed) / 2  # one or two may be moved for a reason


def nearest(one: Passage, by_word: dict[str, list[Passage]]) -> Passage | None:
    """The passage that has nearly the same words, in order; of several the one with most of the values."""
    mine, best = one.spoken, (0.0, 0)
    others = [other for word in set(mine) for other in by_word.get(word, ()) if other.is_row == one.is_row]
    counts, known = Counter(map(id, others)), {id(other): other for other in others}
    found: Passage | None = None
    for place, count in counts.most_common(12) if len(mine) >= 3 else ():
        other = known[place]
        if count >= ALIKE * len(set(mine)):
            ratio = SequenceMatcher(None, mine, other.spoken, autojunk=False).ratio()
            score = (round(ratio, 2), len(one.bound & other.bound))
            if ratio >= ALIKE and score > best:
                best, found = score, other
    return found
