"""Sweeping words held against tables: who is lowest, what holds for every row, what only one row has.

A sentence is judged only when it names a column of the table and either one of its rows or what its rows are. Any table
will do: those of the report itself, or those that the rows give. Standard library only.
"""

import re
from collections.abc import Iterator, Sequence

from blade.audit.claims import Claim
from blade.audit.figures import Figure, find_figures
from blade.audit.grid import Grid
from blade.audit.markdown import CODE, shown
from blade.audit.outcome import Check
from blade.audit.subjects import words_of
from blade.audit.told import Told

LOWEST = frozenset(("lowest", "fewest", "smallest", "least", "weakest", "worst", "hardest", "fastest", "shortest"))
HIGHEST = frozenset(("highest", "most", "largest", "biggest", "strongest", "best", "easiest", "slowest", "longest"))
COUNTED = frozenset({"task", "rollout", "pass", "fail"})
BY_RATE = frozenset(("weakest", "worst", "hardest", "strongest", "best", "easiest"))
RANKED = re.compile(r"(?:\b(?:second|third|next|one of the|among the|two|three|at|some of the)[\s-]+$)", re.IGNORECASE)
EVERY = re.compile(r"\b(?:all|every|each)\b", re.IGNORECASE)
RATE = frozenset({"passrate", "pass@1", "meanreward"})


def check_sweeping(told: Told, tables: Sequence[Grid]) -> Iterator[Check]:
    """Every sweeping word of a report's prose that a table can judge."""
    for claim in told.claims:
        if claim.table is None and claim.kind in ("superlative", "universal"):
            answers = [answer for grid in tables if (answer := judge(claim, grid)) is not None]
            if answers:
                yield next((answer for answer in answers if answer.holds), answers[0])


def judge(claim: Claim, grid: Grid) -> Check | None:
    """What a table says about a sweeping word; `None` when it is not about this table."""
    if claim.kind == "superlative":
        return judge_superlative(claim, grid)
    if claim.text == "only":
        return judge_only(claim, grid)
    return judge_universal(claim, grid)


def judge_superlative(claim: Claim, grid: Grid) -> Check | None:
    """`hard has the lowest pass rate`: the named row is the extreme of the named column."""
    if claim.text not in LOWEST | HIGHEST or RANKED.search(claim.words[: claim.start]):
        return None
    if claim.text == "most" and not is_frequency(claim) and not re.search(r"\bthe\s+$", claim.words[: claim.start]):
        return None  # most of something is no superlative
    rows = rows_named(claim.subject, grid)
    column = column_meant(claim, grid, rows)
    if len(rows) != 1 or column is None or not grid.parts:
        return None
    values = {row: figure.value for row in grid.parts if (figure := grid.figure(row, column)) is not None}
    if rows[0] not in values or len(values) < 2:
        return None
    sign = -1.0 if claim.text in LOWEST else 1.0
    extreme = max(values, key=lambda row: sign * values[row])
    holds = values[rows[0]] == values[extreme]
    true = f"{grid.label(extreme)} ({shown(grid.table.rows[extreme].cell(column))})"
    return Check(claim=claim, holds=holds, true=true, why=f"in {name_of(grid, column)} it is {true}")


def name_of(grid: Grid, column: int) -> str:
    return f"column '{shown(grid.table.header[column])}' of the table at line {grid.table.line}"


def rows_named(text: str, grid: Grid) -> list[int]:
    """Rows whose first cell a text names: in code where it is code, as whole words otherwise."""
    return [row for row in range(grid.height) if is_named(shown(grid.table.rows[row].cell(0)), text)]


