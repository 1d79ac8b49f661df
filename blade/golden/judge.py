"""The score of a report next to a golden one: what it knows, whether it is true, what it shows of the run.

    score = truth * detail * facts, and never above a cap

Everything is measured by the golden report, which scores 1 by construction. Truth and detail multiply, so that nothing
is earned by what is false, nor by a list of the facts themselves: whoever has read the run cannot help saying things of
it that stand neither in the facts nor in the totals. Standard library only.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from blade.audit.markdown import QUOTED, shown, without_code_marks
from blade.audit.mentions import split_citation
from blade.golden.facts import Fact
from blade.golden.passages import Passage, Passages, read_passages
from blade.golden.shallow import make_shallow
from blade.golden.support import Judge, Met, values_of
from blade.golden.truth import Truth, squeezed

LEAST_DETAIL = 0.25
"""Share of detail, relative to the golden report's, that is enough."""
SAME = 0.8
"""Share of words from which on a sentence is one of the golden report's, perhaps with other values."""
LEAST_ORDER = 0.75
"""Share of known neighbours that must stand in the order in which they are known; half of them do by chance."""
MOST_SHOWN = 200
KINDS = {"#": "numbers", "`": "ids", "^": "labels", "!": "negations"}
MOST_EXCHANGED = 1 / 8
MOST_MISPLACED = 1 / 2
TAKEN_BACK = re.compile(
    r"\b(?:everything|all|nothing)\b[^.]{0,40}\breport\b[^.]{0,20}\b(?:false|wrong|untrue|true|made up)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """Something so wrong that no merit makes up for it."""

    limit: float
    """The most a report can still score."""
    why: str
    """What it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something a report says that was held against the golden report or the rows."""

    holds: bool
    """Whether it is so."""
    line: int
    """Where it stands."""
    said: str
    """What was said."""
    true: str = ""
    """What is so instead."""
    is_made_up: bool = False
    """Whether it names or quotes what does not exist."""
    kinds: frozenset[str] = frozenset()
    """Kinds of values in it: numbers `#`, codes, capitals such as labels `^`; `!` for a sentence."""
    wrong: frozenset[str] = frozenset()
    """Those of them of which one is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a report is worth."""

    found: list[Met]
    """The anchor facts."""
    statements: list[Statement]
    """What it says that could be checked."""
    detail: float
    """How much it says of the run beyond the facts and the totals, from 0 to 1."""
    structure: float
    """Share of the golden report's number of parts, from 0 to 1."""
    overlap: float
    """Share of the golden report's values that it states too."""
    caps: list[Cap]
    """What limits it."""

    @property
    def facts(self) -> float:
        """The share of the facts' weight it supports."""
        judged = [one for one in self.found if one.can_tell] or self.found
        total = sum(one.fact.weight for one in judged)
        return sum(one.fact.weight * one.support for one in judged if one.verdict == "met") / total if total else 0.0

    @property
    def truth(self) -> float:
        """How true it is: 1 when nothing it says is wrong."""
        wrong = sum(not one.holds for one in self.statements)
        share = 1.0 - wrong / len(self.statements) if self.statements else 1.0
        return share * share

    @property
    def earned(self) -> float:
        """What it comes to before truth and caps."""
        return self.detail * self.facts

    @property
    def score(self) -> float:
        """The score, from 0 to 1."""
        return min([self.truth * self.earned, *(cap.limit for cap in self.caps)])


@lru_cache(maxsize=2)
def read_golden(text: str) -> tuple[Passages, Judge]:
    """A golden report, read once however many reports are held against it."""
    passages = read_passages(text)
    return passages, Judge(passages)


def judge(
    report: str,
    golden: str,
    facts: Sequence[Fact],
    truth: Truth,
    *,
    checked: Sequence[Statement] = (),
    found: Sequence[Met] = (),
) -> Judgement:
    """A report against what is known of the run.

    Args:
        checked: statements that somebody with more at hand has held to the rows.
        found: facts that somebody else has decided, in place of ours.
    """
    best, judging = read_golden(golden)
    said = read_passages(report)
    prose = in_order(said, best, facts)
    known = {one.text for one in best.sentences}
    new = Passages([one for one in said.sentences if one.text not in known], [])
    decided = {one.fact.id: one for one in found}
    met = [decided.get(fact.id) or judging.look_for(fact, prose, new) for fact in facts]
    parts, wanted = ({one.heading for one in passages.sentences} for passages in (said, best))
    values, stated = ({value for one in (*p.sentences, *p.rows) for value in one.values} for p in (said, best))
    quoted = {code for one in (*best.sentences, *best.rows) for code in (*codes(one), *quotes(one))}
    statements = [*compared(said, best), *made_up(new, truth, quoted), *checked]
    shares = [detail(one, judging, facts, read_passages(make_shallow(golden))) for one in (prose, best)]
    return Judgement(
        found=met,
        statements=statements,
        detail=min(1.0, shares[0] / (LEAST_DETAIL * shares[1])) if shares[1] else 1.0,
        structure=min(1.0, len(parts) / len(wanted)) if wanted else 1.0,
        overlap=len(values & stated) / len(stated) if stated else 1.0,
        caps=caps(said, best, prose, statements),
    )


def in_order(said: Passages, golden: Passages, facts: Sequence[Fact]) -> Passages:
    """What a report says in sentences: none, where words follow each other as they do in a heap.

    Of two words that stand side by side in the golden report or in a fact, sentences have mostly the same one first,
    whatever they say; of words in no order each is first as often as the other.
    """
    spoken = [one.sequence for one in golden.sentences] + [Passage(fact.fact, 0).sequence for fact in facts]
    known = {pair for words in spoken for pair in pairwise(words)}
    found = [pair for one in said.sentences for pair in pairwise(one.sequence)]
    same = sum((a, b) in known and (b, a) not in known for a, b in found)
    turned = sum((b, a) in known and (a, b) not in known for a, b in found)
    if (same + 1) / (same + turned + 2) > LEAST_ORDER:
        return said
    return Passages([], said.rows, dropped=said.dropped + len(said.sentences))


def detail(said: Passages, judging: Judge, facts: Sequence[Fact], totals: Passages) -> float:
    """Of all that a report says in the golden report's words and values, the share of what no fact and no total has."""
    given = [judging.wanted(fact) for fact in facts]
    known = frozenset[str]().union(*(one.passage.known | values_of(one.fact, one.passage) for one in given))
    known = known.union(*(one.known | one.values for one in (*totals.sentences, *totals.rows)))
    terms = frozenset[str]().union(*(one.known | one.values for one in (*said.sentences, *said.rows)))
    shared = [term for term in terms if judging.rarity.seen[term]]
    return judging.rarity.of(term for term in shared if term not in known) / (judging.rarity.of(shared) or 1.0)


def compared(said: Passages, golden: Passages) -> Iterator[Statement]:
    """Sentences and rows that are the golden report's but for their values or their negations."""
    known = {one.text for one in (*golden.sentences, *golden.rows)}
    by_word: dict[str, list[Passage]] = {}
    for one in (*golden.sentences, *golden.rows):
        for word in set(one.spoken):
            by_word.setdefault(word, []).append(one)
    for one in (*said.sentences, *said.rows):
        other = one if one.text in known else nearest(one, by_word)
        if other is None:
            continue
        differs = one.values - other.values
        turned = (one.negations - other.negations) % 2 == 1
        sentence = frozenset[str]() if one.is_row else frozenset("!")
        yield Statement(
            holds=not (differs or turned),
            line=one.line,
            said=shown(one.text)[:MOST_SHOWN],
            true=shown(other.text)[:MOST_SHOWN],
            kinds=frozenset(value[0] for value in one.values | other.values) | sentence,
            wrong=frozenset(value[0] for value in differs) | (sentence if turned else frozenset()),
        )


def nearest(one: Passage, by_word: dict[str, list[Passage]]) -> Passage | None:
    """The passage that has nearly the same words, in order; of several the one with most of the values."""
    mine, best = one.spoken, (0.0, 0)
    others = [other for word in set(mine) for other in by_word.get(word, ()) if other.is_row == one.is_row]
    counts, known = Counter(map(id, others)), {id(other): other for other in others}
    found: Passage | None = None
    for place, count in counts.most_common(12) if len(mine) >= 3 else ():
        other = known[place]
        if count >= SAME * len(set(mine)):
            ratio = SequenceMatcher(None, mine, other.spoken, autojunk=False).ratio()
            score = (round(ratio, 2), len(one.values & other.values))
            if ratio >= SAME and score > best:
                best, found = score, other
    return found


def made_up(said: Passages, truth: Truth, known: set[str]) -> Iterator[Statement]:
    """Rollouts and quotes that do not exist, where the rollouts are at hand; what the golden report has does."""
    for one in said.sentences:
        cited = [code for code in codes(one) if split_citation(code)]
        for citation in cited:  # what names no task of the run may be a time
            if truth.lacks(citation) and citation.rpartition(":")[0] in truth.tasks and citation not in known:
                yield Statement(holds=False, line=one.line, said=citation, true="no such rollout", is_made_up=True)
        for quote in quotes(one) if truth.texts and cited else ():
            if quote not in known and not any(quote in text for text in truth.squeezed_texts.values()):
                yield Statement(holds=False, line=one.line, said=quote, true="nobody says so", is_made_up=True)


def codes(one: Passage) -> list[str]:
    return [value[1:] for value in one.values if value[0] == "`" and ":" in value]


def quotes(one: Passage) -> list[str]:
    """Quotations of several words."""
    found = [squeezed(without_code_marks(quoted[0][1:-1])) for quoted in QUOTED.finditer(one.text)]
    return [quote for quote in found if len(quote.split()) > 1]


def caps(said: Passages, golden: Passages, prose: Passages, statements: Sequence[Statement]) -> list[Cap]:
    """Everything that limits a report."""
    caps = [Cap(limit=0.30, why=f"line {one.line}: {one.said}: {one.true}") for one in statements if one.is_made_up][:1]
    caps += [
        Cap(limit=0.10, why=f"line {one.line}: it takes itself back")
        for one in said.sentences
        if TAKEN_BACK.search(one.text)
    ][:1]
    for kind, name in KINDS.items():
        held = [one for one in statements if kind in one.kinds]
        other = sum(kind in one.wrong for one in held)
        if other > max(2.0, MOST_EXCHANGED * len(held)):
            caps.append(Cap(limit=0.35, why=f"{other} of {len(held)} statements have other {name}"))
    homes: dict[str, set[str]] = {}
    for one in golden.sentences:
        homes.setdefault(one.text, set()).add(one.heading)
    known = set().union(*homes.values())
    placed = [one for one in said.sentences if one.text in homes]
    misplaced = sum(one.heading in known and one.heading not in homes[one.text] for one in placed)
    if misplaced > MOST_MISPLACED * max(len(placed), 1):
        caps.append(Cap(limit=0.35, why="sections stand under other headings than their own"))
    if len(prose.sentences) < prose.dropped:
        caps.append(Cap(limit=0.35, why="it does not stand for most of its sentences"))
    return caps
