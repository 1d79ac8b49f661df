"""Texts with their particulars masked: two are the same when only numbers, ids, paths and quotes differ.

Nothing here knows what a text means. A template is the line that tells most (of a traceback the last one, of an error
object its message, of anything else the first), with every particular replaced by `…`.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec

HOLE = "…"
LONGEST = 160
"""Characters of a line that are kept: an error says what it is at once."""
WINDOW = 2000
"""Characters at either end of a text that are looked at."""
PARTICULAR = re.compile(
    r"""
      (?P<kept>(?i:\b(?:code|status|http|errno|signal)\b[\s:=/\d.]{0,8}?)\b[1-9]\d{0,2}\b)
    | \w+://\S+
    | (?<![\w/])(?:[A-Za-z]:)?[~.]{0,2}(?:[/\\][\w.@+~$-]+){2,}[/\\]?
    | "[^"\n]*" | (?<!\w)'[^'\n]*'(?!\w) | `[^`\n]*` | “[^”\n]*”
    | [\w#@$€£+./:-]*\d(?:[\w.,:%+/-]*[\w%])?
    """,
    re.VERBOSE,
)
"""What differs between two texts that say the same: addresses, paths, quotes and whatever holds a digit; exit codes and
statuses are kept, because they are what is said."""
JOINED = re.compile(rf"{HOLE}(?:[\s,;:|/&()\[\]-]*{HOLE})+")
BLANKS = re.compile(r"\s+")
ERROR_KEYS = ("error", "errors", "exception", "error_message", "message", "detail")
"""Keys under which error objects keep what they say."""
ERROR_STATUSES = frozenset({"error", "fail", "failed", "failure", "exception"})
OPENS_AS_ERROR = re.compile(
    r"""\W{0,4}(?:(?i:error|exception|traceback|fatal)\b | (?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\b\s*[:(]
      | (?i:exit(?:ed)?\s+(?:with\s+)?(?:code|status))[:\s]*[1-9] | (?i:http)[/\d.]*[\s:]*[45]\d\d\b
      | (?:ba|z)?sh:\s | <tool_use_error>)""",
    re.VERBOSE,
)
"""How machines open an error, by their own conventions: the word itself, a class of errors, an exit code, a status."""
TRACEBACK = "Traceback (most recent call last)"


def template_of(text: str) -> str:
    """The telling line of a text without its particulars; empty for a text without a word."""
    return masked(telling_line(text))


@lru_cache(maxsize=1 << 16)
def masked(line: str) -> str:
    """A line without its particulars; empty when nothing but particulars is in it."""
    plain = PARTICULAR.sub(lambda found: found["kept"] or HOLE, BLANKS.sub(" ", line))
    plain = JOINED.sub(HOLE, plain).strip()
    return plain[:LONGEST] if any(map(str.isalpha, plain)) else ""


def telling_line(text: str) -> str:
    """The line of a text that says most: an error object's message, a traceback's last line, else the first."""
    if text.lstrip()[:1] == "{" and (said := error_in(text)) is not None:
        text = said
    head = text[:WINDOW]
    if TRACEBACK in head:
        return last_line(text)
    return next((line.strip() for line in head.splitlines() if line.strip()), "")[: 2 * LONGEST]


def last_line(text: str) -> str:
    """The last line of a text that holds anything."""
    lines = text[-WINDOW:].splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[: 2 * LONGEST]


def opens_as_error(text: str) -> bool:
    """Whether a tool's answer is an error by its form: an error object, or the way machines open an error."""
    start = text[:WINDOW].lstrip()
    if start[:1] == "{":
        return error_in(text) is not None
    return OPENS_AS_ERROR.match(start) is not None or start.startswith(TRACEBACK)


@lru_cache(maxsize=1 << 12)
def error_in(text: str) -> str | None:
    """What an error object says; `None` when a text is not one."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return None
    return error_of(value) if isinstance(value, dict) else None


def error_of(value: dict[str, Any]) -> str | None:
    """The message of an object that says it is an error."""
    named = next((value[key] for key in ERROR_KEYS[:4] if value.get(key)), None)
    status = next((str(value[key]).lower() for key in ("status", "state", "type", "outcome") if key in value), "")
    denied = any(value.get(key) is False for key in ("success", "succeeded", "ok"))
    flagged = any(value.get(key) is True for key in ("is_error", "isError", "failed"))
    if named is None and status not in ERROR_STATUSES and not denied and not flagged:
        return None
    if named is None or isinstance(named, bool):
        named = next((value[key] for key in ERROR_KEYS if isinstance(value.get(key), str)), status or "error")
    if isinstance(named, dict):
        named = next((named[key] for key in ("message", "type", "code") if named.get(key)), named)
    return named if isinstance(named, str) else msgspec.json.encode(named).decode()
