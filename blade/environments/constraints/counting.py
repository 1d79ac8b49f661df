"""How words, sentences, lines and paragraphs are told apart, and how counts are compared."""

import operator
import re

RELATIONS = {
    "at least": operator.ge,
    "at most": operator.le,
    "exactly": operator.eq,
    "less than": operator.lt,
    "more than": operator.gt,
}

SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)")
RULE = re.compile(r"^\s*\*\s?\*\s?\*\s*$", re.MULTILINE)
"""A line of three asterisks, which separates paragraphs."""


def compare(count: int, relation: str, number: int) -> bool:
    """Whether a count is, say, at least a number."""
    return bool(RELATIONS[relation](count, number))


def words(text: str) -> list[str]:
    """What stands between spaces, signs that stand alone left out: "don't" and "well-known" are one word each."""
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences(text: str) -> list[str]:
    """Parts that end with a full stop, a question or an exclamation mark; a last part without one counts too."""
    return [part for part in SENTENCE_END.split(text) if re.search(r"\w", part)]


def lines(text: str) -> list[str]:
    """Lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def paragraphs(text: str, *, anywhere: bool = False) -> list[str]:
    """Parts between lines of three asterisks, or between any three; empty ones at the ends do not count."""
    parts = [part.strip() for part in (text.split("***") if anywhere else RULE.split(text))]
    return [part for place, part in enumerate(parts) if part or 0 < place < len(parts) - 1]


def occurrences(text: str, word: str, *, whole_word: bool = True) -> int:
    """How often a word or phrase occurs, in any case; as a whole word, "drop" does not occur in "raindrops"."""
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)" if whole_word else re.escape(word)
    return len(re.findall(pattern, text, re.IGNORECASE))
