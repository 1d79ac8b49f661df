"""A progress bar on stderr, for a person who waits: nothing unless it is a terminal and the work takes a while."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from blade.cli.terminal import make_console
from blade.report.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from blade.evals.tally import Progress as RunProgress
    from blade.evals.tally import Tally

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


ON_TERMINAL = 0.2
"""Seconds between two drawings."""
IN_LOG = 10.0
"""Seconds between two lines of a log."""


@contextlib.contextmanager
def watching(label: str = "", *, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[["Tally"], None]]:
    """Something that is told of every rollout and says so now and then, after a label."""
    from rich.live import Live
    from rich.text import Text

    from blade.cli.terminal import make_console

    console = make_console(stderr=True)
    said = clock()
    start = f"{label}: " if label else ""

    if not console.is_terminal:

        def log(tally: "Tally") -> None:
            nonlocal said
            if clock() - said >= IN_LOG:
                said = clock()
                console.print(Text(start + sentence(tally.now())), soft_wrap=True)

        yield log
        return

    with Live(console=console, auto_refresh=False, transient=True) as live:

        def draw(tally: "Tally") -> None:
            nonlocal said
            if clock() - said >= ON_TERMINAL:
                said = clock()
                live.update(Text(start + sentence(tally.now()), no_wrap=True, overflow="ellipsis"), refresh=True)

        yield draw


def sentence(progress: "RunProgress") -> str:
    """A run at one moment in one line."""
    from blade.report.text import one_line  # an agent of somebody else's names its own failures

    parts = [f"{progress.done}/{progress.total} rollouts", pass_rate(progress)]
    if progress.rate is not None:
        parts.append(f"{progress.rate:.1f}/s" if progress.rate >= 1 else f"{60 * progress.rate:.1f}/min")
    if progress.failures:
        classes = ", ".join(f"{count} {one_line(name, 30)}" for name, count in sorted(progress.failures.items()))
        parts.append(f"{progress.failed} failed ({classes})")
    if progress.left:
        parts.append(f"{duration(progress.left)} left")
    return " · ".join(parts)


def pass_rate(progress: "RunProgress") -> str:
    """How often rollouts passed, with its interval when there is one."""
    metric = progress.pass_rate
    if metric.value is None:
        return "pass rate n/a"
    interval = f" [{metric.ci95[0]:.3f}, {metric.ci95[1]:.3f}]" if metric.ci95 else ""
    return f"pass@1 {metric.value:.3f}{interval}"


def duration(seconds: float) -> str:
    """A time to wait, in the units people wait in."""
    minutes, hours = seconds / 60, seconds / 3600
    return f"{hours:.1f} h" if hours >= 1 else f"{minutes:.0f} min" if minutes >= 1 else f"{seconds:.0f} s"


def progress_bar() -> "Progress":
    """A bar without a refresh thread, because the reader forks."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=make_console(stderr=True), transient=True, auto_refresh=False)
