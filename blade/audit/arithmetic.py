"""Numbers in prose that nearly follow from the numbers around them, and from none of them exactly.

For each number that a list, a share or a difference makes, the few numbers nearby are tried: those of its sentence, of
the sentence before, of the list it leads, of its headings and of the table beside it. One that nothing explains, and
that is close to what they make, is wrong. What is rounded, partial or of something else is explained or far off.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, takewhile
from typing import NamedTuple

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs
from blade.audit.markdown import QUOTED, Document, Passage, shown, split_sentences, without_code_marks
from blade.audit.tables import Grid, is_total_row, key, wrong
from blade.audit.verdicts import Check
from blade.report.values import stems

SOME = re.compile(
    r"\b(?:top|first|some|such as|e\.g|for example|includ\w+|among|at least|(?<!no )more|etc|overlap\w*|"
    r"most (?:common|frequent)|multiple)\b|…",
    re.IGNORECASE,
)
"""What says that not everything is counted or listed, or that something is counted twice."""
FROM = re.compile(r"\b(?:from|of)\s+$", re.IGNORECASE)
SPACED = re.compile(r"(?<=\d) / (?=\d[\d,]*\s*[(=])")
NEAR = 0.26
"""How far a number may be off and still be meant as what the numbers around it make."""
SHARE_BEHIND = re.compile(
    r"[^()%\d;]{0,60}?(?:[(=:–—]|,(?=\s*(?:or\s+|i\.e\.\s*)?[\d.]+\s?%\s*(?:[.;,)]|$)))\s*(?:or\s+|i\.e\.\s*)?"
)
"""What may stand between a count and its share: `9 wrote files (50 %)`, `13 were refused, 6.5 %`."""
COUNT_BEHIND = re.compile(r"\s*\(\s*|,\s(?=\d+/)")
"""What stands between a share and its count: `24.2 % (2,055 instances)`, `(45.2 %, 226/500)`."""
BETWEEN_PARTS = re.compile(r"[,;:·/(]|\b(?:and|und|et|y|plus)\b")
ABOUT = re.compile(r"\W*(?:out\s+of|of|among|in)\s+(?:(?:all|the|these|those)\s+)*", re.IGNORECASE)
REST = re.compile(r"\b(?:remaining|rest|others?)\s+$", re.IGNORECASE)
"""What says that a number is what is left of a whole."""
DIFFERENCE = re.compile(
    r"\b(?:more|fewer|less|up|down|by|gain\w*|loss|los\w+|drop\w*|fell|fall\w*|ris\w+|rose|sav\w+|cost\w*|spread|"
    r"differ\w+|behind|below|above|ahead|short|miss\w*|higher|lower|faster|slower|improv\w+|worse|better|worth|brings?|"
    r"longer|shorter|gap|lead\w*|grew|grow\w*|reduc\w+|increas\w+|decreas\w+|cut|decline\w*|extra|additional)\b",
    re.IGNORECASE,
)
"""What says that a number is a difference."""
TIMES = re.compile(r"[×*]\s*$")
FAR = 12
"""Tables before and behind a sentence that it may speak of."""
MOST_ROWS = 40
"""Rows of a table in which any two numbers are compared."""
EACH = re.compile(r"\b(?:each|every|per|apiece)\b", re.IGNORECASE)


class Text(NamedTuple):
    """A text with its numbers."""

    text: str
    line: int
    figures: Sequence[Figure]
    pairs: list[Pair]

    def fault(self, figure: Figure | str, true: str, why: str) -> Check:
        """A number that is wrong, or other words."""
        words = figure if isinstance(figure, str) else self.text[figure.start : figure.end]
        return Check(self.line, shown(words).strip(), "contradicted", true, why, sentence=shown(self.text))

    @property
    def counts(self) -> list[Figure]:
        """Numbers of things, parts of fractions without their wholes."""
        wholes = {pair.second.start for pair in self.pairs if pair.kind == "fraction"}
        inner = {one.start for pair in self.pairs if pair.kind == "interval" for one in (pair.first, pair.second)}
        return [
            one
            for one in self.figures
            if one.is_whole
            and one.start not in wholes | inner
            and self.text[: one.start].rstrip()[-1:] not in ("×", "*")
        ]


def read_text(text: str, line: int) -> Text:
    """The numbers of a text; what it quotes is somebody else's arithmetic."""
    text = SPACED.sub("/", QUOTED.sub(lambda found: "x" * len(found[0]), text))
    figures = find_figures(text)
    pairs = [one for one in find_pairs(text, figures) if one.kind != "interval" or not FROM.search(text[: one.start])]
    return Text(text, line, figures, pairs)