def is_named(label: str, text: str) -> bool:
    if not re.search(r"[A-Za-z]", label) and "`" not in label:
        return False
    bare = label.strip("`")
    plain = len(bare) >= 4 and bool(re.search(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", text, re.IGNORECASE))
    return f"`{bare}`" in text or plain


def column_meant(claim: Claim, grid: Grid, rows: Sequence[int]) -> int | None:
    """The column that a sentence names; of a bare `weakest`, the rate; of a bare `most common`, the first count."""
    own = frozenset().union(*(words_of(grid.label(row)) for row in rows)) if rows else frozenset[str]()
    said = words_of(claim.subject) - own - {claim.text}
    scores = {column: overlap(said, words_of(grid.header(column))) for column in range(1, grid.width)}
    best = max(scores.values(), default=0.0)
    found = [column for column, score in scores.items() if score == best and score > 0.49]
    telling = [column for column in found if not words_of(grid.header(column)) <= COUNTED]
    if len(found) == 1 or len(telling) == 1:
        return telling[0] if telling else found[0]
    if is_frequency(claim) and not found:
        return next((column for column in scores if grid.counts(column, grid.parts)), None)
    rates = [column for column in scores if words_of(grid.header(column)) & RATE]
    return rates[0] if claim.text in BY_RATE and len(rates) == 1 and not found else None


def is_frequency(claim: Claim) -> bool:
    """Whether a word asks for the largest count: `most common`, `largest`, `dominant`."""
    behind = claim.words[claim.end :].lstrip()
    return claim.text in ("largest", "biggest", "smallest") or bool(
        re.match(r"common|frequent|often|prevalent", behind)
    )


def overlap(said: frozenset[str], header: frozenset[str]) -> float:
    """How much of a header is said; a rate may be called by any of its names."""
    if header & RATE and said & RATE:
        return 1.0
    return len(said & header) / len(header) if header else 0.0


def judge_only(claim: Claim, grid: Grid) -> Check | None:
    """`only hard has never-passed tasks`: no other row has any."""
    rest = claim.words[claim.end : claim.end + 60]
    rows = [
        row
        for row in rows_named(claim.subject, grid)
        if re.match(rf"\s*(?:the\s+)?`?{re.escape(grid.label(row))}", rest, re.I)
    ]
    column = column_meant(claim, grid, rows)
    if len(rows) != 1 or column is None or find_figures(claim.subject):
        return None
    counts = {row: count for row in grid.parts if (count := grid.count(row, column)) is not None}
    if rows[0] not in counts or len(counts) < 2:
        return None
    others = [grid.label(row) for row, count in counts.items() if count and row != rows[0]]
    holds = bool(counts[rows[0]]) and not others
    true = f"{', '.join(others[:3])} too" if others else f"{grid.label(rows[0])} has none"
    return Check(claim=claim, holds=holds, true=true, why=f"{name_of(grid, column)} says so")


def judge_universal(claim: Claim, grid: Grid) -> Check | None:
    """`every category is below 70 %`, `no level has fewer than 2 tasks`: each row against the bound."""
    is_every, is_none = EVERY.fullmatch(claim.text), claim.text in ("no", "none", "neither")
    noun = words_of(claim.words[claim.end : claim.end + 40])
    rows_are = words_of(grid.header(0)) | words_of(" ".join(CODE.findall(grid.table.caption)))
    figures = [figure for figure in find_figures(claim.words) if figure.start > claim.end]
    if not (is_every or is_none) or not first_word(claim) & rows_are or len(figures) != 1 or not noun:
        return None
    column = column_of_unit(claim, grid, figures[0])
    values = {row: f.value for row in grid.parts if column is not None and (f := grid.figure(row, column)) is not None}
    if column is None or len(values) < 2 or not figures[0].hedge:
        return None
    broken = [row for row, value in values.items() if meets(figures[0], value) is bool(is_none)]
    true = ", ".join(f"{grid.label(row)} ({shown(grid.table.rows[row].cell(column))})" for row in broken[:3])
    return Check(claim=claim, holds=not broken, true=f"not so for {true}" if broken else "", why=name_of(grid, column))


def first_word(claim: Claim) -> frozenset[str]:
    """The noun right behind a universal."""
    found = re.match(r"\s*(?:of\s+)?(?:the\s+|these\s+)?([A-Za-z]+)", claim.words[claim.end :])
    return words_of(found[1]) if found else frozenset()


def column_of_unit(claim: Claim, grid: Grid, figure: Figure) -> int | None:
    """The column that is named, or the only one with figures of this unit."""
    named = column_meant(claim, grid, [])
    if named is not None:
        return named
    fitting = [
        c for c in range(1, grid.width) if any((f := grid.figure(r, c)) and f.unit == figure.unit for r in grid.parts)
    ]
    return fitting[0] if len(fitting) == 1 and figure.unit else None


def meets(bound: Figure, value: float) -> bool:
    """Whether a value is on the side of a bound that its words name."""
    if bound.hedge in ("more than", "at least"):
        return value > bound.value or (bound.hedge == "at least" and value == bound.value)
    if bound.hedge in ("less than", "at most", "nearly"):
        return value < bound.value or (bound.hedge == "at most" and value == bound.value)
    return value == bound.value
