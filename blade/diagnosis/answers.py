"""What a rollout answered, and whether two answers are the same but for harmless differences.

Case, white space, code fences, LaTeX wrappers, number and date formats, brackets round a whole answer, a label before
it and a trailing unit do not change an answer; anything else does. Only the end of a text counts: the right answer on
the way to a wrong one is not an answer. When a run has no field for the answer, everything the agent said and did is
the answer: the last message of a tool-using agent says little about what it did.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from blade.rollouts import Rollout
from blade.rollouts.boxes import last_boxed
from blade.rollouts.columns import level_text
from blade.rollouts.features import split_thinking

GIVEN_FIELDS = (
    "extracted_answer",
    "parsed_option",
    "extracted_judgement",
    "predicted_answer",
    "final_answer",
    "answer_text",
)
EXPECTED_FIELDS = ("expected_answer", "ground_truth", "expected_judgement", "gold_answer", "target")

FENCE = re.compile(r"^```[\w+-]*\n(.*?)\n?```$", re.DOTALL)
WRAPPED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf|operatorname)\{([^{}]*)\}")
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
NOISE = re.compile(r"\\[,;!: ]|\\left|\\right|\\\(|\\\)|\\\[|\\\]|\$|\\%|[{}]")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
DIGIT = re.compile(r"\d")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
SIGNS = frozenset("0123456789.+-")
"""How a number begins."""
RATIO = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?(?:/\d{1,15})?")
UNIT = re.compile(
    r"(?!.*\b(?:hundred|thousand|million|billion|trillion|dozen|half|halves|third|quarter|and|or)\b)[^\d]{1,24}"
)
LABEL = re.compile(
    r"(?:the )?(?:final |correct )?(?:answer|result|option|choice|letter)(?: is)?\s*[:=]?\s+(?=\S)|[a-z] ?= ?|= ?"
)
"""What may stand before an answer: a word for it, a variable and an equals sign."""
CURRENCY = re.compile(r"[€£¥]\s?(?=[-+]?\.?\d)")
BRACKETED = re.compile(r"\(([^()\[\],;]+)\)|\[([^()\[\],;]+)\]|(\w)\)")
"""A whole answer in brackets, or an option's letter before one; what holds a comma may be an interval or a point."""
OPTION = re.compile(r"\s[a-z][:.)]\s")
EMPHASIS = re.compile(r"\*\*([^*\n]+)\*\*")
LONE_OPTION = re.compile(r"\(([A-Z])\)|(?<!\w)([A-Z])\W*$")
"""An option's letter in brackets or at the end; anywhere else `A` and `I` are words."""
LONGEST_LINE = 400
"""Characters of a last line that are looked at; a longer one is prose."""
SOLUTION_MARK = "####"
"""What stands before the answer in data sets whose expected answer is a whole solution."""
SPACED = re.compile(r"(?<=\d) ?([/*^]) ?(?=\d)")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? ([a-z]{3,9})\.?,? (\d{4})")
MONTH_FIRST = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
LONGEST_DATE = 24
TRIMMED = " .;:!\"'`*"
LONGEST = 20_000
QUESTION_MARKS = ("?", "？", "؟")
SHORT = 80
"""Longer answers are prose or code, where brackets and labels mean something."""


class Answered(NamedTuple):
    """What a row answered, and the same without harmless differences."""

    row: int
    given: str
    plain: str
    expected: str | None


def normalize(text: str) -> str:
    """The answer without harmless differences; numbers in their shortest form."""
    return short_normalized(text) if len(text) <= SHORT else latest_normalized(text)


def normalized(text: str) -> str:
    said = unfenced(text)
    for _ in range(3 if "\\" in said else 0):  # wrappers nest a little
        said = WRAPPED.sub(r"\1", FRACTION.sub(r"\1/\2", said))
    # Looking for a character is much faster than looking for a pattern, and most answers have neither.
    said = NOISE.sub("", said) if any(map(said.__contains__, "\\${}")) else said
    said = THOUSANDS.sub("", said) if "," in said else said
    said = bare(" ".join(said.casefold().split()))
    return plain_number(said) or plain_date(said) or said