class Block(NamedTuple):
    """A passage with what belongs to it."""

    passage: Passage
    texts: list[Text]
    """Its sentences."""
    lead: "Block | None"
    """Of a list item, what the list is under."""
    items: list["Block"]
    """The list below it."""

    @property
    def counted(self) -> Figure | None:
        """What a list item counts: its first number, at its beginning, behind a colon or before its share."""
        text = self.texts[0] if self.texts else None
        if text is None or not text.counts or text.counts[0].hedge:
            return None
        first, before = text.counts[0], text.text[: text.counts[0].start].rstrip()
        is_count = not before or before.endswith((":", "=", "–", "—")) or re.match(r"\s*\(", text.text[first.end :])
        return first if is_count and (first == text.figures[0] or before.endswith(":")) else None

    @property
    def around(self) -> list[Text]:
        """Its sentences, those it is listed under, and its heading."""
        above = (
            self.lead.around if self.lead else [read_text(self.passage.section[-1], 0)] if self.passage.section else []
        )
        return [*self.texts, *above]


def read_blocks(document: Document) -> list[Block]:
    """Passages with their sentences, lists below what leads to them."""
    blocks: list[Block] = []
    tables = [table.line for table in document.tables]
    open_: list[Block] = []
    for passage in document.passages:
        line = passage.line_at(0)
        texts = [read_text(text, passage.line_at(start)) for start, text in split_sentences(passage.text)]
        if passage.indent < 0:
            open_ = []
        while open_ and open_[-1].passage.indent >= passage.indent:
            open_.pop()
        lead = open_[-1] if open_ and passage.indent >= 0 else None
        if lead and bisect_left(tables, line) != bisect_left(tables, lead.passage.line_at(0)):
            lead = None
        one = Block(passage, texts, lead, [])
        if lead:
            lead.items.append(one)
        open_.append(one)
        blocks.append(one)
    return blocks


class Known:
    """Every whole number of a report, and the sums of its columns, to be looked up by size."""

    def __init__(self, blocks: Sequence[Block], grids: Sequence[Grid]) -> None:
        columns = [[cell for cell in cells if cell] for grid in grids for cells in grid.columns.values()]
        figures = [one for part in blocks for text in part.texts for one in text.figures]
        figures += [one for cells in columns for cell in cells for one in (cell.figure, cell.whole) if one]
        self.times = Counter(abs(one.value) for one in figures)
        self.whole = {one.value for one in figures if one.is_whole and one.value}
        sums = {sum(cell.figure.value for cell in cells if not is_total_row(cell)) for cells in columns}
        self.sorted = sorted(self.whole | sums)
        self.often = sorted(one for one in self.whole if self.times[one] >= 2)

    def gives(self, n: Figure, p: Figure) -> bool:
        """Whether a share is one of anything that is counted."""
        low = 100 * n.value / (p.value + 2 * p.half) if p.value + p.half else 0.0
        high = 100 * n.value / (p.value - 2 * p.half) if p.value > 2 * p.half else math.inf
        if p.hedge:
            low, high = low / 1.25, high * 1.25
        near = self.sorted[bisect_left(self.sorted, max(low, n.value)) :]
        return any(agrees(p, 100 * n.value / one) for one in takewhile(lambda one: one <= high, near))

    def beside(self, value: float, within: float) -> list[float]:
        """Numbers that stand at least twice in the report, close to one."""
        at = bisect_left(self.often, value * (1 - within))
        return self.often[at : bisect_left(self.often, value * (1 + within) + 1)]


