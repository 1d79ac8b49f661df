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

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs
from blade.audit.markdown import shown
from blade.audit.mentions import TASK_HEAD, Spoken, tasks_in
from blade.audit.task_rates import TaskRates
from blade.audit.verdicts import FOLLOWS, Check, Verdict
from blade.audit.wording import BESIDE, FROM_ABOVE, NOUN, noun_behind, noun_of_share, word_weights
from blade.report.values import Value, stems

ENOUGH = 2.2
"""What words must weigh, in nats, before they bind a number."""
STRONG = 1.2
"""What the best score must be for a contradiction."""
SAME_WORDS = 0.12
"""Scores this close of values that go by the same words say nothing of which is meant."""
CLEAR = 0.7
"""How far, of the best score, the next different value must stay behind for a contradiction."""
HALF_AS_GOOD = 0.5
"""What the score of a value must be, of the best, when the number beside it says more of the same object."""
FEW = 2
"""Counts up to this are everywhere and show nothing."""
TIED = 0.97
"""Scores this close to the best are no worse."""
MOST_NEAR = 3
MANY_WORDS = 6
"""Words of a name that nobody leaves out; of a longer one some are."""
MOST_BETWEEN = 3
"""Words between a number and its interval, at most."""
WHOLE = re.compile(r"\b(?:of|over|across|all|in)\s+(?:the\s+|all\s+|its\s+)*$", re.IGNORECASE)
"""What stands before a number that says how many there are in all."""
UNITS = {"%": 100.0, "pp": 100.0, "": 1.0}


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
        self.bases: dict[int, Figure] = {}
        self.portions: dict[int, Figure] = {}
        self.figures: list[Figure] = []
        self.tied: dict[int, list[Value]] = {}
        self.base_before = ""

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

    @cached_property
    def by_address(self) -> dict[str, list[Value]]:
        """Values by the address of the object they belong to."""
        found: dict[str, list[Value]] = {}
        for value in self.values:
            found.setdefault(parent_of(value), []).append(value)
        return found

    @cached_property
    def task_rates(self) -> TaskRates:
        return TaskRates(self.by_address)

    def check(self, spoken: Spoken) -> Iterator[Check]:
        """What became of every number of a text."""
        self.figures = figures = find_figures(spoken.text)
        self.base_before = ""
        pairs = find_pairs(spoken.text, figures)
        fractions = [pair for pair in pairs if pair.kind == "fraction"]
        self.bases = {pair.first.start: pair.second for pair in fractions}
        self.portions = {pair.second.start: pair.first for pair in fractions}
        bound: dict[int, Value] = {}
        settled = self.task_rates.check(spoken, figures, fractions)
        found: list[tuple[Figure, Check]] = []
        for figure in figures:
            if figure.start in settled:
                found.append((figure, settled[figure.start]))
            elif is_stated(figure, spoken):
                found.append((figure, self.check_figure(figure, spoken, bound)))
            ends = next((pair for pair in pairs if pair.kind == "interval" and pair.first == figure), None)
            if ends is not None:
                settled |= self.interval(ends, spoken, bound)
                if figure.start in settled:
                    found[-1] = (figure, settled[figure.start])
        for figure, check in found:
            follows_on = check.verdict == "unbound" and follows(figure, spoken, bound)
            yield check._replace(verdict="supported", why=FOLLOWS, write="") if follows_on else check

    def interval(self, pair: Pair, spoken: Spoken, bound: dict[int, Value]) -> dict[int, Check]:
        """The ends of an interval right behind a number: those of its value, both of them."""
        before = [one for one in self.figures if one.end <= pair.start]
        if not before or before[-1].start not in bound:
            return {}
        if len(re.findall(r"\w+", spoken.text[before[-1].end : pair.start])) > MOST_BETWEEN:
            return {}
        of = [bound[before[-1].start], *self.tied.get(before[-1].start, ())]
        intervals = [ends for value in of if len(ends := self.ends_of(value)) == 2]
        figures = (pair.first, pair.second)
        matching = [ends for ends in intervals if all(map(says, figures, ends))]
        found: dict[int, Check] = {}
        for figure, end in zip(figures, (matching or intervals or [[]])[0], strict=False):
            is_right = says(figure, end)
            said, true = spoken.text[figure.start : figure.end].strip(), "" if is_right else printed(figure, end)
            write, sentence = f"{{{{ {end.written} }}}}", shown(spoken.text)
            verdict: Verdict = "supported" if is_right else "contradicted"
            found[figure.start] = Check(spoken.line, said, verdict, true, end.written, write, sentence)
        return found

    def ends_of(self, value: Value) -> list[Value]:
        """Both ends of the interval of a value, where it has one."""
        return [one for one in self.by_address.get(f"{parent_of(value)}/ci95", ()) if "| ci" in one.written]

    def check_figure(self, figure: Figure, spoken: Spoken, bound: dict[int, Value]) -> Check:
        """What became of one number; of `3 of 5` the two stand for different values."""
        said, sentence = spoken.text[figure.start : figure.end].strip(), shown(spoken.text)
        base, portion = self.bases.get(figure.start), self.portions.get(figure.start)
        if portion is not None and not portion.value <= figure.value > 0:
            why = f"{portion.value:,g} cannot be of {figure.value:,g}"
            return Check(spoken.line, said, "contradicted", f"at least {portion.value:,g}", why, sentence=sentence)
        taken = bound.get(portion.start) if portion is not None else None
        found = [one for one in self.candidates(figure, spoken, base) if one.value is not taken]
        if base is not None:  # a part is not what it is a part of, nor more
            found = [one for one in found if one.value.value < base.value or one.value.value == figure.value]
        best = found[0].score if found else 0.0
        agreeing = [one for one in found if says(figure, one.value) and not is_overshadowed(one, found)]
        joined = [one for one in agreeing if one.score >= HALF_AS_GOOD * best and self.is_joined(one.value, figure)]
        agreeing = joined[:1] or agreeing
        if agreeing and (joined or agreeing[0].score >= TIED * best) and agreeing[0].weight >= ENOUGH:
            bound[figure.start] = agreeing[0].value
            self.tied[figure.start] = [one.value for one in agreeing[1:] if one.score >= TIED * best]
            return Check(spoken.line, said, "supported", why=agreeing[0].value.written, sentence=sentence)
        beside = self.sibling(figure, spoken, bound)
        if beside is not None and says(figure, beside):
            bound[figure.start] = beside
            return Check(spoken.line, said, "supported", why=beside.written, sentence=sentence)
        if beside is None and self.is_whole_of(figure, portion, found, spoken, bound):
            return Check(spoken.line, said, "supported", why=FOLLOWS, sentence=sentence)
        near = [one for one in found if fits(figure, one.value)][:MOST_NEAR]
        if not near or near[0].score < STRONG:
            near = self.equal_values(figure) or near
        write = written(figure, (agreeing or near)[0].value) if agreeing or near else ""
        why = "no value of the run matches these words" if not near else f"nearest: {', '.join(map(listed, near))}"
        others = [one for one in find_figures(spoken.text) if one.start != figure.start]
        is_taken = near and any(says(other, near[0].value) for other in others)
        is_plain = portion is None and not is_taken and not figure.signed and not figure.word
        # Of `4 of 5 rollouts`, the 4 may count anything that is said of the 5.
        is_told = figure.unit == "%" or (bool(noun_behind(figure, spoken)) and base is None)
        if is_plain and is_told and is_clear(near, found, agreeing) and is_named(near[0], figure, spoken):
            true = printed(figure, near[0].value)
            return Check(spoken.line, said, "contradicted", true, near[0].value.written, write, sentence)
        return Check(spoken.line, said, "unbound", why=why, write=write, sentence=sentence)

    def equal_values(self, figure: Figure) -> list[Candidate]:
        """Values that a number would be right for, whatever the words, those of the fewest steps first."""
        same = [value for value in self.values if fits(figure, value) and says(figure, value)]
        named = sorted(same, key=lambda value: (len(value.names), value.written.count("."), len(value.written)))
        return [Candidate(value, 0.0, 0.0) for value in named[:MOST_NEAR]]

    def candidates(self, figure: Figure, spoken: Spoken, whole: Figure | None = None) -> list[Candidate]:
        """Values that the words around a number speak of, the strongest first; `whole` is what it is a part of."""
        weights = word_weights(figure, spoken)
        places = {place for word, weight in weights.items() for place in self.by_word.get(word, ())}
        noun, base = noun_behind(figure, spoken), noun_of_share(figure, spoken)
        if figure.unit == "%":  # `28 % of the tasks never pass, 52 % sometimes`
            base = self.base_before = base or self.base_before
        found = [self.score(self.values[place], weights, "" if whole else noun) for place in places]
        shares = [share for place in places if (share := self.share(place, base)) is not None]
        scored = [one for share in shares if (one := self.score(share, weights, "")) is not None]
        most = max((one.score for one in scored), default=0.0)
        found += [one for one in scored if one.score >= TIED * most and says(figure, one.value)]
        kept = [one for one in found if one is not None and unit_fits(figure, one.value)]
        return sorted(kept, key=lambda one: (-one.score, one.value.written))

    def share(self, place: int, noun: str) -> Value | None:
        """How large a part of all tasks or rollouts a count is, for `28 % of the tasks never pass`."""
        value, total = self.values[place], self.totals.get(noun)
        if total is None or not total.value or value.kind != "count" or value.counted != noun or value is total:
            return None
        address = ["/", value.address, total.address]
        written = f"{value.written} | share({total.written})"
        return value._replace(
            address=address, value=value.value / total.value, kind="real", counted="", written=written
        )

    @cached_property
    def totals(self) -> dict[str, Value]:
        """How many tasks, rollouts and the like there are in all, by what is counted."""
        found: dict[str, Value] = {}
        for value in self.values:
            known = found.get(value.counted)
            is_plain = value.counted and not value.names and value.leaf == {value.counted}
            if is_plain and (known is None or value.value > known.value):
                found[value.counted] = value
        return found

    def score(self, value: Value, weights: dict[str, float], noun: str) -> Candidate | None:
        """How strongly words speak of a value; not at all when its object is not named."""
        if value.names and not any(weights.get(word, 0.0) > FROM_ABOVE for word in value.names[-1]):
            return None
        if noun and value.counted and value.counted != noun:
            return None
        known = [word for word in value.words if word in weights]
        weight = sum(self.rarity[word] for word in known)
        silent = sum(self.rarity[word] for word in value.keys if word not in weights)
        named = [self.rarity[word] for word in value.names[-1]] if value.names else []
        lacking = sum(self.rarity[word] for word in (value.names[-1] if named else ()) if word not in weights)
        lacking *= min(1.0, MANY_WORDS / max(len(named), 1))
        hinted = [word for word in value.hints if word in weights and word not in value.words]
        weight += 0.5 * sum(self.rarity.get(word, 1.0) for word in hinted)
        score = sum(self.rarity[word] * weights[word] for word in known) - 0.15 * silent - 0.3 * lacking
        score += 0.5 * sum(self.rarity.get(word, 1.0) * weights[word] for word in hinted)
        score += 1.0 if noun and value.counted == noun else 0.0
        own = value.leaf - {noun}
        score += 1.0 if own and all(weights.get(word, 0.0) >= BESIDE for word in own) else 0.0
        return Candidate(value, score, weight, frozenset(known))

    def is_joined(self, value: Value, figure: Figure) -> bool:
        """Whether the number before or behind says of the same object something else that holds."""
        beside = [one for one in self.figures if one == figure or one.start not in self.portions]
        at = beside.index(figure)
        own = [one for one in self.by_address.get(parent_of(value), ()) if one is not value]
        telling = [one for one in own if value.names and parent_of(value) and (one.kind == "real" or one.value > FEW)]
        others = [*beside[max(at - 1, 0) : at], *beside[at + 1 : at + 2]]
        return any(says(other, one) and (one.kind == "count") == other.is_whole for other in others for one in telling)

    def sibling(self, figure: Figure, spoken: Spoken, bound: dict[int, Value]) -> Value | None:
        """What the object of a number before says of the same noun: `22 failing rollouts, over 10 tasks`."""
        noun = noun_behind(figure, spoken)
        before = [value for start, value in sorted(bound.items()) if start < figure.start and value.names]
        if not noun or not before or figure.start in self.bases or figure.start in self.portions:
            return None
        own = self.by_address.get(parent_of(before[-1]), ())
        return next((one for one in own if one.leaf == {noun} and one not in bound.values()), None)

    def is_whole_of(
        self, figure: Figure, part: Figure | None, found: list[Candidate], spoken: Spoken, bound: dict[int, Value]
    ) -> bool:
        """Whether a number is the whole: all there are, or what the part beside it is a part of."""
        noun = noun_behind(figure, spoken)
        is_bare = not found or found[0].matched <= self.totals.keys()  # no word points anywhere else
        is_total = part is not None or is_bare or WHOLE.search(spoken.text[: figure.start]) is not None
        totals = [total] if is_total and (total := self.totals.get(noun)) is not None else []
        siblings = []
        if part is not None and (value := bound.get(part.start)) is not None and isinstance(value.address, str):
            own = [one for one in self.values if one.kind == "count" and parent_of(one) == parent_of(value)]
            siblings = [one for one in own if one.names and one is not value and one.value >= value.value]
        return any(says(figure._replace(hedge=""), one) for one in [*totals, *siblings])


