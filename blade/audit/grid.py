"""A table as numbers: which cells are plain figures, fractions, intervals or lists of ids, and what a column is.

Relations between columns are not read off headers alone, which strangers word as they like: a relation counts when it
holds in most rows, and then the few rows that break it are wrong. Standard library only.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from blade.audit.claims import NUMERIC, Claim
from blade.audit.figures import Figure, agrees, tolerance
from blade.audit.markdown import CODE, Document, Table, without_code_marks
from blade.audit.outcome import Check, decimals, number_text

TOTAL = re.compile(
    r"^\W*(?:(?:grand\s+)?(?:totals?|sum|Σ|∑)\b|(?:overall|all|combined|together)(?:\W+\w+)?\W*$)", re.IGNORECASE
)
STRICT_TOTAL = re.compile(r"^\W*(?:grand\s+)?(?:totals?|sum|Σ|∑)\b(?!.*\b(?:unique|distinct)\b)", re.IGNORECASE)
LISTED = re.compile(r"^\s*(?:and\s+(?:at\s+least\s+)?[\d,]+\s+more|and|,|&|…|\.\.\.)?\s*$")
MORE = re.compile(r"(?:and|…|\+|plus)\s*([\d,]+)\s+(?:more|others?)", re.IGNORECASE)
OVERLAP = re.compile(
    r"overlap|more than one|several|multiple|not (?:mutually )?exclusive|do(?:es)? not (?:add|sum)|at once|unique|"
    r"distinct",
    re.IGNORECASE,
)
ENOUGH = 3
"""Rows in which a relation must hold before it is believed."""
MOST = 0.75
"""Share of the rows in which it must hold."""


@dataclass(frozen=True)
class Grid:
    """A table with the numeric claims of each cell."""

    table: Table
    """The table."""
    claims: dict[tuple[int, int], list[Claim]]
    """Numeric claims by row and column."""
    alone: dict[tuple[int, int, str], Claim | None] = field(default_factory=dict, compare=False)
    """What `claim` has found so far."""

    @cached_property
    def height(self) -> int:
        return len(self.table.rows)

    @cached_property
    def width(self) -> int:
        return max([len(self.table.header), *(len(row.cells) for row in self.table.rows)], default=0)

    def header(self, column: int) -> str:
        """The header of a column, in small letters."""
        return without_code_marks(self.table.header[column]).lower() if column < len(self.table.header) else ""

    def label(self, row: int) -> str:
        """The first cell of a row."""
        return without_code_marks(self.table.rows[row].cell(0)).strip()

    def claim(self, row: int, column: int, kind: str = "figure") -> Claim | None:
        """The claim of a cell that holds nothing but one claim of a kind."""
        if (row, column, kind) not in self.alone:
            self.alone[row, column, kind] = self.only_claim(row, column, kind)
        return self.alone[row, column, kind]

    def only_claim(self, row: int, column: int, kind: str) -> Claim | None:
        found = self.claims.get((row, column), [])
        alone = [claim for claim in found if claim.kind == kind]
        if len(alone) != 1 or len(found) > (2 if has_share_beside(found) else 1):
            return None
        cell = self.table.rows[row].cell(column)
        rest = cell[: alone[0].start] + cell[alone[0].end :]
        return alone[0] if len(re.sub(r"\(.*?\)|[^A-Za-z]", "", without_code_marks(rest))) <= 12 else None

    def figure(self, row: int, column: int) -> Figure | None:
        """The figure of a cell that holds nothing but one."""
        claim = self.claim(row, column)
        return claim.figures[0] if claim else None

    def count(self, row: int, column: int) -> int | None:
        """The whole number of a cell that holds nothing but one."""
        figure = self.figure(row, column)
        return int(figure.value) if figure is not None and figure.is_whole and not figure.hedge else None

    def ids(self, row: int, column: int) -> int | None:
        """How many ids a cell lists, those it only counts (`and 3 more`) included."""
        cell = self.table.rows[row].cell(column)
        codes = CODE.findall(cell)
        rest = MORE.sub("", CODE.sub("", cell))
        if not codes or re.search(r"[A-Za-z0-9]", rest) or re.search(r"at least", cell):
            return None
        more = MORE.search(CODE.sub("", cell))
        return len(codes) + (int(more[1].replace(",", "")) if more else 0)

    @cached_property
    def totals(self) -> frozenset[int]:
        """Rows that sum up others."""
        return frozenset(row for row in range(self.height) if row and TOTAL.search(self.label(row)))

    @cached_property
    def parts(self) -> list[int]:
        """Rows that are not totals."""
        return [row for row in range(self.height) if row not in self.totals]

    def counts(self, column: int, rows: Iterable[int]) -> list[int] | None:
        """The whole numbers of a column; `None` unless every row has one or is left empty."""
        found = [self.count(row, column) for row in rows if not is_blank(self.table.rows[row].cell(column))]
        known = [value for value in found if value is not None]
        return known if known and len(known) == len(found) else None

    @cached_property
    def may_overlap(self) -> bool:
        """Whether the words around the table say that its rows do not add up."""
        return bool(OVERLAP.search(f"{self.table.caption} {' '.join(self.table.header)}"))


def has_share_beside(claims: Sequence[Claim]) -> bool:
    """Whether a cell reads like `12 (33.3 %)`."""
    return len(claims) == 2 and sorted(claim.unit for claim in claims) == ["", "%"]


def is_blank(cell: str) -> bool:
    """Whether a cell says that there is nothing to say."""
    return re.fullmatch(r"[\s–—−-]*|n/?a.*|\?|none|unknown|tbd", cell.strip(), re.IGNORECASE) is not None


def grids(document: Document, claims: Iterable[Claim]) -> list[Grid]:
    """Every table of a report with its numbers."""
    places = [{row.line: number for number, row in enumerate(table.rows)} for table in document.tables]
    cells: list[dict[tuple[int, int], list[Claim]]] = [defaultdict(list) for _ in places]
    for claim in claims:
        if claim.table is not None and claim.kind in NUMERIC:
            cells[claim.table][places[claim.table][claim.line], claim.place].append(claim)
    return [Grid(table, dict(found)) for table, found in zip(document.tables, cells, strict=True)]


class Wanted(NamedTuple):
    """What a cell should say, if a relation holds in its row."""

    value: float
    """The number, in the cell's unit."""
    slack: float = 0.0
    """How far rounding of what it follows from may move it."""


