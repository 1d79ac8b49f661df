"""Writes the made-up rollouts that `blade demo` diagnoses, in NeMo Gym's file format, faults included.

No model was asked for anything: `tasks.py` says what is asked and what happens, `plays.py` acts it out. The faults
that sit in rows rather than in behaviour are the constants below; the README beside the files lists all of both kinds.
"""

import argparse
import heapq
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from demo_data.dice import Dice
from demo_data.plays import UNPERSISTED, Outcome, message, play
from demo_data.published import Row, published_metrics
from demo_data.tasks import TASKS, Task

SHIPPED = Path(__file__).resolve().parents[2] / "blade" / "cli" / "demo_data"
WORKERS = 12
START = 1772524800  # 2026-03-03, 08:00 UTC
TIME_LIMIT = 120
TOKEN_LIMIT = 1024
AGENT = {"type": "responses_api_agents", "name": "desk_agent"}
MODEL = "made-up-model"

RECOVERED = "7:2"  # killed first, passed when it was tried again
COPIED = "4:1"  # its row is in the file twice
CONTRADICTED = "12:0"  # a second row with this key tells of another rollout, which failed
CUT = "9:2"  # its line stops in the middle
UNSCORED = "16:4"  # its reward is "n/a" and nothing was measured
PLACEHOLDER_AFTER = 59  # rows before the line that is not a row
THINKS_ALOUD = "11:3"  # its answer begins with a thought in <think> tags
CHAT_USAGE = "5:0"  # its usage is written as chat servers do
ZERO_USAGE = "22:1"  # its usage is all zeros: not counted

SYSTEM = (
    "You are the office assistant of Hollis & Varga. Today is Tuesday, 2026-03-03. Use the tools and do not ask back. "
    "When a question wants a number, end with a line “Answer: <number>”."
)
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "find_contact": ("Find people in the directory.", {"name": "string"}),
    "send_mail": ("Send a mail.", {"to": "string", "subject": "string", "body": "string"}),
    "search_mail": ("Search the inbox, newest first.", {"query": "string", "page": "integer"}),
    "read_mail": ("Read one mail.", {"mail_id": "string"}),
    "list_events": ("List the events of a day.", {"date": "string"}),
    "create_event": (
        "Create an event.",
        {"title": "string", "start": "string", "minutes": "integer", "attendee": "string"},
    ),
    "move_event": ("Move an event.", {"event_id": "string", "start": "string"}),
    "find_record": ("Find a customer record.", {"company": "string"}),
    "update_record": ("Set one field of a record.", {"record_id": "string", "field": "string", "value": "string"}),
}


class Rollout(NamedTuple):
    """One attempt at a task."""

    task: int
    repeat: int
    letter: str
    dice: Dice

    @property
    def key(self) -> str:
        return f"{self.task}:{self.repeat}"


def rollouts() -> list[Rollout]:
    """All that were asked for, in the order of the inputs."""
    return [
        Rollout(index, repeat, letter, Dice(index, repeat))
        for index, task in enumerate(TASKS)
        for repeat, letter in enumerate(task.plays)
    ]


def input_row(rollout: Rollout) -> Row:
    """What the runner was given: the request and all the benchmark knows about the task."""
    task = TASKS[rollout.task]
    return {
        "responses_create_params": request(task),
        "difficulty": task.difficulty,
        "category": task.family.category,
        "expected_answer": task.family.expected,
        "verifier_metadata": {
            "check": task.family.check,
            "gold_tool_calls": len(task.family.right(rollout.dice).calls),
        },
        "agent_ref": AGENT,
        "_ng_task_index": rollout.task,
        "_ng_rollout_index": rollout.repeat,
    }


def request(task: Task) -> Row:
    said = (("system", SYSTEM), ("user", task.family.request))
    return {
        "input": [{"role": role, "content": content, "type": "message"} for role, content in said],
        "tools": [tool(name) for name in task.family.tools],
        "max_output_tokens": TOKEN_LIMIT,
        "temperature": 1.0,
    }


