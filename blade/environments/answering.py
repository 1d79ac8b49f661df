"""Environments without tools, whose tasks are answered in one text: the text is judged, and that is all."""

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
