"""Numbers in anybody's prose, bound to values of a run by value, unit and the words around them.

A number is supported when the value that its words point to most strongly is the number as it is rounded; contradicted
when they point clearly to a value that it is not; unbound otherwise. The heading it stands under makes no difference.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from blade.audit.figures import Figure, agrees, find_figures, find_pairs
from blade.audit.markdown import CODE_CLOSE, CODE_OPEN, shown
from blade.audit.mentions import tasks_in
from blade.audit.verdicts import Check
from blade.report.values import Value, stem, stems

TOKEN = re.compile(r"pass\s*[@^]\s*\w+|[A-Za-z][A-Za-z0-9'_]*|\d+(?:[.,]\d+)*|[,;:.()—–|]")
NEAR = 6.0
"""Words at this distance count half."""
STOP = 4
"""Words that a comma, a bracket or a turn counts for."""
TURNS = frozenset({"while", "whereas", "but", "and", "against"})
FROM_ABOVE = 0.25
"""What a word in a heading counts."""
ENOUGH = 2.2
"""What words must weigh, in nats, before they bind a number."""
STRONG = 1.2
"""What the best score must be for a contradiction."""
SAME_WORDS = 0.12
"""Scores this close of values that go by the same words say nothing of which is meant."""
CLEAR = 0.7
"""How far, of the best score, the next different value must stay behind for a contradiction."""
TIED = 0.97
"""Scores this close to the best are no worse."""
MOST_NEAR = 3
WHOLE = re.compile(r"\b(?:of|over|across|all|in)\s+(?:the\s+|all\s+|its\s+)*$", re.IGNORECASE)
"""What stands before a number that says how many there are in all."""
UNITS = {"%": 100.0, "pp": 100.0, "": 1.0}


class Spoken(NamedTuple):
    """A text with the words that belong to it."""

    text: str
    """The sentence or cell."""
    line: int
    """Where it stands."""
    around: tuple[str, ...] = ()
    """Texts that speak of it as much as its own words do: the heads of its row and column."""
    above: tuple[str, ...] = ()
    """Headings and captions, which may."""


class Candidate(NamedTuple):
    """A value that a number may stand for."""

    value: Value
    score: float
    """How strongly the words point to it."""
    weight: float
    """What the words weigh that it goes by."""
    matched: frozenset[str] = frozenset()
    """Those words."""


class Binder:
    """Binds numbers to the values of a run."""

    def __init__(self, values: Sequence[Value]) -> None:
        self.values = [value for value in values if value.kind != "text"]

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How much each word says, in nats: a word that every value goes by says nothing."""
        seen = Counter(word for value in self.values for word in value.words)
        return {word: math.log(len(self.values) / count) for word, count in seen.items()}

    @cached_property
    def by_word(self) -> dict[str, list[int]]:
        """Values by the words they go by."""
        found: dict[str, list[int]] = {}
        for place, value in enumerate(self.values):
            for word in value.words:
                found.setdefault(word, []).append(place)
            for word in value.hints - value.words:
                found.setdefault(word, []).append(place)
        return found

    def check(self, spoken: Spoken) -> Iterator[Check]:
        """What became of every number of a text."""
        figures = find_figures(spoken.text)
        stated = [figure for figure in figures if is_stated(figure, spoken)]
        pairs = [pair for pair in find_pairs(spoken.text, figures) if pair.kind == "fraction"]
        bases = {pair.second.start: pair.first for pair in pairs}
        parts = {pair.first.start for pair in pairs}
        bound: dict[int, Value] = {}
        for figure in stated:
            found = self.check_figure(figure, spoken, bases.get(figure.start), bound)
            # Of `4 of 5 rollouts`, the 4 may count anything that is said of the 5.
            is_doubtful = found.verdict == "contradicted" and figure.start in parts and "." in found.why
            yield found._replace(verdict="unbound", true="") if is_doubtful else found

    def check_figure(self, figure: Figure, spoken: Spoken, part: Figure | None, bound: dict[int, Value]) -> Check:
        """What became of one number; `part` is the first of `3 of 5` when this is the second."""
        said, sentence = spoken.text[figure.start : figure.end].strip(), shown(spoken.text)
        found = self.candidates(figure, spoken)
        best = found[0].score if found else 0.0
        agreeing = [one for one in found if says(figure, one.value)]
        if agreeing and agreeing[0].score >= TIED * best and agreeing[0].weight >= ENOUGH:
            bound[figure.start] = agreeing[0].value
            return Check(spoken.line, said, "supported", why=agreeing[0].value.written, sentence=sentence)
        if self.is_whole_of(figure, part, spoken, bound) or follows(figure, spoken, bound):
            return Check(spoken.line, said, "supported", why="follows from the numbers beside it", sentence=sentence)
        near = [one for one in found if fits(figure, one.value)][:MOST_NEAR]
        write = written(figure, (agreeing or near)[0].value) if agreeing or near else ""
        why = "no value of the run goes by these words" if not near else f"nearest: {', '.join(map(listed, near))}"
        others = [one for one in find_figures(spoken.text) if one.start != figure.start]
        is_taken = near and any(says(other, near[0].value) for other in others)
        is_plain = part is None and not is_taken and not figure.signed and not figure.word
        is_told = figure.unit == "%" or bool(noun_behind(figure, spoken))
        if is_plain and is_told and is_clear(near, found, agreeing) and is_named(near[0], figure, spoken):
            true = printed(figure, near[0].value)
            return Check(spoken.line, said, "contradicted", true, near[0].value.written, write, sentence)
        return Check(spoken.line, said, "unbound", why=why, write=write, sentence=sentence)

    def candidates(self, figure: Figure, spoken: Spoken) -> list[Candidate]:
        """Values that the words around a number speak of, the strongest first."""
        weights = word_weights(figure, spoken)
        places = {place for word, weight in weights.items() for place in self.by_word.get(word, ())}
        noun = noun_behind(figure, spoken)
        found = [self.score(self.values[place], weights, noun) for place in places]
        kept = [one for one in found if one is not None and unit_fits(figure, one.value)]
        return sorted(kept, key=lambda one: (-one.score, one.value.written))

    def score(self, value: Value, weights: dict[str, float], noun: str) -> Candidate | None:
        """How strongly words speak of a value; not at all when its object is not named."""
        if value.names and not any(weights.get(word, 0.0) > FROM_ABOVE for word in informative(value.names[-1])):
            return None
        if noun and value.counted and value.counted != noun:
            return None
        known = [word for word in value.words if word in weights]
        weight = sum(self.rarity[word] for word in known)
        silent = sum(self.rarity[word] for word in value.keys if word not in weights)
        named = [self.rarity[word] for word in value.names[-1]] if value.names else []
        lacking = sum(self.rarity[word] for word in (value.names[-1] if named else ()) if word not in weights)
        hinted = [word for word in value.hints if word in weights and word not in value.words]
        weight += 0.5 * sum(self.rarity.get(word, 1.0) for word in hinted)
        score = sum(self.rarity[word] * weights[word] for word in known) - 0.15 * silent - 0.3 * lacking
        score += 0.5 * sum(self.rarity.get(word, 1.0) * weights[word] for word in hinted)
        return Candidate(value, score + (1.0 if noun and value.counted == noun else 0.0), weight, frozenset(known))

    def is_whole_of(self, figure: Figure, part: Figure | None, spoken: Spoken, bound: dict[int, Value]) -> bool:
        """Whether a number is the whole: all there are, or what the part beside it is a part of."""
        noun = noun_behind(figure, spoken)
        if part is None and not WHOLE.search(spoken.text[: figure.start]):
            return False
        totals = [value for value in self.values if noun and not value.names and value.counted == noun]
        total = max(totals, key=lambda value: value.value, default=None)
        siblings = []
        if part is not None and (value := bound.get(part.start)) is not None and isinstance(value.address, str):
            siblings = [one for one in self.values if parent_of(one) == parent_of(value) and value.names]
        return any(says(figure, one) for one in [*([total] if total else []), *siblings])


