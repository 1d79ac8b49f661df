"""Columns of a table that follow from others: shares of counts, differences, intervals around values, ids counted.

Standard library only.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, floor

from blade.audit.claims import Claim
from blade.audit.figures import Figure, find_figures
from blade.audit.grid import Grid, Wanted, best, follow, has_share_beside
from blade.audit.outcome import Check, number_text

SHARE = re.compile(r"share|%|percent|proportion|fraction|portion|pct|\bof\b", re.IGNORECASE)
DIFFERENCE = re.compile(r"diff|delta|Δ|change|gain|lift|minus|−|gap|improve|drop", re.IGNORECASE)
LOST = re.compile(r"\b(?:lost|loss|losses|dropped|drop-?off)\b", re.IGNORECASE)
INTERVAL = re.compile(r"interval|\bcis?\b|confidence|range|bounds?", re.IGNORECASE)
RATE = re.compile(r"accura|rate|score|pass|success|share|fraction|proportion|correct|solved", re.IGNORECASE)
NOT_OF_FRACTION = "it does not follow from the fraction beside it"
LISTED = "the row lists another number of ids"
SOME = 0.6
"""Share of rows in which a relation must hold that headers or units speak for."""
MOST_OF_COLUMN = 0.75
"""The same where two columns only happen to stand side by side, for small counts fit small shares by chance."""

Expected = Callable[[int], Wanted | None]


def check_followers(grid: Grid) -> Iterator[Check]:
    """Every column that follows from others."""
    for column in range(1, grid.width):
        yield from check_shares(grid, column)
        yield from check_differences(grid, column)
        yield from check_intervals(grid, column)
        yield from check_shares_beside(grid, column)
        yield from check_listed(grid, column)


def check_shares(grid: Grid, column: int) -> list[Check]:
    """Percentages against the fraction in their row, or against counts and a base."""
    figures = [figure for row in grid.parts if (figure := grid.figure(row, column)) is not None]
    if any(figure.unit == "%" for figure in figures):
        return best(share_relations(grid, column))
    if RATE.search(grid.header(column)) and all(is_rate(figure) for figure in figures):
        return best(rate_relations(grid, column))
    return []


def is_rate(figure: Figure) -> bool:
    """Whether a figure may be a share from 0 to 1."""
    return not figure.unit and not figure.signed and 0.0 <= figure.value <= 1.0


def rate_relations(grid: Grid, column: int) -> Iterator[list[Check]]:
    """Rates from 0 to 1 against the fraction in their row."""
    for other in range(1, grid.width):
        rates: Expected = partial(rate_of_fraction, grid, other)
        yield follow(grid, column, rates, NOT_OF_FRACTION, enough=2, most=SOME, with_totals=True)


def rate_of_fraction(grid: Grid, column: int, row: int) -> Wanted | None:
    """`3 of 5` as a number from 0 to 1."""
    share = share_of_fraction(grid, column, row)
    return None if share is None else Wanted(share.value / 100)


def share_relations(grid: Grid, column: int) -> Iterator[list[Check]]:
    for other in range(1, grid.width):
        fractions: Expected = partial(share_of_fraction, grid, other)
        yield follow(grid, column, fractions, NOT_OF_FRACTION, enough=2, most=SOME, with_totals=True)
        for base, name in bases(grid, column, other) if other != column else []:
            shares: Expected = partial(share_of_base, grid, other, base)
            few, most = (2, SOME) if base > 0 else (3, MOST_OF_COLUMN)
            yield follow(grid, column, shares, f"it is no share of {name}", enough=few, most=most, with_totals=base < 0)


def share_of_fraction(grid: Grid, column: int, row: int) -> Wanted | None:
    """`3 of 5` as a percentage."""
    claim = grid.claim(row, column, "fraction")
    return None if claim is None or not claim.values[1] else Wanted(100 * claim.values[0] / claim.values[1])


def share_of_base(grid: Grid, column: int, base: int | float, row: int) -> Wanted | None:
    """A count as a percentage of a number, or (where the base is a whole number below 0) of another column's count."""
    part = grid.count(row, column)
    whole = grid.count(row, -int(base)) if base < 0 else base
    return None if not part or not whole else Wanted(100 * part / whole)


def bases(grid: Grid, column: int, counts: int) -> Iterator[tuple[float, str]]:
    """What a column of percentages may be shares of: another column, a total, a number said above, or what fits."""
    values = [value for row in grid.parts if (value := grid.count(row, counts)) is not None]
    if len(values) < 3:
        return
    yield from ((-other, grid.header(other)) for other in range(1, grid.width) if other not in (column, counts))
    if not SHARE.search(f"{grid.header(column)} {grid.header(counts)}"):
        return
    yield from ((total, "the total") for row in grid.totals if (total := grid.count(row, counts)))
    yield from ((whole, f"the {whole:,} there are") for whole in (sum(values), max(values)) if whole)
    said = f"{grid.table.caption} {' '.join(grid.table.header)}"
    yield from ((f.value, f"the {f.value:,.0f} named above") for f in find_figures(said) if f.is_whole and f.value > 1)
    yield from ((base, f"{base:,}, of which the others are shares") for base in fitting_bases(grid, column, counts))


def fitting_bases(grid: Grid, column: int, counts: int) -> list[int]:
    """Whole numbers of which at least one row is exactly a share, few enough to tell."""
    found: set[int] = set()
    for row in grid.parts:
        part, share = grid.count(row, counts), grid.figure(row, column)
        if part and share is not None and share.value > share.half:
            low, high = 100 * part / (share.value + share.half), 100 * part / (share.value - share.half)
            found |= set(range(ceil(low), floor(high) + 1)) if high - low < 3 else set()
    return sorted(found)