def tool(name: str) -> Row:
    description, parameters = TOOLS[name]
    schema = {
        "type": "object",
        "properties": {parameter: {"type": kind} for parameter, kind in parameters.items()},
        "required": list(parameters),
        "additionalProperties": False,
    }
    return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": True}


def tenths(rollout: Rollout, outcome: Outcome) -> int:
    """How long the agent ran, in tenths of a second; every call costs about two seconds."""
    if rollout.letter in "OQ":
        return 10 * TIME_LIMIT
    return 14 + rollout.dice.number("start", 0, 25) + outcome.calls * rollout.dice.number("pace", 14, 29)


def timetable(durations: dict[str, int]) -> dict[str, int]:
    """When each rollout starts, with so many workers that take the inputs in order."""
    free = [START] * WORKERS
    starts: dict[str, int] = {}
    for key, seconds in durations.items():
        starts[key] = heapq.heappop(free)
        heapq.heappush(free, starts[key] + seconds)
    return starts


def usage(rollout: Rollout, outcome: Outcome) -> Row | None:
    """Tokens, at four characters each; what was cut off had spent the rest of its tokens on thinking."""
    if rollout.letter in "XF" or rollout.key == UNSCORED:
        return None
    written = len(compact(outcome.items)) // 4
    made = TOKEN_LIMIT if rollout.letter == "T" else written
    given = (outcome.calls + 1) * (len(compact(request(TASKS[rollout.task]))) // 4) + outcome.calls * written // 2
    if rollout.key == ZERO_USAGE:
        given = made = written = 0
    if rollout.key == CHAT_USAGE:
        return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": made - written},
        "total_tokens": given + made,
    }


def response(rollout: Rollout, outcome: Outcome, *, start: int, seconds: int) -> Row:
    status = {"T": None, "X": "failed", "F": None}.get(rollout.letter, "completed")
    busy = {"code": "server_error", "message": "The model server is overloaded, please try again later."}
    return {
        "id": f"resp_{rollout.dice.hex('response', 16)}{'-failed' if rollout.letter == 'F' else ''}",
        "created_at": float(start),
        "completed_at": float(start + seconds),
        "error": busy if rollout.letter == "X" else None,
        "incomplete_details": {"reason": "max_output_tokens"} if rollout.letter == "T" else None,
        "model": MODEL,
        "object": "response",
        "output": outcome.items,
        "parallel_tool_calls": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "status": status,
        "usage": usage(rollout, outcome),
    }


def outcome_of(rollout: Rollout) -> Outcome:
    outcome = play(TASKS[rollout.task], rollout.letter, dice=rollout.dice)
    if rollout.key != THINKS_ALOUD:
        return outcome
    said = outcome.items[-1]["content"][0]["text"]
    aloud = f"<think>The record is updated, so I only have to confirm it.</think>\n\n{said}"
    return outcome._replace(items=[*outcome.items[:-1], message(aloud, rollout.dice)])


def rollout_row(rollout: Rollout, start: int) -> Row:
    """The row of a rollout that reached its verdict."""
    outcome = outcome_of(rollout)
    spent = tenths(rollout, outcome)
    given = input_row(rollout)
    row = {
        "responses_create_params": given.pop("responses_create_params"),
        "response": response(rollout, outcome, start=start, seconds=seconds_of(spent)),
        "reward": outcome.reward,
        "extracted_answer": outcome.answer,
        "state_match": outcome.state_match,
        "num_tool_calls": outcome.calls,
        "agent_run_time": spent / 10,
        "agent_timed_out": rollout.letter in "OQ",
        "agent_error_kind": "other",
        "exception_type": "KeyError" if rollout.letter == "V" else None,
        **given,
    }
    return marked(row, rollout)


def marked(row: Row, rollout: Rollout) -> Row:
    """The row with what is special about its key."""
    if rollout.key == RECOVERED:
        row["_ng_attempt_index"] = 1
    if rollout.key == UNSCORED:
        measured = ("state_match", "num_tool_calls", "agent_run_time", "agent_timed_out")
        row.update(dict.fromkeys(measured), reward="n/a")
    return row


