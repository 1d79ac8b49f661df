"""Claims of a rendered text: what is printed where, in which form, and the address it comes from.

While a text is rendered under `marks.recording`, whatever a filter prints is wrapped in marks. When the text is done
they are taken out and become `claims.json`.
"""

import zlib
from collections.abc import Iterator, Sequence

import msgspec

from blade.report.addresses import Address
from blade.report.marks import END, MARK, MARKS, Form, number_in

CLAIMS = "claims.json"
SCHEMA_VERSION = "1.0"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Something a text prints that comes from somewhere."""

    line: int
    """Line of the text, from 1."""
    column: int
    """Where in the line it begins, in characters from 1."""
    text: str
    """What is printed."""
    form: Form
    """The filter that printed it, with its arguments."""
    address: Address
    """Where the value is: a pointer or an expression."""


class ClaimedText(msgspec.Struct, frozen=True, kw_only=True):
    """One rendered text."""

    lines: list[int]
    """CRC-32 of every line, which tells an edited line from one as it was rendered."""
    claims: list[Claim]
    """By line and column."""
    constants: dict[str, str] = {}
    """Numbers the text states itself, and what they mean."""


class ClaimsFile(msgspec.Struct, frozen=True, kw_only=True):
    """`claims.json`."""

    schema_version: str = SCHEMA_VERSION
    """Version of this format."""
    texts: dict[str, ClaimedText]
    """By file name."""


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A text and what it claims."""

    text: str
    """As a reader sees it."""
    claims: list[Claim]
    """What it prints, from where."""

    def with_lines(self, constants: dict[str, str] | None = None) -> ClaimedText:
        """For `claims.json`."""
        return ClaimedText(lines=line_sums(self.text), claims=self.claims, constants=constants or {})


DECODER = msgspec.json.Decoder(ClaimsFile)


def extract(text: str, found: Sequence[tuple[Form, Address]]) -> Rendered:
    """Takes the marks out of a text; of marks inside of one another the outer one counts."""
    kept: list[str] = []
    spans: list[tuple[int, int, int]] = []
    open_marks: list[tuple[int, int]] = []
    length = at = 0
    for one in MARK.finditer(text):
        kept.append(text[at : one.start()])
        length, at = length + one.start() - at, one.end()
        if one[0] != END:
            open_marks.append((number_in(one[1]), length))
        elif open_marks:
            number, start = open_marks.pop()
            if not open_marks and number < len(found):
                spans.append((start, length, number))
    plain = MARKS.sub("", "".join(kept) + text[at:])
    return Rendered(text=plain, claims=list(_claims(plain, spans, found)))


def _claims(text: str, spans: list[tuple[int, int, int]], found: Sequence[tuple[Form, Address]]) -> Iterator[Claim]:
    line, line_start = 1, 0
    for start, end, number in sorted(spans):
        line += text.count("\n", line_start, start)
        line_start = text.rfind("\n", 0, start) + 1
        form, address = found[number]
        yield Claim(line=line, column=start - line_start + 1, text=text[start:end], form=form, address=address)


def line_sums(text: str) -> list[int]:
    """A check sum for every line."""
    return [zlib.crc32(line.encode("utf-8", "replace")) for line in text.split("\n")]
