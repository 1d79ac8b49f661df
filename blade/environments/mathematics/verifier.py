r"""Judges a mathematical answer by what it means: `\frac12`, `0.5` and `\dfrac{1}{2}` are one.

The answer is read from the last `\boxed{}`, or after the last "Answer:". Where the texts differ, math-verify compares
them in a process of its own, which is given up after some seconds: then the answer counts as wrong, and
`compared_by` says `gave_up`.
"""

import importlib.util
import re

from blade.environments.answering import TextEnvironment, marked_lines, own_part
from blade.environments.environment import Task, Verdict, judge_rows
from blade.environments.helper import Helper
from blade.errors import InputError
from blade.rollouts.boxes import last_boxed

MOST_ANSWER = 2000
"""Letters of an answer that are compared."""
LOOSE = re.compile(r"\\(?:left|right|displaystyle|,|;|!|:| )|\\(?:text|mathrm|mbox)\{\s*\}|[\s$]")
FRACTION = re.compile(r"\\[dt]frac")

HELPER = Helper("blade.environments.mathematics.equality", seconds=10.0, memory_mb=2000)


def judge(task: Task, text: str) -> Verdict:
    """Full marks for an answer equal to the expected one."""
    answer, form = find_answer(text)
    said, expected = (answer or "")[:MOST_ANSWER], str(task["expected_answer"])
    by, right = compare(said, expected) if said.strip() else (None, False)
    return Verdict(reward=float(right), fields={"extracted_answer": answer, "answer_form": form, "compared_by": by})


def find_answer(text: str) -> tuple[str | None, str | None]:
    """The answer a text gives, and how it is given: `boxed` or `marked`."""
    own = own_part(text)
    boxed = last_boxed(own)
    if boxed is not None:
        return boxed.strip(), "boxed"
    line = next(iter(marked_lines(own)), "")
    return (line.strip(" \t*_`").rstrip("."), "marked") if line else (None, None)


def compare(said: str, expected: str) -> tuple[str, bool]:
    """How two answers were compared, and whether they are equal."""
    if plain(said) == plain(expected):
        return "text", True
    if importlib.util.find_spec("math_verify") is None:
        raise InputError("comparing mathematics needs math-verify; run: pip install 'blade-diagnostics[math]'")
    reply = HELPER.ask({"said": said, "expected": expected})
    return ("gave_up", False) if reply is None else ("mathematics", reply["equal"] is True)


def plain(answer: str) -> str:
    """An answer without what only changes how it is set."""
    return FRACTION.sub(r"\\frac", LOOSE.sub("", answer)).rstrip(".")


def gold(task: Task) -> str:
    return f"Answer: \\boxed{{{task['expected_answer']}}}"


ENVIRONMENT = TextEnvironment("mathematics", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
