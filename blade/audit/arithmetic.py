"""A report's own arithmetic: numbers of one table or one sentence that cannot all be true, whatever the rows say.

A relation between columns is taken for meant when most rows keep it; the rows that break it are wrong. Nothing is
assumed from words alone, for a false alarm costs more than a slip that goes unnoticed.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs
from blade.audit.markdown import QUOTED, Document, Table, shown, without_code_marks
from blade.audit.markdown import Row as TableRow
from blade.audit.verdicts import Check

TOTAL = re.compile(
    r"\W*(?:(?:grand\s+)?(?:total|sum|overall)s?(?:\s+\w+)?|all(?:\s+tasks|\s+rollouts)?|[Σ∑])\W*", re.IGNORECASE
)
CHANGE = re.compile(r"Δ|\b(?:delta|diff|difference|change|gain|drop|gap)\b", re.IGNORECASE)
SHARE_OF = re.compile(r"(?:%|percent|share)\s+of\s+(?:the\s+|all\s+)?([\d,]{2,})|\((?:of|n\s*=)\s*([\d,]{2,})\)", re.I)
LEAST_ROWS = 3
MOST_EXCEPTIONS = 0.34
"""Share of rows that may break a relation which the others keep."""
NEAR_MISS = 0.15
"""How far a total may be off and still be meant as one."""
SHARE_BEHIND = re.compile(r"\s*[,=:]?\s*(?:or\s+|i\.e\.,?\s+)?|\s*(?:[\w-]+\s+){0,4}?[(\[=]\s*")
"""What may stand between `12 of 50` and its share."""
VERSUS = re.compile(r"[\s)]*(?:vs\.?|versus|against|to|compared (?:to|with))\s+(?:[\w-]+\s+){0,2}\(?")
"""What stands between two numbers that are compared."""
CHANGE_BEHIND = re.compile(r"[\s)]*[,(:;—–-]\s*(?:(?:a|an|i\.e\.)\s+)?(?:\w+\s+){0,3}(?:of\s+|by\s+)?")
"""What stands between two numbers and their difference."""
PART = re.compile(r"(?<![\w.])(\d[\d,]*)\s+(?!of\b|%|percent)[A-Za-z][\w-]*")


def check_arithmetic(document: Document) -> list[Check]:
    """Everything that a report gets wrong by its own numbers, each once."""
    found: list[Check] = []
    for table in document.tables:
        columns = {
            place: cells
            for place in range(1, len(table.header))
            if sum(map(bool, cells := [read_cell(table, row, place) for row in table.rows])) >= max(2, len(cells) // 2)
        }
        grid = Grid(table, columns)
        found += [*check_totals(grid), *check_relations(grid), *check_shares(grid)]
        for row in table.rows:
            found += [fault for cell in row.cells for fault in check_fractions(Text.of(cell, row.line))]
    for sentence in document.sentences():
        text = Text.of(sentence.text, sentence.line)
        for check in (check_fractions, check_changes, check_breakdown):
            found += check(text)
    return list({(one.line, one.said, one.true): one for one in found}.values())


class Cell(NamedTuple):
    """A number in a table: `75`, `75 (12.4 %)`, `75/605`, `75/605 (12.4 %)` or `12.4 %`."""

    figure: Figure
    """The number."""
    line: int
    """Its line."""
    row: str
    """The head of its row."""
    column: str
    """The head of its column."""
    text: str
    """The whole cell."""
    whole: Figure | None = None
    """What it is a part of, where the cell says."""
    share: Figure | None = None
    """Its share, where the cell says."""

    def wrong(self, true: str, why: str) -> Check:
        """The cell as one that is not what the rest of its table makes it."""
        said = shown(self.text)
        return Check(self.line, said, "contradicted", true, why, sentence=f"{self.row} | {shown(self.column)} | {said}")


class Grid(NamedTuple):
    """A table by its numbers."""

    table: Table
    """The table."""
    columns: dict[int, list[Cell | None]]
    """Numbers by column, one for each row; `None` where a cell holds none or several."""


def read_cell(table: Table, row: TableRow, place: int) -> Cell | None:
    """What a cell states; `None` when it holds words, or numbers that belong to no one thing."""
    text = row.cell(place)
    figures = [one for one in find_figures(text) if not one.word]
    pairs = find_pairs(text, figures)
    rest = figures[2:] if pairs else figures[1:]
    if not figures or len(rest) > 1 or len(pairs) > 1 or (pairs and pairs[0].kind != "fraction"):
        return None
    if (rest and "(" not in text) or (len(re.findall(r"[A-Za-z]{3,}", text)) > 1 and len(text) > 24):
        return None
    figure = figures[0]
    if not figure.unit and not pairs and re.search(r"%|percent", table.header[place]):
        figure = figure._replace(unit="%")
    head = without_code_marks(row.cells[0]).strip() if row.cells else ""
    whole, share = pairs[0].second if pairs else None, rest[0] if rest and rest[0].unit == "%" else None
    return Cell(figure, row.line, head, table.header[place], text, whole, share)


def check_totals(grid: Grid) -> Iterator[Check]:
    """A row of totals that misses its sum by a little, or where another column keeps it; likewise a column of them."""
    down = [one for cells in grid.columns.values() for one in sums_of(cells, "row")]
    most = math.inf if any(off == 0 and true for _, off, true in down) else NEAR_MISS
    rows = [[cell for cell in row if cell and cell.figure.is_whole] for row in zip(*grid.columns.values(), strict=True)]
    across = [one for row in rows for one in list(sums_of(row, "column"))[:1]]
    if sum(off == 0 for _, off, _ in across) < max(2, (1 - MOST_EXCEPTIONS) * len(across)):
        across = []
    for cell, off, true in [*(one for one in down if one[1] <= most), *across]:
        if off:
            yield cell.wrong(f"{true:,g}", "the parts add up to it")


def sums_of(cells: Sequence[Cell | None], head: str) -> Iterator[tuple[Cell, float, float]]:
    """A total, how far it is off and its true sum; of fractions the parts and the wholes each by themselves."""
    totals = [cell for cell in cells if cell is not None and TOTAL.fullmatch(getattr(cell, head))]
    total, parts = totals[0] if totals else None, [cell for cell in cells if cell is not None and cell not in totals]
    if total is None or len(parts) < 2 or None in cells:
        return
    for whole, figures in ((total.figure, [one.figure for one in parts]), (total.whole, [one.whole for one in parts])):
        known = [one for one in (*figures, whole) if one is not None and one.is_whole]
        if whole is not None and len(known) == len(parts) + 1 and whole.value >= max(one.value for one in known):
            true = sum(one.value for one in known[:-1])
            yield total, abs(true - whole.value) / max(whole.value, 1.0), true


Relation = Callable[[float, float], float]
RELATIONS: dict[str, Relation] = {
    "{b} minus {a}": lambda a, b: b - a,
    "the share of {a} in {b}": lambda a, b: 100.0 * a / b if b else math.nan,
}
Row = tuple[Cell, Cell, Cell]


def check_relations(grid: Grid) -> Iterator[Check]:
    """Columns of which one follows from two others in most rows: the rows in which it does not."""
    shares = {
        -place: [cell and cell.share and cell._replace(figure=cell.share) for cell in cells]
        for place, cells in grid.columns.items()
    }
    columns = {**grid.columns, **shares}
    for places in permutations([place for place, cells in columns.items() if any(cells)], 3):
        lines = zip(*(columns[place] for place in places), strict=True)
        rows = [(a, b, c) for a, b, c in lines if a is not None and b is not None and c is not None]
        units = [{cell.figure.unit for cell in column} for column in zip(*rows, strict=True)]
        for name, relation in RELATIONS.items():
            if len(rows) < LEAST_ROWS:
                continue
            if "minus" in name:
                is_one_unit = len({unit.replace("pp", "%") for column in units for unit in column}) == 1
                if not is_one_unit or not CHANGE.search(rows[0][2].column):
                    continue
            elif units != [{""}, {""}, {"%"}]:
                continue
            broken = [row for row in rows if not keeps(relation, row)]
            # Of what did not change nothing can be told.
            kept = {tuple(cell.figure.value for cell in row) for row in rows if row not in broken}
            if sum(values[2] != 0.0 for values in kept) < LEAST_ROWS or len(broken) > MOST_EXCEPTIONS * len(rows):
                continue
            for a, b, c in broken:
                true = relation(a.figure.value, b.figure.value)
                yield c.wrong(f"{true:,.4g}", name.format(a=shown(a.column), b=shown(b.column)))


def keeps(relation: Relation, row: Row) -> bool:
    """Whether the third number follows from the first two, as all three are rounded; counts are exact."""
    a, b, c = (cell.figure for cell in row)
    true = relation(a.value, b.value)
    moved = [
        abs(relation(a.value + one, b.value + other) - true)
        for one in ((a.half, -a.half) if a.half < 0.5 else (0.0,))
        for other in ((b.half, -b.half) if b.half < 0.5 else (0.0,))
    ]
    return abs(true - c.value) <= max(moved) + c.half * 1.001 + 1e-9


def check_shares(grid: Grid) -> Iterator[Check]:
    """Shares of a whole: the whole is the one that most rows fit; rows that do not, and a header with another one."""
    for place, shares in grid.columns.items():
        counts = grid.columns.get(place - 1, [])
        pairs = [(n, p) for n, p in zip(counts, shares, strict=False) if n is not None and p is not None]
        pairs += [(one, one._replace(figure=one.share)) for one in shares if one and one.share]
        pairs = [(n, p) for n, p in pairs if n.figure.is_whole and p.figure.unit == "%" and n.whole is None]
        if len([n for n, _ in pairs if n.figure.value]) < LEAST_ROWS:
            continue
        found = SHARE_OF.search(without_code_marks(grid.table.header[place]))
        stated = int((found[1] or found[2]).replace(",", "")) if found else None
        known = {int(sum(n.figure.value for n, _ in pairs if not TOTAL.fullmatch(n.row))), stated or 0}
        known |= {int(n.figure.value) for n, _ in pairs if TOTAL.fullmatch(n.row)}
        kept = {
            whole: sum(agrees(p.figure, 100.0 * n.figure.value / whole) for n, p in pairs) for whole in known if whole
        }
        whole = max(kept, key=lambda one: kept[one])
        if kept[whole] < max(LEAST_ROWS, (1 - MOST_EXCEPTIONS) * len(pairs)):
            continue
        if stated is not None and stated != whole:
            said = shown(grid.table.header[place])
            yield Check(grid.table.line, said, "contradicted", f"{whole:,}", "the shares below are of it", "", said)
        for n, p in pairs:
            if n.figure.value <= whole and not agrees(p.figure, 100.0 * n.figure.value / whole):
                yield p.wrong(f"{100.0 * n.figure.value / whole:.1f} %", f"{n.figure.value:,.0f} of {whole:,}")


class Text(NamedTuple):
    """A text with its numbers."""

    text: str
    line: int
    figures: Sequence[Figure]
    pairs: list[Pair]

    @classmethod
    def of(cls, text: str, line: int) -> "Text":
        """A text without what it quotes, which is somebody else's arithmetic."""
        text = QUOTED.sub(lambda found: "x" * len(found[0]), text)
        return cls(text, line, find_figures(text), find_pairs(text, find_figures(text)))

    def wrong(self, figure: Figure | str, true: str, why: str) -> Check:
        """A number that cannot be, or other words."""
        words = figure if isinstance(figure, str) else self.text[figure.start : figure.end]
        return Check(self.line, shown(words).strip(), "contradicted", true, why, sentence=shown(self.text))


