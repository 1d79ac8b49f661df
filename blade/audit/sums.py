"""Numbers in sentences that disagree with each other, with a list beside them, or with the table they introduce."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs
from blade.audit.ledger import Grid, key, make_grid
from blade.audit.markdown import CODE, QUOTED, Document, Sentence, Table, blanked_code, shown, without_code_marks
from blade.audit.verdicts import Check
from blade.report.values import stem, stems

SHARE_BEHIND = re.compile(r"\s*[,=:]?\s*(?:or\s+|i\.e\.,?\s+)?|\s*(?:[\w-]+\s+){0,4}?[(\[=]\s*")
"""What may stand between `12 of 50` and its share."""
SOME = re.compile(
    r"\b(?:top|first|some|such as|e\.g|for example|including|include[sd]?|among|at least|more|other|etc)\b|…", re.I
)
"""What says that not everything is counted or listed."""
LISTED = re.compile(
    r"(?:\s*\(|\s*:|\s*[—–-])\s*((?:[\w.-]*\d[\w.-]*)(?:\s*,\s*(?:and\s+)?[\w.-]*\d[\w.-]*|\s+and\s+[\w.-]*\d[\w.-]*)+)\s*[).;]?"
)
ADDED = re.compile(r"(?<![\w.])(\d[\d,]*)((?:\s*\+\s*\d[\d,]*)+)(?:\s*=\s*(\d[\d,]*))?")
PART = re.compile(r"(?<![\w.])(\d[\d,]*)\s+(?!of\b|%|percent)[A-Za-z][\w-]*")
ALL = re.compile(r"\ball\s+(?:of\s+)?(?:the\s+)?$", re.IGNORECASE)


class Said(NamedTuple):
    """A sentence with its numbers."""

    text: str
    line: int
    figures: list[Figure]
    pairs: list[Pair]


def check_sentences(document: Document) -> Iterator[Check]:
    """Everything that sentences get wrong by their own numbers or by the tables around them."""
    grids = [make_grid(table) for table in document.tables]
    for sentence in document.sentences():
        said = read_sentence(sentence)
        yield from check_parts(said)
        yield from check_percentages(said)
        yield from check_changes(said)
        yield from check_additions(said)
        yield from check_listing(said)
        yield from check_rows(said, grids)
    for table in document.tables:
        yield from check_introduction(table)
    for table in document.tables:
        for row in table.rows:
            for cell in row.cells:
                figures = find_figures(cell)
                said = Said(cell, row.line, figures, find_pairs(cell, figures))
                yield from check_parts(said)
                yield from check_percentages(said)


def read_sentence(sentence: Sentence) -> Said:
    """A sentence; what it quotes is somebody else's arithmetic."""
    text = QUOTED.sub(lambda found: "x" * len(found[0]), sentence.text)
    figures = find_figures(text)
    return Said(text, sentence.line, figures, find_pairs(text, figures))


def fault(said: Said, words: str, true: str, why: str) -> Check:
    return Check(said.line, shown(words).strip(), "contradicted", true, why, sentence=shown(said.text))


def check_parts(said: Said) -> Iterator[Check]:
    """A part is not more than its whole."""
    for pair in said.pairs:
        if pair.kind == "fraction" and pair.first.value > pair.second.value > 0 and is_of(said, pair):
            part, whole = f"{pair.first.value:,g}", f"{pair.second.value:,g}"
            yield fault(said, said.text[pair.start : pair.end], f"at most {whole}", f"{part} is more than {whole}")


def is_of(said: Said, pair: Pair) -> bool:
    """Whether `7 of 5` is a part and a whole; `24/7` may be anything."""
    return "of" in said.text[pair.first.end : pair.second.start]