def parent_of(value: Value) -> str:
    return value.address.rpartition("/")[0] if isinstance(value.address, str) else ""


def is_stated(figure: Figure, spoken: Spoken) -> bool:
    """Whether a number is one at all: written out, `three` counts something or says nothing."""
    if any(start <= figure.start < end for _, start, end in tasks_in(spoken.text)):
        return False
    if TASK_HEAD.fullmatch(spoken.around[1]) if len(spoken.around) > 1 else False:
        return False
    return not figure.word or (figure.value > 1 and bool(noun_behind(figure, spoken)))


def informative(names: frozenset[str]) -> frozenset[str]:
    """The words of a name that tell it from others; all, when it has no long ones."""
    return frozenset(word for word in names if len(word) > 3) or names


def without_figures(text: str) -> str:
    """The text without its numbers, so that none is taken for the name of a task; ids stay."""
    ids = [(start, end) for _, start, end in tasks_in(text)]
    for one in find_figures(text):
        if not any(start <= one.start < end for start, end in ids):
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def word_weights(figure: Figure, spoken: Spoken) -> dict[str, float]:
    """Stems around a number with how much each counts: less with distance, least from headings."""
    weights: dict[str, float] = {}
    kept = without_figures(spoken.text)
    for side, text in ((-1, kept[: figure.start]), (1, kept[figure.end :])):
        distance = 0.0
        tokens = TOKEN.findall(text.replace(CODE_OPEN, " ").replace(CODE_CLOSE, " "))
        for token in reversed(tokens) if side < 0 else tokens:
            if not token[0].isalnum() or token.lower() in TURNS:
                distance += STOP
                continue
            distance += 1
            for word in stems(token):
                weights[word] = max(weights.get(word, 0.0), 1.0 / (1.0 + distance / NEAR))
    for share, texts in ((0.9, spoken.around), (FROM_ABOVE, spoken.above)):
        for word in (word for text in texts for word in stems(text)):
            weights[word] = max(weights.get(word, 0.0), share)
    return weights


