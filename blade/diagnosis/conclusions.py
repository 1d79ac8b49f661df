"""What a text ends on: the answer a reader would take from it, whatever a verifier's extraction made of it.

Only the end of a text counts. The right answer on the way to a wrong one is no answer.
"""

import re
from collections.abc import Iterator, Sequence

from blade.diagnosis.answers import NUMBER, normalize, plain_number, same_answer

BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
EMPHASIS = re.compile(r"\*\*([^*\n]+)\*\*")
OPTION = re.compile(r"\(([A-Z])\)|(?<!\w)([A-Z])\W*$")
"""An option's letter in brackets or at the end; anywhere else `A` and `I` are words."""
LONGEST_LINE = 400
"""Characters of a last line that are looked at; a longer one is prose."""


def is_any_of(given: str, answers: Sequence[str]) -> bool:
    """Whether an answer is one of the right ones but for harmless differences."""
    return any(same_answer(given, answer) for answer in answers)


def concludes(text: str, answers: Sequence[str]) -> bool:
    """Whether a text ends on a right answer."""
    return any(is_any_of(conclusion, answers) for conclusion in conclusions(text))


def conclusions(text: str) -> Iterator[str]:
    """The answer a text ends on: in its last box, else the last line, its emphasis, its only option or last number."""
    boxed = BOXED.findall(text)
    if boxed:
        yield boxed[-1]
        return
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    if not line or len(line) > LONGEST_LINE:
        return
    yield line
    if emphasis := EMPHASIS.findall(line):
        yield emphasis[-1]
    options = {bracketed or last for bracketed, last in OPTION.findall(line)}
    if len(options) == 1:
        yield options.pop()
    numbers = NUMBER.findall(normalize(line))
    if numbers and plain_number(numbers[-1]) is not None:
        yield numbers[-1]
    _, colon, rest = line.rpartition(": ")
    if colon:
        yield rest
