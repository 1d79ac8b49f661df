"""The ledger of a report: its numbers in tables, with what each belongs to, for checking a report against itself.

A relation between columns (a sum, a difference, a share) is taken for meant when most rows keep it; the rows that do
not are wrong. Nothing is assumed from words alone, for a false alarm costs more than a slip that goes unnoticed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from blade.audit.figures import Figure, agrees, find_figures, find_pairs
from blade.audit.markdown import Table, shown, without_code_marks
from blade.audit.verdicts import Check
from blade.report.values import stems

TOTAL = re.compile(
    r"\W*(?:(?:grand\s+)?(?:total|sum|overall)s?(?:\s+\w+)?|all(?:\s+tasks|\s+rollouts)?)\W*", re.IGNORECASE
)
CHANGE = re.compile(r"Δ|\b(?:delta|diff|difference|change|gain|drop|gap)\b", re.IGNORECASE)
SHARE_OF = re.compile(
    r"(?:%|percent|share)\s+of\s+(?:the\s+|all\s+)?([\d,]{2,})|\((?:of|n\s*=)\s*([\d,]{2,})\)", re.IGNORECASE
)
LEAST_ROWS = 3
MOST_EXCEPTIONS = 0.34
"""Share of rows that may break a relation which the others keep."""
NEAR_MISS = 0.15
"""How far a total may be off and still be meant as one."""


class Cell(NamedTuple):
    """A number in a table."""

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


class Grid(NamedTuple):
    """A table by its numbers."""

    table: Table
    """The table."""
    columns: dict[int, list[Cell | None]]
    """Numbers by column, one for each row; `None` where a cell holds none or several."""


def make_grid(table: Table) -> Grid:
    """The numbers of a table: columns in which most cells are one number."""
    columns: dict[int, list[Cell | None]] = {}
    for place in range(1, len(table.header)):
        cells = [read_cell(table, row, place) for row in range(len(table.rows))]
        if sum(cell is not None for cell in cells) >= max(2, len(cells) // 2):
            columns[place] = cells
    return Grid(table, columns)


def read_cell(table: Table, number: int, place: int) -> Cell | None:
    """The one number of a cell, perhaps with its share behind it."""
    row, text = table.rows[number], table.rows[number].cell(place)
    figures = [one for one in find_figures(text) if not one.word]
    pairs = find_pairs(text, figures)
    lone = figures[:1] if len(figures) == 1 or (len(figures) == 2 and not pairs and "(" in text) else []
    if not lone or (len(re.findall(r"[A-Za-z]{3,}", text)) > 1 and len(text) > 24):
        return None
    figure = lone[0]
    if not figure.unit and re.search(r"%|percent", table.header[place]):
        figure = figure._replace(unit="%")
    head = row.cells[0] if row.cells else ""
    return Cell(figure, row.line, without_code_marks(head).strip(), table.header[place], text)


def check_tables(tables: Sequence[Table]) -> Iterator[Check]:
    """Numbers of tables that break what their table keeps, or what another table says of the same thing."""
    grids = [make_grid(table) for table in tables]
    for grid in grids:
        yield from check_totals(grid)
        yield from check_relations(grid)
        yield from check_shares(grid)
    yield from check_same(grids)


def is_total(cell: Cell) -> bool:
    return TOTAL.fullmatch(cell.row) is not None


def body(cells: Sequence[Cell | None]) -> list[Cell]:
    """Cells that are not totals."""
    return [cell for cell in cells if cell is not None and not is_total(cell)]


def check_totals(grid: Grid) -> Iterator[Check]:
    """A row of totals: a column that misses its sum by a little, or where others keep it."""
    sums = []
    for cells in grid.columns.values():
        total = next((cell for cell in cells if cell is not None and is_total(cell)), None)
        parts = [cell.figure for cell in body(cells)]
        if total is None or len(parts) < 2 or None in cells or total.figure.unit not in ("", "%"):
            continue
        if total.figure.unit == "%" and not 95 <= total.figure.value <= 105:
            continue
        whole = sum(part.value for part in parts)
        slack = sum(part.half for part in parts) + total.figure.half
        is_count = all(part.is_whole for part in (*parts, total.figure))
        sums.append((total, whole, abs(whole - total.figure.value) <= (0 if is_count else slack) + 1e-9, is_count))
    kept = any(holds for _, _, holds, is_count in sums if is_count)
    for total, whole, holds, is_count in sums:
        near = abs(whole - total.figure.value) <= NEAR_MISS * max(total.figure.value, 1.0)
        if not holds and is_count and (near or kept) and total.figure.value >= max_part(grid, total):
            yield wrong(total, f"{whole:,g}", "the rows add up to it")


def max_part(grid: Grid, total: Cell) -> float:
    """The largest number that a total is made of: one above it shows that it is no sum."""
    cells = next(cells for cells in grid.columns.values() if total in cells)
    return max(cell.figure.value for cell in body(cells))


Relation = Callable[[float, float], float]
RELATIONS: dict[str, Relation] = {
    "the sum of {a} and {b}": lambda a, b: a + b,
    "{b} minus {a}": lambda a, b: b - a,
    "the share of {a} in {b}": lambda a, b: 100.0 * a / b if b else float("nan"),
    "{a} divided by {b}": lambda a, b: a / b if b else float("nan"),
}


def check_relations(grid: Grid) -> Iterator[Check]:
    """Columns of which one follows from two others in most rows: the rows in which it does not."""
    told: set[tuple[int, int]] = set()
    for first, second, third in permutations(grid.columns, 3):
        rows = [
            (a, b, c)
            for a, b, c in zip(*(grid.columns[place] for place in (first, second, third)), strict=True)
            if a is not None and b is not None and c is not None
        ]
        for name, relation in RELATIONS.items():
            if not fits(name, rows) or ("sum" in name and first > second):
                continue
            broken = [row for row in rows if not keeps(relation, *row)]
            kept = {
                tuple(cell.figure.value for cell in row) for row in rows if keeps(relation, *row) and is_telling(row)
            }
            if len(kept) < LEAST_ROWS or not broken or len(broken) > MOST_EXCEPTIONS * len(rows):
                continue
            for a, b, c in broken:
                if (c.line, third) not in told:
                    told.add((c.line, third))
                    true = relation(a.figure.value, b.figure.value)
                    yield wrong(c, f"{true:,.4g}", name.format(a=shown(a.column), b=shown(b.column)))


def is_telling(row: tuple[Cell, Cell, Cell]) -> bool:
    """Whether three numbers could have shown that a relation does not hold: none is 0, and no two are equal."""
    values = {cell.figure.value for cell in row}
    return 0.0 not in values and len(values) == len(row)


def fits(name: str, rows: Sequence[tuple[Cell, Cell, Cell]]) -> bool:
    """Whether a relation makes sense for the units of three columns."""
    if len(rows) < LEAST_ROWS:
        return False
    units = [{cell.figure.unit for cell in column} for column in zip(*rows, strict=True)]
    if "share" in name:
        return units[0] == units[1] == {""} and units[2] == {"%"}
    if "divided" in name:
        return units == [{""}, {""}, {""}] and all(row[2].figure.half < 0.5 for row in rows)
    head = rows[0][2].column
    if "minus" in name and not CHANGE.search(head):
        return False
    if "sum" in name and not TOTAL.fullmatch(head):
        return False
    kinds = {unit.replace("pp", "%") for column in units for unit in column}
    return len(kinds) == 1


def keeps(relation: Relation, a: Cell, b: Cell, c: Cell) -> bool:
    """Whether the third number follows from the first two, as they are rounded."""
    true = relation(a.figure.value, b.figure.value)
    slack = (a.figure.half if a.figure.half < 0.5 else 0.0) + (b.figure.half if b.figure.half < 0.5 else 0.0)
    if c.figure.unit == "%" and not a.figure.unit:
        slack = 0.0
    return abs(true - c.figure.value) <= c.figure.half * 1.001 + slack + 1e-9


def check_shares(grid: Grid) -> Iterator[Check]:
    """Shares of a whole: the whole is the one that most rows fit; rows that do not, and a header with another one."""
    for place, shares in grid.columns.items():
        counts = grid.columns.get(place - 1)
        pairs = [(n, p) for n, p in zip(counts or (), shares, strict=False) if n is not None and p is not None]
        pairs = [(n, p) for n, p in pairs if n.figure.is_whole and p.figure.unit == "%" and n.figure.value]
        pairs += inner_shares(shares)
        if len(pairs) < LEAST_ROWS:
            continue
        whole, fitting = best_whole(pairs, stated_whole(grid.table, place))
        if fitting < max(LEAST_ROWS, (1 - MOST_EXCEPTIONS) * len(pairs)):
            continue
        stated = stated_whole(grid.table, place)
        if stated is not None and stated != whole:
            said = shown(grid.table.header[place])
            yield Check(
                grid.table.line, said, "contradicted", f"{whole:,}", "the shares below are of it", sentence=said
            )
        for n, p in pairs:
            if not agrees(p.figure, 100.0 * n.figure.value / whole):
                yield wrong(p, f"{100.0 * n.figure.value / whole:.1f} %", f"{n.figure.value:,.0f} of {whole:,}")


def inner_shares(cells: Sequence[Cell | None]) -> list[tuple[Cell, Cell]]:
    """Counts with their shares in one cell: `75 (12.4 %)`."""
    found = []
    for cell in cells:
        figures = find_figures(cell.text) if cell is not None else []
        if cell is not None and len(figures) == 2 and figures[0].is_whole and figures[1].unit == "%":
            found.append((cell, cell._replace(figure=figures[1])))
    return found


def best_whole(pairs: Sequence[tuple[Cell, Cell]], stated: int | None) -> tuple[int, int]:
    """The whole that most shares are of, and how many are; of equals the one that is stated, or the total."""
    candidates: dict[int, int] = {}
    for n, p in pairs:
        low, high = p.figure.value - p.figure.half, p.figure.value + p.figure.half
        if low <= 0 or n.figure.value < 5:
            continue
        first, last = int(100 * n.figure.value / high), int(100 * n.figure.value / low) + 1
        for whole in range(first, min(last, first + 4000) + 1):
            candidates.setdefault(whole, 0)
    known = {stated} if stated is not None else set()
    known |= {int(sum(n.figure.value for n, _ in pairs)), *(int(n.figure.value) for n, _ in pairs if is_total(n))}
    candidates |= {whole: 0 for whole in known if whole}
    fitting = {
        whole: sum(agrees(p.figure, 100.0 * n.figure.value / whole) for n, p in pairs) for whole in candidates if whole
    }
    best = max(fitting, key=lambda whole: (fitting[whole], whole in known, -whole), default=0)
    return best, fitting.get(best, 0)


def stated_whole(table: Table, place: int) -> int | None:
    """The whole that the head of a column names: `% of 1,056`."""
    found = SHARE_OF.search(without_code_marks(table.header[place]))
    return int((found[1] or found[2]).replace(",", "")) if found else None


def check_same(grids: Sequence[Grid]) -> Iterator[Check]:
    """The same row and column in two tables that agree elsewhere."""
    entries = [
        {
            (key(cell.row), key(cell.column), cell.figure.unit): cell
            for cells in grid.columns.values()
            for cell in body(cells)
        }
        for grid in grids
    ]
    for later, mine in enumerate(entries):
        for other in entries[:later]:
            shared = [name for name in mine if name in other and name[0] and name[1]]
            differing = [name for name in shared if not same(mine[name], other[name])]
            if len(shared) - len(differing) >= 2 and 0 < len(differing) <= MOST_EXCEPTIONS * len(shared):
                for name in differing:
                    yield wrong(mine[name], shown(other[name].text), f"line {other[name].line} has it so")


def key(head: str) -> tuple[str, ...]:
    """A head by its words."""
    return tuple(stems(head))


def same(one: Cell, other: Cell) -> bool:
    """Whether two numbers may be roundings of one."""
    return abs(one.figure.value - other.figure.value) <= one.figure.half + other.figure.half - (
        1.0 if one.figure.half == other.figure.half == 0.5 else 0.0
    )


def wrong(cell: Cell, true: str, why: str) -> Check:
    """A cell that is not what the rest of the report makes it."""
    said = shown(cell.text)
    return Check(cell.line, said, "contradicted", true, why, sentence=f"{cell.row} | {shown(cell.column)} | {said}")
