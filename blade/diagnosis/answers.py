"""What a rollout answered, and whether two answers are the same but for harmless differences.

Case, white space, code fences, LaTeX wrappers, number formats and a trailing unit do not change an answer; anything
else does. When a run has no field for the answer, everything the agent said and did is the answer: the last message of
a tool-using agent says little about what it did.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation

from blade.rollouts import Rollout, Run
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
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
UNIT = re.compile(r"[^\d]{1,24}")
LONGEST = 20_000


def normalize(text: str) -> str:
    """The answer without harmless differences; numbers in their shortest form."""
    said = text.strip()[:LONGEST]
    if fence := FENCE.match(said):
        said = fence[1]
    for _ in range(3):  # wrappers nest a little
        said = WRAPPED.sub(r"\1", FRACTION.sub(r"\1/\2", said))
    said = THOUSANDS.sub("", NOISE.sub("", said))
    said = " ".join(said.casefold().split()).strip(" .;:!\"'`*")
    return plain_number(said) or said


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
    first, second = normalize(given), normalize(expected)
    if not first or not second:
        return False
    return first == second or is_same_with_unit(first, second) or is_same_with_unit(second, first)


def is_same_with_unit(long: str, number: str) -> bool:
    if plain_number(number) is None:
        return False
    match = NUMBER.match(long)
    rest = long[match.end() :] if match else ""
    return match is not None and plain_number(match[0]) == number and UNIT.fullmatch(rest) is not None


def answer_of(rollout: Rollout) -> str | None:
    """The answer a verifier would look at: its own extract, else all that was said and done."""
    for name in GIVEN_FIELDS:
        value = rollout.fields.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return level_text(value)
    acts = [item for item in rollout.items if not item.prompt and item.kind in ("message", "tool_call")]
    if not acts:
        return None
    return "\n".join(f"{item.name or ''} {split_thinking(item.text)[1]}" for item in acts)


def expected_of(rollout: Rollout) -> str | None:
    """The answer the task expects, when the row tells."""
    for name in EXPECTED_FIELDS:
        value = rollout.fields.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return level_text(value)
    return None


def read_answers(run: Run, rows: Iterable[int]) -> Iterator[tuple[int, str | None, str | None]]:
    """Row, answer and expected answer of some rollouts."""
    for row, rollout in run.numbered_rollouts(rows):
        yield row, answer_of(rollout), expected_of(rollout)
