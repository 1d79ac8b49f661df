"""What a report says about a run, as statements that can be held to the truth. Standard library only.

A statement is only made of what is plainly said: a number beside the one word that tells whose it is, a label beside
its task. Whatever could be read in two ways is no statement.
"""

import re
from collections.abc import Iterator
from functools import cached_property

from blade.audit.claims import clause_around
from blade.audit.figures import Figure, find_figures, find_pairs
from blade.audit.judge.keywords import SUPPOSED, Keyword, Keywords, is_denied, labels_in
from blade.audit.judge.sentences import Gist, gists_of
from blade.audit.judge.statements import Cited, Labelled, Listed, Number, Rated
from blade.audit.judge.truth import Truth
from blade.audit.judge.voice import own_sentences, own_tables
from blade.audit.markdown import CODE, QUOTED, Document, Row, Sentence, Table, blanked_code, without_code_marks
from blade.audit.mentions import Mention, citations_in, giver, row_tasks, split_citation, tasks_in

OUTCOME = re.compile(r"\b(?:pass|solv|succe|fail)", re.IGNORECASE)
PART_OF = re.compile(
    r"\s+(?:failing|failed|unsuccessful|passing|passed rollouts|successful|wrong|right)\b", re.IGNORECASE
)
"""What behind `4 of 5` says that not all of a task's rollouts are counted."""
LEANING = re.compile(r"\s*(?:with|at|having|whose)\b", re.IGNORECASE)
"""How a clause begins that is about what stands before it."""
BARE_ROLLOUT = re.compile(r"(?<![\w:#/.`-])\d{1,7}:(?:0|[1-9]\d{0,3})(?![\w:#]|\.\d)")
"""A rollout without backticks, which may also be a time of day."""
WHERE = re.compile(r"\s*(?:where|when)\s", re.IGNORECASE)
"""How a clause begins that is about a part: `Where A is right the model passes 8.3 %`."""
LONG_NAME = 12
"""Letters from which on a name is a phrase that may hold a negation of its own."""
VERB = re.compile(r"\b(?:is|are|was|were|be|has|have|had|does|did|can|will|\w{3,}(?:ed|es))\b")
HEADLINE_COLUMNS = (
    "headline",
    "value",
    "pass@1",
    "pass@k",
    "pass rate",
    "success rate",
    "accuracy",
    "score",
    "mean reward",
)
TASK_COLUMNS = ("tasks", "count", "n", "number", "number of tasks")
COLUMNS = {
    "buckets": TASK_COLUMNS,
    "labels": TASK_COLUMNS,
    "signals": ("did not pass", "failed", "failing", "failing rollouts"),
    "patterns": ("belong to it", "rollouts", "failing rollouts", "count"),
}
"""Headers under which a row of a kind states its count."""


