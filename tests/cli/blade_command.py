"""The command as a test calls it, and the small runs it is called on."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rollout_rows import Row, call, message, result, rollout, thought, write_rows
from typer.testing import CliRunner, Result

from blade.cli.main import app


def blade(*words: str | Path, input: str | bytes | None = None, env: Mapping[str, str] | None = None) -> Result:
    """Runs the command in this process, at the width of a pipe; a programming error is raised."""
    settings: dict[str, str | None] = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None, **(env or {})}
    arguments = [str(word) for word in words]
    return CliRunner().invoke(app, arguments, input=input, env=settings, catch_exceptions=False, prog_name="blade")


def blade_process(*words: str | Path, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs the command as a process of its own."""
    env = {**os.environ, "COLUMNS": "100", **settings.pop("env", {})}
    command = [sys.executable, "-m", "blade", *map(str, words)]
    return subprocess.run(command, capture_output=True, env=env, timeout=60, **settings)


def document(found: Result) -> Any:
    """The one JSON document on stdout of a command that succeeded."""
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def booking(flight: str, said: str, *, wish: str = "LH1") -> list[Row]:
    """A short trajectory: think, search, book a flight, answer."""
    return [
        thought("I should look for flights first."),
        call("search", '{"to": "Oslo"}', "c1"),
        result(f"LH1 and SK2 are free, {wish} is wanted", "c1"),
        call("book", f'{{"flight": "{flight}"}}', "c2"),
        result(f"booked {flight}", "c2"),
        message(said),
    ]


def airline(folder: Path) -> Path:
    """Three tasks with two rollouts each: 0 always passes, 1 sometimes, 2 never; and a line that is not JSON."""
    rows: list[Row | str] = [
        rollout(0, 0, 1.0, output=booking("LH1", "Booked LH1."), level="easy"),
        rollout(0, 1, 1.0, output=booking("LH1", "LH1 is booked."), level="easy"),
        rollout(1, 0, 1.0, output=booking("LH1", "Booked LH1."), level="hard"),
        rollout(1, 1, 0.0, output=booking("SK2", "Booked SK2."), level="hard"),
        rollout(
            2, 0, 0.0, output=[call("search", "{}"), result("Error: no such city"), message("Done.")], level="hard"
        ),
        rollout(2, 1, 0.0, output=[message("I could not find it.")], level="hard"),
        '{"_ng_task_index": 2, "rew',
    ]
    return write_rows(folder / "airline.jsonl", rows)


def diagnosed(folder: Path) -> Path:
    """The folder of a diagnosis of those rollouts."""
    out = folder / "out"
    found = blade("diagnose", airline(folder), "--out", out, "--quiet")
    assert found.exit_code == 0, found.stderr
    return out
