r"""Judges an answer that is the letter of one of a question's options.

The letter is looked for in the last `\boxed{}`, after the last "Answer:" that one follows, then where it alone begins a
line. Where no letter is given but the text of exactly one option, after the last mark or in a short answer, that
option is meant; how it was found is told (`answer_form`). A task has `options` and `expected_answer`, and may have a
`lure`: the letter of the option that the trap of the question leads to. Whether it was chosen is told in `took_lure`.
"""

import re
import string
from collections.abc import Sequence
from typing import NamedTuple

from blade.environments.answering import TextEnvironment, marked_lines, own_part
from blade.environments.environment import Task, Verdict, judge_rows
from blade.rollouts.boxes import last_boxed

# A letter stands alone, or before a sign that ends it: "A farmer" is no choice, "A) a farmer" and "A because" are.
LETTER = re.compile(
    r"\W{0,4}(?i:option\s+|choice\s+)?\(?"
    r"(?:([A-Z])\b(?=\W*$|\s*[).:,;\]*]|\s+[-–]|\s+(?:because|since|is)\b)|([a-z])\b(?=\W*$|\)))"
)
"""A small letter must stand alone or before a bracket: "a" and "a)" are choices, "a: because" may be none."""


MOST_WORDS = 20
"""An answer of more words that never says which option it means may name one in passing."""


class Found(NamedTuple):
    """A letter that was read from an answer."""

    letter: str
    form: str
    """How it was given: `boxed`, `marked`, `letter` that begins a line, or `option_text` when no letter was."""


def judge(task: Task, text: str) -> Verdict:
    """Full marks for the letter of the right option, none for anything else."""
    found = find_letter(text, task["options"])
    letter = found.letter if found else None
    fields = {
        "extracted_answer": letter,
        "answer_form": found.form if found else None,
        "took_lure": None if letter is None or task.get("lure") is None else letter == task["lure"],
    }
    return Verdict(reward=float(letter == task["expected_answer"]), fields=fields)


def find_letter(text: str, options: Sequence[str]) -> Found | None:
    """The option a text chooses; `None` when it names none, or more than one."""
    own = own_part(text)
    boxed, marked = last_boxed(own), marked_lines(own)
    if boxed is not None:
        return found_as("boxed", [letter_of(boxed, options)])
    lines = own.strip().splitlines() or [""]
    short = [own] if len(own.split()) <= MOST_WORDS else []
    return (
        found_as("marked", [letter for line in marked if (letter := letter_of(line, options))][:1])
        or found_as("letter", [letter_of(line, options) for line in lines])
        or found_as("option_text", [letter for line in marked[:1] or short for letter in options_named(line, options)])
    )


def found_as(form: str, chosen: Sequence[str | None]) -> Found | None:
    """The one letter among those chosen; a text that goes through several options chooses none of them."""
    distinct = {letter for letter in chosen if letter}
    return Found(distinct.pop(), form) if len(distinct) == 1 else None


def letter_of(place: str, options: Sequence[str]) -> str | None:
    """The letter a line begins with, if it is one of the options' and not the first word of a sentence."""
    found = LETTER.match(re.sub(r"\\text\w*\{([^{}]*)\}", r"\1", place))
    letter = (found[1] or found[2]).upper() if found else ""
    return letter if letter and letter in letters(options) else None


def options_named(line: str, options: Sequence[str]) -> list[str]:
    """Letters of the options whose text stands in a line; those that are part of another one's text do not count."""
    said = f" {plain_words(line)} "
    there = [(letter, plain_words(option)) for letter, option in zip(letters(options), options, strict=False)]
    there = [(letter, words) for letter, words in there if words and f" {words} " in said]
    return [letter for letter, words in there if not any(words != other and words in other for _, other in there)]


def plain_words(text: str) -> str:
    return " ".join(re.findall(r"[\w.$%]+", text.casefold())).strip(". ")


def letters(options: Sequence[str]) -> str:
    return string.ascii_uppercase[: len(options)]


def lettered(options: Sequence[str]) -> str:
    """Options as a prompt shows them, a line each."""
    return "\n".join(f"{letter}) {option}" for letter, option in zip(letters(options), options, strict=True))


def gold(task: Task) -> str:
    return f"Answer: {task['expected_answer']}"


ENVIRONMENT = TextEnvironment("choice", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
