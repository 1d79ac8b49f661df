"""Numbers in anybody's prose, bound to values of a run by value, unit and the words around them.

A number is supported when the value that its words point to most strongly is the number as it is rounded; contradicted
when they point clearly to a value that it is not; unbound otherwise. The heading it stands under makes no difference.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs, last_digit
from blade.audit.markdown import CODE, CODE_CLOSE, CODE_OPEN, blanked_code, shown, without_code_marks, without_quotes
from blade.audit.mentions import TASK_HEAD, Spoken, Statement, tasks_in
from blade.audit.task_rates import TaskRates
from blade.audit.verdicts import FOLLOWS, Check
from blade.report.values import SPECIAL, Value, key_stems, stem, stems

ENOUGH = 2.2
"""What words must weigh, in nats, before they bind a number."""
STRONG = 1.2
"""What the best score must be for a contradiction."""
CLEAR = 0.7
"""How far, of the best score, the next different value must stay behind for a contradiction."""
TIED = 0.97
"""Scores this close to the best are no worse."""
MOST_NEAR = 3
MOST_BEHIND = 3
"""Words behind a number that are surely about what it counts."""
MANY_WORDS = 6
"""Words of a name that nobody leaves out; of a longer one some are."""
WHOLE = re.compile(r"\b(?:of|over|across|all)\s+(?:the\s+|all\s+|its\s+)*$", re.IGNORECASE)
"""What stands before a number that says how many there are in all."""
UNITS = {"%": 100.0, "pp": 100.0, "": 1.0}
TOKEN = re.compile(r"(?i:pass)\s*[@^]\s*\w+|[A-Za-z][A-Za-z0-9'_]*|\d+(?:[.,]\d+)*|[,;:.()—–|]")
NEAR = 6.0
"""Words at this distance count half."""
BESIDE = NEAR / (NEAR + 2)
"""What a word counts that stands right beside a number, or one word away."""
ALONE = 0.6
"""What a word counts at least where no other number could be meant."""
STOP = 4
"""Words that a comma or a bracket counts for."""
FROM_ABOVE = 0.25
"""What a word in a heading counts."""
NOUN = re.compile(r"\s*(?:of\s+(?:the\s+|all\s+|its\s+)?[\d,]+\s+)?((?:\w+[\s-]+){0,2}\w+)", re.IGNORECASE)
"""Words right behind a number, of which one may say what it counts."""
OWNED = re.compile(r'\b(?:tasks|causes|reading_list)(?:\["([^"]+)"\]|\.(\w+))')
BUCKET_WORD = re.compile(r"\b(?:always|sometimes|never)\b", re.IGNORECASE)
LEVEL = re.compile(rf"{CODE_OPEN}([^{CODE_OPEN}{CODE_CLOSE}]+){CODE_CLOSE}|\b([\w-]+)(?=\s+(?:tasks?|ones)\b)")
"""What may name the level of a slice: code, or the word before what is counted."""
INTERVAL_LEVEL = re.compile(r"\b(\d+(?:\.\d+)?)\s?%[\s-]?(?:confidence|intervals?\b|CIs?\b)", re.IGNORECASE)
INTERVALS = 95
"""The level of every interval of an analysis, in per cent."""
QUANTIFIER = re.compile(r"\b(?:no|none|neither|all|every|each|both)\b", re.IGNORECASE)
NONE_BEFORE = re.compile(r"\b(?:no|none|neither)\b[^\d,;:]*$", re.IGNORECASE)
"""What makes a claim of its own of the bucket behind it."""
OF_THEM = re.compile(r"\s+of\s+(?:them|these|those)\b", re.IGNORECASE)
LOOSE = "nothing said of it could be checked"
UNCERTAINTY = frozenset(stems("standard error interval"))
"""What says how sure a value is, and is never meant where the words do not say so."""
GLOSSARY = {
    "solv": "pass",
    "succeed": "pass",
    "success": "pass",
    "attempt": "rollout",
    "failure": "fail",
    "tri": "rollout",
    "trial": "rollout",
    "run": "rollout",
    "conversation": "rollout",
    "problem": "task",
    "question": "task",
}
"""Other words for what BLADE calls a pass, a rollout and a task, as stems."""


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

    def __init__(self, values: Sequence[Value], *, strict: bool = True) -> None:
        """Args:
        strict: whether a number written out says how much wherever it stands, and not only before what is counted.
        """
        self.strict = strict
        named = next((value.value for value in values if value.written == "headline"), "")
        self.headline = frozenset(key_stems(named))
        """What the headline goes by."""
        self.values = [value for value in values if value.kind != "text"]
        seen = Counter(word for value in self.values for word in value.words)
        self.rarity = {word: math.log(len(self.values) / count) for word, count in seen.items()}
        """How much each word says, in nats: a word that every value goes by says nothing."""
        self.by_word: dict[str, list[int]] = {}
        self.by_address: dict[str, list[Value]] = {}
        """Values by the address of the object they belong to."""
        self.totals: dict[str, Value] = {}
        """How many tasks, rollouts and the like there are in all, by what is counted."""
        for place, value in enumerate(self.values):
            for word in value.words | value.hints:
                self.by_word.setdefault(word, []).append(place)
            self.by_address.setdefault(parent_of(value), []).append(value)
            known = self.totals.get(value.counted)
            is_plain = value.counted and not value.names and value.leaf == {value.counted}
            if is_plain and (known is None or value.value > known.value):
                self.totals[value.counted] = value
        counted = Counter(value.counted for value in self.values)
        self.nouns = {noun for noun in self.totals if counted[noun] > 1}
        """What is counted in all and of parts, as stems: tasks and rollouts."""
        self.leaves_by: dict[str, frozenset[str]] = {"": frozenset()}
        for value in (one for one in self.values if one.kind == "count" and owner_of(one) is None):
            self.leaves_by[value.counted] = self.leaves_by.get(value.counted, frozenset()) | value.leaf
        self.leaves = frozenset[str]().union(*self.leaves_by.values())
        self.generic = self.leaves | self.totals.keys()
        self.task_rates = TaskRates(self.by_address)
        self.parents = [parent_of(value) for value in self.values]
        self.owners = [owner_of(value) for value in self.values]
        """The task that a value is of, if it is of one."""
        self.by_name: dict[str, set[str]] = {}
        """Addresses of objects by the words of their names."""
        for parent, values in self.by_address.items():
            names = values[0].names[-1] if values[0].names and owner_of(values[0]) is None else frozenset[str]()
            for word in (one for one in names - self.leaves if not one.isdecimal()):
                self.by_name.setdefault(word, set()).add(parent)
        self.said_of: dict[str, set[str]] = {}
        self.outdone: set[str] = set()
        self.named: set[str] = set()
        self.levels = {
            value.written.rpartition(".")[0].rpartition(".")[2].strip('[]"').lower()
            for value in self.values
            if value.names and f"{parent_of(value)}/buckets" in self.by_address
        }
        """Names of the levels of slices."""
        self.core = [value for value in self.values if not value.names and value.counted in ("task", "rollout")]
        """How many tasks and rollouts there are of each kind, over the whole run."""
        self.with_ends = [
            (value, *self.by_address[f"{parent}/ci95"][:2])
            for parent, values in self.by_address.items()
            for value in values
            if value.address == f"{parent}/value" and len(self.by_address.get(f"{parent}/ci95", ())) == 2
        ]
        """Values with the ends of their intervals."""
        self.bound_at: dict[int, Value] = {}
        """What the numbers of the last text are, by where they begin."""
        self.figures: Sequence[Figure] = ()
        self.bases: dict[int, Figure] = {}
        self.portions: dict[int, Figure] = {}
        self.base_before = ""

    def check(self, spoken: Spoken) -> Iterator[Check]:
        """What became of every number of a text."""
        self.figures = figures = find_figures(spoken.text)
        self.base_before = ""
        pairs = find_pairs(spoken.text, figures)
        alike = {pair.first.start: pair.first for pair in pairs}
        self.figures = figures = [alike.get(figure.start, figure) for figure in figures]  # of `50–73 %` both are shares
        self.note_objects(spoken)
        self.named = tasks_named(spoken, self.task_rates.rates)
        fractions = [pair for pair in pairs if pair.kind == "fraction"]
        self.bases = {pair.first.start: pair.second for pair in fractions}
        self.portions = {pair.second.start: pair.first for pair in fractions}
        bound = dict[int, Value]()
        settled = self.task_rates.check(spoken, figures, fractions)
        found: list[tuple[Figure, Check]] = []
        for figure in figures:
            if figure.start in settled:
                found.append((figure, settled[figure.start]))
            elif self.is_stated(figure, spoken):
                found.append((figure, self.check_figure(figure, spoken, bound)))
        for place, (figure, check) in enumerate(found):  # once more, now that others have taken what they stand for
            if check.verdict == "unbound" and figure.start not in settled and bound:
                found[place] = figure, self.check_figure(figure, spoken, bound)
        self.bound_at = dict(bound)
        together = self.together(found, pairs, spoken, bound)
        for figure, check in found:
            check = together.get(figure.start, check)
            follows_on = check.verdict == "unbound" and (
                (follows(figure, figures, bound) and not OF_THEM.match(spoken.text, figure.end))
                or self.is_in_name(figure, spoken)
            )
            yield check._replace(verdict="supported", why=FOLLOWS, write="") if follows_on else check

    def check_words(self, said: Statement, bound: Collection[Value], buckets: Collection[str]) -> Iterator[Check]:
        """Buckets, levels of slices and metrics that a text names, where nothing that it says of them is bound.

        Args:
            bound: what its numbers are.
            buckets: in which it truly puts a task.
        """
        text, line = blanked_code(said.text) if not said.tasks else "", said.spoken[0].line
        text = without_quotes(text)
        known = frozenset[str]().union(*(value.words for value in bound), map(stem, buckets))
        for found in BUCKET_WORD.finditer(text):
            if stem(found[0]) in known and not NONE_BEFORE.search(text[: found.start()]):
                continue
            if (value := self.all_or_none(text, found)) is not None:
                known |= value.words
                yield Check(line, found[0], "supported", why=value.written, sentence=shown(said.text))
            else:
                yield Check(line, found[0], "unbound", why=LOOSE, sentence=shown(said.text))
        for found in SPECIAL.finditer(text) if bound else ():
            if stems(found[0])[0] not in known:
                yield Check(line, found[0], "unbound", why=LOOSE, sentence=shown(said.text))
        for found in LEVEL.finditer(without_quotes(said.text)):
            word = (found[1] or found[2]).strip()
            if word.lower() in self.levels and not frozenset(stems(word)) <= known:
                yield Check(line, word, "unbound", why=LOOSE, sentence=shown(said.text))
        for found in INTERVAL_LEVEL.finditer(text):
            if float(found[1]) != INTERVALS:
                why = f"intervals of a run are of {INTERVALS} %"
                yield Check(line, found[0], "unbound", why=why, sentence=shown(said.text))

    def all_or_none(self, text: str, bucket: re.Match[str]) -> Value | None:
        """How many tasks of a level, or of the run, are in a bucket, where a sentence truly says all or none are."""
        quantifiers = list(QUANTIFIER.finditer(text, 0, bucket.start()))
        objects = {parent for parent in self.said_of if f"{parent}/buckets" in self.by_address} - self.outdone
        if not quantifiers or len(objects) > 1:
            return None
        parent = next(iter(objects), None)
        values = self.by_address[f"{parent}/buckets"] if parent else [one for one in self.core if "bucket" in one.keys]
        counts = {word: one for one in values for word in one.leaf}
        own = counts.get(stem(bucket[0]))
        is_none = quantifiers[-1][0].lower() in ("no", "none", "neither")
        holds = own is not None and own.value == (0 if is_none else sum(one.value for one in counts.values()))
        return own if holds else None

    def is_in_name(self, figure: Figure, spoken: Spoken) -> bool:
        """Whether a number, and the word before it, belong to the name of what another number is of."""
        before = stems(without_code_marks(spoken.text[: figure.start]))[-1:]
        said = {*before, f"{figure.value:g}"}
        is_name = bool(before) and not self.noun_at(figure, spoken)
        return is_name and any(value.names and said <= value.names[-1] for value in self.bound_at.values())

    def is_stated(self, figure: Figure, spoken: Spoken) -> bool:
        """Whether a number is one at all: written out, `three` counts something or says nothing."""
        if any(start <= figure.start < end for _, start, end in tasks_in(spoken.text)):
            return False
        if len(spoken.around) > 1 and TASK_HEAD.fullmatch(spoken.around[1]):
            return False
        is_said = self.strict or bool(self.noun_at(figure, spoken))
        return not figure.word or (figure.value > 1 and is_said) or figure.start in self.bases

    def noun_at(self, figure: Figure, spoken: Spoken) -> str:
        """What a number counts, or a percentage is of, where the words behind it or the head of its column say."""
        behind = NOUN.match(spoken.text, figure.end)
        heads = re.findall(r"\w+", spoken.around[1]) if len(spoken.around) > 1 and not figure.unit else []
        for words in (re.findall(r"\w+", behind[1]) if behind else [], heads if len(heads) == 1 else []):
            for word in words:
                known = GLOSSARY.get(stem(word), stem(word))
                if known in self.nouns:
                    return known
        return ""

    def together(
        self, found: Sequence[tuple[Figure, Check]], pairs: Sequence[Pair], spoken: Spoken, bound: Mapping[int, Value]
    ) -> dict[int, Check]:
        """Numbers that words alone do not bind, and that agree with several values of one object at once.

        A value with both ends of its interval needs no words; two values of one object need half of its name's words.
        """
        checks, words = dict[int, Check](), sentence_words(spoken)
        ends = {one.start for pair in pairs if pair.kind == "interval" for one in (pair.first, pair.second)}
        open_ones = {one.start for one, check in found if check.verdict == "unbound" or one.start in ends}

        def settle(figure: Figure, value: Value) -> None:
            if figure.start in open_ones:
                self.bound_at[figure.start] = value
                checks[figure.start] = spoken.check(figure, "supported", why=value.written)

        for pair in (one for one in pairs if one.kind == "interval" and one.first.start in open_ones):
            agreeing_ends: list[tuple[int, Figure, Value]] = []
            for value, low, high in self.with_ends:
                own = next((one for one in self.figures if says(one, value) and fits(one, value)), None)
                is_other = own is not None and own.start in bound and bound[own.start].value != value.value
                is_whole_run = value.leaf in (self.headline, value.leaf & words) and not self.said_of
                is_said = value.names[-1] <= words if value.names else is_whole_run
                is_alone = own is None and is_said and max(pair.first.half, pair.second.half) < 0.5
                if says(pair.first, low) and says(pair.second, high) and not is_other and (own or is_alone):
                    agreeing_ends.append((-len(value.words & words), own or pair.first, value))
            for _, own, value in sorted(agreeing_ends, key=lambda one: one[0])[:1]:
                for figure in (own, pair.first, pair.second):
                    settle(figure, value)
        for values in self.objects_named() if open_ones else ():
            agreeing: dict[int, Value] = {}
            most = max((value.value for value in values if value.kind == "count"), default=0)
            for figure, _ in found:
                for value in values:
                    is_of_kind = value.kind == "count" if figure.is_whole else figure.unit in ("%", "pp")
                    is_new = value.value not in [one.value for one in agreeing.values()]
                    if is_new and is_of_kind and value.value and says(figure, value):
                        # What is not said to be counted is how often the object itself was seen.
                        is_most = value.value == most and not self.noun_at(figure, spoken)
                        said = dict.fromkeys(words | (value.leaf if is_most else frozenset()), 1.0)
                        if self.has_its_phrase(value, figure, spoken, said):
                            agreeing[figure.start] = bound.get(figure.start, value)
                            break
            for figure, _ in found if len(agreeing) > 1 else []:
                if figure.start in agreeing:
                    settle(figure, agreeing[figure.start])
        return checks

    def objects_named(self) -> Iterator[Sequence[Value]]:
        """Values of every object of which a sentence says half the name, and of which no other has it say more."""
        for parent, said in self.said_of.items():
            values = self.by_address[parent]
            weight = sum(self.rarity[word] for word in said)
            is_half = 2 * weight >= sum(self.rarity[word] for word in values[0].names[-1])
            if weight >= ENOUGH and is_half and parent not in self.outdone:
                yield values

    def note_objects(self, spoken: Spoken) -> None:
        """Which words of which names a text says, and which objects are outdone by one that it says more of."""
        said: dict[str, set[str]] = {}
        for word in sentence_words(spoken):
            for parent in self.by_name.get(word, ()):
                said.setdefault(parent, set()).add(word)
        self.said_of = said
        distinct = {frozenset(one) for one in said.values()}
        most = [one for one in distinct if not any(one < other for other in distinct)]
        self.outdone = {parent for parent, one in said.items() if one not in most}

    def check_figure(self, figure: Figure, spoken: Spoken, bound: dict[int, Value]) -> Check:
        """What became of one number; of `3 of 5` the two stand for different values."""
        base, portion = self.bases.get(figure.start), self.portions.get(figure.start)
        if portion is not None and not portion.value <= figure.value > 0:
            why = f"{portion.value:,g} cannot be of {figure.value:,g}"
            return spoken.check(figure, "contradicted", f"at least {portion.value:,g}", why=why)
        # No two counts of a sentence stand for the same value.
        taken = [value for value in bound.values() if value.kind == "count"]
        found = [one for one in self.candidates(figure, spoken, base) if one.value not in taken]
        if base is not None:  # a part is not what it is a part of, nor more
            found = [one for one in found if one.value.value < base.value or one.value.value == figure.value]
        best = found[0].score if found else 0.0
        agreeing = [one for one in found if says(figure, one.value)]
        if agreeing and agreeing[0].score >= TIED * best and self.is_enough(agreeing[0], figure, spoken):
            bound[figure.start] = agreeing[0].value
            return spoken.check(figure, "supported", why=agreeing[0].value.written)
        if self.is_whole_of(figure, portion, found, spoken, bound):
            return spoken.check(figure, "supported", why=FOLLOWS)
        near = [one for one in found if fits(figure, one.value)][:MOST_NEAR]
        if not near or near[0].score < STRONG:
            # Whatever the words: what the number would be right for, in the fewest steps first.
            same = [value for value in self.values if fits(figure, value) and says(figure, value)]
            same.sort(key=lambda value: (len(value.names), value.written.count("."), len(value.written)))
            near = [Candidate(value, 0.0, 0.0) for value in same[:MOST_NEAR]] or near
        write = written(figure, (agreeing or near)[0].value) if agreeing or near else ""
        listed = [f"{one.value.written} = {f'{one.value.value:.4f}'.rstrip('0').rstrip('.')}" for one in near]
        why = f"nearest: {', '.join(listed)}" if near else "no value of the run matches these words"
        # Of `4 of 5 rollouts`, the 4 may count anything that is said of the 5.
        is_told = figure.unit == "%" or (bool(self.noun_at(figure, spoken)) and base is None)
        is_plain = portion is None and not figure.signed and not figure.word and is_told
        if is_plain and is_clear(near, agreeing) and self.is_certain(near[0].value, figure, spoken):
            true = printed(figure, near[0].value)
            return spoken.check(figure, "contradicted", true, why=near[0].value.written, write=write)
        return spoken.check(figure, "unbound", why=why, write=write)

    def is_enough(self, found: Candidate, figure: Figure, spoken: Spoken) -> bool:
        """Whether words name a value: by their weight, as a headline, or because it is spelled out."""
        value = found.value
        is_of_level = value.leaf == {"headline"} and bool(value.names) and value.names[-1] <= found.matched
        is_of_run = value.leaf == self.headline and not self.said_of and not value.names
        is_headline = figure.unit == "%" and (is_of_level or is_of_run)
        return self.is_spelled(value, figure, spoken) or (bool(value.value) and (found.weight >= ENOUGH or is_headline))

    def is_spelled(self, value: Value, figure: Figure, spoken: Spoken) -> bool:
        """Whether the key of a value and the whole name of its object stand near by."""
        near_by = {word for word, weight in word_weights(figure, spoken).items() if weight >= 0.5}
        leaf = value.leaf - {self.noun_at(figure, spoken)}
        name = value.names[-1] if value.names else leaf
        is_own = not value.names or not name <= self.generic  # `failed rollout` is the name of too many things
        return is_own and bool(name) and name | leaf <= near_by

    def is_certain(self, value: Value, figure: Figure, spoken: Spoken) -> bool:
        """Whether nothing else than a value can be meant by what spells it out."""
        noun = self.noun_at(figure, spoken)
        if value.kind == "count" and (
            (not value.names and any(self.objects_named())) or (noun and value.counted != noun and noun != "rollout")
        ):
            return False  # something else is spoken of
        if isinstance(value.address, list) and "bucket" not in value.keys:
            return False  # how many pass or fail, or are listed, is said of many things
        row, column = (set(stems(text)) for text in spoken.around or ("", ""))
        if spoken.around and not (row and row <= value.words and column <= value.words | {value.counted}):
            return False  # the row is about something else
        return value.leaf != {noun} and self.is_spelled(value, figure, spoken)

    def candidates(self, figure: Figure, spoken: Spoken, whole: Figure | None = None) -> list[Candidate]:
        """Values that the words around a number speak of, the strongest first; `whole` is what it is a part of."""
        weights, noun = word_weights(figure, spoken), self.noun_at(figure, spoken)
        places = {place for word in weights for place in self.by_word.get(word, ())}
        places = {place for place in places if self.owners[place] is None or self.owners[place] in self.named}
        is_count = not figure.unit and figure.is_whole and figure.half >= 0.5
        places = {
            place
            for place in places
            if self.parents[place] not in self.outdone
            and not (self.owners[place] and (noun == "task" or len(self.named) > 1))
            # Nobody writes a rate of 0.7 or 1.0 as 1.
            and (
                is_count or figure.unit == "%"
                if self.values[place].kind == "count"
                else not (figure.is_whole and abs(self.values[place].value) <= 1)
                and (figure.unit != "%" or fits(figure, self.values[place]))
            )
        }
        counted = "" if whole or figure.unit else noun
        found = [self.score(self.values[place], weights, counted) for place in places]
        if figure.unit == "%":  # `28 % of the tasks never pass, 52 % sometimes`
            self.base_before = noun or self.base_before
            shares = [share for place in places if (share := self.share(place, self.base_before)) is not None]
            scored = [one for share in shares if (one := self.score(share, weights, "")) is not None]
            most = max((one.score for one in scored), default=0.0)
            found += [one for one in scored if one.score >= TIED * most and says(figure, one.value)]
        kept = [
            one
            for one in found
            if one is not None
            and (is_count or one.value.kind != "count")
            and figure.unit in UNITS
            and self.has_its_phrase(one.value, figure, spoken, weights)
        ]
        return sorted(kept, key=lambda one: (-one.score, one.value.written))

    def has_its_phrase(self, value: Value, figure: Figure, spoken: Spoken, weights: Mapping[str, float]) -> bool:
        """Whether a count is of what the words right behind a number say it is: `2 passing rollouts` did not fail."""
        if value.kind != "count":
            return True
        noun = self.noun_at(figure, spoken)
        behind = NOUN.match(spoken.text, figure.end)
        words = {GLOSSARY.get(word, word) for word in stems(behind[1].split(",")[0])[:MOST_BEHIND]} if behind else set()
        said = {word for word, weight in weights.items() if weight > (FROM_ABOVE if value.value else BESIDE)}
        own = self.by_address[parent_of(value)] if value.names and parent_of(value) else ()
        leaves = frozenset().union(*(one.leaf for one in own)) if own else self.leaves_of(noun)
        kinds = (words & leaves) - {noun}
        return (not kinds or bool(kinds & value.words)) and value.leaf - {noun} <= said

    def leaves_of(self, noun: str) -> frozenset[str]:
        """What tells counts of one thing from each other, as stems: failed and passed, always and never."""
        return self.leaves if noun in ("", "rollout") else self.leaves_by.get(noun, frozenset())

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

    def score(self, value: Value, weights: dict[str, float], noun: str) -> Candidate | None:
        """How strongly words speak of a value; not at all when its object is not named."""
        least = 0.0 if parent_of(value) in self.said_of else FROM_ABOVE
        if value.names and not any(weights.get(word, 0.0) > least for word in value.names[-1]):
            return None
        if (noun and value.counted and value.counted != noun) or (
            value.leaf & UNCERTAINTY and not weights.keys() & value.leaf
        ):
            return None
        own = value.leaf - {noun}
        known = [word for word in value.words if word in weights]
        hinted = [word for word in value.hints if word in weights and word not in value.words]
        names = value.names[-1] if value.names else frozenset[str]()
        silent = sum(self.rarity[word] for word in value.keys if word not in weights)
        lacking = sum(self.rarity[word] for word in names if word not in weights)
        weight = sum(self.rarity[word] for word in known)
        weight += 0.5 * sum(self.rarity.get(word, 1.0) for word in hinted)
        score = sum(self.rarity[word] * weights[word] for word in known)
        score += 0.5 * sum(self.rarity.get(word, 1.0) * weights[word] for word in hinted)
        score -= 0.15 * silent + 0.3 * lacking * min(1.0, MANY_WORDS / max(len(names), 1))
        score -= 1.0 if own - {"headline"} and not any(word in weights for word in own) else 0.0
        score += (1.0 if noun and value.counted == noun else 0.0) + (
            1.0 if own and all(weights.get(word, 0.0) >= 0.5 for word in own) else 0.0
        )
        return Candidate(value, score, weight, frozenset(known))

    def is_whole_of(
        self, figure: Figure, part: Figure | None, found: list[Candidate], spoken: Spoken, bound: dict[int, Value]
    ) -> bool:
        """Whether a number is the whole: all there are, or what the part beside it is a part of."""
        weights, noun = word_weights(figure, spoken), self.noun_at(figure, spoken)
        near_by = frozenset(word for word in found[0].matched if weights[word] >= 0.5) if found else frozenset()
        is_bare = near_by <= self.totals.keys()  # no word points anywhere else
        is_over = WHOLE.search(spoken.text[: figure.start]) is not None
        value = bound.get(part.start) if part is not None else None
        wholes = (
            [self.totals.get(noun or ("" if value is None else value.counted))] if is_bare or is_over or part else []
        )
        for one in [value] if value is not None else bound.values() if is_over else []:
            wholes += self.wholes_around(one, noun)
        return any(one is not None and says(figure._replace(hedge=""), one) for one in wholes)

    def wholes_around(self, value: Value, noun: str) -> Iterator[Value]:
        """How many there are of what a value counts or is an average over: in its object, or the one around that."""
        parent = parent_of(value)
        for place in (parent, parent.rpartition("/")[0]):
            for one in self.by_address.get(place, ()) if place else ():
                if (
                    one.kind == "count"
                    and one.value
                    and one != value  # nothing is its own whole
                    and (one.address == f"{place}/n" or one.leaf == {noun or value.counted})
                ):
                    yield one


@lru_cache(maxsize=5_000)
def word_weights(figure: Figure, spoken: Spoken) -> dict[str, float]:
    """Stems around a number with how much each counts: less with distance, least from headings."""
    weights: dict[str, float] = {}

    def count(words: Sequence[str], weight: float) -> None:
        for word in [*words, *(GLOSSARY[word] for word in words if word in GLOSSARY)]:
            weights[word] = max(weights.get(word, 0.0), weight)

    least = ALONE if len(find_figures(spoken.text)) == 1 else 0.0
    kept, ids = spoken.text, [(start, end) for _, start, end in tasks_in(spoken.text)]
    for one in find_figures(kept):  # none is taken for the name of a task; ids stay
        if not any(start <= one.start < end for start, end in ids):
            kept = kept[: one.start] + " " * (one.end - one.start) + kept[one.end :]
    for side, text in ((-1, kept[: figure.start]), (1, kept[figure.end :])):
        distance, opened = 0.0, list[float]()
        tokens = TOKEN.findall(text.replace(CODE_OPEN, " ").replace(CODE_CLOSE, " "))
        for token in reversed(tokens) if side < 0 else tokens:
            if token == (")" if side < 0 else "("):
                opened.append(distance)
            if opened and token == ("(" if side < 0 else ")"):
                distance = opened.pop()  # what an aside takes does not part what stands around it
            elif not token[0].isalnum():
                distance += STOP
                continue
            distance += 1
            count(stems(token), max(1.0 / (1.0 + distance / NEAR), least))
    for weight, texts in ((0.9, spoken.around), (FROM_ABOVE, spoken.above)):
        for text in texts:
            count(stems(text), weight)
    return weights


def sentence_words(spoken: Spoken) -> set[str]:
    """Stems of a text and of the heads of its row and column, however near."""
    texts = [spoken.text.replace(CODE_OPEN, " ").replace(CODE_CLOSE, " "), *spoken.around]
    words = [word for text in texts for word in stems(text)]
    return {*words, *(GLOSSARY[word] for word in words if word in GLOSSARY)}


def owner_of(value: Value) -> str | None:
    """The task that a value is of: it is only meant where the task is named."""
    found = OWNED.search(value.written)
    return None if found is None else found[1] or found[2]


def tasks_named(spoken: Spoken, known: Collection[str]) -> set[str]:
    """Tasks that a text or the head of its row names."""
    head = without_code_marks(spoken.around[0]).strip() if spoken.around else ""
    return {key for key, *_ in tasks_in(spoken.text)} | {
        key for key in (*CODE.findall(spoken.text), head) if key in known
    }


def parent_of(value: Value) -> str:
    """The address of the object a value belongs to."""
    address = value.address[1] if isinstance(value.address, list) else value.address
    return address.rpartition("/")[0] if isinstance(address, str) else ""


def fits(figure: Figure, value: Value) -> bool:
    """Whether a number is surely meant to be of a value's kind."""
    is_share = value.kind == "real" and -1.0 <= value.value <= 1.0
    return value.kind == "count" if figure.is_whole and not figure.unit else is_share or not figure.unit