def check_arithmetic(document: Document, grids: Sequence[Grid]) -> Iterator[Check]:
    """Sums, shares, differences and products in prose that nearly follow from the numbers around them."""
    blocks = read_blocks(document)
    known, bases = Known(blocks, grids), section_bases(blocks)
    for part in blocks:
        yield from check_list(part, known)
        for place, text in enumerate(part.texts):
            before = part.texts[max(0, place - 2) : place]
            yield from check_shares(text, [*before, *part.around], bases.get(part.passage.section, []), known)
            yield from check_enumeration(text, before)
            yield from check_rest(text, before)
            yield from check_product(text)
    for grid in grids:
        yield from check_cells(grid, known)
    yield from check_comparisons(blocks, grids, known)


def section_bases(blocks: Sequence[Block]) -> dict[tuple[str, ...], list[float]]:
    """What two or more of the shares under a heading are of, where the report counts so many anywhere."""
    shares: dict[tuple[str, ...], list[tuple[Figure, Figure]]] = {}
    for part in blocks:
        for text in part.texts:
            shares.setdefault(part.passage.section, []).extend((n, p) for n, p, _ in shares_of(text) if n.value >= 5)
    often = sorted({one.value for part in blocks for text in part.texts for one in text.figures if one.is_whole})
    found: dict[tuple[str, ...], list[float]] = {}
    for section, pairs in shares.items():
        fitting = Counter[float]()
        for n, p in pairs[:200]:
            low, high = (100 * n.value / max(p.value + sign * p.half, 0.01) for sign in (1.01, -1.01))
            fitting.update(often[bisect_left(often, low) : bisect_left(often, high)])
        found[section] = [whole for whole, times in fitting.most_common(1) if times >= 2]
    return found


def nearest(value: float, candidates: Iterator[float] | Sequence[float], within: float = NEAR) -> float | None:
    """The candidate that a number comes closest to, if one is close enough."""
    near = [one for one in candidates if one and abs(value - one) <= within * max(abs(one), abs(value))]
    return min(near, key=lambda one: abs(value - one), default=None)


def shares_of(text: Text) -> Iterator[tuple[Figure, Figure, list[float]]]:
    """Counts and their shares, with what the count says that it is of."""
    wholes = {pair.first.start: pair.second for pair in text.pairs if pair.kind == "fraction"}
    parts = {pair.second.start: pair.first for pair in text.pairs if pair.kind == "fraction"}
    used = {one.start for pair in text.pairs if pair.kind != "fraction" for one in (pair.first, pair.second)}
    for first, second in pairwise(text.figures):
        between = text.text[first.end : second.start]
        is_behind = second.unit == "%" and not second.signed and SHARE_BEHIND.fullmatch(between) is not None
        n, p = (parts.get(first.start, first), second) if is_behind else (second, first)
        is_before = first.unit == "%" and not first.signed and COUNT_BEHIND.match(text.text, first.end) is not None
        if (
            (is_behind or is_before)
            and n in text.counts
            and not n.hedge
            and p.unit == "%"
            and not {n.start, p.start} & used
            and p.value <= 100
        ):
            whole = wholes.get(n.start)
            yield n, p, [whole.value] if whole else []


def check_shares(text: Text, near: Sequence[Text], bases: Sequence[float], known: Known) -> Iterator[Check]:
    """A count with a share that no whole in the report gives, and one nearby nearly does."""
    for n, p, stated in shares_of(text):
        local = [one.value for other in near for one in other.figures if one.is_whole and one not in (n, p)]
        for true, why in share_of(n, p, stated or [*local, *bases], None if stated else known):
            yield text.fault(p, true, why)


