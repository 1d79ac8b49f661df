"""Where a text holds a secret: by its form, by the name it is given, or because it looks drawn at random.

Each finder takes linear time. The forms of many makers come from `detect-secrets`, which others maintain. A value is a
secret when its name says so (`db_password`, `--token`, `Authorization`) in any of the ways a value is given: code, JSON
inside JSON, XML, headers, flags, connection strings. And a long word that changes between letters, digits and cases as
language never does is a key, whoever issued it.

Bare digests and UUIDs, and whatever is named an id or a digest, are left alone: trajectories are full of them.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

QUOTE = r"[\\\"'`]"
"""A quote, or the backslash before one: tool arguments are JSON inside JSON."""
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

FORMS = {
    "token": (
        r"(?i)\bbearer\s{1,4}(?P<value>(?=\S{0,40}[\d_.=-])[\w.~+/=-]{12,})",
        rf"(?i)authorization{QUOTE}{{0,18}}\s{{0,2}}[:=]\s{{0,2}}{QUOTE}{{0,18}}(?:[a-z0-9-]{{2,16}}\s{{1,4}})?"
        r"(?P<value>(?=\S{0,40}\d)[^\s\"'\\,]{8,})",
        r"\b(?P<value>akab-[a-z0-9]{16}-[a-z0-9]{16}|amzn\.mws\.[0-9a-z]{8}(?:-[0-9a-z]{4,12}){4})\b",
        r"\b(?P<value>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}|\d{13,18}\|[\w-]{24,32})(?![\w-])",
        r"\b(?P<value>NR(?:AK|II|JS|BR|RA|AL)-[0-9A-Za-z]{18,42}|PMA[KT]-[A-Za-z0-9-]{24,60})\b",
        r"\b(?P<value>TlRMTVNTUA[A-Za-z0-9+/_-]{16,2000}={0,2})",
    ),
    "credentials": (
        r"(?<=://)(?P<value>[^\s/:@\"'<>]{0,128}:[^\s@\"'<>]{1,256})(?=@)",
        r"(?:(?<=\s)|^)(?:-u|-U|--user|--proxy-user)[\s=]{1,3}[\"']?[^\s:\"'\\]{1,64}:(?P<value>[^\s\"'\\]{3,128})",
        r"(?i)\blogin\s{1,8}\S{1,64}\s{1,8}password\s{1,8}(?P<value>\S{3,128})",
        r"(?i)\b(?:mysql\w{0,10}|mariadb|sshpass|psexec\w{0,4}|mongo\w{0,8}|redis-cli|ldap\w{0,10}|smbclient|schtasks)"
        r"\b[^\n]{0,200}?\s[-/](?:p|a|w|pass|rp)[\s:]{0,2}[\"'\\]{0,2}(?P<value>[^\s\"'\\-][^\s\"'\\]{3,127})",
        rf"(?i)(?:connect|credential)[\w\]:]{{0,12}}\([^\n;]{{0,120}}?,\s{{0,8}}{QUOTE}{{1,2}}[^\"'\n]{{1,64}}[\"'],"
        rf"\s{{0,8}}{QUOTE}{{1,2}}(?P<value>[^\s\"'\\]{{4,64}}){QUOTE}",
        rf"(?i)(?:identified\s{{1,4}}by|secure-?string)\s{{1,4}}{QUOTE}{{1,2}}(?P<value>[^\s\"'\\]{{4,128}})",
    ),
    "cookie": (
        rf"(?i)\b(?:set-)?cookie{QUOTE}{{0,18}}\s{{0,2}}[:=]\s{{0,2}}{QUOTE}{{0,18}}(?P<value>[^\r\n\"'\\]{{8,}})",
    ),
    "password_hash": (r"(?<![\w$])(?P<value>\$[a-z0-9-]{1,16}\$[A-Za-z0-9./$=,*:@+_-]{20,})",),
    "mnemonic": (
        r"(?i)(?:mnemonic|seed[-_ ]?(?:phrase|words))\W{1,8}(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    ),
}
"""Secrets told by what stands before them; each begins with something rare and goes a bounded way from there."""
PATTERNS = [(kind, re.compile(form)) for kind, forms in FORMS.items() for form in forms]

HEXADECIMAL = [
    re.compile(
        r"(?<![A-Za-z0-9_-])(?P<value>[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,16}){0,4}[_-]"
        rf"(?:[0-9a-f]{{24,256}}|{UUID})(?:[_-][0-9a-f]{{8,64}})?)(?![A-Za-z0-9]|\.[a-z]{{1,5}}\b)"
    ),
    re.compile(
        rf"(?i)(?<=[\w.\"'\\-])\s?[:=]\s?{QUOTE}{{0,18}}"
        rf"(?P<value>[0-9a-f]{{32}}|[0-9a-f]{{40}}|[0-9a-f]{{64}}|{UUID})(?![\w.-])"
    ),
]
"""Digests that are a key: with the prefix of a maker, or given to a name."""
IDENTITY = re.compile(
    r"(?i)(?:id|uuid|guid|etag|hash|digest|sha\d*|md5|checksum|integrity|commit|rev(?:ision)?|ref|version)s?"
    r"[\\\"'`\])]{0,4}\s?[:=]\s?[\\\"'`\[(]{0,4}$"
)
"""The name of what says which thing it is, not who may use it."""
DIGEST_PREFIX = re.compile(r"(?i)(?:sha\d*|md5|blake\w*|crc\d*|commit|rev|uuid|guid|hash|digest)[-_]")

NAME = re.compile(
    r"(?i)(?P<strong>passw(?:or)?d|passphrase|passwd|pwd|(?<=[a-z][_-])pass(?=\\?[\"'=: ])|secret|credentials?"
    r"|(?:api|access|private|account|auth|master|signing|encryption|service|shared|license)[-_. ]?key"
    r"|token(?!s|iz|_count)|(?<![a-z])pat(?![a-z])|authorization|(?<![a-z])pw(?![a-z]))"
    r"|key(?!board|word)|auth(?!or)|signature|(?<![a-z])sig(?![a-z])|cookie|session|webhook|(?<![a-z])sid(?![a-z])"
    r"|dsn|salt|nonce|cert"
)
"""Names of secrets; those that are not strong are names of other things as well, and their values must look random."""
GIVEN = re.compile(
    r"[\w.-]{0,24}\s{0,16}[\\\"'`)\]}*]{0,20}\s{0,16}"
    r"(?P<sign>=>|:=|={1,3}|!=|\|\||:{1,2}|>|,(?=\s*[\\\"'])|(?:is|was)(?=\s))?\s{0,16}(?P<quote>[\\\"'`@(\[]{0,20})"
    r"(?:(?i:basic|bearer|token|apikey|key|negotiate|digest)\s+)?(?P<value>[^\s\"'`\\<>]{4,256})"
)
VALUE = re.compile(r"[^\s\"'`\\<>]*")
PLACEHOLDER = re.compile(
    r"(?i)[\W_]*(?:(?:your|my|the|a|an|some|insert|enter|example|sample|dummy|fake|test|new|old|user|invalid|wrong)?"
    r"[-_ ]?(?:api|access|secret|auth)?[-_ ]?(?:x{3,}|\.{3}|none|null|nil|undefined|true|false|redacted\w*|removed"
    r"|hidden|passw(?:or)?d|token|key|value|string|here|str|bool|int|placeholder|change_?me)[-_ ]?(?:goes )?(?:here)?"
    r"|your[-_ ].*)[\W_]*"
)
"""What stands where a secret would, in examples and templates."""
FILLED_IN = re.compile(r"<[^>]*>|\$\{?\w+|\{\{?[^}]*\}?|%\(?\w+|\*+|\w+\(.*|(?:os|self|process|env|config)[.\[].*")
"""What is filled in later, or is code."""
ORDINARY = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*|[\d.,%/:-]+")
"""A word, a name or a number, as one writes them."""

BASIC = re.compile(r"(?i)\bbasic\s{1,4}(?P<value>[A-Za-z0-9+/_-]{6,1024}={0,2})")
BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|MESSAGE|SECRET)[A-Z ]{0,10}-----|PuTTY-User-Key-File-\d")
END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
KEY_LINE = re.compile(r"(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{16,}|[A-Z][\w-]{2,30}: [^\n\\]{1,100})")
LONGEST_KEY = 32_768

WORD = re.compile(r"[A-Za-z0-9_+/=~.-]{19,}[A-Za-z0-9_+/=-]")
ATOM = re.compile(r"[A-Za-z0-9]{16,}")
SEGMENT = re.compile(r"[A-Za-z0-9_+=~.-]{19,}[A-Za-z0-9_=-]")
SIGNS = re.compile(r"[A-Za-z0-9]+")
ATTACHED = re.compile(r"(?:[.=_~+-]{0,2}[A-Za-z0-9]{1,200}){0,8}={0,2}")
PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
HEX = re.compile(r"(?i)(?=[a-f-]*\d)[0-9a-f-]+")

WINDOW, OVERLAP = 2048, 512
"""Foreign patterns see so many characters at once, for some take quadratic time; no known token exceeds the overlap."""
NOT_USED = frozenset({"IPPublicDetector", "PrivateKeyDetector", "BasicAuthDetector", "NpmDetector"})
"""Plugins for what is not a secret, is found here to its end, or takes cubic time."""


class Span(NamedTuple):
    """A piece of text that must not be shared."""

    start: int
    end: int
    kind: str


def secrets_in(text: str) -> Iterator[Span]:
    """Every secret, in no order; spans may overlap."""
    yield from private_keys(text)
    for kind, pattern in PATTERNS:
        yield from (Span(*match.span("value"), kind) for match in pattern.finditer(text))
    for match in BASIC.finditer(text):
        if is_login(match["value"]):
            yield Span(*match.span("value"), "token")
    for pattern in HEXADECIMAL:
        for match in pattern.finditer(text):
            if not DIGEST_PREFIX.match(match["value"]) and not is_identity(text, match.start("value")):
                yield Span(*match.span("value"), "api_key")
    yield from known_forms(text)
    yield from random_words(text)
    yield from named_secrets(text)


def private_keys(text: str) -> Iterator[Span]:
    """Key blocks: to their end, or, without one, as far as the lines look like those of a key."""
    begins = list(BEGIN.finditer(text))
    nexts = [match.start() for match in begins[1:]] + [len(text)]
    for match, limit in zip(begins, nexts, strict=False):
        limit = min(limit, match.end() + LONGEST_KEY)
        closing = END.search(text, match.end(), limit)
        stop = closing.end() if closing else match.end()
        while not closing and (line := KEY_LINE.match(text, stop, limit)):
            stop = line.end()
        yield Span(match.start(), stop, "private_key")


def is_login(word: str) -> bool:
    """Whether base64 hides `user:password`."""
    try:
        return b":" in base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_" if "-" in word else None)
    except binascii.Error:
        return False


def known_forms(text: str) -> Iterator[Span]:
    """What `detect-secrets` knows the form of."""
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        piece = text[start : start + WINDOW]
        for pattern in foreign_patterns():
            for match in pattern.finditer(piece):
                group = match.lastindex if match.lastindex and len(match[match.lastindex]) > 12 else 0
                found = match[group].rstrip("\"'=: \t\n")
                bare = found.lstrip("\"'=: \t\n")
                first = start + match.start(group) + len(found) - len(bare)
                yield Span(first, first + len(bare), "api_key")


@cache
def foreign_patterns() -> list[re.Pattern[str]]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    plugins: list[type] = [*get_mapping_from_secret_type_to_class().values()]
    used = [one for one in plugins if issubclass(one, RegexBasedDetector) and one.__name__ not in NOT_USED]
    return [pattern for one in used for pattern in one().denylist]


def named_secrets(text: str) -> Iterator[Span]:
    """Values whose name says that they are secret."""
    at = 0
    while name := NAME.search(text, at):
        at = name.end()
        given = GIVEN.match(text, at)
        if given is None:
            continue
        quoted = bool(given["quote"].strip("\\@(["))
        value = given["value"].rstrip(")]},;") if quoted else re.split(r"[,;&|)\]}]", given["value"])[0].rstrip(".")
        if len(value) < 4 or PLACEHOLDER.fullmatch(value) or FILLED_IN.match(value):
            continue
        if is_told(text, name, given, value=value, quoted=quoted) or is_long_random(value):
            cut = len(given["value"]) - len(value)
            whole = VALUE.match(text, given.end())
            at = whole.end() if whole and not cut else given.end() - cut
            yield Span(given.start("value"), at, "secret")


def is_told(text: str, name: re.Match[str], given: re.Match[str], *, value: str, quoted: bool) -> bool:
    """Whether a name alone makes a value a secret, whatever it looks like."""
    if value.count("/") > 1 or "::" in value:
        return False
    has_digits = any(map(str.isdigit, value))
    assigned = quoted or text[given.start("value") - 1] == "="
    if name["strong"] is None:
        compound = name[0].lower() == "key" and re.search(r"\w$", text[max(0, name.start() - 1) : name.start()])
        return bool(compound) and assigned and len(value) >= 12 and has_digits and not value.isdigit()
    if not given["sign"] and not quoted and not is_flag(text, name.start()):
        return len(value) >= 16 and has_digits and "/" not in value and not ORDINARY.fullmatch(value)
    is_password = assigned and name[0][0] in "pP" and value.lower() != name[0].lower()
    return is_password or not ORDINARY.fullmatch(value)


def is_flag(text: str, start: int) -> bool:
    """Whether a name is a command's option, such as `--db-password`, whose value follows after a space."""
    return bool(re.search(r"(?:^|[\s\"'])--?[\w-]{0,30}$", text[max(0, start - 34) : start]))