def seconds_of(tenth: int) -> int:
    return -(-tenth // 10)


def failure_row(rollout: Rollout, start: int) -> Row:
    """An attempt without a verdict, as the runner notes it in the failures file."""
    late = rollout.letter == "M"
    empty = {"id": f"resp_{rollout.dice.hex('lost', 16)}", "created_at": float(start), "error": None, "model": MODEL}
    return {
        **input_row(rollout),
        "response": {**empty, "object": "response", "output": [], "usage": None},
        "reward": 0.0,
        "_ng_failure_class": "timeout_exceeded" if late else "kill_shaped",
        **({"_ng_failure_terminal": True} if late else {}),
    }


class Made(NamedTuple):
    """Everything that is written."""

    inputs: list[Row]
    rows: list[Row]
    """Rows of the main file in the order of their completion, each key once."""
    again: Row
    """The second row of a key, which says something else."""
    failures: list[Row]


def make() -> Made:
    """Runs the made-up benchmark once."""
    asked = rollouts()
    starts = timetable({one.key: duration(one) for one in asked})
    resumed = max(starts.values()) + TIME_LIMIT
    lost = [one for one in asked if one.letter in "KM" or one.key == RECOVERED]
    done = [one for one in asked if one.letter not in UNPERSISTED]
    rows = [rollout_row(one, resumed if one.key == RECOVERED else starts[one.key]) for one in done]
    rows.sort(key=lambda row: (row["response"]["completed_at"], row["_ng_task_index"], row["_ng_rollout_index"]))
    return Made(
        inputs=[input_row(one) for one in asked],
        rows=rows,
        again=rollout_row(second_try(CONTRADICTED), resumed),
        failures=[failure_row(one, starts[one.key]) for one in lost],
    )


def duration(rollout: Rollout) -> int:
    """Whole seconds that a worker is busy."""
    return TIME_LIMIT if rollout.letter in UNPERSISTED else seconds_of(tenths(rollout, outcome_of(rollout)))


def second_try(key: str) -> Rollout:
    task, repeat = map(int, key.split(":"))
    return Rollout(task, repeat, "S", Dice(task, repeat, "again"))


def key_of(row: Row) -> str:
    return f"{row['_ng_task_index']}:{row['_ng_rollout_index']}"


def main_lines(made: Made) -> list[str]:
    """The lines of the main file, with those that no reader can use."""
    lines: list[str] = []
    for row in made.rows:
        line = compact(row)
        lines.append(line[: len(line) // 2] if key_of(row) == CUT else line)
    lines.insert(PLACEHOLDER_AFTER, "<PLACEHOLDER ROW>")
    copy = next(compact(row) for row in made.rows if key_of(row) == COPIED)
    return [*lines, copy, compact(made.again)]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def files() -> dict[str, str]:
    """Name and content of every file."""
    made = make()
    scored = [row for row in made.rows if key_of(row) not in (CUT, UNSCORED)]
    before = [row for row in scored if key_of(row) != RECOVERED]
    metrics = json.dumps(published_metrics(scored, before_retry=before), ensure_ascii=False, indent=2)
    return {
        "rollouts.jsonl": as_lines(main_lines(made)),
        "rollouts_materialized_inputs.jsonl": as_lines([compact(row) for row in made.inputs]),
        "rollouts_failures.jsonl": as_lines([compact(row) for row in made.failures]),
        "rollouts_aggregate_metrics.json": metrics + "\n",
    }


def as_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def write(folder: Path) -> list[Path]:
    """Writes all files into a folder and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in files().items():
        paths.append(folder / name)
        paths[-1].write_bytes(text.encode("utf-8"))
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the demo's made-up rollouts and their sidecars.")
    parser.add_argument(
        "--out", type=Path, default=SHIPPED, help="folder to write to (default: where the package has them)"
    )
    for path in write(parser.parse_args().out):
        print(f"{path} {path.stat().st_size}")


if __name__ == "__main__":
    main()