def share_of(n: Figure, p: Figure, local: Sequence[float], known: Known | None) -> Iterator[tuple[str, str]]:
    """What a share should be, where nothing explains the one that is written."""
    if not n.value or any(one >= n.value and agrees(p, 100.0 * n.value / one) for one in local):
        return
    true = nearest(p.value, [100.0 * n.value / one for one in local if one > 0.7 * n.value], 0.3)
    if true is not None and not (known and known.gives(n, p)):
        yield f"{true:.1f} %", f"{n.value:,g} of {100 * n.value / true:,.0f}"


def check_cells(grid: Grid, known: Known) -> Iterator[Check]:
    """`372 (93.0 %)` in a cell: a share of its column, of its row, or of anything the report counts."""
    for cells in grid.columns.values():
        column = sum(cell.figure.value for cell in cells if cell and not is_total_row(cell))
        for place, cell in enumerate(cells):
            if cell and cell.share and cell.figure.is_whole:
                row = [one.figure.value for one in grid.row(place)]
                local = [one for one in (column, sum(row), *row) if one > cell.figure.value]
                stated = [cell.whole.value] if cell.whole else []
                for true, why in share_of(cell.figure, cell.share, stated or local, None if stated else known):
                    yield wrong(cell, true, why)


def check_list(part: Block, known: Known) -> Iterator[Check]:
    """A list of counts below a number of everything: they add up to it."""
    if len(part.items) < 2 or any(SOME.search(text.text) for text in part.texts):
        return
    counts = [item.texts[0].counts if item.texts else [] for item in part.items]
    columns = [[one.counted for one in part.items]]
    if len({len(one) for one in counts}) == 1:
        columns += [list(one) for one in zip(*counts, strict=True) if list(one) != columns[0]]
    for place, column in enumerate(columns):
        figures = [one for one in column if one is not None]
        if len(figures) == len(column):
            yield from check_items(part, figures, known, is_first=place == 0)


def check_items(part: Block, figures: Sequence[Figure], known: Known, *, is_first: bool) -> Iterator[Check]:
    """One number of each item of a list."""
    total, largest = sum(one.value for one in figures), max(one.value for one in figures)
    if part.counted is not None and part.passage.indent >= 0:
        stated = [part.counted.value]
    else:
        stated = [one.value for text in part.around for one in text.figures if one.is_whole]
    if total in stated or (not stated and total in known.whole):
        return
    texts = [item.texts[0] for item in part.items if item.texts]
    shares = [(n, p) for text in texts for n, p, _ in shares_of(text) if n in figures]
    whole = nearest(total, [one for one in stated if is_first and one >= max(largest, 4)])
    if whole is None and len(figures) >= 3 and total not in known.whole:
        whole = nearest(total, [one for one in known.beside(total, 0.1) if one >= max(20, largest)], 0.1)
    if len(shares) == len(figures) >= 3:  # those that fit may overlap by some
        fitting = [w for w in known.often if all(agrees(p, 100.0 * n.value / w) for n, p in shares)] if is_first else []
        whole = nearest(total, [one for one in (*fitting, whole or 0.0) if abs(total - one) > 0.01 * one], 0.1)
    if whole is not None:
        line = next((text for text in part.texts if any(one.value == whole for one in text.figures)), texts[0])
        said = next((line.text[one.start : one.end] for one in line.figures if one.value == whole), f"{whole:,g}")
        yield line.fault(said, f"{total:,g}", "the list adds up to it")


