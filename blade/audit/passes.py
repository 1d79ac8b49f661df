"""pass@k never falls and pass^k never rises as k grows, over the same tasks. Standard library only."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from blade.audit.claims import Claim
from blade.audit.grid import Grid
from blade.audit.outcome import Check

PASS = re.compile(r"pass\s?(?P<kind>[@^])\s?(?P<k>\d+|k)\b", re.IGNORECASE)


def check_passes(grid: Grid) -> Iterator[Check]:
    """Rows with columns pass@1, pass@2 …, and columns pass@k with a row for every k."""
    columns = {column: found for column in range(grid.width) if (found := PASS.search(grid.header(column)))}
    for kind in "@^":
        named = sorted((int(f["k"]), c) for c, f in columns.items() if f["kind"] == kind and f["k"].isdigit())
        for row in grid.parts:
            yield from check_order(kind, [grid.claim(row, column) for _, column in named])
        for column, found in columns.items():
            if found["kind"] == kind and found["k"].lower() == "k" and grid.header(0).strip() == "k":
                yield from check_order(kind, [grid.claim(row, column) for row in same_tasks(grid)])
        yield from check_order(kind, labelled(grid, kind))


def labelled(grid: Grid, kind: str) -> list[Claim | None]:
    """The first share of every row that is called pass@1, pass@2 and so on, by its k."""
    found = [(row, PASS.fullmatch(grid.label(row))) for row in grid.parts]
    rows = sorted((int(name["k"]), row) for row, name in found if name and name["kind"] == kind and name["k"].isdigit())
    column = next((c for c in range(1, grid.width) if rows and grid.claim(rows[0][1], c)), None)
    return [] if column is None else [grid.claim(row, column) for _, row in rows]


def same_tasks(grid: Grid) -> list[int]:
    """The leading rows by k that are over the same tasks, where a column says over how many."""
    tasks = next((column for column in range(1, grid.width) if grid.header(column).strip() in ("tasks", "n")), None)
    rows = [row for row in range(grid.height) if grid.count(row, 0) is not None]
    if tasks is None or not rows:
        return rows
    return [row for row in rows if grid.count(row, tasks) == grid.count(rows[0], tasks)]


def check_order(kind: str, claims: Sequence[Claim | None]) -> Iterator[Check]:
    known = [claim for claim in claims if claim is not None]
    for left, right in pairwise(known):
        one, other = left.figures[0], right.figures[0]
        gap = (other.value - one.value) * (1 if kind == "@" else -1)
        holds = gap >= -(one.half + other.half) - 1e-9
        word = "less" if kind == "@" else "more"
        true = f"not {word} than {left.said}"
        yield Check(claim=right, holds=holds, true=true, why=f"pass{kind}k over more rollouts cannot be {word}")
