"""The ledger of a report: what its tables and sentences say of the same thing, held against each other.

An entry goes by the words of its row, its column or the noun behind it. Two numbers of one entry are compared where the
report itself shows that they are of one population: a whole stated as such, parts that make up a known whole, tables
that agree elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from blade.audit.figures import Figure, agrees, find_figures
from blade.audit.markdown import Document, shown, without_code_marks
from blade.audit.tables import (
    LEAST_ROWS,
    NEAR_MISS,
    Cell,
    Grid,
    adds_up,
    body,
    is_total_column,
    is_total_row,
    key,
    stated_whole,
    wrong,
)
from blade.audit.verdicts import Check
from blade.report.values import stem, stems

WHOLE = re.compile(r"\b(?:all|of|the|all of the|of the|all the)\s+$", re.IGNORECASE)
"""What stands before a number of everything there is of a kind."""
ALL = re.compile(r"\ball\s+(?:of\s+)?(?:the\s+)?$", re.IGNORECASE)
FAR = 12
"""Tables between two that are held against each other, at most."""
MOST_ROWS = 200
"""What a sentence above a table counts beyond this is not its rows."""
ONLY = re.compile(r"\b(?:only|exclusively|solely|entirely)\s+(?:(?:occurs?|found|seen|happens?)\s+)?in\s+(?:the\s+)?")
SOME = re.compile(
    r"\b(?:top|first|some|such as|e\.g|for example|includ\w+|among|at least|more|(?<!the )other|etc)\b|…", re.I
)
"""What says that not everything is counted or listed."""
COUNT_OF = re.compile(r"(?<![\w.])(\d{1,6})\s+([A-Za-z]{3,})\b")
PHRASE_END = re.compile(r"[,;:.()|]|\b(?:of|and|in|by|that|which|are|were|is|was|from|with)\b|\d")


def check_ledger(document: Document, grids: Sequence[Grid]) -> Iterator[Check]:
    """Numbers of one thing that are not the same in two places of a report."""
    yield from check_split(grids)
    yield from check_groups(grids)
    yield from check_twice(grids)
    yield from check_outline(document)
    sentences = list(document.sentences())
    for sentence in sentences:
        for figure in find_figures(sentence.text):
            yield from check_named(figure, sentence.text, sentence.line, grids)
        yield from check_only(sentence.text, sentence.line, grids)
    for grid in grids:
        yield from check_base(grid, [one.text for one in sentences if one.section == grid.table.section])
        yield from check_partition(grid)
        yield from check_introduction(grid)


def check_split(grids: Sequence[Grid]) -> Iterator[Check]:
    """Columns of parts whose wholes make up a known whole: rows that do not add up to what another table has.

    A table with columns `(of 800)` and `(of 290)` splits 1,090; at least one row must agree, or the two count
    different things.
    """
    known = {cell.figure.value for grid in grids for cells in grid.columns.values() for cell in cells if cell}
    for grid in grids:
        wholes = {place: stated_whole(grid.table, place) for place in grid.columns}
        parts = [place for place, whole in wholes.items() if whole]
        if len(parts) < 2 or sum(wholes[place] or 0 for place in parts) not in known:
            continue
        found: list[tuple[Cell, float, bool]] = []
        for place in range(len(grid.table.rows)):
            cells = [cell for part in parts if (cell := grid.columns[part][place]) is not None]
            others = [cell for other in grids if other is not grid for cell in counts_of(other, key(cells[0].row))]
            if len(cells) == len(parts) and others and not is_total_row(cells[0]):
                total = sum(cell.figure.value for cell in cells)
                found.append((others[0], total, any(adds_up([cell], total) for cell in others)))
        if any(agreed for *_, agreed in found):
            for cell, total, agreed in found:
                if not agreed:
                    yield wrong(cell, f"{total:,g}", f"the parts in the table at line {grid.table.line} add up to it")


def counts_of(grid: Grid, name: tuple[str, ...]) -> list[Cell]:
    """What a table counts in all for a row: the only count there is, or the one in the column of totals."""
    for place, row in enumerate(grid.table.rows):
        if name and row.cells and key(row.cells[0]) == name:
            counts = grid.row(place)
            totals = [cell for cell in counts if is_total_column(cell)]
            return totals if totals else counts if len(counts) == 1 else []
    return []


def check_groups(grids: Sequence[Grid]) -> Iterator[Check]:
    """A list of cases with their kinds against a row that counts the cases by kind: no kind has more than it."""
    by_name: dict[tuple[str, ...], list[list[Cell]]] = {}
    for grid in grids:
        for place, row in enumerate(grid.table.rows):
            by_name.setdefault(key(row.cells[0]) if row.cells else (), []).append(grid.row(place))
    for cases in grids:
        for place, cells in cases.columns.items():
            rows = by_name.get(key(re.sub(r"/\d+", "", cases.table.header[place])), [])
            kinds = [one for one in range(1, len(cases.table.header)) if one not in cases.columns and len(cells) >= 3]
            for column, counts in product(kinds if None not in cells else [], rows):
                counted, sums = {key(cell.column): cell for cell in counts}, Counter[tuple[str, ...]]()
                for row, cell in zip(cases.table.rows, cells, strict=True):
                    sums[key(row.cell(column))] += int(cell.figure.value) if cell else 0
                if len(sums) > 1 and set(sums) <= set(counted):
                    for kind, count in sums.items():
                        if count > counted[kind].figure.value:
                            yield wrong(counted[kind], f"at least {count:,g}", "so many cases of it are listed")


def check_twice(grids: Sequence[Grid]) -> Iterator[Check]:
    """Columns of two tables that agree in most of the rows they share: the rows in which they do not."""
    names = [[key(row.cells[0]) if row.cells else () for row in grid.table.rows] for grid in grids]
    numbered = list(zip(grids, names, strict=True))
    near_by = ((one, other) for place, other in enumerate(numbered) for one in numbered[max(0, place - FAR) : place])
    for (first, ours), (second, theirs) in near_by:
        shared = [(ours.index(name), place) for place, name in enumerate(theirs) if name and ours.count(name) == 1]
        if len(shared) <= LEAST_ROWS:
            continue
        for a, b in product(first.columns.values(), second.columns.values()):
            pairs = [(one, other) for i, j in shared if (one := a[i]) is not None and (other := b[j]) is not None]
            same = [one.figure.value for one, other in pairs if is_same(one.figure, other.figure)]
            broken = [pair for pair in pairs if not is_same(pair[0].figure, pair[1].figure)]
            if len({*same} - {0.0}) >= LEAST_ROWS and len(broken) == 1 and len(pairs) == len(shared):
                ((one, other),) = broken
                if one.figure.unit == other.figure.unit and (one.figure.is_whole or one.figure.unit == "%"):
                    yield wrong(other, shown(one.text), f"line {one.line} has it so")


def is_same(one: Figure, other: Figure) -> bool:
    return one.unit == other.unit and abs(one.value - other.value) <= one.half + other.half - 0.5 * one.is_whole


def check_outline(document: Document) -> Iterator[Check]:
    """Headings that count what the headings right below them count: `18 failures` above 10, 7 and 2 of them."""
    counted = [(one, COUNT_OF.findall(without_code_marks(one.text))) for one in document.passages if one.level]
    for place, (heading, own) in enumerate(counted):
        end = place + 1
        while end < len(counted) and counted[end][0].level > heading.level:
            end += 1
        below = counted[place + 1 : end] if len(own) == 1 else []
        level = min((one.level for one, _ in below), default=0)
        children = [found for one, found in below if one.level == level]
        if len(own) != 1 or len(children) < 2 or not all(len(one) == 1 for one in children):
            continue
        whole, total = int(own[0][0]), sum(int(one[0][0]) for one in children)
        is_alike = {stem(one[0][1]) for one in children} == {stem(own[0][1])}
        if is_alike and 0 < abs(total - whole) <= NEAR_MISS * whole:
            yield Check(
                heading.line_at(0),
                own[0][0],
                "contradicted",
                str(total),
                "the headings below add up to it",
                sentence=shown(heading.text),
            )


def check_named(figure: Figure, text: str, line: int, grids: Sequence[Grid]) -> Iterator[Check]:
    """`all 75 lint failures`, where every table that has a row of them counts another number."""
    if not figure.is_whole or figure.value < 2 or figure.hedge or not ALL.search(text[: figure.start]):
        return
    behind = stems(without_code_marks(PHRASE_END.split(text[figure.end :], maxsplit=1)[0]))
    rows = [
        (len(name), grid.row(place))
        for grid in grids
        for place, row in enumerate(grid.table.rows)
        if row.cells and len(name := key(row.cells[0])) >= 2 and behind[: len(name)] == list(name)
    ]
    named = [cells for size, cells in rows if size == max(size for size, _ in rows)]
    values = [{cell.figure.value for cell in cells} | {sum(cell.figure.value for cell in cells)} for cells in named]
    if named and all(named) and not any(agrees(figure, value) for known in values for value in known):
        true = ", ".join(f"{cell.figure.value:,g}" for cell in named[0])
        why = f"line {named[0][0].line} has it so"
        yield Check(line, text[figure.start : figure.end], "contradicted", true, why, sentence=shown(text))


def check_only(text: str, line: int, grids: Sequence[Grid]) -> Iterator[Check]:
    """`syntax errors occur only in B`, where a table counts some in A."""
    for found in ONLY.finditer(text):
        where, words = stems(without_code_marks(text[found.end() :])), stems(without_code_marks(text[: found.start()]))
        for grid in grids:
            for place, row in enumerate(grid.table.rows):
                name, cells = key(row.cells[0] if row.cells else ""), grid.row(place)
                meant = [cell for cell in cells if (head := key(cell.column)) and tuple(where[: len(head)]) == head]
                others = [cell for cell in cells if cell not in meant and not is_total_column(cell)]
                if meant and len(name) >= 2 and is_inside(name, words) and any(cell.figure.value for cell in others):
                    other = next(cell for cell in others if cell.figure.value)
                    true = f"{other.figure.value:,g} in {shown(other.column)}"
                    yield Check(line, shown(text[found.start() :]), "contradicted", true, f"line {row.line} has it so")


def is_inside(name: Sequence[str], words: Sequence[str]) -> bool:
    """Whether words follow each other in a text."""
    return any(tuple(words[at : at + len(name)]) == tuple(name) for at in range(len(words)))


def check_base(grid: Grid, section: Sequence[str]) -> Iterator[Check]:
    """`% of 1,056 mismatches` in a section about `the 1,024 mismatches`."""
    for place in grid.columns:
        stated, header = stated_whole(grid.table, place), without_code_marks(grid.table.header[place])
        noun = re.findall(r"[A-Za-z]{3,}", re.split(r"[\d,]{2,}", header, maxsplit=1)[-1].split(")")[0])[:3]
        if stated is None or not noun:
            continue
        pattern = r"([\d,]*\d)\s+" + r"\s+".join(rf"{re.escape(word[:3])}\w*" for word in noun)
        said = {int(one.replace(",", "")) for text in section for one in re.findall(pattern, text, re.IGNORECASE)}
        if said and stated not in said and all(abs(one - stated) <= 0.2 * stated for one in said):
            true = ", ".join(f"{one:,}" for one in sorted(said))
            yield Check(grid.table.line, shown(header), "contradicted", true, "the text around the table says so")


def check_partition(grid: Grid) -> Iterator[Check]:
    """`the 1,024 mismatches by kind:` above counts that add up to nearly, but not quite, so many."""
    last = re.split(r"(?<=[.!?])\s+", grid.table.caption)[-1]
    counts = [cells for cells in grid.columns.values() if all(cell and cell.figure.is_whole for cell in cells)]
    wholes = [one for one in find_figures(last) if one.is_whole and one.value >= 50 and WHOLE.search(last[: one.start])]
    if len(wholes) != 1 or len(counts) != 1 or SOME.search(last) or len(counts[0]) < 3:
        return
    cells, whole = body(counts[0]), wholes[0]
    total = sum(cell.figure.value for cell in cells)
    if abs(total - whole.value) <= 0.05 * whole.value and not adds_up(cells, whole.value):
        said = last[whole.start : whole.end]
        yield Check(grid.table.line, said, "contradicted", f"{total:,g}", "the rows add up to it", sentence=shown(last))


COUNTED = re.compile(r"\s+(?:distinct\s+|different\s+)?([a-z]+s)\b", re.IGNORECASE)


def check_introduction(grid: Grid) -> Iterator[Check]:
    """`spread across 12 tasks` right above a table of six: the noun is the head of the first column."""
    table, caption = grid.table, without_code_marks(grid.table.caption)
    last = re.split(r"(?<=[.!?])\s+", caption)[-1]
    is_about = last.endswith(":") or re.search(r"across|following|below", last, re.I) is not None
    if not table.header or SOME.search(last) or not is_about:
        return
    rows = [
        row for row in table.rows if row.cells and not re.match(r"\W*(?:total|all|overall|other)", row.cells[0], re.I)
    ]
    behind = [(one, COUNTED.match(last, one.end)) for one in find_figures(last) if one.is_whole and one.value > 1]
    found = [(one, noun) for one, noun in behind if noun is not None and stem(noun[1]) in stems(table.header[0])]
    if len(found) == 1 and len(rows) >= 2 and len(rows) != found[0][0].value < MOST_ROWS:
        said, why = last[found[0][0].start : found[0][1].end()], "the table has so many rows"
        yield Check(table.line, said, "contradicted", str(len(rows)), why, sentence=last)
