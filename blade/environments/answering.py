"""Answers: what output items say, where in a text the answer is, and environments whose tasks are answered in one text.

Items come from models and from files that others wrote, so everything in them is looked at before it is used.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from blade.environments.environment import Item, Session, Task, Verdict

THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
"""What some models think aloud before they answer, up to its end or that of the text."""


def message(text: str) -> dict[str, Any]:
    """An assistant's message."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def function_call(name: str, arguments: str, *, call_id: str) -> dict[str, Any]:
    """A call of a tool, its arguments as JSON text."""
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, "status": "completed"}


def final_text(items: Sequence[Item]) -> str:
    """What the last message of the assistant says, thinking left out; empty when there is none."""
    for item in reversed(items):
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant":
            return THINKING.sub("", content_text(item.get("content"))).strip()
    return ""


def content_text(content: Any) -> str:
    """The text of a message's content, be it a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def readable(text: object) -> str:
    """A text that can be written to any file: half characters, which models can spell in JSON, are written out."""
    return str(text).encode("utf-8", "backslashreplace").decode()


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