def check_enumeration(text: Text, before: Sequence[Text]) -> Iterator[Check]:
    """`The 228 tickets fall into four groups: 96 …, 71 …, 38 … and 27 …`: parts that nearly add up to their whole."""
    yield from check_hundred(text)
    counts = text.counts
    for place, whole in enumerate(counts):
        parts, is_strong = parts_of(text, place)
        if len(parts) < (2 if is_strong else 3) or whole.value < max(4, *(one.value for one in parts)):
            continue
        totals = [sum(one.value for one in parts[:size]) for size in range(1, len(parts) + 1)]
        stated = [one.value for other in (*before, text) for one in other.figures]
        if whole.value in totals or totals[-1] in stated or whole.hedge:
            return
        if nearest(totals[-1], [whole.value], NEAR if is_strong else 0.1) is not None:
            yield text.fault(whole, f"{totals[-1]:,g}", "what its parts add up to")
        return
    colon = text.text.rfind(":", 0, counts[-1].start) if counts else -1
    parts = [one for one in counts if one.start > colon]
    is_of_these = re.match(r"\s*of (?:these|them|those|which)\b", text.text, re.IGNORECASE) is not None
    if not is_list(text, parts) or (colon < 0 and not is_of_these) or len(parts) < 3 - is_of_these:
        return
    total, largest = sum(one.value for one in parts), max(one.value for one in parts)
    earlier = [one.value for one in counts if one.start < colon] + [
        one.value for other in before for one in other.counts
    ]
    if is_of_these:
        earlier = earlier[:1]
    stated = [one for one in earlier if one > largest and one >= 4]
    whole_value = None if total in earlier else nearest(total, stated)
    if whole_value is not None:
        yield text.fault(
            text.text[parts[0].start : parts[-1].end], f"{whole_value:,g}", f"the parts add up to {total:,g}"
        )


def parts_of(text: Text, place: int) -> tuple[list[Figure], bool]:
    """The counts behind a count that may be its parts, and whether the sentence says so."""
    whole, parts = text.counts[place], text.counts[place + 1 :]
    gap = text.text[whole.end : parts[0].start] if parts else ""
    is_of = place == 0 and ABOUT.fullmatch(text.text[: whole.start]) is not None
    colon = text.text.find(":", whole.end)
    if gap.rstrip().endswith("(") and gap.count("(") == 1:
        close = text.text.find(")", parts[0].start)
        parts = [one for one in parts if one.start < close]
    elif colon >= 0 and sum(one.start > colon for one in parts) >= 2:
        parts = [one for one in parts if one.start > colon]
    elif not is_of and not re.search(r"[:;(,]", gap):
        return [], False
    is_strong = is_of or re.search(r"[:(;]|\bof wh", text.text[whole.end : parts[0].start] if parts else "") is not None
    return (parts if is_list(text, parts) else []), is_strong


def is_list(text: Text, parts: Sequence[Figure]) -> bool:
    """Whether counts are listed one by one, and all of them."""
    if not parts or any(one.hedge for one in parts):
        return False
    joined = all(BETWEEN_PARTS.search(text.text[a.end : b.start]) for a, b in pairwise(parts))
    return joined and SOME.search(text.text[max(0, parts[0].start - 80) : parts[-1].end + 16]) is None


def check_hundred(text: Text) -> Iterator[Check]:
    """`45 % chat, 30 % code, 15 % traces, 10 % Spanish`: shares that nearly come to all of it."""
    shares = [one for one in text.figures if one.unit == "%" and not one.signed and not one.hedge and not one.word]
    is_list = len(shares) == len(text.figures) >= 3 and all(
        BETWEEN_PARTS.search(text.text[a.end : b.start]) for a, b in pairwise(shares)
    )
    total, spare = math.fsum(one.value for one in shares), sum(one.half for one in shares)
    is_whole = len(shares) >= 4 or re.search(r"\bof (?:all|the|its|their)\b|\bmak\w+ up\b|:", text.text) is not None
    if is_list and is_whole and spare < abs(total - 100) <= 10:
        yield text.fault(shares[-1], f"{100 - total + shares[-1].value:.4g} %", "the shares add up to 100 %")


