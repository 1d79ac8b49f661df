"""Where work is done that can be divided: in processes of this machine, or on a Ray cluster.

The unit is a picklable function over a task, most often a byte range of a file, and a function that merges results.
Results come in the order of the tasks, so nothing depends on who was faster or how many there were.
"""

import contextlib
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Done = Callable[[int], None]
"""Called with how many tasks are done."""


def nobody(_done: int) -> None:
    """For when nobody watches."""


class Engine(Protocol):
    """What divided work is handed to."""

    @property
    def workers(self) -> int:
        """Tasks that are done at a time."""

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, done: Done = nobody
    ) -> Iterator[Result]:
        """The result of every task, in order."""

    def reduce(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        merge: Callable[[list[Result]], Result],
        *,
        done: Done = nobody,
    ) -> Result:
        """All results merged into one; `merge` is given neighbours, in order, and its own results again."""


class Local:
    """Processes of this machine; a killed one costs time, not the answer."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, done: Done = nobody
    ) -> Iterator[Result]:
        finished = 0
        with contextlib.suppress(BrokenProcessPool):
            for result in self._in_processes(function, tasks):
                yield result
                finished += 1
                done(finished)
        for task in tasks[finished:]:
            yield function(task)
            finished += 1
            done(finished)

    def _in_processes(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        if self.workers <= 1 or len(tasks) <= 1:
            return
        # fork starts in milliseconds; elsewhere it is not safe, and spawn is what there is.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        pool = ProcessPoolExecutor(min(self.workers, len(tasks)), mp_context=context)
        try:
            for future in [pool.submit(function, task) for task in tasks]:
                yield future.result()
        finally:
            # Nobody has to wait for the processes to go once their results are here.
            pool.shutdown(wait=False, cancel_futures=True)

    def reduce(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        merge: Callable[[list[Result]], Result],
        *,
        done: Done = nobody,
    ) -> Result:
        return merge(list(self.map(function, tasks, done=done)))


_chosen: ContextVar[Engine | None] = ContextVar("engine", default=None)


@contextlib.contextmanager
def use(engine: Engine) -> Iterator[None]:
    """Has everything within divided among this engine's workers."""
    before = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(before)


def engine_for(jobs: int) -> Engine:
    """The engine that was chosen, else so many processes of this machine."""
    return _chosen.get() or Local(jobs)


_sharing: list[Callable[[Any], Any]] = []


def share(function: Callable[[Task], Result], pieces: Sequence[Task]) -> Iterator[Result]:
    """The result of every piece, in order, made by processes that begin with all that this one has in memory.

    Nothing but pieces and results is sent, so the function may be about a whole run. Where processes cannot begin so,
    and for a cluster, whose workers have not read the run, it is done here.
    """
    engine = _chosen.get()
    if sys.platform != "linux" or not isinstance(engine, Local):
        yield from map(function, pieces)
        return
    _sharing.append(function)
    try:
        yield from engine.map(_shared, pieces)
    finally:
        _sharing.pop()


def _shared(piece: Any) -> Any:
    return _sharing[-1](piece)
