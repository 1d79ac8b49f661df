"""Sentences and rows that a report takes from a rendering of the rows, held against that rendering word for word.

Numbers and code are taken out of a sentence; what is left, with the headings above it, is its wording. A wording that
the rendering has too must come with the same numbers and names. This settles what only the rendering could say, such as
the size of a file; a report in anybody else's words has no wording in common with it and is left to the other checks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

from blade.audit.claims import Claim
from blade.audit.markdown import CODE_CLOSE, CODE_OPEN, Row, Sentence, shown
from blade.audit.outcome import Check
from blade.audit.told import Told

VALUE = re.compile(rf"{CODE_OPEN}[^{CODE_CLOSE}]*{CODE_CLOSE}|(?<![\w@^])[+−-]?\d[\d,]*(?:\.\d+)*")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
HOLE = "□"
SENSES: dict[str, str] = {
    word: sense
    for sense, words in {
        "all": "every all each everybody both",
        "none": "no none nobody nothing not never without neither cannot",
        "pass": "pass passes passed passing",
        "fail": "fail fails failed failing",
        "more": "more higher greater larger bigger longer above",
        "less": "less fewer lower smaller shorter below",
        "most": "most highest largest biggest longest",
        "least": "least lowest fewest smallest shortest",
        "before": "before earlier",
        "after": "after later",
        "better": "better improved improves",
        "worse": "worse regressed regresses",
        "right": "right correct correctly true",
        "wrong": "wrong incorrect incorrectly wrongly false",
        "same": "same identical equal equally",
        "different": "different other differently",
        **{word: word for word in ("only", "always", "sometimes", "with", "missing", "any", "some", "tied", "half")},
        **{word: word for word in ("first", "last", "second", "best", "worst", "high", "medium", "low", "twice")},
        **{word: word for word in ("faster", "slower", "together", "alone")},
    }.items()
    for word in words.split()
}
SENSES |= {cause + mark: cause for cause in ("bi", "kg", "uk", "ti", "ir", "da") for mark in ("", "?")}
"""Words that turn the sense of a sentence, and what they stand for."""
SIMILAR = 0.75
"""Share of words that a turned sentence has in common with the one it was made from."""
FEW_WORDS = 5
"""A sentence of fewer, without a number or a claim, is too short to be known again."""

Place = tuple[str, ...]
"""Headings above a sentence; of a row also its table's caption and header."""
Known = dict[Place, dict[str, list["Wording"]]]
"""Wordings of a rendering by place and by words."""


class Part(NamedTuple):
    """A number or a name in a sentence or a cell."""

    text: str
    """As it is written."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    column: int = -1
    """Which cell of a row it is in."""


class Wording(NamedTuple):
    """A sentence or a row without its numbers and names."""

    place: Place
    """Where it stands."""
    words: str
    """The sentence with holes."""
    parts: tuple[Part, ...]
    """What was taken out."""
    line: int
    """Line of the report."""
    claims: tuple[Claim, ...] = ()
    """What it claims."""
    text: str = ""
    """The whole of it."""
    cells: tuple[str, ...] = ()
    """Of a row: its cells."""


def check_wording(told: Told, rendered: Sequence[Told]) -> list[Check]:
    """Every claim of a sentence or a row whose wording a rendering has too."""
    known: Known = defaultdict(lambda: defaultdict(list))
    for rendering in rendered:
        for wording in wordings(rendering):
            known[wording.place][wording.words].append(wording)
    found = list(wordings(told))
    return [*(check for wording in found for check in compare(wording, known)), *check_repeated(found, known)]


def check_repeated(found: Sequence[Wording], known: Known) -> Iterator[Check]:
    """Rows that a report has more often than the rendering: one of them stands in for another."""
    allowed = Counter(identity(other) for same in known.values() for others in same.values() for other in others)
    for wording in found:
        key = identity(wording)
        if key not in allowed or not is_row(wording):
            continue
        allowed[key] -= 1
        if allowed[key] < 0:
            claim = name_claim(wording, wording.parts[0])
            yield Check(claim=claim, holds=False, true="another row", why="this row stands here more than once")


def identity(wording: Wording) -> tuple[Place, str, tuple[str, ...]]:
    return wording.place, wording.words, tuple(part.text for part in wording.parts)


def is_row(wording: Wording) -> bool:
    """Whether it is a row that begins with a name."""
    return bool(wording.parts) and wording.parts[0].column == 0 and wording.parts[0].text.startswith(CODE_OPEN)


def wordings(told: Told) -> Iterator[Wording]:
    """The wordings of a report: of every sentence, then of every row."""
    spoken: dict[tuple[int, ...], list[Claim]] = defaultdict(list)
    for claim in told.claims:
        spoken[(claim.at,) if claim.table is None else (claim.table, claim.line)].append(claim)
    for number, sentence in enumerate(told.document.sentences()):
        place = place_of(sentence.section, told.title)
        yield sentence_wording(sentence, place, tuple(spoken[(number,)]))
    for number, table in enumerate(told.document.tables):
        place = (*place_of(table.section, told.title), *place_of((table.caption, "|".join(table.header))))
        yield from (row_wording(row, place, tuple(spoken[number, row.line])) for row in table.rows)


def place_of(headings: Sequence[str], title: str = "") -> Place:
    """Headings by their words and names; the report's own title says nothing about what stands under it."""
    return tuple(without_numbers(heading) for heading in headings if not title or shown(heading) != title)


