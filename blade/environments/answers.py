"""Where in a free text the answer is: after the last "Answer:", "####" or "answer is"."""

import re

MARK = re.compile(r"(?:#{4}|\banswer\b\W{0,6}?(?:\bis\b|[:=])(?:\W{0,4}\bis\b)?)[ \t*_`]*", re.IGNORECASE)
MOST_MARKS = 20
"""Marks that are looked at: a text that goes round in circles has hundreds."""
NEXT_QUESTION = re.compile(r"\n\s*(?:question|problem|user|human)\b[^\n]{0,20}:", re.IGNORECASE)


def own_part(text: str) -> str:
    """A text up to where a model that was asked one question goes on to make up the next one."""
    return NEXT_QUESTION.split(text, maxsplit=1)[0]


def marked_lines(text: str) -> list[str]:
    """For every mark, the last one first, the first line after it that says something."""
    rests = [text[mark.end() :] for mark in MARK.finditer(text)][::-1][:MOST_MARKS]
    return [next((line for line in rest.splitlines() if line.strip(" \t*_`")), "") for rest in rests]
