"""Judges a rollout at the desk by the state it leaves.

The tool calls among the output items are replayed over the task's first state, and the state they leave is compared
with the one the task's own calls (`calls`) leave. What a tool answered at the time is not looked at. A question
(`expected_answer`) must also be answered in the last message; a state that was changed without need fails.

In mails that are sent, the words of the body do not matter where the task names those it must hold (`body_words`).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from blade.environments.answering import final_text, function_call, message, readable
from blade.environments.environment import Item, Session, Task, Verdict, judge_rows
from blade.environments.office.desk import TOOLS, Desk, Row, plain

MOST_CALLS = 200
"""Calls that are replayed; a rollout that makes more is in a loop."""
MOST_SAID = 10


class Replay(NamedTuple):
    """A rollout's calls, made again."""

    state: dict[str, list[Row]]
    made: list[str]
    """Names of the tools called."""
    wrong: list[str]
    """Calls that a tool refused, as `tool: why`."""


class Office:
    """The environment."""

    name = "office"

    def tools(self, task: Task) -> list[dict[str, Any]]:
        return TOOLS

    def open(self, task: Task) -> Session:
        return Desk(task["state"])

    def verify(self, task: Task, items: Sequence[Item]) -> Verdict:
        done = replay(task, [call_of(item) for item in items if item.get("type") == "function_call"])
        expected = replay(task, [(call["name"], json.dumps(call["arguments"])) for call in task["calls"]])
        differences = compare(expected.state, done.state, task.get("body_words") or [])
        if len(done.made) > MOST_CALLS:
            differences.append(f"{len(done.made)} calls were made, and no more than {MOST_CALLS} are looked at")
        answered = is_answered(task, final_text(items))
        fields = {
            "state_match": not differences,
            "state_diff": differences[:MOST_SAID],
            "answer_right": answered,
            "extracted_answer": readable(final_text(items)[:300]) or None,
            "num_tool_calls": len(done.made),
            "num_expected_calls": len(expected.made),
            "num_wrong_calls": len(done.wrong),
            "wrong_calls": done.wrong[:MOST_SAID],
            "tools_called": done.made[:MOST_CALLS],
        }
        return Verdict(reward=float(not differences and answered is not False), fields=fields)

    def gold(self, task: Task) -> list[dict[str, Any]]:
        desk = self.open(task)
        items: list[dict[str, Any]] = []
        for number, call in enumerate(task["calls"]):
            arguments = json.dumps(call["arguments"])
            items.append(function_call(call["name"], arguments, call_id=f"call_{number}"))
            output = desk.call(call["name"], arguments)
            items.append({"type": "function_call_output", "call_id": f"call_{number}", "output": output})
        return [*items, message(str(task.get("expected_answer") or "Done."))]


def call_of(item: Item) -> tuple[str, str]:
    """Name and arguments of a call, whatever form they were written in."""
    name, arguments = item.get("name"), item.get("arguments")
    return str(name), arguments if isinstance(arguments, str) else json.dumps(arguments)


def replay(task: Task, calls: Sequence[tuple[str, str]]) -> Replay:
    """The state that calls leave, beginning with the task's."""
    desk = Desk(task["state"])
    wrong = []
    for name, arguments in calls[:MOST_CALLS]:
        answer = desk.answer(name, arguments)
        if isinstance(answer, dict) and "error" in answer:
            wrong.append(readable(f"{name}: {answer['error']}"[:200]))
    return Replay(desk.state, [readable(name) for name, _ in calls], wrong)


def is_answered(task: Task, said: str) -> bool | None:
    """Whether the last message holds the expected answer; `None` when nothing was asked."""
    expected = task.get("expected_answer")
    if expected is None:
        return None
    said = re.sub(r"(?<=\d),(?=\d{3})", "", said)
    return f" {plain_words(expected)} " in f" {plain_words(said)} "


def compare(expected: Mapping[str, list[Row]], found: Mapping[str, list[Row]], body_words: Sequence[str]) -> list[str]:
    """What differs between two states, in words; empty when nothing does."""
    differences = []
    for table in expected:
        wanted = Counter(fingerprint(row, body_words) for row in expected[table])
        there = Counter(fingerprint(row, body_words) for row in found[table])
        differences += [f"{table}: missing {row}" for row in (wanted - there).elements()]
        differences += [f"{table}: unexpected {row}" for row in (there - wanted).elements()]
    return differences


def fingerprint(row: Row, body_words: Sequence[str]) -> str:
    """A row as text, without what does not matter: ids of rows that were added, case, spaces, order of attendees."""
    # Ids that the desk gave are longer: those of the task's state have two digits at most.
    kept = {field: value for field, value in row.items() if field != "id" or len(value) <= 3}
    if row.get("folder") == "sent" and body_words:
        missing = [word for word in body_words if plain_words(word) not in plain_words(row["body"])]
        kept["body"] = f"without {', '.join(missing)}" if missing else "as asked"
    return ", ".join(f"{field}={cell_words(value)}" for field, value in sorted(kept.items()))


def cell_words(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(sorted(plain_words(str(inner)) for inner in value))
    return plain_words(str(value))


def plain_words(text: str) -> str:
    """A text without case, quotes and signs at the ends of words."""
    words = [word.strip(".,;:!?\"'`*()[]“”’$€<>") for word in readable(plain(text)).split()]
    return " ".join(word for word in words if word)


ENVIRONMENT = Office()


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
