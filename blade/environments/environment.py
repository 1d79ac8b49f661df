"""What an environment is: how tasks are worked on with tools, and how what came out of it is judged.

Judging is a function of the task and of the output items alone: tool calls are replayed over the task's first
state, never taken from a session that happened to be open. So rollouts that exist can be judged again at any time.
"""

import argparse
import difflib
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from blade.errors import BladeError, InputError, UsageError

Task = Mapping[str, Any]
"""A row of a benchmark's data: the question's fields and what is expected, at top level."""

Item = Mapping[str, Any]
"""An item of a model's output in the form of OpenAI Responses: message, function_call, function_call_output, ..."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment says about one rollout."""

    reward: float
    """From 0, nothing right, to 1, everything right."""
    fields: dict[str, Any] = {}
    """What the judgement rests on; written at the top level of the rollout's row."""


class Session(Protocol):
    """The tools of one rollout, over a state of its own."""

    def call(self, name: str, arguments: str) -> str:
        """What a tool answers to arguments given as JSON text. A call that cannot be made is answered, not raised."""
        ...


class Environment(Protocol):
    """One way of working on tasks and of judging the result."""

    name: str
    """Name of its folder in `blade/environments`."""

    def tools(self, task: Task) -> list[dict[str, Any]]:
        """The function tools of a task as OpenAI Responses wants them; empty when there are none."""
        ...

    def open(self, task: Task) -> Session | None:
        """Tools over a fresh state; `None` when there are none."""
        ...

    def verify(self, task: Task, items: Sequence[Item]) -> Verdict:
        """Judges the output items of one rollout. Pure: the same items always get the same verdict."""
        ...

    def gold(self, task: Task) -> list[dict[str, Any]]:
        """The output items of a rollout that does everything right."""
        ...


FOLDER = Path(__file__).parent


def environment_names() -> list[str]:
    """Names of all environments, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/config.yaml"))


def load_environment(name: str) -> Environment:
    """The environment of that name; a name that is none raises `UsageError`."""
    names = environment_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}."
        raise UsageError(f"no environment is named '{name}'; {hint}")
    environment: Environment = importlib.import_module(f"blade.environments.{name}.verifier").ENVIRONMENT
    return environment


def judge_rows(environment: Environment) -> None:
    """Judges the rows of the file named on the command line, or of standard input.

    Exits with 1 if one of them is not a row, and with 3 if they cannot be read or cannot be judged here.
    """
    parser = argparse.ArgumentParser(description=f"Judge rollout rows in the environment '{environment.name}'.")
    parser.add_argument("rows", metavar="ROWS.jsonl", help="rollout rows, one JSON object per line; - for stdin")
    place = parser.parse_args().rows
    try:
        lines = (sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()).splitlines()
        verdicts = [judged(environment, line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    except OSError as error:
        sys.exit(stopped(f"{place}: {error.strerror}"))
    except BladeError as error:
        sys.exit(stopped(str(error)))
    sys.exit(1 if None in verdicts else 0)


def stopped(message: str) -> int:
    print(message, file=sys.stderr)
    return InputError.exit_code


def judged(environment: Environment, line: bytes, number: int) -> Verdict | None:
    """The verdict on a row, printed; `None` for a line that is not a row."""
    try:
        row: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        verdict = environment.verify(row, row["response"]["output"])
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        print(f"line {number}: no rollout row with a task and a response: {error}", file=sys.stderr)
        return None
    print(msgspec.json.encode(verdict).decode())
    return verdict
