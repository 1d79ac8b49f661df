"""A Markdown report as passages of prose and tables, each with the line it stands on.

Reports of strangers are messy: ragged rows, bold cells, footnotes, odd spaces and dashes. Nothing here fails on them;
what cannot be read as a table is prose. Code spans stay recognisable in plain text (`CODE_OPEN` … `CODE_CLOSE`), for an
id in backticks is an id and a number in backticks is not a figure. Standard library only.
"""

import html
import re
from collections.abc import Iterator
from itertools import pairwise
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
HTML_CELL = re.compile(r"<(t[hd])\b([^>]*)>(.*?)(?=<t[hd]\b|</t[hd]>|$)", re.DOTALL | re.IGNORECASE)
SPANS = (re.compile(r"rowspan=\D?(\d{1,2})\b"), re.compile(r"colspan=\D?(\d{1,2})\b"))
HTML_ITEM = re.compile(r"^[ \t]*<li\b[^>]*>", re.MULTILINE | re.IGNORECASE)
HTML_HEADING = re.compile(r"^\s*<h([1-6])\b[^>]*>(.*)</h\1>\s*$", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")
SPACES = re.compile(r"[\s\u2000-\u200a\u202f\u205f]+")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
LOOKALIKES = str.maketrans("аеорсухіѕԁһјвкмнтАЕОРСХІЅЈВКМНТαονρ", "aeopcyxisdhjbkmhtAEOPCXISJBKMHTaovp")
MIXED = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*[\u0370-\u03ff\u0400-\u052f])\w+\b")
"""A word of letters that only look alike, which no honest word is."""
QUOTED = re.compile(r"“[^“”]*(?:“[^“”]*”[^“”]*)*”|\"[^\"]{2,1000}\"|«[^«»]+»|„[^„“”]+[“”]")
THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d,])")
DECIMAL_POINT = re.compile(r"(?<![\d.,])\d+\.\d{1,2}(?![\d.])")
FOREIGN = re.compile(r"(?<![\w.,])(\d{1,3}(?:[. \u00a0\u202f]\d{3})+(?!\d)|\d+)(,\d+)?(?![\w])")
SENTENCE_END = re.compile(rf"(?<=[.!?])[\"”’')\]]?\s+(?=[\"“‘'(\[{CODE_OPEN}]*[A-Z0-9{CODE_OPEN}])")
LINE_END = re.compile(r"[.!?][\"”’')\]]*\s+$")
"""A sentence that ends with its line, whatever the next one begins with."""
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
    indent: int = -1
    """Of a list item, how far it is indented; -1 for anything else."""

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


class Document(NamedTuple):
    """A report."""

    passages: tuple[Passage, ...]
    """Its prose, in order."""
    tables: tuple[Table, ...]
    """Its tables, in order."""

    def sentences(self) -> Iterator[Sentence]:
        """Every sentence of the prose, headings included."""
        for number, passage in enumerate(self.passages):
            lines = [start for start, _ in passage.marks if LINE_END.search(passage.text[:start])]
            for begin, end in pairwise([0, *lines, len(passage.text)]):
                for start, text in split_sentences(passage.text[begin:end].rstrip()):
                    yield Sentence(text, passage.line_at(begin + start), passage.section, number)


def with_points(text: str) -> str:
    """The text with decimal points, where most of its decimals have commas: `1.234,5` as `1,234.5`."""
    if len(DECIMAL_COMMA.findall(text)) <= 2 * len(DECIMAL_POINT.findall(text)) + 2:
        return text

    def swapped(found: re.Match[str]) -> str:
        return re.sub(r"[. \u00a0\u202f](?=\d{3})", ",", found[1]) + (found[2] or "").replace(",", ".")

    return FOREIGN.sub(swapped, text)


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


