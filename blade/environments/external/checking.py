"""Holds a set to its environment, row by row: the right answer must pass and no answer must fail."""

from collections.abc import Callable
from typing import Any

import msgspec

from blade.environments.catalog import load_environment
from blade.environments.external.sets import External
from blade.environments.items import final_text


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What the tasks of a set do with their own answers."""

    tasks: int
    """Tasks that were tried."""
    gold_passes: int
    """Tasks whose right answer gets full marks."""
    without_gold: int
    """Tasks that come without a right answer, so that only the empty one could be tried."""
    problems: list[str]
    """Tasks whose right answer fails, or whose empty answer passes."""


def check_external(external: External, progress: Callable[[int, int], None] = lambda done, total: None) -> Checked:
    """Judges the right answer and an empty one for every task."""
    environment = load_environment(external.environment)
    problems: list[str] = []
    passes = without = 0
    for number, task in enumerate(external.tasks, start=1):
        gold = environment.gold(task)
        if environment.verify(task, []).reward >= 1.0:
            problems.append(f"{task['task_id']}: an empty answer passes")
        if not says_something(gold):
            without += 1
        else:
            found = environment.verify(task, gold)
            passes += found.reward >= 1.0
            if found.reward < 1.0:
                told = {name: value for name, value in found.fields.items() if value and "error" in name}
                problems.append(f"{task['task_id']}: its right answer fails" + (f" ({told})" if told else ""))
        progress(number, len(external.tasks))
    return Checked(tasks=len(external.tasks), gold_passes=passes, without_gold=without, problems=problems)


def says_something(gold: list[dict[str, Any]]) -> bool:
    """Whether there is a right answer at all."""
    return bool(final_text(gold)) or any(item.get("type") == "function_call" for item in gold)