def sentence_wording(sentence: Sentence, place: Place, claims: tuple[Claim, ...]) -> Wording:
    parts = tuple(Part(found[0], found.start(), found.end()) for found in VALUE.finditer(sentence.text))
    return Wording(place, VALUE.sub(HOLE, sentence.text), parts, sentence.line, claims, shown(sentence.text))


def row_wording(row: Row, place: Place, claims: tuple[Claim, ...]) -> Wording:
    parts = [
        Part(found[0], found.start(), found.end(), column)
        for column, cell in enumerate(row.cells)
        for found in VALUE.finditer(cell)
    ]
    words = "|".join(VALUE.sub(HOLE, cell) for cell in row.cells)
    return Wording(place, words, tuple(parts), row.line, claims, shown(" | ".join(row.cells)), row.cells)


def without_numbers(heading: str) -> str:
    """A heading by its words and names, so that what stands under it is found though one of its numbers is wrong."""
    return VALUE.sub(lambda found: found[0] if found[0].startswith(CODE_OPEN) else HOLE, heading)


def compare(wording: Wording, known: Known) -> Iterator[Check]:
    """What a rendering says in the same words, or in words that were turned."""
    same = known[wording.place].get(wording.words) if wording.place in known else None
    if same:
        yield from compare_parts(wording, min(same, key=partial(distance, wording)))
    elif wording.place in known and (row := row_named_alike(wording, known[wording.place])):
        yield from compare_cells(wording, row)
    elif wording.place in known and (wording.parts or wording.claims or wording.words.count(" ") >= FEW_WORDS - 1):
        yield from compare_sense(wording, known[wording.place])


def row_named_alike(wording: Wording, known: dict[str, list[Wording]]) -> Wording | None:
    """The row of the same table with the same first cell; of several the one with most cells in common."""
    rows = [other for others in known.values() for other in others if len(other.cells) == len(wording.cells)]
    named = [other for other in rows if wording.cells and other.cells[0] == wording.cells[0]]
    best = max(named, key=lambda other: common_cells(wording, other), default=None)
    return best if best is not None and (len(named) == 1 or common_cells(wording, best) > 1) else None


def common_cells(wording: Wording, other: Wording) -> int:
    """How many cells of two rows are the same."""
    return sum(mine == true for mine, true in zip(wording.cells, other.cells, strict=True))


def compare_cells(wording: Wording, other: Wording) -> Iterator[Check]:
    """The claims of a row, cell by cell; a cell that is another one is wrong as a whole."""
    for column, (mine, true) in enumerate(zip(wording.cells, other.cells, strict=True)):
        inside = [claim for claim in wording.claims if claim.place == column]
        if mine == true:
            yield from (Check(claim=claim, holds=True, why="said as the rows give it") for claim in inside)
            continue
        claim = inside[0] if inside else name_claim(wording, Part(mine, 0, len(mine), column))
        yield Check(claim=claim, holds=False, true=shown(true), why="the rows give another cell here")