def check_shares_beside(grid: Grid, column: int) -> list[Check]:
    """Cells such as `12 (33.3 %)`, whose shares are of the column's sum or total."""
    pairs = {row: found for row in grid.parts if has_share_beside(found := grid.claims.get((row, column), []))}
    counts = {row: claim.values[0] for row, found in pairs.items() for claim in found if not claim.unit}
    totals = [claim.values[0] for row in grid.totals for claim in grid.claims.get((row, column), []) if not claim.unit]
    for base in [*totals, sum(counts.values())] if len(pairs) >= 3 else []:
        checks = [
            share_check(claim, 100 * counts[row] / base)
            for row, found in pairs.items()
            for claim in found
            if claim.unit and base
        ]
        if sum(bool(check.holds) for check in checks) >= max(2, SOME * len(checks)):
            return checks
    return []


def share_check(claim: Claim, share: float) -> Check:
    figure = claim.figures[0]
    holds = abs(figure.value - share) <= figure.half + 1e-9
    return Check(
        claim=claim, holds=holds, true=number_text(share, "%"), why="it does not follow from the count beside it"
    )


def check_differences(grid: Grid, column: int) -> list[Check]:
    """Differences against the two columns before them, or against one column and its first row."""
    signed = sum((figure := grid.figure(row, column)) is not None and figure.signed for row in grid.parts)
    if LOST.search(grid.header(column)):
        return best(loss_relations(grid, column))
    if not signed and not DIFFERENCE.search(grid.header(column)):
        return []
    return best(difference_relations(grid, column))


def difference_relations(grid: Grid, column: int) -> Iterator[list[Check]]:
    for first in range(1, grid.width - 1):
        if column not in (first, first + 1):
            why = f"it is not {grid.header(first + 1)} minus {grid.header(first)}"
            wanted: Expected = partial(difference, grid, column, (first, first + 1))
            yield follow(grid, column, wanted, why, enough=2, most=SOME)
    for values in range(1, grid.width):
        if values != column:
            why = f"it is not {grid.header(values)} minus that of the first row"
            yield follow(grid, column, partial(gain, grid, column, values), why)


def loss_relations(grid: Grid, column: int) -> Iterator[list[Check]]:
    """What a stage of a funnel lost: the count of the row above minus its own."""
    for counts in range(1, grid.width):
        if counts != column:
            why = f"it is not {grid.header(counts)} of the row above minus that of its own"
            yield follow(grid, column, partial(loss, grid, counts), why)


def loss(grid: Grid, counts: int, row: int) -> Wanted | None:
    before, own = (grid.count(row - 1, counts) if row else None), grid.count(row, counts)
    return None if before is None or own is None else Wanted(float(before - own))


def difference(grid: Grid, column: int, between: tuple[int, int], row: int) -> Wanted | None:
    """One column minus another."""
    return apart(grid.figure(row, between[0]), grid.figure(row, between[1]), grid.figure(row, column))


def gain(grid: Grid, column: int, values: int, row: int) -> Wanted | None:
    """A column minus its first row."""
    return apart(grid.figure(0, values), grid.figure(row, values), grid.figure(row, column))


def apart(left: Figure | None, right: Figure | None, said: Figure | None) -> Wanted | None:
    """How far two figures of a unit are apart, if that can be what is said."""
    if left is None or right is None or said is None or left.unit != right.unit or left.value == right.value:
        return None
    fits = said.unit in ("pp", "%") if left.unit in ("pp", "%") else said.unit == left.unit
    return Wanted(right.value - left.value, left.half + right.half) if fits else None


def check_intervals(grid: Grid, column: int) -> Iterator[Check]:
    """Intervals that do not hold the value to their left, though others of the column do."""
    if not INTERVAL.search(grid.header(column)):
        return
    found = [(row, claim) for row in grid.parts if (claim := grid.claim(row, column, "interval"))]
    checks = [check for row, claim in found if (check := interval_check(grid, row, column, claim))]
    if sum(bool(check.holds) for check in checks) >= SOME * len(checks):
        yield from checks


def interval_check(grid: Grid, row: int, column: int, claim: Claim) -> Check | None:
    low, high = claim.figures
    if low.value > high.value:
        return Check(claim=claim, holds=False, true="the lower end first", why="its lower end is above its upper end")
    for place in range(column - 1, 0, -1):
        value = grid.figure(row, place)
        if value is not None and value.unit == high.unit:
            holds = (
                low.value - low.half <= value.value + value.half and value.value - value.half <= high.value + high.half
            )
            true = f"an interval that holds {number_text(value.value, value.unit)}"
            return Check(claim=claim, holds=holds, true=true, why=f"it does not hold {grid.header(place)} of its row")
    return None


def check_listed(grid: Grid, listed: int) -> list[Check]:
    """Counts against the ids that a column lists: the column that counts them."""
    columns = [column for column in range(1, grid.width) if may_count(grid.header(column), grid.header(listed))]
    return best(follow(grid, column, partial(ids_listed, grid, listed), LISTED, different=3) for column in columns)


def may_count(header: str, listed: str) -> bool:
    """Whether a column can count what another lists: not tasks where it lists rollouts."""
    counted, named = (set(re.findall(r"task|rollout", text)) for text in (header, listed))
    return not counted or not named or bool(counted & named)


def ids_listed(grid: Grid, column: int, row: int) -> Wanted | None:
    ids = grid.ids(row, column)
    return None if ids is None else Wanted(float(ids))
