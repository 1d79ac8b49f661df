"""Does a sentence say the same as a fact? Told without a model, by what must not differ. Standard library only.

Ids, labels and numbers must be the same, and so must negation and sweeping words; of the other words most must be
there, and near each other in the same order, for a list of the right words says nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from blade.audit.figures import Figure, agrees, find_figures
from blade.audit.judge.keywords import count_negations, labels_in
from blade.audit.markdown import CODE, Sentence, plain, without_code_marks
from blade.audit.mentions import split_citation
from blade.audit.subjects import ordered_words

Verdict = Literal["met", "denied", "absent"]
ENOUGH = 0.6
"""Share of a fact's words a sentence must have."""
CLOSE = 0.8
"""Share of them that a sentence must have to deny it."""
IN_ORDER = 0.5
"""Share of its neighbouring words that must be near each other, in the same order."""
NEAR = 5
SWEEPING = {
    **dict.fromkeys(("only", "solely", "exclusively", "alone", "just", "merely"), "only"),
    **dict.fromkeys(("all", "every", "each", "always", "entirely", "without exception"), "all"),
    **dict.fromkeys(("none", "nobody", "never", "nothing", "not once"), "none"),
}
OPPOSITES = [
    ("high", "low"), ("higher", "lower"), ("highest", "lowest"), ("more", "fewer"), ("more", "less"), ("most", "least"),
    ("most", "fewest"), ("easy", "hard"), ("easier", "harder"), ("pass", "fail"), ("before", "after"),
    ("first", "last"), ("increase", "decrease"), ("rise", "fall"), ("better", "worse"), ("longer", "shorter"),
    ("with", "without"), ("correct", "wrong"), ("right", "wrong"), ("accept", "reject"), ("early", "late"),
    ("always", "never"), ("above", "below"), ("largest", "smallest"), ("improved", "regressed"),
]  # fmt: skip
OPPOSITE = {one: other for a, b in OPPOSITES for one, other in ((a, b), (b, a))}
DETERMINING_WORDS = "the a an its their these this those every each no"
JOINING_WORDS = "of in at by for from with into between against and or but because is are was were be been"
OTHER_WORDS = "on to over under while that which has have does do did would can could may"
DETERMINERS, JOINING = frozenset(DETERMINING_WORDS.split()), frozenset(JOINING_WORDS.split())
LINKING = DETERMINERS | JOINING | frozenset(OTHER_WORDS.split())
OPENING = frozenset({"of", "at", "by", "from", "into"})
CLOSING = frozenset({"of", "and", "or", "is", "are", "was", "were", "be"})
"""What no word of the one set is followed by."""
ALLOWED = {("this", "is"), ("these", "are"), ("those", "of"), ("those", "that"), ("this", "was"), ("no", "the")}
STRAY = re.compile(r"[a-z)]\.\s+[a-z]{2}|,\s*$|[a-z],[.:]|:[.,]")
LEAST_WORDS = 4
MOST_BROKEN, MOST_ODD = 0.10, 0.20


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """What a sentence says, taken apart."""

    words: tuple[str, ...]
    """Its words that carry meaning, in order."""
    ids: frozenset[str]
    """Tasks, rollouts and other names in code."""
    figures: tuple[Figure, ...]
    """Its numbers."""
    labels: frozenset[str]
    """Cause labels."""
    sweeping: Counter[str]
    """only, all, none, and how often."""
    turned: Counter[str]
    """Words of which the opposite could stand instead, and how often they stand there."""
    negations: int
    """How often it says that something is not so."""
    is_prose: bool
    """Whether its words and signs stand where they can."""


@lru_cache(maxsize=20_000)
def gist_of(text: str, *, above: tuple[str, ...] = ()) -> Gist:
    """The gist of a sentence; `above` are the headings it stands under, which may name what it is about."""
    spoken = [word.lower() for word in re.findall(r"[A-Za-z]+", without_code_marks(text))]
    codes = [code for part in (text, *above[-1:]) for code in CODE.findall(part)]
    words = [word.strip("`") for word in ordered_words(without_code_marks(CODE.sub(" ", text)))]
    return Gist(
        words=tuple(dict.fromkeys(words)),
        ids=frozenset(code.partition("#")[0] if split_citation(code) else code for code in codes),
        figures=tuple(figure for figure in find_figures(text) if not (figure.word and figure.value <= 1)),
        labels=frozenset(label for label, _, _ in labels_in(text)),
        sweeping=Counter(SWEEPING[word] for word in spoken if word in SWEEPING),
        turned=opposable(words, spoken),
        negations=count_negations(text),
        is_prose=not any(is_broken(*pair) for pair in links_of(text)) and not is_odd(text),
    )


def compare(fact: Gist, said: Gist, *, by_number: bool = True) -> Verdict:
    """Whether a sentence asserts a fact, denies it, or is about something else; another number may deny it too."""
    if not said.is_prose or not fact.ids <= said.ids or not fact.labels <= said.labels:
        return "absent"
    if not has_words(fact.words, said.words):
        return "absent"
    has_figures = all(any(same_figure(one, other) for other in said.figures) for one in fact.figures)
    close = is_close(fact, said)
    if has_figures and not is_turned(fact, said, close=close):
        return "met"
    about_it = close and len(said.figures) == len(fact.figures) and (has_figures or by_number)
    return "denied" if about_it else "absent"