def follow(
    grid: Grid,
    column: int,
    wanted: Callable[[int], Wanted | None],
    why: str,
    *,
    enough: int = ENOUGH,
    most: float = MOST,
    different: int = 2,
    with_totals: bool = False,
) -> list[Check]:
    """A column that follows from others, row by row; nothing when it does not in most rows.

    Args:
        wanted: what a row should say; `None` where the row says nothing about it.
        enough: rows in which it must hold before it is believed.
        most: share of the rows in which it must hold.
        different: values among those rows, for a column of equal numbers follows from anything.
        with_totals: whether it must hold in rows that sum up others, too.
    """
    told = [(row, want) for row in grid.parts if (want := wanted(row)) is not None and grid.claim(row, column)]
    checks = [follow_check(grid, row, column, want, why) for row, want in told]
    kept = [want.value for (_, want), check in zip(told, checks, strict=True) if check.holds]
    if len(kept) < max(enough, most * len(checks)) or len(set(kept)) < different:
        return []
    sums = [(row, want) for row in grid.totals if with_totals and (want := wanted(row)) and grid.claim(row, column)]
    return [*checks, *(follow_check(grid, row, column, want, why) for row, want in sums)]


def best(relations: Iterable[list[Check]]) -> list[Check]:
    """The relation that the fewest rows break; the first of several."""
    return min(filter(None, relations), key=lambda checks: sum(not check.holds for check in checks), default=[])


def follow_check(grid: Grid, row: int, column: int, want: Wanted, why: str) -> Check:
    claim = grid.claim(row, column)
    assert claim is not None
    figure = claim.figures[0]
    holds = agrees(figure, want.value) or abs(figure.value - want.value) <= tolerance(figure) + want.slack
    true = number_text(want.value, figure.unit, decimals(figure.half))
    return Check(claim=claim, holds=holds, true=true, why=why)
