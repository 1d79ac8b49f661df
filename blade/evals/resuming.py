"""How a sitting begins: take the lock, see what is there, refuse what does not fit, mend what a kill left behind."""

from collections import Counter
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import UsageError
from blade.evals.files import RunFiles, cut_torn_line, lines_of, read_lines, write_whole
from blade.evals.journal import open_locked
from blade.evals.manifest import Extent, Manifest, Settings, differences, read_manifest
from blade.evals.materialize import INDICES, TASK_DECODER, Key, Row, key_of


class Ground(msgspec.Struct, kw_only=True):
    """What a sitting stands on."""

    output: FileIO
    """The rollouts, locked and opened to append."""
    failures: FileIO
    """The failures, opened to append."""
    before: Manifest | None = None
    """The manifest of the sittings before; `None` for a new run."""
    changed: list[str] = []
    """What differs from them, because the user insisted."""
    done: set[Key] = set()
    """Rollouts that are judged, or failed for good."""
    attempts: Counter[Key] = Counter()
    """Attempts at the others that failed."""
    notes: list[str] = []
    """What was found and mended."""


def prepare_ground(
    files: RunFiles, settings: Settings, extent: Extent, *, resume: bool, force: bool, on_earlier: Callable[[Row], None]
) -> Ground:
    """Begins a run or takes one up again.

    Args:
        resume: Go on with what is there; without anything there, begin.
        force: Overwrite what is there; or, with `resume`, go on in spite of changed settings.
        on_earlier: Told every rollout that is already judged.
    """
    output = open_locked(files.output)
    try:
        if not has_rows(files) or (force and not resume):
            return begin(files, output)
        if not resume:
            raise UsageError(f"{files.output}: holds rollouts; go on with --resume, or overwrite them with --force.")
        before, changed = read_manifest(files.manifest), []
        if before is None and not force:
            raise UsageError(f"{files.output}: has no manifest, so nothing says how it was made; --force goes on.")
        if before is not None:
            changed = differences(before, settings, extent)
        if changed and not force:
            raise UsageError(f"{files.output}: was made differently: {'; '.join(changed)}; --force goes on anyway.")
        return take_up(files, output, before=before, changed=changed, on_earlier=on_earlier)
    except BaseException:
        output.close()
        raise


def has_rows(files: RunFiles) -> bool:
    """Whether anything was brought home in an earlier sitting."""
    return any(path.exists() and path.stat().st_size > 0 for path in (files.output, files.failures))


def begin(files: RunFiles, output: FileIO) -> Ground:
    """An empty run; nothing of an earlier one stays, least of all its failures."""
    for path in files.derived:
        path.unlink(missing_ok=True)
    output.truncate(0)
    return Ground(output=output, failures=FileIO(files.failures, "ab"))


def take_up(
    files: RunFiles, output: FileIO, *, before: Manifest | None, changed: list[str], on_earlier: Callable[[Row], None]
) -> Ground:
    """An earlier run with its torn ends cut off and every rollout in it once."""
    notes = [
        f"{path.name}: a torn last line was cut off" for path in (files.output, files.failures) if cut_torn_line(path)
    ]
    done, dropped = scan(files.output, on_earlier)
    if dropped:
        output = without(files.output, output, set(dropped))
        notes.append(
            f"{files.output.name}: {len(dropped)} lines that are unreadable or repeat a rollout were taken out"
        )
    attempts, final = scan_failures(files.failures)
    return Ground(
        output=output,
        failures=FileIO(files.failures, "ab"),
        before=before,
        changed=changed,
        done=done | final,
        attempts=attempts,
        notes=notes,
    )


def scan(path: Path, on_row: Callable[[Row], None]) -> tuple[set[Key], list[int]]:
    """The rollouts in a file, and numbers of lines that hold none or one already seen."""
    seen: set[Key] = set()
    dropped: list[int] = []
    for number, line in read_lines(path):
        try:
            INDICES.decode(line)
            row = TASK_DECODER.decode(line)
        except msgspec.MsgspecError:
            dropped.append(number)
            continue
        key = key_of(row)
        if key in seen:
            dropped.append(number)
        else:
            seen.add(key)
            on_row(row)
    return seen, dropped


def without(path: Path, output: FileIO, numbers: set[int]) -> FileIO:
    """The output without some lines, locked anew before the old lock is given up."""
    write_whole(path, (line for number, line in read_lines(path) if number not in numbers))
    fresh = open_locked(path)
    output.close()
    return fresh


def scan_failures(path: Path) -> tuple[Counter[Key], set[Key]]:
    """Failed attempts by rollout, and rollouts whose failure is final."""
    attempts: Counter[Key] = Counter()
    final: set[Key] = set()
    for _, line in read_lines(path) if path.exists() else ():
        try:
            row: dict[str, Any] = TASK_DECODER.decode(line)
            key = key_of(row)
        except (msgspec.MsgspecError, KeyError):
            continue
        attempts[key] += 1
        if row.get("_ng_failure_terminal") is True:
            final.add(key)
    return attempts, final


def write_inputs(path: Path, rows: Iterator[Row]) -> int:
    """Writes what is asked; how many rows."""
    count = 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    write_whole(path, lines_of(counted()))
    return count


def still_to_do(inputs: Path, ground: Ground) -> Iterator[Row]:
    """Rows that have no verdict yet, read as they are needed."""
    for _, line in read_lines(inputs):
        row = TASK_DECODER.decode(line)
        key = key_of(row)
        if key not in ground.done:
            failed = ground.attempts[key]
            yield {**row, "_ng_attempt_index": failed} if failed else row