def distance(wording: Wording, other: Wording) -> tuple[bool, int]:
    """How unlike two sentences of one wording are; rows with the same name belong together."""
    is_other = is_row(wording) and wording.parts[0].text != other.parts[0].text
    return is_other, sum(differs(mine, true) for mine, true in zip(wording.parts, other.parts, strict=True))


def compare_parts(wording: Wording, other: Wording) -> Iterator[Check]:
    """Every claim of a sentence, and every number or name of it that is another one in the rendering."""
    wrong: set[int] = set()
    for mine, true in zip(wording.parts, other.parts, strict=True):
        if not differs(mine, true):
            continue
        claim = claim_at(wording, mine) or name_claim(wording, mine)
        wrong.add(id(claim))
        right = claim.said.replace(shown(mine.text), shown(true.text), 1)
        yield Check(claim=claim, holds=False, true=right, why="the rows give another value here")
    for claim in wording.claims:
        if id(claim) not in wrong:
            yield Check(claim=claim, holds=True, why="said as the rows give it")


def differs(mine: Part, true: Part) -> bool:
    """Whether a number is not a rounding of the true one, or a name is another."""
    if mine.text == true.text or is_other_command(mine.text, true.text):
        return False
    if not (NUMBER.fullmatch(mine.text) and NUMBER.fullmatch(true.text)):
        return True
    said, digits = mine.text.replace(",", ""), len(mine.text.partition(".")[2])
    return round(float(true.text.replace(",", "")), digits) != float(said) or digits > len(true.text.partition(".")[2])


def is_other_command(mine: str, true: str) -> bool:
    """Whether both are commands, but of different kinds: how a report was made is no claim about the rows."""
    words, others = mine.strip(CODE_OPEN).split()[:2], true.strip(CODE_OPEN).split()[:2]
    return words[:1] == others[:1] == ["blade"] and words != others


def claim_at(wording: Wording, part: Part) -> Claim | None:
    """The claim that a number or name of a sentence belongs to; the smallest of several."""
    holding = [
        claim
        for claim in wording.claims
        if claim.start <= part.start and part.end <= claim.end and (claim.place == part.column or part.column < 0)
    ]
    return min(holding, key=lambda claim: claim.end - claim.start, default=None)


def name_claim(wording: Wording, part: Part) -> Claim:
    """A claim for a name that no other check knows."""
    said = shown(part.text)
    return Claim(
        kind="name", said=said, line=wording.line, sentence=wording.text, subject=wording.text, text=said.strip("`")
    )


def compare_sense(wording: Wording, known: dict[str, list[Wording]]) -> Iterator[Check]:
    """A sentence with the numbers of a rendered one and nearly its words: those that turn the sense are wrong."""
    texts, mine = tuple(part.text for part in wording.parts), tokens(wording.words)
    alike = [
        (SequenceMatcher(None, mine, tokens(other.words), autojunk=False), other)
        for others in known.values()
        for other in others
        if tuple(part.text for part in other.parts) == texts
    ]
    matcher, other = max(alike, key=lambda entry: entry[0].ratio(), default=(None, None))
    if matcher is None or other is None or matcher.ratio() < SIMILAR:
        return
    true = tokens(other.words)
    changes = [(mine[a:b], true[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    if senses(words for words, _ in changes) != senses(words for _, words in changes):
        claim = turned_claim(wording, changes)
        yield Check(claim=claim, holds=False, true=other.text, why="it turns what the rows say")


def senses(changed: Iterable[Sequence[str]]) -> Counter[str]:
    """What some words stand for that turn a sentence."""
    known = (sense_of(word.strip('.,;:()*“”"')) for words in changed for word in words)
    return Counter(sense for sense in known if sense)


def sense_of(word: str) -> str | None:
    """What a word stands for, if it turns a sentence."""
    return "none" if re.search("n[’']t$", word) else SENSES.get(word)


def tokens(words: str) -> list[str]:
    """Words in small letters; a bar between cells parts them too."""
    return [word for word in re.split(r"[\s|]+", words.lower()) if word]


def turned_claim(wording: Wording, changes: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Claim:
    """A claim for the words that were changed."""
    said = " … ".join(" ".join(words) for words, _ in changes if words) or wording.text
    return Claim(kind="universal", said=said, line=wording.line, sentence=wording.text, subject=wording.text, text=said)
