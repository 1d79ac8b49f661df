"""How a run is doing, on stderr: a line that is drawn over on a terminal, a log with a line now and then elsewhere."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blade.evals.tally import Progress, Tally

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


def sentence(progress: "Progress") -> str:
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


def pass_rate(progress: "Progress") -> str:
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
