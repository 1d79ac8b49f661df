r"""Judges an answer that is one number.

Where the number is looked for, in this order: the last `\boxed{}`, what follows the last "Answer:" (or "####", or
"the answer is") that a number follows, and else the last number of the text. How it was found is told
(`answer_form`), because a model that never says which number it means can be right by luck.

A task has `expected_answer`, and may have a `tolerance` and `slips`: numbers that well-known mistakes lead to, by the
name of the mistake. A wrong answer that equals one of them is told by that name in `slip`.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from blade.environments.answering import TextEnvironment, marked_lines, own_part
from blade.environments.environment import Task, Verdict, judge_rows
from blade.environments.numeric.numbers import find_numbers, plain_text, read_number, value_of, write_number
from blade.rollouts.boxes import last_boxed

GOES_ON = re.compile(r"(?:\s*(?:-|\bor\b)\s*|[,^]|\s+)[$€£]?\d")
"""What stands between numbers of which none is the answer: `3 or 4`, `3-4`, `3,4`, `3 4`; a power is not one yet."""


class Found(NamedTuple):
    """A number that was read from an answer."""

    value: Fraction
    form: str
    """How it was marked as the answer: `boxed`, `marked`, or `last_number` when it was not."""


def judge(task: Task, text: str) -> Verdict:
    """Full marks for the expected number, none for anything else."""
    found = find_answer(text)
    right = found is not None and is_same(found.value, task["expected_answer"], task.get("tolerance"))
    fields = {
        "extracted_answer": write_number(found.value) if found else None,
        "answer_form": found.form if found else None,
        "slip": None if right or found is None else slip_of(task, found.value),
    }
    return Verdict(reward=float(right), fields=fields)


def find_answer(text: str) -> Found | None:
    """The number a text gives as its answer; `None` when it holds no number where the answer is looked for."""
    own = own_part(text)
    if (boxed := last_boxed(own)) is not None:
        return found_as("boxed", number_in(boxed))
    marked = next((line for line in marked_lines(own) if find_numbers(plain_text(line))), None)
    if marked is not None:
        return found_as("marked", number_in(marked))
    numbers = find_numbers(plain_text(own))
    return found_as("last_number", value_of(numbers[-1]) if numbers else None)


def found_as(form: str, value: Fraction | None) -> Found | None:
    return None if value is None else Found(value, form)


def number_in(line: str) -> Fraction | None:
    """The number a line means: after an equals sign if it has one, the one it begins with, else the last.

    A line that begins with a choice of numbers means none of them.
    """
    result = plain_text(line).rpartition("=")[2]
    numbers = find_numbers(result)
    if not numbers:
        return None
    opens = not any(letter.isalnum() for letter in result[: numbers[0].start()])
    if opens and GOES_ON.match(result, numbers[0].end()):
        return None
    return value_of(numbers[0 if opens else -1])


def is_same(value: Fraction, expected: str, tolerance: str | None = None) -> bool:
    wanted = read_number(expected)
    return wanted is not None and abs(value - wanted) <= Fraction(tolerance or 0)


def slip_of(task: Task, value: Fraction) -> str | None:
    """The name of the mistake that leads to a value, if the task knows it."""
    slips: dict[str, str] = task.get("slips") or {}
    return next((name for name, wrong in slips.items() if is_same(value, wrong)), None)


def gold(task: Task) -> str:
    return f"Answer: {task['expected_answer']}"


ENVIRONMENT = TextEnvironment("numeric", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
