"""What something takes, measured so that other work on the machine changes little."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Spent(NamedTuple):
    """Seconds."""

    processor: float
    """User and system time of all threads, and of the processes that were waited for."""
    clock: float
    """By the clock on the wall."""


def timed(action: Callable[[], T]) -> tuple[Spent, T]:
    """Time and result of something."""
    clock, processor = time.perf_counter(), processor_time()
    result = action()
    return Spent(processor_time() - processor, time.perf_counter() - clock), result


def processor_time() -> float:
    """Of this process and its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def apart(action: Callable[[], T]) -> T:
    """Result of something that is done in a process of its own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(action()))
    child.start()
    sender.close()
    result: T = receiver.recv()
    child.join()
    return result


def has_free_core() -> bool:
    """Whether two processes that do nothing but count get a core each."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return min(pool.map(share_of_core, [0.2, 0.2], chunksize=1)) > 0.93


def share_of_core(seconds: float) -> float:
    """The part of some time in which this process was running."""
    clock, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - clock < seconds:
        pass
    return (time.process_time() - processor) / (time.perf_counter() - clock)
