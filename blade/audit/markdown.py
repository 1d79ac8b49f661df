"""A Markdown report as passages of prose and tables, each with the line it stands on.

Reports of strangers are messy: ragged rows, bold cells, footnotes, odd spaces and dashes. Nothing here fails on them;
what cannot be read as a table is prose. Code spans stay recognisable in plain text (`CODE_OPEN` … `CODE_CLOSE`), for an
id in backticks is an id and a number in backticks is not a figure. Standard library only.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

CODE_OPEN, CODE_CLOSE = "\ue000", "\ue001"
"""What stands around code in plain text; characters that foreign text has no use for."""
CODE = re.compile(f"{CODE_OPEN}([^{CODE_OPEN}{CODE_CLOSE}]*){CODE_CLOSE}")

HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
ENUMERATED = re.compile(r"^(?:\d{1,2}[a-z]?[.)]|\d{1,2}(?:\.\d{1,2})+\.?)\s+(?=\S)")
"""The number of a section, which says nothing of the run."""
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(?!.*`)")
ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,3}[.)])(?:\s+|$)")
DELIMITER = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*$")
RULE = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*$")
QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")
PIPE = re.compile(r"(?<!\\)\|")
CODE_OR_COMMENT = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<tick>`+)(?!`)(?:(?!\n\s*\n).){1,4000}?(?<!`)(?P=tick)(?!`)"
    r"|(?P<margin>^ {0,3})?(?P<comment><!--)",
    re.DOTALL | re.MULTILINE,
)
"""Where a comment begins; what looks like one in code is found as code."""
INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<!`)(?P<fence>`+)(?!`)(?P<code>.{1,4000}?)(?<!`)(?P=fence)(?!`)"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,31});)"
    r"|(?P<note>\[\^[^\]\s]{1,40}\]:?)"
    r"|(?P<struck>~~[^~]{1,4000}~~|<(?P<gone>del|s|strike)>.{0,4000}?</(?P=gone)>|!\[[^\[\]]{0,500}\]\([^()\s]{0,1000}\))"
    r"|\[(?P<link>[^\[\]]{0,500})\]\([^()\s]{0,1000}\)"
    r"|(?P<tag></?[a-zA-Z][^<>\n]{0,200}>)"
    r"|(?P<times>(?<=\d)\*(?=\d))"
    r"|(?P<mark>\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~)",
    re.DOTALL,
)
HTML_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL | re.IGNORECASE)
HTML_ROW = re.compile(r"<tr\b[^>]*>(.*?)(?=<tr\b|</table>|</tbody>|</thead>|</tr>)", re.DOTALL | re.IGNORECASE)
HTML_CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)(?=<t[hd]\b|</t[hd]>|$)", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")
SPACES = re.compile(r"[\s\u2000-\u200a\u202f\u205f]+")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
LOOKALIKES = str.maketrans("аеорсухіѕԁһјвкмнтАЕОРСХІЅЈВКМНТαονρ", "aeopcyxisdhjbkmhtAEOPCXISJBKMHTaovp")
MIXED = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*[\u0370-\u03ff\u0400-\u052f])\w+\b")
"""A word of letters that only look alike, which no honest word is."""
QUOTED = re.compile(r"“[^“”]*(?:“[^“”]*”[^“”]*)*”|\"[^\"]{2,1000}\"|«[^«»]+»|„[^„“”]+[“”]")
THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
SENTENCE_END = re.compile(rf"(?<=[.!?])[\"”’')\]]?\s+(?=[\"“‘'(\[{CODE_OPEN}]*[A-Z0-9{CODE_OPEN}])")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|no|nos|fig|approx|incl|excl|resp|etc|al|ca|st|max|min)|\b[A-Z])\.$", re.I
)


class Passage(NamedTuple):
    """A heading, a paragraph or a list item, as one line of plain text."""

    text: str
    """Without markup; code stands between `CODE_OPEN` and `CODE_CLOSE`."""
    marks: tuple[tuple[int, int], ...]
    """Offset in `text` and line number, for every line of the source."""
    section: tuple[str, ...]
    """Headings it stands under, outermost first."""
    level: int = 0
    """Of a heading, its level; 0 for prose."""
    quoted: bool = False
    """Whether it is a block quote."""

    def line_at(self, offset: int) -> int:
        """The line of the source a character comes from."""
        return max((line for start, line in self.marks if start <= offset), default=self.marks[0][1])


class Row(NamedTuple):
    """One row of a table."""

    line: int
    """Its line number."""
    cells: tuple[str, ...]
    """Plain text of its cells; as many as there are, which need not be as many as the header has."""

    def cell(self, column: int) -> str:
        """A cell, empty where the row is too short."""
        return self.cells[column] if column < len(self.cells) else ""


class Table(NamedTuple):
    """A table."""

    line: int
    """Line number of its header."""
    header: tuple[str, ...]
    """Plain text of the header's cells."""
    rows: tuple[Row, ...]
    """The rows below it."""
    section: tuple[str, ...]
    """Headings it stands under, outermost first."""
    caption: str
    """The passage above it."""
    quoted: bool = False
    """Whether it stands in a block quote."""

    def column(self, place: int) -> list[str]:
        """The cells of a column, from top to bottom."""
        return [row.cell(place) for row in self.rows]


