"""What `python -m blade.environments.<name>.verifier ROWS.jsonl` does: one verdict per row, as JSON lines.

A row is a task with its rollout's `response`; a row that is none is told on stderr and the next one is judged.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from blade.environments.environment import Environment, Verdict
from blade.errors import BladeError, InputError


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
