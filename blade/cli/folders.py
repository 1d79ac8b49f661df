"""Folders of diagnoses: one for a single run, one with a folder per run for several."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import msgspec

from blade.errors import InputError, UsageError
from blade.metrics import BucketCounts, Metric
from blade.report.workspace import ANALYSIS, Workspace, open_workspace
from blade.rollouts.table import examples

RUNS = "runs.json"
MAX_NAME_BYTES = 80
NOT_IN_NAMES = re.compile(r"[^\w.+=@-]+")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that no folder may have on Windows."""


class RunEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One run among several."""

    name: str
    """What the run is called."""
    folder: str
    """Its folder, beside this list."""
    metric: str
    """Which metric speaks for it."""
    headline: Metric
    """That metric."""
    tasks: int
    """Tasks, those without a rollout included."""
    rollouts: int
    """Rollouts there are."""
    buckets: BucketCounts
    """How many tasks always, sometimes and never pass, or are missing."""
    bad_lines: int
    """Lines that could not be used."""


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """The file that says which runs a folder holds."""

    schema_version: str = "1.0"
    """Version of this format."""
    runs: list[RunEntry]
    """The runs, in natural order."""


def folder_names(runs: Sequence[str]) -> list[str]:
    """A folder name for every run: safe on any file system, each different even where case does not count."""
    taken = {RUNS, "stdin.jsonl", "report.html", "comparison.html", "comparison.md", "comparison.json"}
    names: list[str] = []
    for run in runs:
        base, number = safe_name(run), 1
        name = base
        while name.casefold() in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def safe_name(text: str) -> str:
    """The text as one part of a path: no separators, no leading dot or dash, not empty, not long."""
    name = NOT_IN_NAMES.sub("_", unicodedata.normalize("NFC", text))
    name = name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip("._-")
    return f"run-{name}" if not name or RESERVED.fullmatch(name) else name


def check_unmixed(out: Path, *, several: bool) -> None:
    """Refuses to put several runs into the folder of a single one, or the other way round: show would mix them up."""
    if several and (out / ANALYSIS).exists():
        raise UsageError(f"{out}: already holds the diagnosis of a single run; choose another folder with --out.")
    if not several and (out / RUNS).exists():
        raise UsageError(f"{out}: already holds the diagnosis of several runs; choose another folder with --out.")


def open_folder(folder: Path) -> Workspace:
    """The diagnosis in a folder; a folder of several says which they are."""
    if not holds_several(folder):
        return open_workspace(folder)
    raise UsageError(
        f"{folder}: holds several runs; name one of {examples([str(run) for run in run_folders(folder)])}."
    )


def holds_several(folder: Path) -> bool:
    """Whether a folder holds the diagnoses of several runs, each in a folder of its own."""
    return not (folder / ANALYSIS).exists() and (folder / RUNS).exists()


def run_folders(folder: Path) -> list[Path]:
    """The folders of the runs that a folder of several lists."""
    place = folder / RUNS
    try:
        runs = msgspec.json.decode(place.read_bytes(), type=RunList).runs
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: cannot be read: {error}; run `blade diagnose` again.") from error
    return [folder / run.folder for run in runs if Path(run.folder).name == run.folder != ".."]