def says(figure: Figure, value: Value) -> bool:
    """Whether a number is a value, rounded as it is written; a sign may be said in words."""
    truth = value.value * UNITS.get(figure.unit, 1.0)
    if figure.hedge in ("at least", "at most", "more than", "less than") and abs(figure.value) >= 1:
        step = last_digit(figure.value)  # `at least 70 %` says 70 to 80, and `fewer than 5` 1 to 4
        step = max(step, 5.0 * last_digit(figure.value / 5)) if not figure.value % 5 else step
        if abs(truth - figure.value) > step:
            return False
    if figure.half < 0.5 or figure.signed:  # `at most +6.2 pp` is a value that is a limit, not a loose bound
        figure = figure._replace(hedge="about" if figure.hedge == "about" else "")
    return agrees(figure, truth) or (not figure.signed and truth < 0 and agrees(figure, -truth))


def follows(figure: Figure, figures: Sequence[Figure], bound: dict[int, Value]) -> bool:
    """Whether a number is the share of two beside it, or the key of a value that is bound beside it: 2 of `pass@2`."""
    counts = [value.value for value in bound.values() if value.kind == "count"]
    if figure.unit == "%":
        wholes = [one.value for one in figures if one.is_whole and one.value]
        return any(part < whole and agrees(figure, 100 * part / whole) for part in counts for whole in wholes)
    keys = {value.written.rpartition("[")[2].strip('"]') for value in bound.values() if not value.names}
    return figure.is_whole and f"{figure.value:g}" in keys


def is_clear(near: list[Candidate], agreeing: list[Candidate]) -> bool:
    """Whether the words point to one value, and to no other."""
    if not near or near[0].weight < ENOUGH or near[0].score < STRONG:
        return False
    others = [one for one in near[1:] if one.value.value != near[0].value.value]
    return all(rival.score < CLEAR * near[0].score for rival in [*agreeing[:1], *others])


def printed(figure: Figure, value: Value) -> str:
    """A value as a number of this kind would be written."""
    if figure.unit in ("%", "pp"):
        return f"{100 * value.value:.1f} {figure.unit}"
    return f"{value.value:,}" if value.kind == "count" else f"{value.value:.3f}"


def written(figure: Figure, value: Value) -> str:
    """How a text names a value so that it carries its address."""
    if value.written.endswith("| ci"):
        return f"{{{{ {value.written} }}}}"
    form = {"%": "pct", "pp": "pp"}.get(figure.unit, "count" if value.kind == "count" else "num")
    return f"{{{{ {value.written} | {form} }}}}"