def check_percentages(said: Said) -> Iterator[Check]:
    """`n of m (p %)` and `p % (n of m)`: the share is that of the two numbers."""
    for pair in said.pairs:
        if pair.kind != "fraction" or not pair.second.value or pair.first.value > pair.second.value:
            continue
        share = 100.0 * pair.first.value / pair.second.value
        for figure in said.figures:
            behind, before = said.text[pair.end : figure.start], said.text[figure.end : pair.start]
            is_behind = figure.start >= pair.end and SHARE_BEHIND.fullmatch(behind) is not None
            is_before = figure.end <= pair.start and re.fullmatch(r"\s*\(\s*", before) is not None
            if figure.unit == "%" and (is_behind or is_before) and not agrees(figure, share):
                yield fault(
                    said, said.text[figure.start : figure.end], f"{share:.1f} %", "the share of the two numbers"
                )


def check_changes(said: Said) -> Iterator[Check]:
    """`40 % → 52 % (+12 pp)`: the difference is that of the two numbers."""
    ends = [(pair.first, pair.second) for pair in said.pairs if pair.kind == "change"]
    ends += [(pair.first, pair.second) for pair in said.pairs if is_from_to(said, pair)]
    for first, second in ends:
        rest = [one for one in said.figures if one.start > second.end]
        if not rest or first.unit != second.unit:
            continue
        third, between = rest[0], said.text[second.end : rest[0].start]
        is_told = (
            re.fullmatch(r"\s*[,(:;]\s*(?:(?:a|an|i\.e\.)\s+)?(?:\w+\s+){0,3}(?:of\s+|by\s+)?", between) is not None
        )
        unit = third.unit.replace("pp", "%")
        if not is_told or unit != first.unit or (third.unit == "%" and not third.signed):
            continue
        change = second.value - first.value
        slack = first.half + second.half if first.half < 0.5 else 0.0
        off = min(abs(third.value - change), abs(third.value - abs(change)) if not third.signed else 1e9)
        if off > third.half + slack + 1e-9:
            yield fault(
                said, said.text[third.start : third.end], f"{change:+,.4g}", "the difference of the two numbers"
            )


def is_from_to(said: Said, pair: Pair) -> bool:
    """Whether two numbers are `from a to b`."""
    return pair.kind == "interval" and re.search(r"\bfrom\s+$", said.text[: pair.first.start], re.I) is not None


def check_additions(said: Said) -> Iterator[Check]:
    """`46 + 24 = 75`, and `all 75 … (46 + 24)`."""
    for found in ADDED.finditer(blanked_code(said.text)):
        parts = [number(found[1]), *map(number, re.findall(r"\d[\d,]*", found[2]))]
        if found[3]:
            if number(found[3]) != sum(parts):
                yield fault(said, found[0], f"{sum(parts):,g}", "what the numbers add up to")
            continue
        wholes = [one for one in said.figures if one.is_whole and ALL.search(said.text[: one.start])]
        for whole in wholes:
            if not found.start() <= whole.start < found.end() and whole.value != sum(parts):
                yield fault(said, said.text[whole.start : whole.end], f"{sum(parts):,g}", f"{found[0]} is that many")
    yield from check_breakdown(said)


def check_breakdown(said: Said) -> Iterator[Check]:
    """`1,024 failures: 600 timeouts, 300 crashes and 100 others`: parts that nearly add up to their whole."""
    head, colon, tail = without_code_marks(said.text).partition(":")
    wholes = [number(found[1]) for found in PART.finditer(head)]
    parts = [number(found[1]) for found in PART.finditer(tail)] if colon and not SOME.search(said.text) else []
    others = [one for one in find_figures(tail) if not one.word and not one.unit]
    if len(wholes) == 1 and len(parts) >= 2 and len(parts) == len(others) and wholes[0] >= max(parts):
        off = abs(sum(parts) - wholes[0])
        if 0 < off <= 0.1 * wholes[0]:
            yield fault(said, f"{wholes[0]:,g}", f"{sum(parts):,g}", "what its parts add up to")


def number(text: str) -> float:
    return float(text.replace(",", ""))


