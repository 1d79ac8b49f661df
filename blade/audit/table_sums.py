"""Totals of a table: rows and columns that are the sums of others, said or not. Standard library only."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from blade.audit.grid import STRICT_TOTAL, TOTAL, Grid, Wanted, best, follow
from blade.audit.outcome import Check, number_text

NOT_SUMMED = re.compile(
    r"\b(?:mean|median|avg|average|rate|max|min|p\d+|pass[@^]|score|reward|accuracy|per|ratio|k|rank|se|sd|std|"
    r"interval|ci|p|id|index|line|seed|unique|distinct)\b|%",
    re.IGNORECASE,
)
"""Headers of columns that nobody would add up."""
MOST_PARTS = 6


def check_sums(grid: Grid) -> Iterator[Check]:
    """Total rows against the rows above them, and columns that are sums against their parts."""
    yield from check_total_rows(grid)
    yield from check_summed_columns(grid)


def check_total_rows(grid: Grid) -> Iterator[Check]:
    """Every total row against the rows since the one before it."""
    start = 0
    for total in sorted(grid.totals):
        rows = [row for row in range(start, total) if row not in grid.totals]
        start = total + 1
        if len(rows) >= 2:
            yield from check_total_row(grid, rows, total)


def check_total_row(grid: Grid, rows: Sequence[int], total: int) -> Iterator[Check]:
    """A total row; a word such as `overall` makes it a sum only when another of its columns is one."""
    checks = [check for column in range(1, grid.width) if (check := check_total(grid, rows, total, column))]
    adds_up = any(check.holds for check in checks)
    is_sum = bool(STRICT_TOTAL.search(grid.label(total))) and not grid.may_overlap
    yield from (check for check in checks if check.holds or adds_up or is_sum)


def check_total(grid: Grid, rows: Sequence[int], total: int, column: int) -> Check | None:
    """One cell of a total row; `None` when its column is not one to add up."""
    claim = grid.claim(total, column)
    if claim is None or NOT_SUMMED.search(grid.header(column)):
        return check_whole(grid, rows, total, column)
    parts, said = grid.counts(column, rows), grid.count(total, column)
    if parts is None or said is None or len(parts) < 2:
        return None
    if "task" in grid.header(column) and sum(parts) > said:
        return None  # one task may show in several rows
    why = f"the rows above add up to {sum(parts):,}"
    return Check(claim=claim, holds=sum(parts) == said, true=f"{sum(parts):,}", why=why)


def check_whole(grid: Grid, rows: Sequence[int], total: int, column: int) -> Check | None:
    """A cell that says 100 % against the shares above it."""
    claim = grid.claim(total, column)
    figures = [grid.figure(row, column) for row in rows]
    known = [figure for figure in figures if figure is not None and figure.unit == "%"]
    if claim is None or claim.unit != "%" or abs(claim.values[0] - 100) > 0.5 or len(known) != len(rows):
        return None
    added, slack = sum(figure.value for figure in known), sum(figure.half for figure in known) + claim.figures[0].half
    if grid.may_overlap or not 75 <= added <= 125:
        return None
    why = f"the shares above add up to {number_text(added, '%')}"
    return Check(claim=claim, holds=abs(added - claim.values[0]) <= slack + 1e-9, true=number_text(added, "%"), why=why)


def check_summed_columns(grid: Grid) -> Iterator[Check]:
    """Columns that are the sum of neighbouring others in nearly every row, and the rows where they are not."""
    counted = [column for column in range(1, grid.width) if is_counted(grid, column)]
    for target in counted:
        yield from best(sum_relations(grid, target, counted))


def sum_relations(grid: Grid, target: int, counted: Sequence[int]) -> Iterator[list[Check]]:
    for parts in runs_of(counted, without=target):
        names = " + ".join(grid.header(part) or "?" for part in parts)
        checks = follow(grid, target, partial(sum_of, grid, parts), f"it is not {names} of its row")
        yield checks if is_telling(grid, target, parts) else []


def is_counted(grid: Grid, column: int) -> bool:
    known = [row for row in range(grid.height) if grid.count(row, column) is not None]
    header = grid.header(column)
    return len(known) >= 3 and (TOTAL.search(header) is not None or NOT_SUMMED.search(header) is None)


def runs_of(columns: Sequence[int], *, without: int) -> list[Sequence[int]]:
    """Neighbouring columns, longest first, that do not hold a certain one."""
    spans = [columns[first:last] for first, last in combinations(range(len(columns) + 1), 2)]
    fitting = [span for span in spans if 2 <= len(span) <= MOST_PARTS and without not in span]
    return sorted(fitting, key=lambda span: -len(span))


def sum_of(grid: Grid, parts: Sequence[int], row: int) -> Wanted | None:
    pieces = [grid.count(row, part) for part in parts]
    known = [piece for piece in pieces if piece is not None]
    return Wanted(float(sum(known))) if len(known) == len(pieces) else None


def is_telling(grid: Grid, target: int, parts: Sequence[int]) -> bool:
    """Whether the relation is more than zeros: several rows with two parts, and different sums."""
    rows = [row for row in grid.parts if sum(bool(grid.count(row, part)) for part in parts) >= 2]
    return len(rows) >= 2 and len({grid.count(row, target) for row in rows}) >= 2