def check_rest(text: Text, before: Sequence[Text]) -> Iterator[Check]:
    """`In 26 of these 41 …. The other 15 …`: what is left of a whole."""
    for figure in text.counts:
        if figure.hedge or not REST.search(text.text[: figure.start]):
            continue
        earlier = [one.value for other in before for one in other.figures if one.is_whole]
        earlier += [one.value for one in text.figures if one.is_whole and one.start < figure.start]
        lefts = {a - b for a in earlier for b in earlier} | {
            a - b - c for a in earlier for b, c in combinations(earlier, 2)
        }
        pairs = [pair for other in (*before, text) for pair in other.pairs if pair.kind == "fraction"]
        stated = [pair.second.value - pair.first.value for pair in pairs]
        if not stated and len(earlier) == 2:
            stated = [abs(earlier[0] - earlier[1])]
        if figure.value not in lefts and nearest(figure.value, stated[-1:], 0.4) is not None:
            yield text.fault(figure, f"{stated[-1]:,g}", "what the numbers before it leave")


def check_product(text: Text) -> Iterator[Check]:
    """`240 tasks with four seeds each (960 rollouts)`: the largest number is the product of the two others."""
    counts = [one for one in text.counts if one.value > 1]
    if len(counts) != 3 or not EACH.search(text.text) or any(one.hedge for one in counts):
        return
    whole = max(counts, key=lambda one: one.value)
    a, b = (one for one in counts if one is not whole)
    if a.value * b.value != whole.value and nearest(whole.value, [a.value * b.value]) is not None:
        yield text.fault(whole, f"{a.value * b.value:,g}", f"{a.value:,g} times {b.value:,g}")


Two = tuple[Figure, Figure]
COMPARISONS: dict[str, Callable[[float, float], float]] = {
    "difference": lambda a, b: abs(a - b),
    "change": lambda a, b: 100.0 * abs(b - a) / abs(a) if a else math.nan,
    "ratio": lambda a, b: max(abs(a), abs(b)) / min(abs(a), abs(b)) if a and b else math.nan,
}
"""What is said of two numbers."""


def check_comparisons(blocks: Sequence[Block], grids: Sequence[Grid], known: Known) -> Iterator[Check]:
    """`from 82.4 % to 74.2 % (-8.2 pp)`: a comparison that no two numbers nearby give, and two of them nearly do."""
    rates = sorted({one.value for part in blocks for text in part.texts for one in text.figures if one.unit == "%"})
    lines = [grid.table.line for grid in grids]
    for part in blocks:
        at = bisect_left(lines, part.passage.line_at(0))
        tables = [grid for grid in grids[max(0, at - FAR) : at + FAR] if len(grid.table.rows) <= MOST_ROWS]
        for place, text in enumerate(part.texts):
            for figure in text.figures:
                kind = comparison(text, figure)
                if kind and known.times[abs(figure.value)] == 1 and not is_paired(text, figure):
                    near = [text] if kind != "difference" else [*part.texts[max(0, place - 2) : place], text]
                    yield from check_comparison(Compared(kind, figure, text, near, part.passage.section), tables, rates)


class Compared(NamedTuple):
    """A number that compares two others."""

    kind: str
    figure: Figure
    text: Text
    near: Sequence[Text]
    section: tuple[str, ...]

    def is_like(self, other: Figure) -> bool:
        """Whether it can be of numbers like another one."""
        unit = self.figure.unit
        if self.kind != "difference":
            return not other.signed and (self.kind == "ratio" or other.unit not in ("%", "pp", "x"))
        return other.unit == unit != "pp" or (
            unit == "pp" and (other.unit == "%" or (not other.unit and other.half < 0.5))
        )

    def of(self, a: Figure, b: Figure) -> float:
        return COMPARISONS[self.kind](a.value, b.value)

    def is_of(self, a: Figure, b: Figure) -> bool:
        """Whether it says what two numbers make, as they are rounded."""
        if self.kind == "difference" or not min(abs(a.value), abs(b.value)):
            spare = sum(one.half for one in (a, b) if one.half < 0.5 or one.unit)
        else:
            halves = [one.half / abs(one.value) for one in (a, b) if one.half < 0.5 or one.unit]
            spare = sum(halves) * (100.0 if self.kind == "change" else abs(self.figure.value))
        spare += self.figure.half if self.figure.half < 0.5 or self.figure.unit else 0.0
        return abs(self.of(a, b) - abs(self.figure.value)) <= spare + 1e-9