def check_listing(said: Said) -> Iterator[Check]:
    """`5 tasks: a, b, c, d`: as many as are listed."""
    if SOME.search(said.text):
        return
    for figure in said.figures:
        if not figure.is_whole or figure.value < 2:
            continue
        noun = re.match(
            r"\s+(?:[a-z-]+\s+){0,3}?(?:tasks?|problems?|questions?|rollouts?|instances?|ids?)\b",
            said.text[figure.end :],
        )
        if noun is None:
            continue
        rest = said.text[figure.end + noun.end() :]
        codes = listed_codes(rest)
        bare = LISTED.match(without_code_marks(rest)) if not codes else None
        count = len(codes) or (len(re.findall(r"[\w.-]*\d[\w.-]*", bare[1])) if bare else 0)
        if count >= 2 and count != figure.value:
            yield fault(said, said.text[figure.start : figure.end], str(count), "so many are listed behind it")


def listed_codes(text: str) -> list[str]:
    """Code right behind a noun, one after the other."""
    found, end = list[str](), 0
    for span in CODE.finditer(text):
        between = text[end : span.start()]
        if not re.fullmatch(r"\s*[(:—–]\s*" if not found else r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)", between):
            break
        found.append(span[1])
        end = span.end()
    return found


def check_rows(said: Said, grids: Sequence[Grid]) -> Iterator[Check]:
    """`75 timeouts` in a sentence, where a table has a row of timeouts with another count and no other table has."""
    words = stems(without_code_marks(said.text))
    for figure in said.figures:
        if not figure.is_whole or figure.value < 2 or figure.hedge:
            continue
        behind = stems(
            without_code_marks(re.split(r"[,;:.()]|\bof\b|\band\b|\bin\b", said.text[figure.end :], maxsplit=1)[0])
        )
        rows = [(grid, place) for grid in grids for place in named_rows(grid, behind)] if behind and words else []
        known = [cells_in(grid, place) for grid, place in rows]
        if rows and all(known) and not any(agrees(figure, value) for values in known for value in values):
            grid, place = rows[0]
            true = ", ".join(f"{value:,g}" for value in known[0])
            yield fault(
                said, said.text[figure.start : figure.end], true, f"line {grid.table.rows[place].line} has it so"
            )


def named_rows(grid: Grid, words: Sequence[str]) -> list[int]:
    """Rows that are called by exactly these words, two of them at least."""
    if len(words) < 2:
        return []
    return [place for place, row in enumerate(grid.table.rows) if row.cells and key(row.cells[0]) == tuple(words)]


def cells_in(grid: Grid, place: int) -> list[float]:
    """The counts of a row."""
    cells = [cells[place] for cells in grid.columns.values()]
    return [cell.figure.value for cell in cells if cell is not None and cell.figure.is_whole]


COUNTED = re.compile(
    r"\b(?P<number>[\d,]+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?:distinct\s+|different\s+)?(?P<noun>[a-z]+s)\b",
    re.I,
)
WORDS = {
    word: n
    for n, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=2
    )
}


def check_introduction(table: Table) -> Iterator[Check]:
    """`spread across 12 tasks` right above a table of six: the noun is the head of the first column."""
    caption = without_code_marks(table.caption)
    last = re.split(r"(?<=[.!?])\s+", caption)[-1]
    if (
        not table.header
        or SOME.search(last)
        or not (last.endswith(":") or re.search(r"across|following|below", last, re.I))
    ):
        return
    head = set(stems(table.header[0]))
    rows = [
        row for row in table.rows if row.cells and not re.match(r"\W*(?:total|all|overall|other)", row.cells[0], re.I)
    ]
    found = [one for one in COUNTED.finditer(last) if stem(one["noun"]) in head]
    if len(found) == 1 and len(rows) >= 2:
        said = found[0]["number"].lower()
        count = WORDS.get(said) or int(number(said))
        if count != len(rows) and count < 200:
            line = table.line
            yield Check(line, found[0][0], "contradicted", str(len(rows)), "the table has so many rows", sentence=last)