def without_quotes(text: str) -> str:
    """The text with what is quoted replaced, character for character."""
    return QUOTED.sub(lambda found: "x" * len(found[0]), text)


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
        stripped = code.strip("\n") or code
        stripped = stripped[1:-1] if stripped[0] == stripped[-1] == " " and stripped.strip() else stripped
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
    """A report as passages and tables, those in HTML too; fenced code, comments and front matter are left out."""
    lines = HTML_ITEM.sub("- ", HTML_TABLE.sub(_html_table, without_comments(text))).splitlines()
    lines = [HTML_HEADING.sub(lambda found: f"{'#' * int(found[1])} {found[2]}", line) for line in lines]
    section: list[tuple[int, str]] = []
    passages: list[Passage] = []
    tables: list[Table] = []
    pieces: list[tuple[str, int]] = []
    indent = -1

    def is_quoting() -> bool:
        return bool(pieces) and QUOTE_MARK.match(lines[pieces[0][1] - 1]) is not None

    def headings() -> tuple[str, ...]:
        return tuple(heading for _, heading in section)

    def finish() -> None:
        """Closes the passage that is being read."""
        if pieces:
            passages.append(_join(pieces, headings(), quoted=is_quoting(), indent=indent))
            pieces.clear()

    at = 0
    if lines and lines[0].strip() == "---":
        at = next((n + 1 for n, line in enumerate(lines[1:200], start=1) if line.strip() in ("---", "...")), 0)
    while at < len(lines):
        line = lines[at]
        inner = QUOTE_MARK.sub("", line, count=1)
        if fence := FENCE.match(line):
            finish()
            closing = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
            at = next((n for n in range(at + 1, len(lines)) if closing.match(lines[n])), len(lines))
        elif found := HEADING.match(line):
            finish()
            level, heading = len(found[1]), ENUMERATED.sub("", plain(found[2] or ""))
            section = [entry for entry in section if entry[0] < level]
            passages.append(Passage(heading, ((0, at + 1),), headings(), level))
            section.append((level, heading))
        elif _is_table(lines, at):
            finish()
            caption, quoted = passages[-1].text if passages else "", QUOTE_MARK.match(line) is not None
            end = at + 2
            while end < len(lines) and PIPE.search(lines[end]) and not _is_table(lines, end):
                end += 1
            rows = tuple(Row(n + 1, cells) for n in range(at + 2, end) if any(cells := split_cells(lines[n])))
            tables.append(Table(at + 1, split_cells(line), rows, headings(), caption, quoted))
            at = end - 1
        elif not inner.strip() or RULE.match(inner):
            finish()
        else:
            item = ITEM.match(inner)
            if item or (QUOTE_MARK.match(line) and not is_quoting()):
                finish()
            if not pieces:
                indent = len(inner.expandtabs(4)) - len(inner.expandtabs(4).lstrip()) if item else -1
            inner = inner[item.end() :] if item else inner
            pieces.append((inner, at + 1))
        at += 1
    finish()
    return Document(tuple(passages), tuple(tables))


def _is_table(lines: list[str], at: int) -> bool:
    """Whether the head of a table stands on a line: cells, and a line of dashes below them."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    is_head = PIPE.search(lines[at]) is not None and DELIMITER.match(lines[at]) is None
    return is_head and DELIMITER.match(QUOTE_MARK.sub("", below, count=1)) is not None


def _html_table(found: re.Match[str]) -> str:
    """A table in HTML as Markdown, its rows on the lines they stand on where there is room; spans are written out."""
    rows: list[tuple[int, dict[int, str]]] = []
    heads, held = 0, dict[int, tuple[int, str]]()  # what reaches down from the rows above, and how far, by column
    for source in HTML_ROW.finditer(found[0]):
        row, at = dict[int, str](), 0
        reaching, held = held, {place: (left - 1, text) for place, (left, text) in held.items() if left > 1}
        for tag, attributes, content in HTML_CELL.findall(source[1]):
            while at in reaching:
                at += 1
            down, across = (int(span[1]) if (span := one.search(attributes)) else 1 for one in SPANS)
            text = " ".join(TAG.sub(" ", content).split())
            for place in range(at, at + max(across, 1)):
                row[place] = text if place == at or tag.lower() == "th" else ""
                held |= {place: (down - 1, text)} if down > 1 else {}
            at += max(across, 1)
        if row:
            is_head = heads == len(rows) and re.search(r"<td\b", source[0], re.IGNORECASE) is None
            heads += is_head
            row |= {place: "" if is_head else text for place, (_, text) in reaching.items()}
            rows.append((found[0].count("\n", 0, source.start()), row))
    if len(rows) < 2:
        return found[0]
    width, heads = max(max(row) for _, row in rows) + 1, max(heads, 1)
    names = {n: " ".join(filter(None, (row.get(n, "") for _, row in rows[:heads]))) for n in range(width)}
    lines: list[str] = [""] * max(rows[min(heads, len(rows) - 1)][0] - 2, 0)
    for place, row in [(0, names), (0, dict.fromkeys(range(width), "---")), *rows[heads:]]:
        lines += ["||"] * (place - len(lines))  # a row of nothing
        lines.append(f"| {' | '.join(row.get(n, '') for n in range(width))} |")
    return "\n".join([*lines, *[""] * max(found[0].count("\n") + 1 - len(lines), 1)])


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


def _join(pieces: list[tuple[str, int]], section: tuple[str, ...], *, quoted: bool, indent: int) -> Passage:
    """The lines of a passage as one; emphasis and code may run from line to line."""
    text = plain("\n".join(source.strip() for source, _ in pieces))
    marks: list[tuple[int, int]] = []
    offset = 0
    for source, line in pieces:
        # Markup is shorter in plain text than in the source, so a line's start is looked for by its first word.
        shown_line = plain(source)
        first = shown_line.split(" ")[0]
        found = text.find(first, offset) if first else -1
        offset = found if found >= 0 else offset
        marks.append((offset if marks else 0, line))
        offset += len(shown_line) if found >= 0 else 0
    return Passage(text, tuple(marks), section, quoted=quoted, indent=indent)
