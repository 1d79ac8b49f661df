"""A run: workers take the next rollout that is still to do, have it played and judged, and hand it to the journal.

Workers share one iterator over the materialized inputs, so memory does not grow with the number of tasks. A rollout
that fails is a row in the failures file, and the run goes on. Only when nothing works any more does it stop by
itself: a server that is gone would otherwise be asked for hours.
"""

import asyncio
import contextlib
import datetime
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from blade.errors import BladeError, InputError
from blade.evals.aggregate import AggregateOptions, write_aggregate
from blade.evals.files import RunFiles
from blade.evals.jobs import Job
from blade.evals.journal import Entry, Journal, entry_of
from blade.evals.manifest import Extent, Manifest, Sitting, digest, versions, write_manifest
from blade.evals.materialize import Row, materialize
from blade.evals.plan import Plan
from blade.evals.players import Player
from blade.evals.resuming import Ground, prepare_ground, still_to_do, write_inputs
from blade.evals.rows import FAILURE, NOT_KEPT, WHY, failed_row
from blade.evals.tally import Progress, Tally

HOPELESS = 32
"""Failures in a row, with no rollout judged between them, after which a run stops; at least two per worker."""

Status = Literal["finished", "interrupted", "stopped"]
Watch = Callable[[Tally], None]


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a plan is carried out; nothing here changes what a rollout is."""

    concurrency: int = 8
    """Number of rollouts to run in parallel."""
    resume: bool = False
    """Go on with what is there."""
    force: bool = False
    """Overwrite, or continue despite changes."""
    server: str | None = None
    """Where the model is, for the manifest."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a sitting ended."""

    status: Status
    """All was tried; the user stopped it; or nothing worked any more."""
    progress: Progress
    """The counts at its end."""
    notes: list[str]
    """What a user should know."""
    error: str | None = None
    """The last failure, when nothing worked any more."""


def run_job(job: Job, files: RunFiles, *, options: RunOptions, watch: Watch = lambda tally: None) -> RunResult:
    """Carries out a run, or what is left of it."""
    plan = job.plan
    tally = Tally(total=0, success=plan.success)
    extent = Extent(repeats=plan.repeats, limit=plan.limit)
    ground = prepare_ground(
        files, job.settings, extent, resume=options.resume, force=options.force, on_earlier=tally.count_earlier
    )
    files.aggregate.unlink(missing_ok=True)  # it would be of fewer rollouts than there will be
    with ground.output, ground.failures:
        tally.total = write_inputs(files.inputs, materialize(plan, job.environment, job.library))
        manifest = begin_manifest(job, extent, ground, options, expected=tally.total)
        write_manifest(files.manifest, manifest)
        todo = still_to_do(files.inputs, ground)
        shift = Shift(job.player, todo, tally, watch=watch, concurrency=options.concurrency)
        try:
            status = asyncio.run(shift.work(ground))
        except OSError as error:
            raise InputError(
                f"{files.output}: {error.strerror or error}; what is written is safe, --resume goes on."
            ) from error
        notes = [*ground.notes, *shift.notes, *job.player.notes, *skill_notes(job), *aggregate(job.plan, files, tally)]
        if tally.unscored:
            notes.append(f"{tally.unscored} of {tally.done} rollouts have no score, and no pass rate counts them")
        write_manifest(files.manifest, end_manifest(manifest, status, tally, notes))
    return RunResult(status=status, progress=tally.now(), notes=notes, error=shift.last_error)


def aggregate(plan: Plan, files: RunFiles, tally: Tally) -> list[str]:
    """Writes the metrics of what is done; what keeps them from being written is a note, for the rollouts are safe."""
    if not tally.done:
        return []
    try:
        write_aggregate(files.output, AggregateOptions(success=plan.success, slices=plan.slices))
    except BladeError as error:
        return [f"no metrics were written: {error}"]
    return []


def skill_notes(job: Job) -> list[str]:
    """What a user should know about the skills of a run."""
    notes = []
    if job.library and job.library.has_changed():
        notes.append(f"{job.library.given}: changed during the run; the rollouts used it as it was at the start")
    if job.library and job.environment is None:
        notes.append("the agent was told of no skills: rows only carry their stamp, whether it uses them is its own")
    return notes


