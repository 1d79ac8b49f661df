"""Files that stand beside a Gym rollout file and are found by name.

Materialized inputs say which rollouts were expected; the failures file holds outcomes that never reached the main
file; the metric files were published by somebody else and are there to be checked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import BladeError
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.formats import gym
from blade.rollouts.lines import BOM, CHUNK
from blade.rollouts.reader import FileScan, Reading, scan_file
from blade.rollouts.sources import COMPRESSED, SIDECARS, damage_errors, open_stream, stem


class Sidecars(msgspec.Struct, frozen=True, kw_only=True):
    """The sidecars of one rollout file; `None` for those that are not there or hold nothing."""

    inputs: FileScan | None = None
    """What was asked of the runner."""
    failures: FileScan | None = None
    """Attempts that failed before a verdict."""
    aggregate: Path | None = None
    """Published metrics per agent."""
    profile: Path | None = None
    """Published metrics per task."""
    agent: Path | None = None
    """Published metrics over all rollouts."""
    notes: list[str] = []
    """What is there and cannot be used."""

    def found(self) -> Iterator[tuple[str, Path]]:
        """What is there, by kind."""
        for kind in SIDECARS:
            value = getattr(self, kind)
            if value is not None:
                yield kind, value.path if isinstance(value, FileScan) else value


def find_sidecars(path: Path, *, features: bool = True, use_cache: bool = True) -> Sidecars:
    """The sidecars beside a rollout file; none of them can stop it from being read."""
    notes: list[str] = []

    def scanned(kind: str, *, features: bool) -> FileScan | None:
        place = beside(path, kind)
        reading = Reading(format=gym.FORMAT.name, features=features)
        return None if place is None else scan_or_none(place, reading, use_cache=use_cache, notes=notes)

    return Sidecars(
        inputs=scanned("inputs", features=False),
        failures=scanned("failures", features=features),
        aggregate=beside(path, "aggregate"),
        profile=beside(path, "profile"),
        agent=beside(path, "agent"),
        notes=notes,
    )


def has_sidecars(path: Path) -> bool:
    """Whether anything that says what was expected or what failed stands beside a rollout file."""
    return any(beside(path, kind) is not None for kind in ("inputs", "failures"))


def beside(path: Path, kind: str) -> Path | None:
    """The sidecar of a kind that stands beside a rollout file, plain or compressed."""
    base = path.with_name(stem(path) + SIDECARS[kind])
    places = [base, *(base.with_name(base.name + suffix) for suffix in COMPRESSED)]
    return next((place for place in places if place.is_file()), None)


def scan_or_none(path: Path, reading: Reading, *, use_cache: bool, notes: list[str]) -> FileScan | None:
    """A sidecar's scan; an empty file is the normal case, and what is wrong with a broken one goes to `notes`."""
    try:
        found = scan_file(path, reading, use_cache=use_cache)
    except BladeError as error:
        if path.stat().st_size:
            notes.append(str(error).replace(str(path), path.name))
        return None
    if found.scan.bad:
        first = found.scan.bad[0]
        lines = f"{len(found.scan.bad)} of its lines" if len(found.scan.bad) > 1 else "one of its lines"
        notes.append(f"{path.name}: {lines} could not be used; line {first.line} {first.reason}")
    return found if len(found.scan) else None


def read_published(path: Path) -> list[dict[str, Any]]:
    """The records of a published metrics file, one value or one per line; what is unreadable is left out."""
    try:
        with open_stream(path) as stream:
            data = b"".join(iter(lambda: stream.read(CHUNK), b"")).removeprefix(BOM).strip()
    except BladeError:
        return []
    except damage_errors():
        return []
    values = [decoded(data)]
    if values == [None]:
        values = [decoded(line) for line in data.split(b"\n")]
    elif isinstance(values[0], list):
        values = values[0]
    return [value for value in values if isinstance(value, dict)]


def decoded(data: bytes) -> Any:
    """A JSON value; `None` for what is none."""
    try:
        return decode_any(data)
    except BadRow:
        return None
