r"""Judges an answer that is one number.

Where the number is looked for, in this order: the last `\boxed{}`, what follows the last "Answer:" (or "####", or
"the answer is"), and else the last number of the text. How it was found is told (`answer_form`), because a model that
never says which number it means can be right by luck.

A task has `expected_answer`, and may have a `tolerance` and `slips`: numbers that well-known mistakes lead to, by the
name of the mistake. A wrong answer that equals one of them is told by that name in `slip`.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from blade.environments.answering import TextEnvironment
from blade.environments.command import judge_rows
from blade.environments.environment import Task, Verdict
from blade.environments.numeric.numbers import find_numbers, plain_text, read_number, value_of, write_number

BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
MARKED = re.compile(r"(?:#{4}|\banswer\b\W{0,6}?(?:\bis\b|[:=])(?:\W{0,4}\bis\b)?)[ \t*_`]*", re.IGNORECASE)
NEXT_QUESTION = re.compile(r"\n\s*(?:question|problem|user|human)\b[^\n]{0,20}:", re.IGNORECASE)
"""Where a model that was asked one question goes on to make up the next; what follows answers something else."""


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
    own = NEXT_QUESTION.split(text, maxsplit=1)[0]
    if boxed := BOXED.findall(own):
        value = number_in(boxed[-1])
        return Found(value, "boxed") if value is not None else None
    if marks := list(MARKED.finditer(own)):
        value = number_in(first_line(own[marks[-1].end() :]))
        if value is not None:
            return Found(value, "marked")
    numbers = find_numbers(plain_text(own))
    return Found(value_of(numbers[-1]), "last_number") if numbers else None


def number_in(line: str) -> Fraction | None:
    """The number a line means: after an equals sign if it has one, the one it begins with, else the last."""
    result = plain_text(line).rpartition("=")[2]
    numbers = find_numbers(result)
    if not numbers:
        return None
    opens = not any(letter.isalnum() for letter in result[: numbers[0].start()])
    return value_of(numbers[0 if opens else -1])


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line for line in text.splitlines() if line.strip(" \t*_`")), "")


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


def main() -> None:
    """Judges rollout rows: `python -m blade.environments.numeric.verifier rollouts.jsonl`."""
    judge_rows(ENVIRONMENT)


if __name__ == "__main__":
    main()
