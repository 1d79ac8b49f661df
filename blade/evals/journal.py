"""Rows on disk: a row counts once its file is synced, and one process at a time writes.

Rows that finish together are synced together, so that the disk never sets the pace: a sync costs milliseconds, and
hundreds of rollouts may end in one.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from blade.errors import UsageError
from blade.evals.files import ENCODER
from blade.evals.materialize import Row
from blade.evals.rows import FAILURE
from blade.llm.faults import known_keys

WAITING = 256
"""Rows that may wait for the disk before the workers have to."""


PAUSE = 0.02
"""Seconds between two syncs, so that a fast run gathers rows instead of syncing each."""


class Entry(NamedTuple):
    """A row on its way to a file."""

    row: Row
    line: bytes
    """The row as it will be written."""
    is_failure: bool


def entry_of(row: Row) -> Entry:
    """A row as a line of its file; raises when it holds what no file can hold.

    A server that repeats what it was sent may put our key into an answer: it is not written.
    """
    line = ENCODER.encode(row) + b"\n"
    for key in known_keys():
        line = line.replace(key.encode(), b"[key]")
    return Entry(row, line, FAILURE in row)


class Journal:
    """Appends rows to the rollouts and to the failures, and tells once they are safe."""

    def __init__(self, output: FileIO, failures: FileIO, *, on_safe: Callable[[Entry], None]) -> None:
        self._files = (output, failures)
        self._on_safe = on_safe
        self._queue: asyncio.Queue[Entry | None] = asyncio.Queue(WAITING)

    async def put(self, entry: Entry) -> None:
        """Hands over a row; waits when the disk is far behind."""
        await self._queue.put(entry)

    async def finish(self, writer: asyncio.Task[None]) -> None:
        """Waits until all rows are safe; raises what kept them from it."""
        last = asyncio.create_task(self._queue.put(None))
        await asyncio.wait({last, writer}, return_when=asyncio.FIRST_COMPLETED)  # a writer that failed takes nothing
        last.cancel()
        await writer

    async def write(self) -> None:
        """Writes until it is finished."""
        is_open = True
        while is_open:
            entries, is_open = await self._batch()
            lines = [b"", b""]
            for entry in entries:
                lines[entry.is_failure] += entry.line
            await asyncio.to_thread(self._sync, lines)
            for entry in entries:
                self._on_safe(entry)
            await asyncio.sleep(PAUSE if is_open else 0)

    async def _batch(self) -> tuple[list[Entry], bool]:
        """All that waits, at least one; and whether more will come."""
        entries: list[Entry] = []
        entry = await self._queue.get()
        while entry is not None:
            entries.append(entry)
            if self._queue.empty():
                return entries, True
            entry = self._queue.get_nowait()
        return entries, False

    def _sync(self, lines: list[bytes]) -> None:
        for file, data in zip(self._files, lines, strict=True):
            if data:
                write_all(file, data)
                os.fsync(file.fileno())


def write_all(file: FileIO, data: bytes) -> None:
    """Writes everything, also when the system takes it in parts."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) or 0 :]


def open_locked(path: Path) -> FileIO:
    """The output, opened to append and locked; the lock goes with the process, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = FileIO(path, "ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise UsageError(f"{path}: another run is writing to it; wait for it, or choose another --output.") from error
    return file
