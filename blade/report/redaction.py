"""What must not leave the house with a text: secrets, home folders, user names, internal addresses.

A thing is *removed* when its form alone tells what it is, and *flagged* when only a person can tell, such as a long
random word. Removing is safe to repeat: a text that was redacted once has nothing left to remove.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

import msgspec

MARK = "[redacted:{kind}]"
ESCAPED = re.compile(r"\\([*_\[\]|~$])")

NOT_SECRET = r"(?:\*+|x{3,}|\.\.\.|<[^>]*>|\$\{?\w+\}?|\{\{.*?\}\}|none|null|true|false|redacted|your[-_ ]?\w+)"
"""What stands where a secret would, in examples and templates."""

REMOVED: dict[str, re.Pattern[str]] = {
    "private_key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    "api_key": re.compile(
        r"\b(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}"
        r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{20,}"
        r"|nvapi-[\w-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|[rs]k_(?:live|test)_\w{16,})"
    ),
    "token": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<=\bBearer )[\w.~+/=-]{12,}", re.IGNORECASE),
    "credentials": re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"),
    "secret": re.compile(
        r"(?i)(?:(?<=password)|(?<=passwd)|(?<=secret)|(?<=token)|(?<=api_key)|(?<=api-key)|(?<=apikey)"
        r"|(?<=access_key)|(?<=private_key)|(?<=credential))"
        rf"[\"']?\s*(?:=|:)\s*[\"']?(?!{NOT_SECRET}\b)(?P<value>(?=[^\s\"',;]*\d)[^\s\"',;]{{8,}})"
    ),
    "endpoint": re.compile(
        r"(?i)\b(?:https?|wss?|grpc|tcp|s3|gs|postgres(?:ql)?|redis|mongodb)://(?:[^\s/@]+@)?"
        r"(?:localhost|(?:127|10)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
        r"|\[::1\]|[\w.-]+\.(?:internal|local|lan|corp|intra|svc|cluster\.local))(?::\d+)?[^\s`\"'<>)\]]*"
        r"|\b(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?::\d+)?\b"
    ),
    "email": re.compile(r"\b[\w.+-]+@(?!(?:[\w-]+\.)*example(?:\.(?:com|org|net))?\b)[\w-]+(?:\.[\w-]+)+\b"),
}
"""By kind, in the order in which they are looked for: what is part of something larger comes after it."""

HOME = re.compile(
    r"(?<![\w:/.~-])(?:/(?:home|Users)/(?P<a>[\w.-]+)|/root|/(?:[\w.-]+/)+(?:users?|home)/(?P<b>[\w.-]+))(?=/|\b)"
    r"|\b[A-Za-z]:\\Users\\(?P<c>[\w.-]+)"
)
COMMON_NAMES = frozenset({"user", "users", "ubuntu", "app", "runner", "agent", "admin", "root", "shared", "public"})
"""Names that say nothing about anybody."""
LONG_WORD = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w/+.-])")
ENTROPY = 4.0
"""Bits per character above which a long word looks drawn at random."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Something that should not be shared."""

    kind: str
    """What it is, such as `api_key`."""
    line: int
    """Where it stands, from 1."""
    removed: bool
    """Whether it was taken out; otherwise a person must decide."""
    shown: str
    """Enough of it to find it, not enough to use it."""


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text without what must not be shared."""

    text: str
    """What is left."""
    found: list[Found]
    """What was found, in order of the lines."""


def redact(text: str) -> Redacted:
    """The text with secrets and private places removed, and what looks like a secret flagged."""
    found: list[Found] = []
    for kind, pattern in REMOVED.items():
        for value in values(pattern, text):
            text = remove(value, kind, MARK.format(kind=kind), text=text, found=found)
    homes = {match[0]: name_in(match) for match in HOME.finditer(unescaped(text))}
    for home in sorted(homes, key=len, reverse=True):
        text = remove(home, "home_path", "~", text=text, found=found)
    for name in sorted(set(homes.values()) - COMMON_NAMES):
        text = remove(name, "user_name", MARK.format(kind="user_name"), text=text, found=found)
    found += flagged(text)
    return Redacted(text=text, found=sorted(found, key=lambda one: (one.line, one.kind)))


def unescaped(text: str) -> str:
    """Markdown without the backslashes that keep its signs from being markup: a secret in a report has them too."""
    return ESCAPED.sub(r"\1", text)


def values(pattern: re.Pattern[str], text: str) -> list[str]:
    """What a pattern finds, the longest first, so that none is cut by another."""
    matches = pattern.finditer(unescaped(text))
    return sorted({match.groupdict().get("value") or match[0] for match in matches}, key=len, reverse=True)


def name_in(match: re.Match[str]) -> str:
    """The user a home folder is named after."""
    return next((match[group] for group in "abc" if match[group]), "root")


def remove(value: str, kind: str, mark: str, *, text: str, found: list[Found]) -> str:
    """The text without a value, wherever it stands as a whole and with or without Markdown's backslashes."""
    spelled = "".join(rf"\\?{re.escape(sign)}" for sign in value)

    def hide(match: re.Match[str]) -> str:
        found.append(seen(match, kind, value))
        return mark

    return re.sub(rf"(?<!\w){spelled}(?!\w)", hide, text)


def seen(match: re.Match[str], kind: str, value: str, *, removed: bool = True) -> Found:
    line = match.string.count("\n", 0, match.start()) + 1
    return Found(kind=kind, line=line, removed=removed, shown=hint_of(value))


def hint_of(value: str) -> str:
    """The first characters of a thing and its length."""
    first = value.split("\n", 1)[0]
    return f"{first[: min(4, len(first) // 3)]}… ({len(value)} characters)"


def flagged(text: str) -> Iterator[Found]:
    """Long words that look drawn at random: keys of unknown makers, or harmless digests."""
    for match in LONG_WORD.finditer(text):
        word = match[0]
        mixed = any(c.isdigit() for c in word) and any(c.isupper() for c in word) and any(c.islower() for c in word)
        if mixed and entropy(word) > ENTROPY:
            yield seen(match, "random_word", word, removed=False)


def entropy(word: str) -> float:
    """Bits per character of a word, by how often its characters occur in it."""
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