def check_comparison(one: Compared, grids: Sequence[Grid], rates: Sequence[float]) -> Iterator[Check]:
    """One comparison against the numbers near it, and those of the rows and columns that its sentence names."""
    numbers = [
        figure for text in one.near for figure in text.figures if not figure.word and figure not in ends_of(text)
    ]
    numbers = [figure for figure in numbers if figure is not one.figure and not figure.signed and one.is_like(figure)]
    pairs = [(a, b) for a, b in combinations(numbers[-12:], 2) if a.unit == b.unit]
    if one.kind != "difference":  # what is compared stands side by side, and close by
        pairs = [(a, b) for a, b in pairs if numbers.index(b) - numbers.index(a) == 1]
        pairs = sorted(
            pairs, key=lambda pair: min(abs(pair[0].start - one.figure.end), abs(one.figure.start - pair[1].end))
        )[:1]
    if any(one.is_of(a, b) for a, b in pairs):
        return
    if one.figure.unit == "pp":
        for number in numbers:
            for end in (number.value - abs(one.figure.value), number.value + abs(one.figure.value)):
                at = bisect_left(rates, end - one.figure.half - number.half - 1e-9)
                if number.unit == "%" and at < len(rates) and rates[at] <= end + 2 * one.figure.half + 1e-9:
                    return
    words = {*stems(without_code_marks(one.text.text))} if one.kind == "difference" else set()
    for grid in grids if words else []:
        is_here = grid.table.section == one.section
        lines = [*grid.columns.values()][:12]
        for line in [*lines, *(list(line) for line in zip(*lines, strict=True))]:
            cells = [cell for cell in line if cell and one.is_like(cell.figure)]
            named = [bool(words & {*key(cell.row)}) + bool(words & {*key(cell.column)}) for cell in cells]
            for (a, first), (b, second) in combinations(zip(cells, named, strict=True), 2):
                if a.figure.unit == b.figure.unit and (is_here or first + second == 4):
                    if one.is_of(a.figure, b.figure):
                        return
                    if first + second >= 3:
                        pairs.append((a.figure, b.figure))
    within = NEAR if one.kind == "difference" else 0.4
    true = nearest(abs(one.figure.value), [one.of(a, b) for a, b in pairs], within)
    if true is not None:
        yield one.text.fault(one.figure, f"{true:,.4g}", f"the {one.kind} of two numbers beside it")


def ends_of(text: Text) -> list[Figure]:
    """The ends of intervals, which nothing is compared with."""
    return [one for pair in text.pairs if pair.kind in ("interval", "spread") for one in (pair.first, pair.second)]


def is_paired(text: Text, figure: Figure) -> bool:
    """Whether a number is one of two that belong together, or what a change begins or ends at."""
    is_end = re.search(r"\b(?:from|to|than|at|between|and|out of)\s*$", text.text[: figure.start], re.IGNORECASE)
    return is_end is not None or any(pair.start <= figure.start < pair.end for pair in text.pairs)


def comparison(text: Text, figure: Figure) -> str:
    """What a number says of two others, if anything."""
    if figure.hedge or figure.word or not figure.value:
        return ""
    if figure.unit == "x":
        return "ratio" if figure.value > 1 else ""
    if figure.unit == "pp" or (figure.signed and figure.unit != "%"):
        return "difference"
    before, behind = text.text[max(0, figure.start - 24) : figure.start], text.text[figure.end : figure.end + 28]
    before, behind = re.split(r"[,;:.(]\s", before)[-1], re.split(r"[,;:.()]|\bof\b", behind)[0]
    if figure.unit == "%":
        rates = [one for one in text.figures if one.unit == "%" and one is not figure]
        if figure.signed:
            return "difference" if rates else "change"
        return "change" if re.match(r"\s+(?:relative\s+)?\w+\b", behind) and DIFFERENCE.search(behind) else ""
    return "difference" if DIFFERENCE.search(before) or DIFFERENCE.search(behind) else ""