def is_overshadowed(one: Candidate, found: list[Candidate]) -> bool:
    """Whether a neighbour of a value goes by words that are all there, and the value does not, as in `unseen_tasks`."""
    if one.value.leaf <= one.matched:
        return False
    return any(
        other.value.leaf <= other.matched
        and parent_of(other.value) == parent_of(one.value)
        and other.score >= one.score
        for other in found
    )


def parent_of(value: Value) -> str:
    """The address of the object a value belongs to."""
    address = value.address[1] if isinstance(value.address, list) else value.address
    return address.rpartition("/")[0] if isinstance(address, str) else ""


def is_stated(figure: Figure, spoken: Spoken) -> bool:
    """Whether a number is one at all: written out, `three` counts something or says nothing."""
    if any(start <= figure.start < end for _, start, end in tasks_in(spoken.text)):
        return False
    if TASK_HEAD.fullmatch(spoken.around[1]) if len(spoken.around) > 1 else False:
        return False
    if not figure.word:
        return True
    return figure.value > 1 and NOUN.match(spoken.text, figure.end) is not None


def unit_fits(figure: Figure, value: Value) -> bool:
    """Whether a value can be written with a number's unit; nobody writes a rate of 0.7 as 1."""
    if value.kind == "count":
        return not figure.unit and figure.is_whole
    return figure.unit in UNITS and not (figure.is_whole and 0 < abs(value.value) < 1)