def check_fractions(text: Text) -> Iterator[Check]:
    """A part is not more than its whole, though `24/7` may be anything; the share in `n of m (p %)` is theirs."""
    for pair in text.pairs:
        part, whole = pair.first.value, pair.second.value
        if pair.kind != "fraction" or not whole:
            continue
        if part > whole:
            if "of" in text.text[pair.first.end : pair.second.start]:
                why = f"{part:,g} is more than {whole:,g}"
                yield text.wrong(text.text[pair.start : pair.end], f"at most {whole:,g}", why)
            continue
        for figure in text.figures:
            behind, before = text.text[pair.end : figure.start], text.text[figure.end : pair.start]
            is_behind = figure.start >= pair.end and SHARE_BEHIND.fullmatch(behind) is not None
            is_before = figure.end <= pair.start and re.fullmatch(r"\s*\(\s*", before) is not None
            if figure.unit == "%" and (is_behind or is_before) and not agrees(figure, 100.0 * part / whole):
                yield text.wrong(figure, f"{100.0 * part / whole:.1f} %", "the share of the two numbers")


def check_changes(text: Text) -> Iterator[Check]:
    """`40 % → 52 % (+12 pp)`, `from 3 to 5, a gain of +2`: the difference is that of the two numbers."""
    for first, second, third in zip(text.figures, text.figures[1:], text.figures[2:], strict=False):
        between, behind = text.text[first.end : second.start], text.text[second.end : third.start]
        is_change = any(pair.kind == "change" and pair.start == first.start for pair in text.pairs)
        is_change |= first.unit == "%" and VERSUS.fullmatch(between) is not None
        if not is_change or first.unit != second.unit or CHANGE_BEHIND.fullmatch(behind) is None:
            continue
        if third.unit.replace("pp", "%") != first.unit or (third.unit in ("%", "") and not third.signed):
            continue
        change = second.value - first.value
        slack = first.half + second.half if first.half < 0.5 or first.unit else 0.0
        off = min(abs(third.value - change), abs(third.value - abs(change)) if not third.signed else math.inf)
        if off > third.half + slack + 1e-9:
            yield text.wrong(third, f"{change:+,.4g}", "the difference of the two numbers")


def check_breakdown(text: Text) -> Iterator[Check]:
    """`1,024 failures: 600 timeouts, 300 crashes and 100 others`: parts that nearly add up to their whole."""
    head, colon, tail = without_code_marks(text.text).partition(":")
    wholes, parts = ([float(one[1].replace(",", "")) for one in PART.finditer(side)] for side in (head, tail))
    others = [one for one in find_figures(tail) if not one.word and not one.unit]
    if not colon or len(wholes) != 1 or len(parts) < 2 or len(parts) != len(others) or wholes[0] < max(parts):
        return
    if 0 < abs(sum(parts) - wholes[0]) <= 0.1 * wholes[0]:
        yield text.wrong(f"{wholes[0]:,g}", f"{sum(parts):,g}", "what its parts add up to")