class Said:
    """The statements of a report."""

    def __init__(self, document: Document, truth: Truth) -> None:
        self.document, self.truth, self.keywords = document, truth, Keywords(truth)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences the report stands for; a list of catchwords is none."""
        return [sentence for sentence in self.own if not is_catchwords(sentence.text)]

    @cached_property
    def own(self) -> list[Sentence]:
        """Everything the report says in its own name."""
        return own_sentences(self.document, self.truth)

    @cached_property
    def spoken(self) -> list[tuple[Gist, int]]:
        """What every sentence says, for facts that are looked for by their words."""
        return gists_of(self.own)

    @cached_property
    def numbers(self) -> list[Number]:
        """Values, from sentences and cells."""
        prose = [number for sentence in self.sentences for number in self._numbers_of(sentence)]
        return [*prose, *(number for table, row in self.rows() for number in self._cells_of(table, row))]

    @cached_property
    def labelled(self) -> list[Labelled]:
        """Labels of tasks."""
        prose = [one for sentence in self.sentences for one in self._labels_of(sentence)]
        return [*prose, *(one for table, row in self.rows() for one in self._labels_in_row(table, row))]

    @cached_property
    def rated(self) -> list[Rated]:
        """Rates of tasks."""
        prose = [one for sentence in self.sentences for one in self._rates_of(sentence)]
        return [*prose, *(one for table, row in self.rows() for one in self._rates_in_row(table, row))]

    @cached_property
    def listed(self) -> list[Listed]:
        """Tasks named together."""
        prose = [one for sentence in self.sentences for one in self._list_of(sentence)]
        return [*prose, *(one for table, row in self.rows() for one in self._list_in_row(table, row))]

    @cached_property
    def cited(self) -> list[Cited]:
        """Rollouts cited, quoted or not."""
        prose = [one for sentence in self.sentences for one in self._citations_of(sentence)]
        return [*prose, *(one for table, row in self.rows() for one in self._citations_in_row(table, row))]

    def rows(self) -> Iterator[tuple[Table, Row]]:
        """The rows of tables that the report stands for."""
        for table in own_tables(self.document, self.truth):
            yield from ((table, row) for row in table.rows)

    def _numbers_of(self, sentence: Sentence) -> Iterator[Number]:
        text = sentence.text
        keywords, figures = self.keywords.find(text), single_figures(text)
        parts = [one for one in keywords if one.path.startswith("slices.")]
        for figure in figures:
            first, last = clause_around(text, figure.start, figure.end)
            clause = text[first:last]
            inside = [one for one in keywords if first <= one.start < last and suits(figure, one.shape)]
            beside = [one for one in figures if first <= one.start < last]
            keyword = owner(figure, inside, beside)
            if keyword is not None and LEANING.match(clause) and keyword.path == self.keywords.headline:
                keyword = next((one for one in reversed(parts) if one.end <= first), keyword)
            if keyword is None or SUPPOSED.search(clause) or figure.signed or self._is_of_a_part(keyword, clause):
                continue
            rivals = {one.path for one in (*inside, *parts)} - {keyword.path, self.keywords.headline}
            named = [text[one.start : one.end] for one in keywords if one.end - one.start > LONG_NAME]
            yield Number(
                path=keyword.path,
                figure=figure,
                positive=not is_denied(clause, text, named),
                line=self.document.line_of(sentence, figure.start),
                sure=not rivals and is_measured(clause, keyword) and not sentence.section[3:],
            )

    def _is_of_a_part(self, keyword: Keyword, clause: str) -> bool:
        """Whether a clause about the headline says of which part: by something in code, or by where it holds."""
        own = {str(self.truth.stated.get(name)) for name in ("model", "benchmark")}
        is_narrowed = WHERE.match(clause) is not None or bool(set(CODE.findall(clause)) - own)
        return keyword.path == self.keywords.headline and is_narrowed

    def _cells_of(self, table: Table, row: Row) -> Iterator[Number]:
        keyword = self._row_keyword(table, row)
        for place, cell in enumerate(row.cells[1:], start=1):
            header = table.header[place].lower().strip() if place < len(table.header) else ""
            figures = single_figures(cell)
            column = self._column_keyword(header) if keyword is not None else None
            named = (
                column
                if column is not None and keyword is not None and keyword.path == self.keywords.headline
                else keyword
            )
            if named is None or len(figures) != 1 or not suits(figures[0], named.shape):
                continue
            columns = COLUMNS.get(named.path.partition(".")[0], HEADLINE_COLUMNS)
            if header in columns or column is not None:
                yield Number(path=named.path, figure=figures[0], positive=True, line=row.line, sure=True)

    def _row_keyword(self, table: Table, row: Row) -> Keyword | None:
        """The one value a row is about by its first cell."""
        first = without_code_marks(row.cell(0)).strip()
        if table.header and table.header[0].strip().lower() == "k" and first.isdigit():
            return Keyword("pass_at_k." + first, "share", 0, 0)
        found = [one for one in self.keywords.find(first) if one.end - one.start == len(first)]
        return found[0] if len(found) == 1 else None

    def _column_keyword(self, header: str) -> Keyword | None:
        """A level that a column is about, in a table whose rows are metrics."""
        found = [one for one in self.keywords.find(header) if one.path.startswith("slices.")]
        return found[0] if len(found) == 1 else None

    def _tasks_of(self, text: str, section: tuple[str, ...]) -> list[tuple[str, int]]:
        """Known tasks a sentence names, and where; else the one that its heading names."""
        known = self.truth.tasks
        found = {(key, start) for key, start, _ in tasks_in(text) if key in known}
        if "task" in text.lower() or self.keywords.find(text):
            found |= {(span[1], span.start()) for span in CODE.finditer(text) if span[1] in known}
        if not found:
            return [(key, -1) for heading in section[-1:] for key, _, _ in tasks_in(heading) if key in known]
        return sorted(found, key=lambda entry: entry[1])

    def _labels_of(self, sentence: Sentence) -> Iterator[Labelled]:
        labels, tasks = labels_in(sentence.text), self._tasks_of(sentence.text, sentence.section)
        for label, start, _ in labels:
            first, last = clause_around(sentence.text, start, start)
            alone = len({name for name, _, _ in labels}) == 1
            named = [task for task, at in tasks if alone or at < 0 or first <= at < last]
            if not named and tasks:
                named = [max((at, task) for task, at in tasks if at < start)[1]] if tasks[0][1] < start else []
            positive = not is_denied(sentence.text[first:last], sentence.text)
            line = self.document.line_of(sentence, start)
            yield from (Labelled(task=task, label=label, positive=positive, line=line) for task in named)

    def _labels_in_row(self, table: Table, row: Row) -> Iterator[Labelled]:
        labels = {label for cell in row.cells for label, _, _ in labels_in(cell)}
        if len(labels) == 1:
            (label,) = labels
            for task in self._tasks_in_row(table, row):
                yield Labelled(task=task, label=label, positive=True, line=row.line)

    def _tasks_in_row(self, table: Table, row: Row) -> list[str]:
        """Known tasks that a row names, in its first cell or as a list in any."""
        known = self.truth.tasks
        first = [task for task in row_tasks(table, row.cells) if task in known]
        return first or [code for cell in row.cells[1:] for code in CODE.findall(cell) if code in known]

    def _rates_of(self, sentence: Sentence) -> Iterator[Rated]:
        text, tasks = sentence.text, self._tasks_of(sentence.text, sentence.section)
        for pair in find_pairs(text, find_figures(text)):
            before = [task for task, at in tasks if at < pair.start]
            if pair.kind != "fraction" or not before:
                continue
            first, last = clause_around(text, pair.start, pair.end)
            if OUTCOME.search(text[first:last]) and not PART_OF.match(text[pair.end :]):
                yield from self._rate(before[-1], (pair.first, pair.second), text[first:last], text, sentence.line)

    def _rates_in_row(self, table: Table, row: Row) -> Iterator[Rated]:
        tasks = [task for task in row_tasks(table, row.cells) if task in self.truth.tasks]
        for place, cell in enumerate(row.cells[1:], start=1):
            header = table.header[place] if place < len(table.header) else ""
            for pair in find_pairs(cell, find_figures(cell)):
                if pair.kind == "fraction" and len(tasks) == 1 and "pass" in header.lower():
                    yield from self._rate(tasks[0], (pair.first, pair.second), header, header, row.line)

    def _rate(self, task: str, pair: tuple[Figure, Figure], clause: str, text: str, line: int) -> Iterator[Rated]:
        """A rate, if it is about as many rollouts as the task has."""
        part, total = int(pair[0].value), int(pair[1].value)
        if total == self.truth.tasks[task][1]:
            fails = "fail" in clause.lower() and "pass" not in clause.lower()
            passed = total - part if fails else part
            yield Rated(task=task, passed=passed, total=total, positive=not is_denied(clause, text), line=line)

    def _list_of(self, sentence: Sentence) -> Iterator[Listed]:
        tasks = frozenset(task for task, at in self._tasks_of(sentence.text, ()) if at >= 0)
        groups = {one.path for one in self.keywords.find(sentence.text)}
        if tasks and groups:
            positive = not is_denied(sentence.text, sentence.text)
            yield Listed(tasks=tasks, groups=frozenset(groups), positive=positive, line=sentence.line)

    def _list_in_row(self, table: Table, row: Row) -> Iterator[Listed]:
        tasks = frozenset(code for cell in row.cells for code in CODE.findall(cell) if code in self.truth.tasks)
        keyword = self._row_keyword(table, row)
        if tasks and keyword is not None:
            yield Listed(tasks=tasks, groups=frozenset({keyword.path}), positive=True, line=row.line)

    def _citations_of(self, sentence: Sentence) -> Iterator[Cited]:
        text, cited = sentence.text, self._cited_in(sentence.text)
        quoted = [found.span() for found in QUOTED.finditer(blanked_code(text))]
        quotes = {giver(*span, cited, text): span for span in quoted}
        for place, (citation, start, _) in enumerate(cited):
            first, last = clause_around(text, start, start)
            span = quotes.get(place)
            yield Cited(
                citation=citation,
                quote=without_code_marks(text[span[0] + 1 : span[1] - 1]) if span else "",
                block=sentence.section,
                positive=not is_denied(text[first:last], text),
                line=self.document.line_of(sentence, start),
            )

    def _cited_in(self, text: str) -> list[Mention]:
        """Citations of a text; one without backticks and item counts when there is such a rollout."""
        found = citations_in(text)
        bare = ((at[0], at.start(), at.end()) for at in BARE_ROLLOUT.finditer(blanked_code(text)))
        return sorted([*found, *(one for one in bare if self.truth.has_rollout(one[0]))], key=lambda one: one[1])

    def _citations_in_row(self, table: Table, row: Row) -> Iterator[Cited]:
        for cell in row.cells:
            for code in CODE.findall(cell):
                if split_citation(code):
                    yield Cited(citation=code, quote="", block=table.section, positive=True, line=row.line)


def is_catchwords(text: str) -> bool:
    """Whether a text is words in a row that nothing connects."""
    words, verbs = re.findall(r"[A-Za-z]+", CODE.sub(" x ", text)), VERB.search(text)
    spoken = [word for word in re.findall(r"[A-Za-z]{3,}", CODE.sub(" ", text)) if not word.isupper()]
    loose = text.count(",") / len(words) if len(words) >= 4 else 0.0
    return (
        (not spoken and not QUOTED.search(text)) or loose >= 0.8 or (loose >= 0.5 and verbs is None and ":" not in text)
    )


def single_figures(text: str) -> list[Figure]:
    """Figures that stand alone, and the first of a fraction; ends of intervals and changes are not values."""
    figures = find_figures(text)
    pairs = find_pairs(text, figures)
    inner = {figure.start for pair in pairs for figure in pair[1:] if not isinstance(figure, str)}
    starts = {pair.first.start for pair in pairs if pair.kind == "fraction"}
    return [figure for figure in figures if figure.start not in inner or figure.start in starts]


def suits(figure: Figure, shape: str) -> bool:
    """Whether a figure is written as a value of this shape is."""
    if shape == "count":
        return figure.is_whole
    if shape == "share":
        return figure.unit == "%" or (not figure.unit and 0.0 < figure.value < 1.0 and not figure.word)
    return not figure.unit and not figure.word


def owner(figure: Figure, keywords: list[Keyword], beside: list[Figure]) -> Keyword | None:
    """The word that says whose a figure is: a part of the run before what is measured, and else the nearest.

    Where a clause has as many parts as figures, they belong together in their order; otherwise nobody can tell.
    """
    parts = [one for one in keywords if one.path.startswith("slices.")]
    if len(parts) > 1:
        return parts[beside.index(figure)] if len(parts) == len(beside) else None
    return min(parts or keywords, key=lambda one: max(figure.start - one.end, one.start - figure.end), default=None)


def is_measured(clause: str, keyword: Keyword) -> bool:
    """Whether a clause says what is measured, and not only of what."""
    words = ("pass@1", "pass rate", "success rate", "accuracy", "headline", "solve rate")
    return keyword.path in ("pass_at_1", "mean_reward") or any(word in clause.lower() for word in words)