def is_long_random(value: str) -> bool:
    return len(value) >= 16 and (looks_random(value) or HEX.fullmatch(value) is not None)


def random_words(text: str) -> Iterator[Span]:
    """Long words that look drawn at random, with the prefix that their maker gave them."""
    for match in WORD.finditer(text):
        whole = (
            [match.span()]
            if is_base64(match[0])
            else [part.span() for part in SEGMENT.finditer(text, *match.span()) if is_scattered(part[0])]
        )
        keys = [atom for atom in ATOM.finditer(text, *match.span()) if is_key(atom[0])]
        if not (whole or keys) or is_identity(text, match.start()):
            continue
        yield from (Span(*span, "api_key") for span in whole)
        if not keys:
            continue
        start = keys[0].start()
        while start > match.start() and (text[start - 1].isalnum() or text[start - 1] in "_-"):
            start -= 1
        attached = ATTACHED.match(text, keys[-1].end())
        yield Span(start, attached.end() if attached else keys[-1].end(), "api_key")


def is_identity(text: str, start: int) -> bool:
    """Whether a value is named as an id or a digest; not so `key_id` and the like."""
    before = text[max(0, start - 48) : start]
    named = IDENTITY.search(before)
    return named is not None and NAME.search(before, max(0, named.start() - 16), named.start()) is None


