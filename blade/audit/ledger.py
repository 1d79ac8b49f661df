"""The ledger of a report: what its tables and sentences say of the same thing, held against each other.

An entry goes by the words of its row, its column or the noun behind it. Two numbers of one entry are compared where the
report itself shows that they are of one population: a whole stated as such, parts that make up a known whole, tables
that agree elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from blade.audit.arithmetic import SOME
from blade.audit.figures import Figure, find_figures
from blade.audit.markdown import Document, Sentence, shown, without_code_marks
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
FAR = 12
"""Tables between two that are held against each other, at most."""
MOST_ROWS = 200
"""What a sentence above a table counts beyond this is not its rows."""
ONLY = re.compile(r"\b(?:only|exclusively|solely|entirely)\s+(?:(?:occurs?|found|seen|happens?)\s+)?in\s+(?:the\s+)?")
OVERALL = re.compile(r"\W*(?:total|all|overall|other|sum|mean|average|median)\b", re.IGNORECASE)
LABEL = re.compile(r"([^:\d]{4,60}):\s*(\d[\d,]*)(?![\d.]|\s*%)")
COUNT_OF = re.compile(r"(?<![\w.])(\d{1,6})\s+([A-Za-z]{3,})\b")


def check_ledger(document: Document, grids: Sequence[Grid]) -> Iterator[Check]:
    """Numbers of one thing that are not the same in two places of a report."""
    yield from check_split(grids)
    yield from check_groups(grids)
    yield from check_twice(grids)
    yield from check_outline(document)
    sentences = list(document.sentences())
    for sentence in sentences:
        yield from check_only(sentence.text, sentence.line, grids)
    for grid in grids:
        yield from check_base(grid, [one.text for one in sentences if one.section == grid.table.section])
        yield from check_partition(grid)
    yield from check_rows(grids, sentences)
    yield from check_labels(document, grids, sentences)
    yield from check_extremes(grids, sentences)


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


COUNTED = re.compile(r"\s+(?:distinct\s+|different\s+)?([a-z]+[^s]s)\b", re.IGNORECASE)
DEFINITE = re.compile(r"\b(?:the|all|these)\s+$", re.IGNORECASE)


def check_rows(grids: Sequence[Grid], sentences: Sequence[Sentence]) -> Iterator[Check]:
    """`spread across 12 tasks:` above a table of six, `the seven variants` where no table has so many of them."""
    sizes: dict[str, dict[int, str]] = {}
    for grid in grids:
        rows = sum(bool(row.cells) and not OVERALL.match(row.cells[0]) for row in grid.table.rows)
        for noun in stems(grid.table.header[0] if grid.table.header else ""):
            sizes.setdefault(noun, {})[rows] = grid.table.caption
    for sentence in sentences:
        for figure in find_figures(sentence.text) if not SOME.search(sentence.text) else ():
            named = COUNTED.match(sentence.text, figure.end) if figure.is_whole and figure.value > 1 else None
            tables = sizes.get(stem(named[1]), {}) if named else {}
            above = [rows for rows, caption in tables.items() if caption.endswith(sentence.text) and rows >= 2]
            is_about = sentence.text.endswith(":") or re.search(r"across|following|below", sentence.text, re.I)
            is_near = (
                DEFINITE.search(sentence.text[: figure.start]) and 0 < abs(max(tables, default=0) - figure.value) < 2
            )
            if figure.value not in tables and named and ((above and is_about and figure.value < MOST_ROWS) or is_near):
                said, true = sentence.text[figure.start : named.end()], str((above or [max(tables)])[0])
                yield Check(sentence.line, said, "contradicted", true, "the table has so many rows", "", sentence.text)


def check_labels(document: Document, grids: Sequence[Grid], sentences: Sequence[Sentence]) -> Iterator[Check]:
    """`### Wrong variant (16 cases)` and `wrong variant, 16 cases`, where its row or its list item counts 14."""
    counted = [
        (key(shown(label)), [cell.figure.value for cell in grid.row(place)], row.line)
        for grid in grids
        for place, row in enumerate(grid.table.rows)
        for label in row.cells[:2]
    ]
    items = [(one, LABEL.match(without_code_marks(one.text))) for one in document.passages if one.indent >= 0]
    counted += [(key(found[1]), [float(found[2].replace(",", ""))], one.line_at(0)) for one, found in items if found]
    times = Counter(one.value for sentence in sentences for one in find_figures(sentence.text))
    times.update(value for _, values, _ in counted for value in {*values})
    by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], list[float], int]]] = {}
    for name, values, line in counted:
        if len(name) >= 2 and values:
            by_start.setdefault(name[:2], []).append((name, values, line))
    for sentence in sentences:
        if SOME.search(sentence.text):
            continue
        words, figures = stems(without_code_marks(sentence.text)), find_figures(sentence.text)
        counts = [one for one in figures if one.is_whole and not one.hedge and one.value > 1]
        known = [entry for pair in pairwise(words) for entry in by_start.get(pair, []) if entry[2] != sentence.line]
        if len(counts) == 1 == len(figures) and known and times[counts[0].value] == 1:
            values = [value for _, found, _ in known for value in found]
            near = [one for one in values if abs(one - counts[0].value) <= 0.3 * one]
            if near and counts[0].value not in values:
                said, why = sentence.text[counts[0].start : counts[0].end], f"line {known[0][2]} has it so"
                yield Check(sentence.line, said, "contradicted", f"{near[0]:,g}", why, "", shown(sentence.text))


EXTREME = re.compile(
    r"(?<!at )\b(?:(?P<most>highest|largest|most|biggest|longest|greatest)"
    r"|(?P<least>lowest|smallest|fewest|least|shortest)"
    r"|best|worst|strongest|weakest|slowest|fastest|hardest|easiest|cheapest)\b(?!\s+of)",
    re.IGNORECASE,
)


def columns_of(grid: Grid) -> list[list[Cell]]:
    columns = (body(cells) for cells in grid.columns.values())
    return [cells for cells in columns if len(cells) >= 2]


def check_extremes(grids: Sequence[Grid], sentences: Sequence[Sentence]) -> Iterator[Check]:
    """`Billing is the weakest queue`, where it is at neither end of any column of the table under the same heading."""
    by_section: dict[tuple[str, ...], list[Grid]] = {}
    for grid in grids:
        by_section.setdefault(grid.table.section, []).append(grid)
    for sentence in sentences:
        found, words = EXTREME.search(sentence.text), stems(without_code_marks(sentence.text))
        for grid in by_section.get(sentence.section, [])[:FAR] if found else ():
            rows = {row.cells[0]: key(row.cells[0]) for row in grid.table.rows if row.cells}
            named = [head for head, name in rows.items() if name and is_inside(name, words)]
            columns = [column for column in columns_of(grid) if len(column) >= 3]
            if len(named) != 1 or len(rows) < 3 or not columns or OVERALL.match(named[0]):
                continue
            said = [one for one in columns if key(one[0].column) and set(key(one[0].column)) <= {*words}]
            ends = [ends_in(column, without_code_marks(named[0]).strip()) for column in said or columns]
            wanted = {end for end in ("most", "least") if found and (found[end] or not (said and found.lastgroup))}
            if found and not any(one & wanted for one in ends):
                why = f"the table at line {grid.table.line} has it so of no column"
                yield Check(sentence.line, found[0], "contradicted", "another row", why, "", shown(sentence.text))


def ends_in(column: Sequence[Cell], head: str) -> set[str]:
    """At which ends of a column a row is, of which the last may be a total by another name; both without number."""
    mine = next((cell.figure.value for cell in column if cell.row == head), None)
    values = [[cell.figure.value for cell in cells] for cells in (column, column[:-1])]
    ends = {name for one in values for name, end in (("most", max(one)), ("least", min(one))) if mine in (end, None)}
    return ends