short_normalized = lru_cache(maxsize=1 << 14)(normalized)
latest_normalized = lru_cache(maxsize=4)(normalized)
"""Short answers come again and again: what a task expects, once for each of its rollouts. Others are compared twice."""


def bare(said: str) -> str:
    """A short answer without its label, brackets and currency sign."""
    said = said.strip(TRIMMED)
    if len(said) > SHORT:
        return said
    said = LABEL.sub("", said, count=1) if LABEL.match(said) else said
    if bracketed := BRACKETED.fullmatch(said):
        said = next(group for group in bracketed.groups() if group)
    return SPACED.sub(r"\1", CURRENCY.sub("", said)).strip(TRIMMED)


def plain_date(text: str) -> str | None:
    """`4th July 1976` and `Jul 4, 1976` as `1976-07-04`; `None` when the text is not a date in words."""
    if len(text) > LONGEST_DATE:
        return None
    if found := DAY_FIRST.fullmatch(text):
        day, month, year = found.groups()
    elif found := MONTH_FIRST.fullmatch(text):
        month, day, year = found.groups()
    else:
        return None
    return f"{year}-{MONTHS.index(month[:3]) + 1:02}-{int(day):02}" if month[:3] in MONTHS else None


def plain_number(text: str) -> str | None:
    """`3.50` as `3.5`; `None` when the text is not a number."""
    if not NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text).normalize()
    except InvalidOperation:
        return None
    return f"{number:f}" if abs(number.adjusted()) < 30 else str(number)


def same_answer(given: str, expected: str) -> bool:
    """Whether two answers differ harmlessly at most; a bare number equals the same number with a unit."""
    return short_same(given, expected) if len(given) <= SHORT and len(expected) <= SHORT else are_same(given, expected)


def are_same(given: str, expected: str) -> bool:
    first, second = normalize(given), normalize(expected)
    if not first or not second:
        return False
    if first == second or is_same_json(given, expected):
        return True
    if first[0] in SIGNS and second[0] in SIGNS:
        alike = is_same_with_unit(first, second) or is_same_with_unit(second, first)
        return alike or is_same_value(first, second)
    return is_option(first, second) or is_option(second, first)


short_same = lru_cache(maxsize=1 << 14)(are_same)


def is_same_with_unit(long: str, number: str) -> bool:
    match = NUMBER.match(long)
    if match is None or plain_number(number) is None:
        return False
    return plain_number(match[0]) == number and UNIT.fullmatch(long[match.end() :]) is not None


def is_same_json(given: str, expected: str) -> bool:
    """Whether both are the same JSON object or list, whatever its key order, white space and fence."""
    texts = [unfenced(text).lstrip() for text in (given, expected)]
    if not all(text[:1] in ("{", "[") for text in texts):
        return False
    first, second = map(as_json, texts)
    return isinstance(first, dict | list) and first == second


def unfenced(text: str) -> str:
    """The text without the code fence around it."""
    said = text.strip()[:LONGEST]
    fence = FENCE.match(said)
    return fence[1] if fence else said


def is_same_value(first: str, second: str) -> bool:
    """Whether both are the same number, written as a fraction or not."""
    one, other = as_fraction(first), as_fraction(second)
    return one is not None and one == other


def as_fraction(text: str) -> Fraction | None:
    """`1/2` and `0.50` as a half; `None` for anything else."""
    return short_fraction(text) if len(text) <= SHORT else None


@lru_cache(maxsize=1 << 14)
def short_fraction(text: str) -> Fraction | None:
    if not RATIO.fullmatch(text):
        return None
    try:
        top, _, bottom = text.partition("/")
        return Fraction(top) / Fraction(bottom or "1")
    except (ValueError, ZeroDivisionError):
        return None


def as_json(text: str) -> object:
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError):
        return None


def is_option(long: str, letter: str) -> bool:
    """Whether a bare letter and the same letter with its option's text, and no other option, stand side by side."""
    is_letter = len(letter) == 1 and letter.isalpha()
    return is_letter and long[:1] == letter and long[1:2] in (":", ".", ")") and not OPTION.search(long, 2)


