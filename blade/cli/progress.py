"""A progress bar on stderr, for a person who waits: nothing unless it is a terminal and the work takes a while."""

import time
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from blade.cli.terminal import make_console
from blade.report.text import one_line

PATIENCE = 0.5
"""Seconds without a bar."""
BETWEEN = 0.1
"""Seconds between two drawings of it."""


class ReadingBar:
    """Called by the reader with the file, bytes done and bytes in all."""

    def __init__(self, *, wanted: bool = True) -> None:
        console = make_console(stderr=True)
        # Without a refresh thread, because the reader forks.
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            auto_refresh=False,
        )
        self._wanted = wanted and console.is_terminal
        self._started = self._drawn = time.monotonic()
        self._path: Path | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "ReadingBar":
        return self

    def __call__(self, path: Path, done: int, total: int) -> None:
        now = time.monotonic()
        is_early = now - self._started < PATIENCE or (now - self._drawn < BETWEEN and done < total)
        if self._wanted and not is_early:
            self._drawn = now
            self._draw(path, done, total)

    def _draw(self, path: Path, done: int, total: int) -> None:
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("", total=None)
        if path != self._path:
            self._path = path
            self._progress.reset(self._task)
        # Once all is read the bar stays until the analysis is done.
        said = f"{'reading' if done < total else 'analysing'} {one_line(path.name, 40)}"
        self._progress.update(self._task, completed=done, total=total, description=said)
        self._progress.refresh()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._progress.stop()