def begin_manifest(job: Job, extent: Extent, ground: Ground, options: RunOptions, *, expected: int) -> Manifest:
    """The manifest as a sitting begins."""
    plan, settings = job.plan, job.settings
    sitting = Sitting(
        started_at=utc_now(),
        concurrency=options.concurrency,
        server=options.server,
        changed=ground.changed,
        versions=versions(),
    )
    named = {"dataset": plan.data.name, **({"prompt": plan.prompt.name} if plan.prompt else {})}
    return Manifest(
        config_digest=digest(settings),
        settings=settings,
        extent=extent,
        expected=expected,
        files=named,
        sittings=[*(ground.before.sittings if ground.before else []), sitting],
    )


def end_manifest(manifest: Manifest, status: Status, tally: Tally, notes: list[str]) -> Manifest:
    """The manifest as a sitting ends."""
    *earlier, last = manifest.sittings
    done = msgspec.structs.replace(
        last, finished_at=utc_now(), status=status, judged=tally.judged_here, failed=tally.failed, notes=notes
    )
    return msgspec.structs.replace(manifest, sittings=[*earlier, done])


def utc_now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Shift:
    """The workers of one sitting."""

    def __init__(self, player: Player, todo: Iterator[Row], tally: Tally, *, watch: Watch, concurrency: int) -> None:
        self._player = player
        self._todo = todo
        self._tally = tally
        self._watch = watch
        self._workers = concurrency
        self.last_error: str | None = None
        self.notes: list[str] = []
        self._status: Status = "finished"

    async def work(self, ground: Ground) -> Status:
        """Works until all is done, the user stops it, or nothing works any more."""
        self._stop = asyncio.Event()
        journal = Journal(ground.output, ground.failures, on_safe=self._safe)
        writer = asyncio.create_task(journal.write())
        workers = asyncio.gather(*(self._worker(journal) for _ in range(self._workers)))
        stop = asyncio.create_task(self._stop.wait())
        with stopping(self._interrupt):
            ends: set[asyncio.Future[Any]] = {writer, workers, stop}
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                await call_off(stop, workers)
            finally:
                await self._player.close()
                await journal.finish(writer)
        return self._status

    async def _worker(self, journal: Journal) -> None:
        for row in self._todo:
            entry = await self._attempt(row)
            if entry.row.get(NOT_KEPT):
                self.notes = ["the agent gave rollouts back that were not to be kept; --resume asks for them again"]
            else:
                await journal.put(entry)

    async def _attempt(self, row: Row) -> Entry:
        """The judged row, or one that says what went wrong."""
        start = time.perf_counter()
        try:
            return entry_of(await self._player.judged(row))
        except Exception as error:  # a verifier or tool that breaks costs its rollout, never the run
            seconds = time.perf_counter() - start
            return entry_of(failed_row(row, error, model=self._player.name, seconds=seconds))

    def _safe(self, entry: Entry) -> None:
        if entry.is_failure:
            self._tally.count_failure(entry.row)
            self.last_error = entry.row.get(WHY) or entry.row[FAILURE]
            if self._tally.in_a_row >= max(HOPELESS, 2 * self._workers):
                self._end("stopped")
        else:
            self._tally.count(entry.row)
        self._watch(self._tally)

    def _interrupt(self) -> None:
        self._end("interrupted")

    def _end(self, status: Status) -> None:
        if not self._stop.is_set():
            self._status = status
            self._stop.set()


async def call_off(*tasks: "asyncio.Future[Any]") -> None:
    """Ends what is still going on; what had already gone wrong is raised."""
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.contextmanager
def stopping(handler: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C, a polite kill and a closed terminal call the handler.

    Where signals cannot be caught, they do what they always do; one that is ignored, as under `nohup`, stays ignored.
    """
    loop = asyncio.get_running_loop()
    caught = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) is signal.SIG_IGN:
            continue
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, handler)
            caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
