"""Environments without tools, whose tasks are answered in one text: the text is judged, and that is all."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from blade.environments.environment import Item, Session, Task, Verdict
from blade.environments.items import final_text, message


class TextEnvironment:
    """Judges the text of the last message by a function of the task and that text."""

    def __init__(self, name: str, *, judge: Callable[[Task, str], Verdict], gold: Callable[[Task], str]) -> None:
        self.name = name
        self.judge = judge
        self.gold_text = gold

    def tools(self, task: Task) -> list[dict[str, Any]]:
        return []

    def open(self, task: Task) -> Session | None:
        return None

    def verify(self, task: Task, items: Sequence[Item]) -> Verdict:
        return self.judge(task, final_text(items))

    def gold(self, task: Task) -> list[dict[str, Any]]:
        return [message(self.gold_text(task))]


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