class Sentence(NamedTuple):
    """One sentence of a passage."""

    text: str
    """Plain text."""
    line: int
    """Where it begins."""
    section: tuple[str, ...]
    """Headings it stands under; of a heading, those above it."""
    passage: int
    """Which passage of the document it is from."""
    start: int
    """Where in the passage it begins."""


class Document(NamedTuple):
    """A report."""

    passages: tuple[Passage, ...]
    """Its prose, in order."""
    tables: tuple[Table, ...]
    """Its tables, in order."""

    def sentences(self) -> Iterator[Sentence]:
        """Every sentence of the prose, headings included."""
        for number, passage in enumerate(self.passages):
            for start, text in split_sentences(passage.text):
                yield Sentence(text, passage.line_at(start), passage.section, number, start)


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences with the offset each begins at; what stands in code or in quotation marks never ends one."""
    start, kept = 0, QUOTED.sub(lambda quoted: "x" * len(quoted[0]), blanked_code(text))
    for found in SENTENCE_END.finditer(kept):
        if ABBREVIATION.search(text[start : found.start()]):
            continue
        yield start, text[start : found.start()]
        start = found.end()
    if text[start:].strip():
        yield start, text[start:]


def blanked_code(text: str, filler: str = "x") -> str:
    """The text with the insides of code replaced, character for character."""
    return CODE.sub(lambda found: CODE_OPEN + filler * len(found[1]) + CODE_CLOSE, text)


def shown(text: str) -> str:
    """Plain text as a reader would write it, with backticks around code."""
    return text.replace(CODE_OPEN, "`").replace(CODE_CLOSE, "`")


def without_code_marks(text: str) -> str:
    """Plain text with code as any other word."""
    return text.replace(CODE_OPEN, "").replace(CODE_CLOSE, "")


def plain(source: str) -> str:
    """Markdown of one line as plain text."""
    source = THOUSANDS.sub(",", visible(source.replace(CODE_OPEN, "").replace(CODE_CLOSE, "")))
    return SPACES.sub(" ", INLINE.sub(_plain_part, source)).strip()


def visible(text: str) -> str:
    """The text as a reader sees it: without characters nobody sees, and with words in the letters they show."""
    text = INVISIBLE.sub("", text)
    return text if text.isascii() else MIXED.sub(lambda word: word[0].translate(LOOKALIKES), text)


def _plain_part(found: re.Match[str]) -> str:
    if found["escaped"] or found["times"]:
        return found["escaped"] or found["times"]
    if found["code"] is not None:
        code = found["code"]
        stripped = code[1:-1] if code[0] == code[-1] == " " and code.strip() else code
        return f"{CODE_OPEN}{stripped}{CODE_CLOSE}"
    if found["entity"]:
        return html.unescape(found["entity"])
    if found["link"] is not None:
        return plain(found["link"])
    return " " if found["tag"] else ""


def split_cells(line: str) -> tuple[str, ...]:
    """The cells of a table's line; a bar behind a backslash belongs to its cell."""
    inner = QUOTE_MARK.sub("", line, count=1).strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(plain(cell.replace("\\|", "|")) for cell in PIPE.split(inner))


def read_document(text: str) -> Document:
    """A report as passages and tables, those in HTML too; fenced code and comments are left out."""
    return _Reader(HTML_TABLE.sub(_html_table, without_comments(text)).splitlines()).read()


def _html_table(found: re.Match[str]) -> str:
    """A table in HTML as Markdown, on the lines it stands on where it has enough of them."""
    rows = [HTML_CELL.findall(row) for row in HTML_ROW.findall(found[0])]
    lines = [f"| {' | '.join(' '.join(TAG.sub(' ', cell).split()) for cell in row)} |" for row in rows if row]
    if len(lines) < 2:
        return found[0]
    lines.insert(1, "|" + "---|" * max(lines[0].count("|") - 1, 1))
    spare = found[0].count("\n") + 1 - len(lines)
    return "\n".join([*lines, *[""] * max(spare, 1)])


