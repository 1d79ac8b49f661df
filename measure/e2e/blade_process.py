"""`blade` as a process, and what it left behind."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 600
"""How long one command may take on a busy machine."""


class Served(NamedTuple):
    """A model behind a server."""

    model: str
    url: str


class Done(NamedTuple):
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document it printed."""
        return json.loads(self.out)


class Blade:
    """The command in the checkout."""

    def __init__(self, environment: dict[str, str], checkout: Path) -> None:
        self._settings: dict[str, Any] = {"env": environment, "cwd": checkout}

    def __call__(self, *words: object) -> Done:
        """Runs to its end, whatever that is."""
        done = subprocess.run(self._command(words), capture_output=True, text=True, timeout=SECONDS, **self._settings)
        return Done(done.returncode, done.stdout, done.stderr)

    def good(self, *words: object) -> Done:
        """Runs, and must exit with 0."""
        done = self(*words)
        assert done.code == 0, f"blade {' '.join(map(str, words))}\n{done.out}\n{done.err}"
        return done

    def killed(self, output: Path, rows: int, *words: object) -> None:
        """Starts a run and kills it, with the signal nobody can catch, once so many rows are on disk."""
        process = subprocess.Popen(
            self._command(words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._settings
        )
        try:
            until = time.monotonic() + SECONDS
            while len(rows_of(output)) < rows and process.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            assert process.poll() is None, "the run ended before it could be killed"
        finally:
            process.kill()
            process.wait()

    def _command(self, words: tuple[object, ...]) -> list[str]:
        return [sys.executable, "-m", "blade", *map(str, words)]


def rows_of(path: Path) -> list[bytes]:
    """The whole lines of a file that may still be written to."""
    return (
        [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")] if path.exists() else []
    )


def keys_of(path: Path) -> list[tuple[int, int]]:
    """Task and repeat of every row, sorted."""
    rows = map(json.loads, rows_of(path))
    return sorted((row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows)