def fits(figure: Figure, value: Value) -> bool:
    """Whether a number is surely meant to be of a value's kind."""
    is_share = value.kind == "real" and -1.0 <= value.value <= 1.0
    return value.kind == "count" if figure.is_whole and not figure.unit else is_share or not figure.unit


def says(figure: Figure, value: Value) -> bool:
    """Whether a number is a value, rounded as it is written; a sign may be said in words."""
    truth = value.value * UNITS.get(figure.unit, 1.0)
    if figure.half < 0.5 or figure.signed:  # `at most +6.2 pp` is a value that is a limit, not a loose bound
        figure = figure._replace(hedge="about" if figure.hedge == "about" else "")
    return agrees(figure, truth) or (not figure.signed and truth < 0 and agrees(figure, -truth))


def follows(figure: Figure, spoken: Spoken, bound: dict[int, Value]) -> bool:
    """Whether a number is the share of two beside it, or the key of a value that is bound beside it: 2 of `pass@2`."""
    values = list(bound.values())
    counts = [value.value for value in values if value.kind == "count"]
    if figure.unit == "%":
        others = [one.value for one in find_figures(spoken.text) if one.is_whole]
        return any(
            whole and part <= whole and agrees(figure, 100 * part / whole) for part in counts for whole in others
        )
    keys = {value.written.rpartition("[")[2].strip('"]') for value in values if not value.names}
    return figure.is_whole and f"{figure.value:g}" in keys


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
    if not value.leaf or (names and value.leaf == {noun}):
        return False  # how many rollouts or tasks of an object are meant can be said in too many ways
    return value.leaf <= near_by | {noun} and names <= candidate.matched


def printed(figure: Figure, value: Value) -> str:
    """A value as a number of this kind would be written."""
    if figure.unit in ("%", "pp"):
        return f"{100 * value.value:.1f} {figure.unit}"
    return f"{value.value:,}" if value.kind == "count" else f"{value.value:.3f}"


def written(figure: Figure, value: Value) -> str:
    """How a text names a value so that it carries its address."""
    if "| share(" in value.written:
        return f"{{{{ {value.written} | pct }}}}"
    if "|" in value.written:
        return f"{{{{ {value.written} }}}}" if value.written.endswith("| ci") else f"{{{{ {value.written} | count }}}}"
    form = {"%": "pct", "pp": "pp"}.get(figure.unit, "count" if value.kind == "count" else "num")
    return f"{{{{ {value.written} | {form} }}}}"


def listed(candidate: Candidate) -> str:
    """A candidate for a message."""
    value = candidate.value.value
    return f"{candidate.value.written} = {value if isinstance(value, int) else round(value, 4)}"
