"""Diagnosing a run that is still being made: again whenever its files have grown, and never all the time.

Between two looks at least as long is waited as the last one took, so that following costs at most half a core, and a
file that grows without a pause is still shown as it was a moment ago.
"""

import time
from collections.abc import Callable, Iterator, Sequence

import typer

from blade.errors import InputError
from blade.rollouts.finding import find_inputs
from blade.rollouts.urls import UrlPath

BETWEEN = 0.5
"""Seconds between two looks at what the files are."""

State = list[tuple[str, int, int]]


def state_of(inputs: Sequence[str], form: str | None) -> State:
    """Every file of the inputs with its size and time; none while there is nothing."""
    found: State = []
    try:
        for source in find_inputs(inputs, form):
            for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
                if isinstance(path, UrlPath) or path.is_file():
                    stat = path.stat()
                    found.append((str(path), stat.st_size, stat.st_mtime_ns))
    except (InputError, OSError):
        return found
    return found


def follow(
    inputs: Sequence[str],
    form: str | None,
    look: Callable[[], None],
    *,
    until_idle: float | None,
    as_json: bool = False,
) -> None:
    """Looks now and after every change, until interrupted or until nothing has changed for so many seconds.

    A problem is told once, when it is met; one that lasts until the end is the exit code.

    Raises:
        InputError: there was nothing to be read at the end, for a program to be told.
    """
    problem: InputError | None = None
    try:
        for _ in changes(inputs, form, until_idle=until_idle):
            try:
                look()
                problem = None
            except InputError as error:  # most often the file is not there yet, or has no whole line
                if str(error) != str(problem):
                    typer.echo(f"blade: {error}", err=True)
                problem = error
    except KeyboardInterrupt:
        typer.echo("blade: no longer followed", err=True)
    if problem is not None:
        if as_json:
            raise problem
        raise typer.Exit(problem.exit_code)


def changes(inputs: Sequence[str], form: str | None, *, until_idle: float | None) -> Iterator[None]:
    """Yields at once, and whenever the inputs are other than they were when the last look began."""
    seen = state_of(inputs, form)
    last = begun = time.monotonic()
    yield
    while True:
        time.sleep(max(BETWEEN, time.monotonic() - begun))
        now = state_of(inputs, form)
        begun = time.monotonic()
        if now != seen:
            seen, last = now, begun
            yield
        elif until_idle is not None and begun - last >= until_idle:
            return
