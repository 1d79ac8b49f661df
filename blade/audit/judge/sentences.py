"""Does a sentence say the same as a fact? Told without a model, by what must not differ. Standard library only.

Ids, labels and numbers must be the same, and so must negation and sweeping words; of the other words most must be
there, and near each other in the same order, for a list of the right words says nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from blade.audit.figures import Figure, agrees, find_figures
from blade.audit.judge.keywords import is_denied, labels_in
from blade.audit.markdown import CODE, Document, plain, without_code_marks
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
    sweeping: frozenset[str]
    """only, all, none."""
    turned: frozenset[str]
    """Words of which the opposite could stand instead."""
    denied: bool
    """Whether it says that something is not so."""


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
        sweeping=frozenset(SWEEPING[word] for word in spoken if word in SWEEPING),
        turned=frozenset(word for word in (*spoken, *words) if word in OPPOSITE),
        denied=is_denied(text, text),
    )


def compare(fact: Gist, said: Gist, *, by_number: bool = True) -> Verdict:
    """Whether a sentence asserts a fact, denies it, or is about something else; another number may deny it too."""
    if not fact.ids <= said.ids or not fact.labels <= said.labels:
        return "absent"
    if not has_words(fact.words, said.words):
        return "absent"
    has_figures = all(any(same_figure(one, other) for other in said.figures) for one in fact.figures)
    opposed = {OPPOSITE[word] for word in fact.turned} & said.turned - fact.turned
    swept = ("only" in fact.sweeping) != ("only" in said.sweeping) or not fact.sweeping <= said.sweeping
    turned = swept or fact.denied != said.denied or bool(opposed and not fact.turned <= said.turned)
    if has_figures and not turned:
        return "met"
    about_it = is_close(fact, said) and len(said.figures) == len(fact.figures) and (has_figures or by_number)
    return "denied" if about_it else "absent"


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


def gists_of(document: Document) -> list[tuple[Gist, int]]:
    """What every sentence of a report says, and where."""
    return [(gist_of(one.text, above=one.section), one.line) for one in document.sentences()]


def find_in(fact: str, spoken: Spoken, *, by_number: bool = True) -> tuple[Verdict, int]:
    """Where a report says a fact: met when it does and nowhere denies it; the line, or 0."""
    wanted = gist_of(plain(fact))
    found = [(compare(wanted, gist, by_number=by_number), line) for gist, line in spoken]
    denied = [entry for entry in found if entry[0] == "denied"]
    met = [entry for entry in found if entry[0] == "met"]
    return (denied or met or [("absent", 0)])[0]


def reads_as_prose(sentences: Iterable[str]) -> bool:
    """Whether words and signs stand where they can: shuffled words are told by `the of`, `is and` and lost brackets."""
    links, broken, long, odd = 0, 0, 0, 0
    for sentence in sentences:
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", CODE.sub(" x ", sentence))]
        pairs = [pair for pair in pairwise(words) if pair[0] in DETERMINERS or pair[0] in OPENING]
        links += len(pairs)
        broken += sum(is_broken(*pair) for pair in pairs)
        long += len(words) >= LEAST_WORDS
        odd += len(words) >= LEAST_WORDS and is_odd(sentence, words[-1])
    return broken <= max(MOST_BROKEN * links, 1) and odd <= max(MOST_ODD * long, 1)


def is_broken(first: str, second: str) -> bool:
    """Whether no English sentence has these words side by side."""
    if first in DETERMINERS:
        return second in LINKING and (first, second) not in ALLOWED
    return second in CLOSING


def is_odd(sentence: str, last: str) -> bool:
    """Whether a sentence ends in a word that begins something, or loses brackets, quotes or full stops."""
    unpaired = any(sentence.count(left) != sentence.count(right) for left, right in ("()", "“”"))
    return unpaired or last in DETERMINERS or last in OPENING or STRAY.search(sentence) is not None
