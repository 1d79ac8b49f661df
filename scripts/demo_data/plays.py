"""What happens in one rollout: the items of its trajectory and the verifier's view of them, by a letter.

The letters, as used in `tasks.py`:

    P  passes                           T  runs out of output tokens
    S  makes the family's own mistake   L  repeats one call until it gives up
    R  refuses                          N  answers without any tool call
    Z  says and does nothing            V  does everything right, but the verifier raises
    O  is stopped by the time limit     Q  is stopped after its last call: it passes
    X  gets an error from the provider  F  failed, and an older runner made up a row for it
    K  was killed, in the failures file only
    M  exceeded its time, in the failures file only
    .  left no trace
"""

import json
from typing import Any, NamedTuple

from demo_data.courses import Call, Course
from demo_data.dice import Dice
from demo_data.mails import Inbox
from demo_data.tasks import Task

UNPERSISTED = "KM."
PASSING = "PQ"
LINES_OUT = (
    "Before I act, I go through what came back. The first entry is close, but I want to compare times and names, and",
    "Let me lay out all the possibilities one after the other. Possibility one: the entry at the top. Possibility two:",
    "I will compare each result with the request in detail. Starting with the first result, the name fits, whereas the",
)
GIVING_UP = ("I am still checking and will come back to this.", "One moment, I am looking at this again.")
REFUSALS = (
    "I'm sorry, but I can't help with messages about another person's pay. Please write to them yourself.",
    "I can't assist with this, because it concerns confidential personnel matters.",
    "I'm unable to help with sharing pay details by mail. Please use the usual channels.",
)


class Outcome(NamedTuple):
    """A trajectory and what the verifier makes of it."""

    items: list[dict[str, Any]]
    calls: int
    answer: str | None
    state_match: bool | None
    reward: float


def play(task: Task, letter: str, *, dice: Dice) -> Outcome:
    """The outcome of one rollout that reached the main file."""
    course = task.family.slip(dice) if letter in "SN" else task.family.right(dice)
    calls, says = acts(task, course, letter=letter, dice=dice)
    thinks = task.difficulty != "easy" and letter not in "ZXFRN"
    thought = [reasoning(course.thought, dice)] if thinks else []
    items = [*thought, *call_items(calls, dice), *([message(says, dice)] if says else [])]
    return judged(task, letter, items=items, calls=calls, answer=extracted(task, course, letter=letter, dice=dice))


def acts(task: Task, course: Course, *, letter: str, dice: Dice) -> tuple[list[Call], str]:
    """The calls that are made and what is said last."""
    calls = course.calls
    match letter:
        case "T":
            return calls[:1], dice.choice("cut", LINES_OUT)
        case "L":
            return calls[:1] * dice.number("loop", 4, 6), dice.choice("gives up", GIVING_UP)
        case "R":
            return [], dice.choice("refusal", REFUSALS)
        case "N":
            return [], made_up(task, course, dice=dice)
        case "O":
            return calls[:-1], ""
        case "Q":
            return calls, ""
        case "Z" | "X" | "F":
            return [], ""
    return calls, course.says


def made_up(task: Task, course: Course, *, dice: Dice) -> str:
    """What an assistant says that has not looked."""
    if not isinstance(task.family, Inbox):
        return course.says
    return f"A few routine mails about {task.family.topic}; nothing needs your attention.\nAnswer: {guess(task, dice)}"


def guess(task: Task, dice: Dice) -> str:
    return dice.choice("guess", [str(n) for n in range(1, 9) if str(n) != task.family.expected])


def extracted(task: Task, course: Course, *, letter: str, dice: Dice) -> str | None:
    """What the verifier finds: for an inbox what was said, else what was changed."""
    if letter == "N" and isinstance(task.family, Inbox):
        return guess(task, dice)
    return course.answer if letter in "PSVQ" else None


def judged(task: Task, letter: str, *, items: list[dict[str, Any]], calls: list[Call], answer: str | None) -> Outcome:
    """The verdict: an inbox is only read, so its state always matches; a verifier that raised knows nothing."""
    passed = letter in PASSING
    state = None if letter == "V" else passed or isinstance(task.family, Inbox)
    return Outcome(items, len(calls), None if letter == "V" else answer, state, float(passed))


def reasoning(thought: str, dice: Dice) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": thought}]
    return {"id": f"rs_{dice.hex('reasoning', 10)}", "summary": summary, "type": "reasoning"}


def call_items(calls: list[Call], dice: Dice) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for number, call in enumerate(calls):
        call_id = f"call_{dice.hex(f'call {number}', 10)}"
        arguments, result = (json.dumps(value, ensure_ascii=False) for value in (call.arguments, call.result))
        asked = {"arguments": arguments, "call_id": call_id, "name": call.tool, "type": "function_call"}
        items.append({**asked, "id": None, "status": "completed"})
        items.append({"call_id": call_id, "output": result, "type": "function_call_output", "id": None, "status": None})
    return items


def message(text: str, dice: Dice) -> dict[str, Any]:
    content = [{"annotations": [], "text": text, "type": "output_text"}]
    kind = {"role": "assistant", "status": "completed", "type": "message"}
    return {"id": f"msg_{dice.hex('message', 10)}", "content": content, **kind}