def is_turned(fact: Gist, said: Gist, *, close: bool) -> bool:
    """Whether a sentence about a fact says something else about it: negated, swept wider, or with an opposite.

    Where little but the fact is said every such word counts; in a longer sentence some belong to other things.
    """
    lost, new = fact.turned - said.turned, said.turned - fact.turned
    opposed = any(OPPOSITE[word] in new for word in lost)
    if close:
        return opposed or fact.negations != said.negations or fact.sweeping["only"] != said.sweeping["only"]
    swept = ("only" in said.sweeping) != ("only" in fact.sweeping)
    return (
        opposed
        or swept
        or set(fact.sweeping) - set(said.sweeping) != set()
        or (fact.negations + said.negations) % 2 == 1
    )


def is_close(fact: Gist, said: Gist) -> bool:
    """Whether a sentence is about the fact and little else, so that a turned word in it turns the fact."""
    there = sum(word in said.words for word in fact.words)
    return (
        said.ids <= fact.ids
        and len(fact.words) > 1
        and there >= CLOSE * len(fact.words)
        and len(said.words) <= 1.5 * len(fact.words) + 3
    )


def has_words(wanted: Sequence[str], said: Sequence[str]) -> bool:
    """Whether most words are there, near each other and in the same order."""
    if not wanted:
        return True
    place = {word: at for at, word in reversed(list(enumerate(said)))}
    there = [word for word in wanted if word in place]
    if len(there) < ENOUGH * len(wanted):
        return False
    pairs = list(pairwise(there))
    near = sum(0 < place[second] - place[first] <= NEAR for first, second in pairs)
    return near >= IN_ORDER * len(pairs)


def same_figure(one: Figure, other: Figure) -> bool:
    """Whether two numbers are the same as far as they are rounded."""
    return one.unit == other.unit and (agrees(other, one.value) or agrees(one, other.value))


Spoken = Sequence[tuple[Gist, int]]
"""Gists of sentences, and their lines."""


def gists_of(sentences: Iterable[Sentence]) -> list[tuple[Gist, int]]:
    """What every sentence says, and where."""
    return [(gist_of(one.text, above=one.section), one.line) for one in sentences]


def find_in(fact: str, spoken: Spoken, *, by_number: bool = True) -> tuple[Verdict, int]:
    """Where a report says a fact: met when it does and nowhere denies it; the line, or 0."""
    wanted = gist_of(plain(fact))
    found = [(compare(wanted, gist, by_number=by_number), line) for gist, line in spoken]
    denied = [entry for entry in found if entry[0] == "denied"]
    met = [entry for entry in found if entry[0] == "met"]
    return (denied or met or [("absent", 0)])[0]


def opposable(words: Sequence[str], spoken: Sequence[str]) -> Counter[str]:
    """Words with an opposite; that something passes is told by its stem, for `did not pass` says that it fails."""
    stems = Counter(word for word in words if word in OPPOSITE)
    others = Counter(word for word in spoken if word in OPPOSITE and word not in ("pass", "fail"))
    return Counter({word: max(stems[word], others[word]) for word in {*stems, *others}})


def reads_as_prose(sentences: Iterable[str]) -> bool:
    """Whether words and signs stand where they can: shuffled words are told by `the of`, `is and` and lost brackets."""
    spoken = [sentence for sentence in sentences if len(sentence.split()) >= LEAST_WORDS]
    links = [pair for sentence in spoken for pair in links_of(sentence)]
    broken = sum(is_broken(*pair) for pair in links)
    odd = sum(is_odd(sentence) for sentence in spoken)
    return broken <= max(MOST_BROKEN * len(links), 1) and odd <= max(MOST_ODD * len(spoken), 1)


def links_of(sentence: str) -> Iterator[tuple[str, str]]:
    """Small words and what follows them, with no sign in between."""
    for span in re.split(r"[^A-Za-z\s’'-]+", CODE.sub(" x ", sentence)):
        words = [word.lower() for word in span.split()]
        yield from (pair for pair in pairwise(words) if pair[0] in DETERMINERS or pair[0] in OPENING)


def is_broken(first: str, second: str) -> bool:
    """Whether no English sentence has these words side by side; the first is a small one."""
    if first in DETERMINERS:
        return second in LINKING and (first, second) not in ALLOWED
    return second in CLOSING


def is_odd(sentence: str) -> bool:
    """Whether a sentence ends in a word that begins something, or loses brackets, quotes or full stops."""
    words = re.findall(r"[A-Za-z]+", CODE.sub(" x ", sentence))
    last = words[-1].lower() if words and sentence.rstrip(".!?)”\"' ").endswith(words[-1]) else ""
    unpaired = any(sentence.count(left) != sentence.count(right) for left, right in ("()", "“”"))
    return unpaired or last in DETERMINERS or last in OPENING or STRAY.search(CODE.sub("x", sentence)) is not None
