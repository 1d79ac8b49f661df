"""A progress bar on stderr, for a person who waits: nothing unless it is a terminal and the work takes a while."""

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from blade.cli.terminal import make_console
from blade.report.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.5
"""Seconds without a bar."""
BETWEEN = 0.1
"""Seconds between two drawings of it."""


class ReadingBar:
    """Called by the reader with the file, bytes done and bytes in all."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted and make_console(stderr=True).is_terminal
        self._progress: Progress | None = None
        self._started = self._drawn = time.monotonic()
        self._path: Path | None = None

    def __enter__(self) -> "ReadingBar":
        return self

    def __call__(self, path: Path, done: int, total: int) -> None:
        now = time.monotonic()
        is_early = now - self._started < PATIENCE or (now - self._drawn < BETWEEN and done < total)
        if self._wanted and not is_early:
            self._drawn = now
            self._draw(path, done, total)

    def _draw(self, path: Path, done: int, total: int) -> None:
        if self._progress is None:
            self._progress = progress_bar()
            self._progress.start()
            self._progress.add_task("", total=None)
        [task] = self._progress.task_ids
        if path != self._path:
            self._path = path
            self._progress.reset(task)
        # Once all is read the bar stays until the analysis is done.
        said = f"{'reading' if done < total else 'analysing'} {one_line(path.name, 40)}"
        self._progress.update(task, completed=done, total=total, description=said)
        self._progress.refresh()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


def progress_bar() -> "Progress":
    """A bar without a refresh thread, because the reader forks."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=make_console(stderr=True), transient=True, auto_refresh=False)
