"""Foreign text made safe to show: in Markdown, in a Markdown table, and in a terminal.

Task keys, field values, quotes and even reasons come from models and files, so they are hostile until shown otherwise.
Whatever was made safe is a `Markdown`; the report's template escapes every other text it is given.
"""

import html
import re
from collections.abc import Iterator

from blade.report.marks import marked

MOST = 1000
"""Characters of foreign text shown in one place, at most."""
CODE_MOST = 1000
"""Keys and commands are shown whole, to be copied; a key of more than this is not a key."""
CELL_MOST = 400

ESCAPE_SEQUENCE = re.compile(
    r"\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # a terminal's title, links, clipboard
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[ -/]*[0-~]"
)
LINE_ENDS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad"  # controls, soft hyphen
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction marks, embeddings and overrides
    "\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb"  # zero-width signs; joiners stay, ordinary writing needs them
    "\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"  # tags and selectors, which can hide whole sentences
)
SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters: JSON can hold them, UTF-8 cannot."""

UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
"""What a terminal may act on and JSON does not escape by itself."""

PIECE = 1 << 20
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)")
LINK = re.compile(r"://|\bwww\.|@\S*\.\S|(?<!\w)@", re.IGNORECASE)
"""What a renderer would turn into a link or a mention without being asked."""
ESCAPES = str.maketrans(
    {
        **{sign: "\\" + sign for sign in "\\*_[]|~$"},
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
        "`": "&#96;",
    }
)
PLAIN_MARKUP = re.compile(r"\\(.)|&(?:lt|gt|amp|#96);|\*+")
BLOCK_START = re.compile(r"[#+\-=:]|[0-9]+(?=[.)](?: |$))")
"""What would begin a heading, a list, a rule or a table if the text stood at the start of a line."""


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""

    __slots__ = ()


def plain(text: str) -> str:
    """Text a terminal can be given: no control, escape, bidirectional or invisible characters; lines and tabs stay."""
    text = LINE_ENDS.sub("\n", ESCAPE_SEQUENCE.sub("", text))
    return SURROGATES.sub("\ufffd", INVISIBLE.sub("", text))


def safe_json(document: bytes) -> bytes:
    """The same JSON, with characters that terminals and editors act on escaped."""
    return b"".join(map(safe_piece, pieces_of(document)))


def pieces_of(document: bytes) -> Iterator[bytes]:
    """A document in pieces of whole lines: of a large one, a decoded copy takes several times its size."""
    start = 0
    while start < len(document):
        end = document.find(b"\n", start + PIECE) + 1 or len(document)
        yield document[start:end]
        start = end


def safe_piece(piece: bytes) -> bytes:
    if piece.isascii() and b"\x7f" not in piece:
        return piece
    return UNSAFE_IN_JSON.sub(escape_in_json, piece.decode()).encode()


def escape_in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def clip(text: str, most: int) -> str:
    """At most so many characters, the last of them `…` when something was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def one_line(text: str, most: int = MOST) -> str:
    """Plain text with every run of white space made one space."""
    return clip(" ".join(plain(clip(text, 4 * most)).split()), most)


def md(text: str, most: int = MOST) -> Markdown:
    """Foreign text as one line of Markdown; `code` in it stays code, nothing else in it is markup."""
    return Markdown(marked(text, _inline(one_line(text, most), in_table=False), "md", most))


def sentence(text: str, most: int = MOST) -> Markdown:
    """The same, beginning with a capital."""
    return Markdown(
        marked(text, _inline(one_line(text[:1].upper() + text[1:], most), in_table=False), "sentence", most)
    )


LEAST_CLAUSE = 40
"""Characters of a clause that are worth reading."""


def clauses(text: str, most: int = MOST) -> Markdown:
    """Foreign text as one line of Markdown, as many whole clauses and quotations as fit, without a full stop."""
    first, *others = re.split(r"(?<=[;.]) ", one_line(text))
    parts, room = [first], most - len(first)
    for part in others:
        room -= len(part)
        if room <= 0:
            break
        parts.append(part)
    if len(parts) == 1 and others and (room := most - len(first)) > LEAST_CLAUSE and "“" not in others[0]:
        parts.append(clip(others[0], room))  # a first clause that says little, before a long one
    elif len(parts) <= len(others):
        while len(parts) > 1 and (said := " ".join(parts)).count("“") > said.count("”"):
            parts.pop()
    kept = re.sub(r"\.(”?)$", r"\1", clip(" ".join(parts).rstrip(";"), MOST))
    return Markdown(marked(text, _inline(kept, in_table=True), "clauses", most))


def cell(text: str, most: int = CELL_MOST) -> Markdown:
    """The same for a table, where a vertical bar would begin the next column."""
    return Markdown(marked(text, _inline(one_line(text, most), in_table=True), "cell", most))


def code(text: str, most: int = CODE_MOST) -> Markdown:
    """Foreign text as code, whatever backticks it holds."""
    return Markdown(marked(text, _code(one_line(text, most), in_table=False), "code", most))


def code_cell(text: str, most: int = CODE_MOST) -> Markdown:
    """Foreign text as code in a table."""
    return Markdown(marked(text, _code(one_line(text, most), in_table=True), "code_cell", most))


def readable(markdown: str) -> str:
    """Markdown of ours as a terminal shows it: no escapes and no emphasis, code in single backticks."""
    pieces, end = list[str](), 0
    for span in CODE_SPAN.finditer(markdown):
        pieces.append(PLAIN_MARKUP.sub(_unescaped, markdown[end : span.start()]))
        pieces.append(f"`{span[2].strip()}`")
        end = span.end()
    return "".join([*pieces, PLAIN_MARKUP.sub(_unescaped, markdown[end:])])


def _unescaped(found: re.Match[str]) -> str:
    return found[1] or (html.unescape(found[0]) if found[0].startswith("&") else "")


def _inline(line: str, *, in_table: bool) -> Markdown:
    pieces: list[str] = []
    end = 0
    for span in CODE_SPAN.finditer(line):
        if span[2].isspace():
            continue  # two backticks around nothing are two backticks
        pieces += _words(line[end : span.start()], in_table=in_table)
        pieces.append(_code(span[2].strip(), in_table=in_table))
        end = span.end()
    pieces += _words(line[end:], in_table=in_table)
    return _block_safe(_join(pieces))


def _words(text: str, *, in_table: bool) -> list[str]:
    """Words and the spaces between them, escaped; a word that would become a link becomes code."""
    words = (word for word in re.split(r"( )", text) if word)
    return [_code(word, in_table=in_table) if LINK.search(word) else word.translate(ESCAPES) for word in words]


def _join(pieces: list[str]) -> str:
    """Puts a space between neighbouring code spans, whose backticks would run together."""
    out = ""
    for piece in pieces:
        out += " " + piece if out.endswith("`") and piece.startswith("`") else piece
    return out


def _block_safe(line: str) -> Markdown:
    match = BLOCK_START.match(line)
    if match is None:
        return Markdown(line)
    at = match.end() if match[0][0].isdecimal() else 0
    return Markdown(f"{line[:at]}\\{line[at:]}")


def _code(line: str, *, in_table: bool) -> Markdown:
    if not line:
        return Markdown("(empty)")
    longest = max(map(len, re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    shown = line.replace("|", "\\|") if in_table else line
    return Markdown(f"{fence}{pad}{shown}{pad}{fence}")
