"""Tables of a report against themselves: totals, columns that follow from others, shares of a whole.

A relation between columns is taken for meant when most rows keep it and chance does not explain that; the rows that
break it are wrong. Nothing is assumed from words alone, for a false alarm costs more than a slip that goes unnoticed.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from blade.audit.figures import Figure, agrees, find_figures, find_pairs, last_digit
from blade.audit.markdown import Table, shown, without_code_marks
from blade.audit.verdicts import Check
from blade.report.values import stems

TOTAL = re.compile(
    r"\W*(?:(?:grand\s+)?(?:total|sum|overall)s?(?:\s+\w+)?|all(?:\s+tasks|\s+rollouts)?|[Σ∑])\W*", re.IGNORECASE
)
MEAN = re.compile(
    r"\W*(?:(?:macro|weighted|unweighted|overall)\W+)?(?:mean|average|avg|ø|moyenne|mittel\w*)\b", re.IGNORECASE
)
CHANGE = re.compile(r"Δ|\b(?:delta|diff|difference|change|gain|drop|gap)\b", re.IGNORECASE)
SHARE_OF = re.compile(r"(?:%|percent|share)\s+of\s+(?:the\s+|all\s+)?([\d,]{2,})|\((?:of|n\s*=)\s*([\d,]{2,})\)", re.I)
PARENTHESIS = re.compile(r"\([^()]*\)")
LEAST_ROWS = 3
MOST_EXCEPTIONS = 0.34
"""Share of rows that may break a relation which the others keep."""
NEAR_MISS = 0.15
"""How far a total may be off and still be meant as one."""
CHANCE = 1e-4
"""How likely a relation may be kept by chance and still be taken for meant."""
LIKELY = 1e-2
"""How likely it may be where signs, units or heads say that there is one."""


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


Line = Sequence[Cell | None]


class Grid(NamedTuple):
    """A table by its numbers."""

    table: Table
    """The table."""
    columns: dict[int, list[Cell | None]]
    """Numbers by column, one for each row; `None` where a cell holds none or several."""

    def row(self, place: int) -> list[Cell]:
        """The numbers of a row that count something."""
        cells = [cells[place] for cells in self.columns.values()]
        return [cell for cell in cells if cell is not None and cell.figure.is_whole]

    def beside(self, line: int) -> list[float]:
        """The counts of the row on a line and of the row above it, which a share may be of as well."""
        return [
            cell.figure.value
            for place, row in enumerate(self.table.rows)
            if row.line in (line, line - 1)
            for cell in self.row(place)
            if cell.figure.value
        ]


def make_grid(table: Table) -> Grid:
    """The numbers of a table: columns in which most cells are one number."""
    columns: dict[int, list[Cell | None]] = {}
    for place in range(1, len(table.header)):
        cells = [read_cell(table, row, place) for row in range(len(table.rows))]
        if sum(cell is not None for cell in cells) >= max(2, len(cells) // 2):
            columns[place] = cells
    return Grid(table, columns)


def read_cell(table: Table, number: int, place: int) -> Cell | None:
    """What a cell states; `None` when it holds words, or numbers that belong to no one thing."""
    row, text = table.rows[number], table.rows[number].cell(place)
    figures = [one for one in find_figures(text) if not one.word]
    pairs = find_pairs(text, figures)
    rest = figures[2:] if pairs else figures[1:]
    if not figures or len(rest) > 1 or len(pairs) > 1 or (pairs and pairs[0].kind not in ("fraction", "spread")):
        return None
    if (rest and "(" not in text) or (len(re.findall(r"[A-Za-z]{3,}", text)) > 1 and len(text) > 24):
        return None
    figure = figures[0]
    if not figure.unit and not pairs and re.search(r"%|percent", table.header[place]):
        figure = figure._replace(unit="%")
    head = next((one for cell in row.cells if (one := without_code_marks(cell).strip())), "")
    whole, share = (
        pairs[0].second if pairs and pairs[0].kind == "fraction" else None,
        rest[0] if rest and rest[0].unit == "%" else None,
    )
    return Cell(figure, row.line, head, table.header[place], text, whole, share)


@lru_cache(maxsize=20_000)
def key(head: str) -> tuple[str, ...]:
    """A head by its words, what it says in brackets left out."""
    return tuple(stems(PARENTHESIS.sub(" ", without_code_marks(head))))


def check_tables(grids: Sequence[Grid]) -> Iterator[Check]:
    """Numbers of tables that break what their table keeps."""
    for grid in grids:
        yield from check_column_totals(grid)
        yield from check_column_means(grid)
        yield from check_shares(grid)
        for one in (grid, turned(grid)):
            yield from check_relations(one)
            yield from check_runs(one)


def is_total_row(cell: Cell) -> bool:
    return TOTAL.fullmatch(cell.row) is not None


def is_total_column(cell: Cell) -> bool:
    return TOTAL.fullmatch(cell.column) is not None


def body(cells: Sequence[Cell | None]) -> list[Cell]:
    """Cells that are not totals."""
    return [cell for cell in cells if cell is not None and not is_total_row(cell)]


class Sum(NamedTuple):
    """A total and what it should be."""

    total: Cell
    """The cell."""
    off: float
    """How far it is off, relative to it."""
    true: float
    """What its parts add up to."""


def sums_of(cells: Sequence[Cell | None], is_total: Callable[[Cell], bool]) -> Iterator[Sum]:
    """A total of counts with its sum; of fractions the parts and the wholes each by themselves."""
    total = next((cell for cell in cells if cell is not None and is_total(cell)), None)
    parts = [cell for cell in cells if cell is not None and not is_total(cell)]
    if total is None or len(parts) < 2 or None in cells:
        return
    for whole, figures in ((total.figure, [one.figure for one in parts]), (total.whole, [one.whole for one in parts])):
        known = [one for one in (*figures, whole) if one is not None and one.unit != "%" and one.value >= 0]
        if whole is not None and len(known) == len(parts) + 1 and whole.value >= max(one.value for one in known):
            true, spare = math.fsum(one.value for one in known[:-1]), sum(one.half for one in known if one.half < 0.5)
            off = abs(true - whole.value) / max(whole.value, 1.0)
            yield Sum(total, off if abs(true - whole.value) > spare + 1e-9 else 0.0, true)


def check_column_totals(grid: Grid) -> Iterator[Check]:
    """A row of totals: a column that misses its sum by a little, or where another column keeps it."""
    sums = [one for cells in grid.columns.values() for one in sums_of(cells, is_total_row)]
    is_kept = any(one.off == 0 and one.true for one in sums)
    for one in sums:
        if 0 < one.off <= (math.inf if is_kept and one.total.figure.is_whole else NEAR_MISS):
            yield not_the_sum(one)


def check_column_means(grid: Grid) -> Iterator[Check]:
    """A last row that is called a mean, or holds the means of most columns: the column whose mean it is not."""
    lines = [[cell for cell in cells[:-1] if cell] for cells in grid.columns.values()]
    counts = [line for line in lines if all(cell.figure.is_whole for cell in line)]
    found: list[tuple[Cell, float, list[bool]]] = []
    for line, cells in zip(lines, grid.columns.values(), strict=True):
        last, values = cells[-1], [cell.figure.value for cell in line]
        if last is not None and len(values) >= LEAST_ROWS - 1 and (last.figure.half < 0.5 or last.figure.unit == "%"):
            means = [math.fsum(values) / len(values)]
            for weights in (count for count in counts if len(count) == len(line)):
                products = (weight.figure.value * value for weight, value in zip(weights, values, strict=True))
                means.append(math.fsum(products) / max(sum(weight.figure.value for weight in weights), 1.0))
            half = max(cell.figure.half for cell in (last, *line)) + last.figure.half
            found.append((last, means[0], [abs(last.figure.value - one) <= half + 1e-9 for one in means]))
    is_plain = sum(kept[0] for *_, kept in found) >= 2
    broken = [(cell, mean) for cell, mean, kept in found if not (kept[0] if is_plain else any(kept))]
    if (is_plain and len(broken) <= 1) or any(MEAN.match(cell.row) for cell, _ in broken):
        for cell, mean in broken:
            if abs(cell.figure.value - mean) <= MOST_EXCEPTIONS * abs(mean):
                yield wrong(cell, f"{mean:.4g}", "the mean of the rows above")


def not_the_sum(one: Sum) -> Check:
    return wrong(one.total, f"{one.true:,g}", "the parts add up to it")


def turned(grid: Grid) -> Grid:
    """The table with its rows as columns."""
    lines = zip(*grid.columns.values(), strict=True)
    cells = [[cell and cell._replace(row=cell.column, column=cell.row) for cell in line] for line in lines]
    return Grid(grid.table, dict(enumerate(cells)))


def check_runs(grid: Grid) -> Iterator[Check]:
    """A column that is the sum of the columns next to it in most rows, whatever it is called: the rows it is not."""
    columns = list(grid.columns.values())
    for place, totals in enumerate(columns):
        for run in neighbours(columns, place):
            rows = [(cells[-1], cells[:-1]) for cells in zip(*run, totals, strict=True) if None not in cells]
            sums = [one for total, parts in rows if total for one in [run_of(total, [p for p in parts if p])] if one]
            is_total = any(is_total_column(one.total) for one in sums)
            told = [is_total or sum(bool(p and p.figure.value) for p in parts) >= 2 for _, parts in rows]
            kept = {one.true for one, is_telling in zip(sums, told, strict=False) if is_telling and not one.off}
            kept -= {one for one in kept if one < 10}
            broken = [one for one in sums if one.off]
            is_meant = len(kept) >= 2 or (len(kept) == 1 and len(run) >= 3 and max(kept) >= 100)
            if is_meant and all(told) and len(sums) == len(rows) and len(broken) <= max(1, MOST_EXCEPTIONS * len(sums)):
                yield from (not_the_sum(one) for one in broken if one.off <= MOST_EXCEPTIONS)


def neighbours(columns: Sequence[Line], place: int) -> Iterator[Sequence[Line]]:
    """Columns that stand side by side right before or right behind one."""
    for size in range(2, MOST_PARTS):
        if size <= place:
            yield columns[place - size : place]
        if place + size < len(columns):
            yield columns[place + 1 : place + 1 + size]


def run_of(total: Cell, parts: Sequence[Cell]) -> Sum | None:
    """A total with its parts, where all of them are of one unit and none is a share."""
    figures = [one.figure for one in (total, *parts)]
    if len({one.unit for one in figures}) > 1 or figures[0].unit == "%" or any(one.value < 0 for one in figures):
        return None
    true, spare = math.fsum(one.value for one in figures[1:]), sum(one.half for one in figures if one.half < 0.5)
    off = abs(true - total.figure.value)
    return Sum(total, off / max(total.figure.value, 1.0) if off > spare + 1e-9 else 0.0, true)


Relation = Callable[[float, float], float]
RELATIONS: dict[str, Relation] = {
    "{b} minus {a}": lambda a, b: b - a,
    "the share of {a} in {b}": lambda a, b: 100.0 * a / b if b else math.nan,
    "{a} divided by {b}": lambda a, b: a / b if b else math.nan,
    "{a} times {b}": lambda a, b: a * b,
    "the change from {a} to {b} in per cent": lambda a, b: 100.0 * (b - a) / a if a else math.nan,
}
Row = tuple[Cell, Cell, Cell]
MOST_COLUMNS = 16
"""Beyond so many columns, relations are not looked for among all of them."""
MOST_PARTS = 9
SCALES = (1.0, 100.0, 1000.0, 1e6, 60.0, 3600.0, 0.01, 0.001, 1e-6, 1 / 60, 1 / 3600)
"""What a product or quotient is multiplied by to be in other units."""


def check_relations(grid: Grid) -> Iterator[Check]:
    """Columns of which one follows from two others in most rows: the rows in which it does not."""
    told: set[tuple[int, int]] = set()
    columns = dict(list(grid.columns.items())[:MOST_COLUMNS])
    columns |= {-place: shares for place, cells in columns.items() if any(shares := shares_in(cells))}
    triples = [(columns[a], columns[b], columns[c], c, max(a, b) + 1 == c) for a, b, c in permutations(columns, 3)]
    for place, cells in columns.items():  # a difference may be from the first row
        triples += [
            ([one[0]] * len(one), one, [None, *cells[1:]], place, False) for one in columns.values() if one is not cells
        ]
    for first, second, third, place, is_side_by_side in triples:
        lines = zip(first, second, third, strict=True)
        together = [(a, b, c) for a, b, c in lines if a is not None and b is not None and c is not None]
        for name, plain in RELATIONS.items():
            relation, rows = plain, together
            if "minus" in name:  # a row of seconds may stand below one of percentages
                rows = [row for row in rows if len({cell.figure.unit.replace("pp", "%") for cell in row} - {""}) <= 1]
            if not fits(name, rows):
                continue
            taken = 0
            if "times" in name or "divided" in name:
                relation, taken = scaled(RELATIONS[name], rows)
            broken = [row for row in rows if not keeps(relation, row)]
            telling = is_telling if not {"share", "divided", "times"}.isdisjoint(name.split()) else has_changed
            kept = {tuple(cell.figure.value for cell in row) for row in rows if row not in broken and telling(row)}
            is_share = "share" in name and all(row[0].figure.value <= row[1].figure.value for row in rows)
            is_named = is_share or all(row[2].figure.signed for row in rows) or CHANGE.search(rows[0][2].column)
            least = LEAST_ROWS - (is_share and is_side_by_side)
            if len(kept) < least or not 0 < len(broken) <= (0.4 if len(kept) >= 3 else 0.5) * len(rows):
                continue
            width = sorted(slack(relation, row) for row in rows)[len(rows) // 2]
            if chance(len(kept) - taken, [row[2].figure.value for row in rows], width) > (
                LIKELY if is_named else CHANCE
            ):
                continue
            for a, b, c in broken:
                true = relation(a.figure.value, b.figure.value)
                if (c.line, place) not in told and not math.isnan(true):
                    told.add((c.line, place))
                    yield wrong(c, f"{true:,.4g}", name.format(a=shown(a.column), b=shown(b.column)))


def shares_in(cells: Sequence[Cell | None]) -> list[Cell | None]:
    """The shares that stand behind the counts of a column, as a column: `121 (52.4 %)`."""
    return [cell and cell.share and cell._replace(figure=cell.share) for cell in cells]


def is_telling(row: Row) -> bool:
    """Whether three numbers could have shown that a relation does not hold: none is 0, and no two are equal."""
    values = {cell.figure.value for cell in row}
    return 0.0 not in values and len(values) == len(row)


def has_changed(row: Row) -> bool:
    """Whether a difference is one: of what did not change nothing can be told."""
    return row[2].figure.value != 0.0


def chance(kept: int, values: Sequence[float], half: float) -> float:
    """How likely so many of some numbers have met their targets by chance, each hit being this wide."""
    spread = max(values) - min(values)
    hit = min(1.0, 2 * half / spread) if spread else 1.0
    return math.comb(len(values), kept) * hit**kept


def fits(name: str, rows: Sequence[Row]) -> bool:
    """Whether a relation makes sense for the units of three columns."""
    if len(rows) < LEAST_ROWS:
        return False
    units = [{cell.figure.unit for cell in column} for column in zip(*rows, strict=True)]
    if "share" in name:
        return units[0] == units[1] == {""} and all(0 <= row[2].figure.value <= 100 for row in rows)
    if "divided" in name or "times" in name:
        return all(len(one) == 1 and one != {"%"} for one in units) and is_varied(rows)
    is_signed = any(row[2].figure.signed for row in rows) or CHANGE.search(rows[0][2].column) is not None
    if "change" in name:
        return is_signed and units[2] <= {"%"} and all(row[0].figure.unit == row[1].figure.unit for row in rows)
    return is_signed


def is_varied(rows: Sequence[Row]) -> bool:
    """Whether none of three columns is the same in all rows."""
    return all(len({row[place].figure.value for row in rows}) > 1 for place in range(3))


def scaled(relation: Relation, rows: Sequence[Row]) -> tuple[Relation, int]:
    """A product or quotient in the units of the third column, by the middle row; how many rows that takes."""
    found = [
        c.figure.value / made for a, b, c in rows if (made := relation(a.figure.value, b.figure.value)) and made == made
    ]
    scale = sorted(found)[len(found) // 2] if found else 1.0
    near = min(SCALES, key=lambda one: abs(one - scale))
    if abs(near - scale) <= 0.03 * near:
        return (lambda a, b: near * relation(a, b)), 0
    return (lambda a, b: scale * relation(a, b)), 2


def slack(relation: Relation, row: Row) -> float:
    """How far a number may be from what two rounded ones give; counts are exact."""
    a, b, c = (cell.figure for cell in row)
    moved = [
        abs(relation(a.value + one, b.value + other) - relation(a.value, b.value))
        for one in ((a.half, -a.half) if a.half < 0.5 else (0.0,))
        for other in ((b.half, -b.half) if b.half < 0.5 else (0.0,))
    ]
    return max(moved) + c.half * 1.001 + 1e-9


def keeps(relation: Relation, row: Row) -> bool:
    """Whether the third number follows from the first two, as they are rounded."""
    a, b, c = (cell.figure.value for cell in row)
    return abs(relation(a, b) - c) <= slack(relation, row)


def check_shares(grid: Grid) -> Iterator[Check]:
    """Shares of a whole: the whole is the one that most rows fit; rows that do not, and a header with another one."""
    for place, shares in grid.columns.items():
        counts = grid.columns.get(place - 1, [])
        pairs = [(n, p) for n, p in zip(counts, shares, strict=False) if n is not None and p is not None]
        pairs += [(one, one._replace(figure=one.share)) for one in shares if one and one.share]
        pairs = [(n, p) for n, p in pairs if n.figure.is_whole and p.figure.unit == "%" and n.whole is None]
        none, pairs = ([pair for pair in pairs if bool(pair[0].figure.value) is some] for some in (False, True))
        if len(pairs) < LEAST_ROWS:
            continue
        stated = stated_whole(grid.table, place)
        whole, fitting = best_whole(pairs, stated)
        if fitting < max(LEAST_ROWS, (1 - MOST_EXCEPTIONS) * len(pairs)):
            continue
        if stated is not None and stated != whole:
            said = shown(grid.table.header[place])
            yield Check(grid.table.line, said, "contradicted", f"{whole:,}", "the shares below are of it", "", said)
        for n, p in (*pairs, *none):
            if not any(agrees(p.figure, 100.0 * n.figure.value / one) for one in (whole, *grid.beside(n.line))):
                yield wrong(p, f"{100.0 * n.figure.value / whole:.1f} %", f"{n.figure.value:,.0f} of {whole:,}")


def best_whole(pairs: Sequence[tuple[Cell, Cell]], stated: int | None) -> tuple[int, int]:
    """The whole that most shares are of, and how many are; of equals the one that is stated, or the total."""
    candidates: set[int] = set()
    for n, p in pairs:
        low, high = p.figure.value - p.figure.half, p.figure.value + p.figure.half
        if low > 0 and n.figure.value >= 5:
            first = int(100 * n.figure.value / high)
            candidates.update(range(first, min(int(100 * n.figure.value / low) + 1, first + 4000) + 1))
    known = {stated or 0, int(sum(n.figure.value for n, _ in pairs if not is_total_row(n)))}
    known |= {int(n.figure.value) for n, _ in pairs if is_total_row(n)}
    fitting = {
        whole: sum(agrees(p.figure, 100.0 * n.figure.value / whole) for n, p in pairs)
        for whole in candidates | known
        if whole
    }
    best = max(fitting, key=lambda whole: (fitting[whole], whole in known, -whole), default=0)
    return best, fitting.get(best, 0)


def stated_whole(table: Table, place: int) -> int | None:
    """The whole that the head of a column names: `% of 1,056`."""
    found = SHARE_OF.search(without_code_marks(table.header[place]))
    return int((found[1] or found[2]).replace(",", "")) if found else None


def adds_up(cells: Sequence[Cell], whole: float) -> bool:
    """Whether counts add up to a whole; about so many has half a unit of its last digit to spare."""
    spare = sum(last_digit(cell.figure.value) / 2 for cell in cells if cell.figure.hedge)
    return abs(sum(cell.figure.value for cell in cells) - whole) <= spare


def wrong(cell: Cell, true: str, why: str) -> Check:
    """A cell that is not what the rest of the report makes it."""
    said = shown(cell.text)
    return Check(cell.line, said, "contradicted", true, why, sentence=f"{cell.row} | {shown(cell.column)} | {said}")