TASK_HEAD = re.compile(r"\W*(?:task|task[ _]?id|id|key)\W*", re.IGNORECASE)
"""The head of a column of ids."""
NOUN = re.compile(
    r"\s*(?:of\s+(?:the\s+|all\s+|its\s+)?[\d,]+\s+)?(?:\w+[\s-]+){0,2}?"
    r"(tasks?|rollouts?|repeats?|attempts?|files?|rows?|lines?|models?|runs?)\b",
    re.IGNORECASE,
)


def noun_behind(figure: Figure, spoken: Spoken) -> str:
    """What a number counts, where the words behind it or the head of its column say."""
    found = NOUN.match(spoken.text, figure.end) if not figure.unit else None
    if found is None and len(spoken.around) > 1:
        found = re.fullmatch(r"\W*(tasks?|rollouts?)\W*", spoken.around[1], re.IGNORECASE)
    return stem(found[1]) if found else ""


def unit_fits(figure: Figure, value: Value) -> bool:
    """Whether a value can be written with a number's unit."""
    if value.kind == "count":
        return not figure.unit and figure.is_whole
    return figure.unit in UNITS


def fits(figure: Figure, value: Value) -> bool:
    """Whether a number is surely meant to be of a value's kind."""
    is_share = value.kind == "real" and -1.0 <= value.value <= 1.0
    return value.kind == "count" if figure.is_whole and not figure.unit else is_share or not figure.unit


def says(figure: Figure, value: Value) -> bool:
    """Whether a number is a value, rounded as it is written; a sign may be said in words."""
    truth = value.value * UNITS.get(figure.unit, 1.0)
    return agrees(figure, truth) or (not figure.signed and truth < 0 and agrees(figure, -truth))


def follows(figure: Figure, spoken: Spoken, bound: dict[int, Value]) -> bool:
    """Whether a percentage is the share of two numbers beside it that are bound."""
    counts = [value.value for value in bound.values() if value.kind == "count"]
    if figure.unit != "%":
        return False
    others = [one.value for one in find_figures(spoken.text) if one.is_whole]
    return any(whole and part <= whole and agrees(figure, 100 * part / whole) for part in counts for whole in others)


def is_clear(near: list[Candidate], found: list[Candidate], agreeing: list[Candidate]) -> bool:
    """Whether the words point to one value and to no other, and speak of one object alone."""
    if not near or near[0].weight < ENOUGH or near[0].score < STRONG:
        return False
    names = near[0].value.names[-1:]
    if any(one.value.names[-1:] not in ((), names) and one.score > 0.4 * near[0].score for one in found):
        return False
    others = [one for one in (*near[1:], *agreeing[:1]) if one.value.value != near[0].value.value]
    if any(one.matched <= near[0].matched and one.score > near[0].score - SAME_WORDS for one in others):
        return False
    rivals = [*agreeing[:1], *(one for one in others if not one.matched <= near[0].matched)]
    return all(rival.score < CLEAR * near[0].score for rival in rivals)


def is_named(candidate: Candidate, figure: Figure, spoken: Spoken) -> bool:
    """Whether the words right beside a number name a value: its own key, and the whole name of its object."""
    weights, value = word_weights(figure, spoken), candidate.value
    near_by = {word for word, weight in weights.items() if weight >= 0.5}
    names = value.names[-1] if value.names else frozenset[str]()
    if spoken.around:
        row, column = (set(stems(text)) for text in spoken.around)
        if not row or not row <= value.words or not column <= value.words | {value.counted, "value"}:
            return False
    noun = noun_behind(figure, spoken)
    if names and value.leaf == {noun}:
        return False  # how many rollouts or tasks of an object are meant can be said in too many ways
    return value.leaf <= near_by | {noun} and names <= candidate.matched


def printed(figure: Figure, value: Value) -> str:
    """A value as a number of this kind would be written."""
    if figure.unit in ("%", "pp"):
        return f"{100 * value.value:.1f} {figure.unit}"
    return f"{value.value:,}" if value.kind == "count" else f"{value.value:.3f}"


def written(figure: Figure, value: Value) -> str:
    """How a text names a value so that it carries its address."""
    if "|" in value.written:
        return f"{{{{ {value.written} }}}}" if value.written.endswith("| ci") else f"{{{{ {value.written} | count }}}}"
    form = {"%": "pct", "pp": "pp"}.get(figure.unit, "count" if value.kind == "count" else "num")
    return f"{{{{ {value.written} | {form} }}}}"


def listed(candidate: Candidate) -> str:
    """A candidate for a message."""
    value = candidate.value.value
    return f"{candidate.value.written} = {value if isinstance(value, int) else round(value, 4)}"