def is_any_of(given: str, answers: Sequence[str]) -> bool:
    """Whether an answer is one of the right ones but for harmless differences."""
    return any(same_answer(given, answer) for answer in answers)


def concludes(text: str, answers: Sequence[str]) -> bool:
    """Whether a text ends on a right answer."""
    # Most texts that do not are told by a look at the last line: a number is the same as nothing without a digit.
    if "\\" not in text and all(map(is_number, answers)) and DIGIT.search(last_line(text.strip())) is None:
        return False
    return any(is_any_of(conclusion, answers) for conclusion in conclusions(text))


def is_number(answer: str) -> bool:
    return plain_number(normalize(answer)) is not None


def conclusions(text: str) -> Iterator[str]:
    """The answer a text ends on: in its last box, else the last line, its emphasis, its only option or last number."""
    if (boxed := last_boxed(text)) is not None:
        yield boxed
        return
    line = last_line(text.strip())
    if not line or len(line) > LONGEST_LINE:
        return
    yield line
    if "**" in line and (emphasis := EMPHASIS.findall(line)):
        yield emphasis[-1]
    options = {bracketed or last for bracketed, last in LONE_OPTION.findall(line)}
    if len(options) == 1:
        yield options.pop()
    numbers = NUMBER.findall(normalize(line))
    if numbers and plain_number(numbers[-1]) is not None:
        yield numbers[-1]
    _, colon, rest = line.rpartition(": ")
    if colon:
        yield rest


def last_line(said: str) -> str:
    """The last line of a text; nothing before the end of a long text is looked at."""
    lines = said[-2 * LONGEST_LINE :].splitlines()
    if len(lines) == 1:
        lines = said.splitlines()
    return lines[-1].strip() if lines else ""


def form_of(text: str) -> str:
    """What an answer looks like, whatever it says."""
    said = text.strip()
    if not said:
        return "nothing"
    if FENCE.match(said):
        return "a code block"
    if said[0] in "{[" and isinstance(as_json(said), dict | list):
        return "a JSON object" if said[0] == "{" else "a JSON list"
    plain = normalize(said) if len(said) <= SHORT else ""
    if plain_number(plain) is not None or as_fraction(plain) is not None:
        return "a number"
    if len(plain) == 1 and plain.isalpha():
        return "a letter"
    if "\\boxed" in said:
        return "a boxed answer"
    if "```" in said:
        return "a text with code"
    if said.rstrip("*_\"'” )")[-1:] in QUESTION_MARKS:
        return "a question"
    if said.isalnum():
        return "a word"
    return "a line" if "\n" not in said and len(said) <= 4 * SHORT else "a longer text"


def answer_of(rollout: Rollout) -> str | None:
    """The answer a verifier would look at: its own extract, else all that was said and done."""
    stated = rollout.answer if rollout.answer is not None else first_stated(rollout.fields, GIVEN_FIELDS)
    if stated is not None:
        return stated
    acts = [item for item in rollout.items if not item.prompt and item.kind in ("message", "tool_call")]
    if not acts:
        return None
    return "\n".join(f"{item.name or ''} {split_thinking(item.text)[1]}" for item in acts)


def expected_of(rollout: Rollout) -> str | None:
    """The answer the task expects, when the row tells."""
    listed = None if rollout.expected is None else rollout.expected.answers
    stated = listed[0] if listed else first_stated(rollout.fields, EXPECTED_FIELDS)
    return None if stated is None else solution_of(stated)


def solution_of(expected: str) -> str:
    """What an expected answer comes to, where it is a whole solution that marks its answer."""
    _, marked, answer = expected.rpartition(SOLUTION_MARK)
    if marked and answer.strip() and "\n" not in answer.strip():
        return answer.strip()
    return (last_boxed(expected) or expected) if "\n" in expected else expected


def first_stated(fields: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of some fields that holds a text or a number."""
    found = (v for v in map(fields.get, names) if isinstance(v, str | int | float) and not isinstance(v, bool))
    return next(map(level_text, found), None)