def without_comments(text: str) -> str:
    """The text without its comments, and every other line where it was; one that nothing closes must begin a line."""
    kept, at, last = "", 0, text.rfind("-->")
    while found := CODE_OR_COMMENT.search(text, at):
        start, end = found.span()
        if not found["comment"] or (end > last and found["margin"] is None):
            kept += text[at:end]
        else:
            end = text.index("-->", end) + len("-->") if end <= last else len(text)
            kept += text[at:start] + "\n" * text.count("\n", start, end)
        at = end
    return kept + text[at:]


class _Reader:
    """Goes through the lines once; every line belongs to exactly one thing."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.section: list[tuple[int, str]] = []
        self.passages: list[Passage] = []
        self.tables: list[Table] = []
        self.pieces: list[tuple[str, int]] = []

    def read(self) -> Document:
        self.skip_front_matter()
        while self.at < len(self.lines):
            self.take(self.lines[self.at])
        self.finish()
        return Document(tuple(self.passages), tuple(self.tables))

    def skip_front_matter(self) -> None:
        if self.lines and self.lines[0].strip() == "---":
            ends = [n for n, line in enumerate(self.lines[1:200], start=1) if line.strip() in ("---", "...")]
            self.at = ends[0] + 1 if ends else 0

    def take(self, line: str) -> None:
        if fence := FENCE.match(line):
            self.finish()
            self.skip_fence(fence[1])
        elif heading := HEADING.match(line):
            self.finish()
            self.add_heading(len(heading[1]), ENUMERATED.sub("", plain(heading[2] or "")))
        elif self.is_table():
            self.finish()
            self.add_table()
        else:
            self.take_prose(line)

    def take_prose(self, line: str) -> None:
        inner = QUOTE_MARK.sub("", line, count=1)
        if not inner.strip() or RULE.match(inner):
            self.finish()
        else:
            if ITEM.match(inner) or (QUOTE_MARK.match(line) and not self.is_quoting()):
                self.finish()
                inner = ITEM.sub("", inner, count=1)
            self.pieces.append((inner, self.at + 1))
        self.at += 1

    def finish(self) -> None:
        """Closes the passage that is being read."""
        if self.pieces:
            self.passages.append(_join(self.pieces, self.headings(), quoted=self.is_quoting()))
            self.pieces = []

    def is_quoting(self) -> bool:
        """Whether the passage that is being read is a block quote."""
        return bool(self.pieces) and QUOTE_MARK.match(self.lines[self.pieces[0][1] - 1]) is not None

    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.section)

    def skip_fence(self, opening: str) -> None:
        closing = re.compile(rf" {{0,3}}{re.escape(opening[0])}{{{len(opening)},}}\s*$")
        self.at += 1
        while self.at < len(self.lines) and not closing.match(self.lines[self.at]):
            self.at += 1
        self.at += 1

    def add_heading(self, level: int, text: str) -> None:
        self.section = [entry for entry in self.section if entry[0] < level]
        self.passages.append(Passage(text, ((0, self.at + 1),), self.headings(), level))
        self.section.append((level, text))
        self.at += 1

    def is_table(self) -> bool:
        line = self.lines[self.at]
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if not PIPE.search(line) or not DELIMITER.match(QUOTE_MARK.sub("", following, count=1)):
            return False
        return DELIMITER.match(line) is None

    def add_table(self) -> None:
        start, self.at = self.at, self.at + 2
        rows: list[Row] = []
        while self.at < len(self.lines) and PIPE.search(self.lines[self.at]) and not self.is_table():
            rows.append(Row(self.at + 1, split_cells(self.lines[self.at])))
            self.at += 1
        caption = self.passages[-1].text if self.passages else ""
        header = split_cells(self.lines[start])
        quoted = QUOTE_MARK.match(self.lines[start]) is not None
        self.tables.append(Table(start + 1, header, tuple(rows), self.headings(), caption, quoted))


def _join(pieces: list[tuple[str, int]], section: tuple[str, ...], *, quoted: bool) -> Passage:
    """The lines of a passage as one; emphasis and code may run from line to line."""
    joined = "\n".join(text.strip() for text, _ in pieces)
    text = plain(joined)
    marks: list[tuple[int, int]] = []
    offset = 0
    for source, line in pieces:
        # Markup is shorter in plain text than in the source, so a line's start is looked for by its first word.
        words = plain(source).split(" ")
        found = text.find(words[0], offset) if words[0] else -1
        offset = found if found >= 0 else offset
        marks.append((offset if marks else 0, line))
        offset += len(plain(source)) if found >= 0 else 0
    return Passage(text, tuple(marks), section, quoted=quoted)