def is_key(word: str) -> bool:
    if HEX.fullmatch(word) is not None or not looks_random(word):
        return False
    return len(word) >= 20 or classes(word) == 3 or mean_piece(word) <= 2.5


def is_scattered(word: str) -> bool:
    """Whether a word with `-`, `_` or `.` in it changes between kinds of signs inside its parts, not only between them.

    A random one does so after 2 to 3 signs; names of models, versions and times seldom do within a part.
    """
    parts = [part for part in SIGNS.findall(word) if len(part) < 8 or HEX.fullmatch(part) is None]
    size = sum(map(len, parts))
    changes = sum(len(PIECE.findall(part)) - 1 for part in parts)
    return size >= 20 and changes >= size / 4


def is_base64(word: str) -> bool:
    """Whether a word with `/`, `+` or `-` in it is encoded bytes and no path."""
    if len(word) < 32 or {"-", "/"} <= set(word) or classes(word) < 3:
        return False
    return sum(map(word.count, "+/")) <= len(word) / 8 and mean_piece(word) <= 2.8


def looks_random(word: str) -> bool:
    """Whether a word changes between capitals, small letters and digits as often as a random one.

    That is after 2 to 2.5 characters in keys of any alphabet, after about 5 in names, paths and words in camel case.
    """
    numbers = sum(map(str.isdigit, PIECE.findall(word)))
    most = 3.0 if numbers < 4 else 3.5 if len(word) < 40 else 4.5
    return classes(word) >= 2 and mean_piece(word) <= most


def classes(word: str) -> int:
    """How many of capitals, small letters and digits a word has."""
    return sum(any(map(test, word)) for test in (str.isdigit, str.isupper, str.islower))


def mean_piece(word: str) -> float:
    """Characters between changes; a capital goes with the small letters after it."""
    pieces = PIECE.findall(word)
    return sum(map(len, pieces)) / len(pieces) if pieces else float(len(word))
