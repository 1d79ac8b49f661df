"""Redacts secrets, home paths, user names and internal addresses from a text.

What is found is removed, wherever it stands and however Markdown escapes it. Redacting again removes nothing more. What
is promised is measured, not complete: a password that reads like a word, in a sentence, cannot be told from one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

import msgspec

from blade.report.secrets import Span, secrets_in

MARK = "[redacted:{kind}]"
MARKED = re.compile(r"\[redacted:\w+\]")
ESCAPED = re.compile(r"\\([*_\[\]|~$])")
ROUNDS = 8
"""A removal can uncover another thing at most so many times."""
LONG = 8
"""A secret of so many characters is removed wherever else it stands; a shorter one may be a word like any other."""

PRIVATE_HOST = (
    r"(?:localhost|(?:127|10)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
    r"|\[::1\]|[\w.-]{1,253}\.(?:internal|local|lan|corp|intra|svc|cluster\.local))"
)
PRIVATE_ADDRESS = r"(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})"
PLACES = {
    "endpoint": re.compile(
        r"(?i)\b(?:https?|wss?|grpc|tcp|s3|gs|postgres(?:ql)?|redis|mongodb)://(?:[^\s/@]{1,256}@)?"
        rf"{PRIVATE_HOST}(?::\d+)?[^\s`\"'<>)\]]*|(?<![\w.]){PRIVATE_ADDRESS}(?::\d+)?(?![\w.]\d)"
    ),
    "email": re.compile(
        r"(?<![\w.+-])[\w.+-]{1,64}@(?!(?:[\w-]{1,63}\.){0,8}example(?:\.(?:com|org|net))?\b)"
        r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b"
    ),
}
HOME = re.compile(
    r"(?<![\w:/.~-])(?:/(?:home|Users)/(?P<a>[\w.-]+)|/root|/(?:[\w.-]+/)+(?:users?|home)/(?P<b>[\w.-]+))(?=/|\b)"
    r"|\b[A-Za-z]:\\Users\\(?P<c>[\w.-]+)"
)
COMMON_NAMES = frozenset({"user", "users", "ubuntu", "app", "runner", "agent", "admin", "root", "shared", "public"})
"""Names that say nothing about anybody."""
FIRST = re.compile(r"\w+")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was removed."""

    kind: str
    """What it is, such as `api_key`."""
    line: int
    """Where it stood, from 1."""
    shown: str
    """Enough of it to find it, not enough to use it."""


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text without what must not be shared."""

    text: str
    """What is left."""
    found: list[Found]
    """What was removed, in order of the lines."""


def redact(text: str) -> Redacted:
    """The text without secrets and private places."""
    found: list[Found] = []
    for _ in range(ROUNDS):
        spans = outside_marks(text, in_original(text, private_spans(unescaped(text))))
        if not spans:
            break
        lines = [match.start() for match in re.finditer("\n", text)]
        found += [found_at(text, span, line=bisect_left(lines, span.start) + 1) for span in spans]
        text = without(text, spans)
    return Redacted(text=text, found=sorted(found, key=lambda one: (one.line, one.kind)))


def unescaped(text: str) -> str:
    """Markdown without the backslashes that keep its signs from being markup: a secret in a report has them too."""
    return ESCAPED.sub(r"\1", text)


def in_original(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans of the unescaped text as spans of the text, in order and without overlaps."""
    dropped = [match.start() - n for n, match in enumerate(ESCAPED.finditer(text))]
    merged: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        start, end = (place + bisect_left(dropped, place) for place in (span.start, span.end))
        if merged and start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(end, merged[-1].end))
        elif start < end:
            merged.append(Span(start, end, span.kind))
    return merged


def outside_marks(text: str, spans: list[Span]) -> list[Span]:
    """The parts of spans that are not what an earlier removal left."""
    parts = []
    for start, end, kind in spans:
        marks = [mark.span() for mark in MARKED.finditer(text, max(0, start - 40), min(len(text), end + 40))]
        edges = [start, *(place for mark in marks for place in mark), end]
        for left, right in zip(edges[::2], edges[1::2], strict=True):
            left, right = max(left, start), min(right, end)
            if any(sign.isalnum() for sign in text[left:right]):
                parts.append(Span(left, right, kind))
    return parts


def private_spans(text: str) -> Iterator[Span]:
    """Everything that must go, with every other place where the same stands."""
    spans = [*secrets_in(text)]
    spans += [Span(*match.span(), kind) for kind, pattern in PLACES.items() for match in pattern.finditer(text)]
    homes = list(HOME.finditer(text))
    names = {match[group] for match in homes for group in "abc" if match[group]} - COMMON_NAMES
    yield from spans
    yield from (Span(*match.span(), "home_path") for match in homes)
    again = {text[start:end]: kind for start, end, kind in spans if end - start >= LONG}
    yield from repeats(text, again | dict.fromkeys(names, "user_name"))


def repeats(text: str, values: dict[str, str]) -> Iterator[Span]:
    """Where values stand as whole words; one pass over the text, however many there are."""
    starts: dict[str, list[tuple[str, int]]] = {}
    for value in values:
        if first := FIRST.search(value):
            starts.setdefault(first[0], []).append((value, first.start()))
    for word in FIRST.finditer(text) if starts else ():
        for value, before in starts.get(word[0], ()):
            start = word.start() - before
            end = start + len(value)
            if start >= 0 and text.startswith(value, start) and not FIRST.match(text, end):
                yield Span(start, end, values[value])


def without(text: str, spans: list[Span]) -> str:
    """The text with a mark for each span; home folders become `~`."""
    pieces, at = [], 0
    for start, end, kind in spans:
        pieces += [text[at:start], "~" if kind == "home_path" else MARK.format(kind=kind)]
        at = end
    return "".join([*pieces, text[at:]])


def found_at(text: str, span: Span, *, line: int) -> Found:
    return Found(kind=span.kind, line=line, shown=hint_of(text[span.start : span.end]))


def hint_of(value: str) -> str:
    """The first characters of a thing and its length."""
    first = value.split("\n", 1)[0]
    return f"{first[: min(4, len(first) // 3)]}… ({len(value)} characters)"
