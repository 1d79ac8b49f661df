"""From inputs to folders: read every run, analyse it, write it where it belongs."""

import contextlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from blade.cli.folders import RUNS, RunEntry, RunList, check_unmixed, folder_names
from blade.diagnosis import Analysis, AnalyzeOptions, Diagnosed, diagnose, with_named_fields
from blade.diagnosis.analysis import headline_of
from blade.errors import UsageError
from blade.metrics import BucketCounts
from blade.report import kept
from blade.report.files import locked, write_file
from blade.report.page.run_page import FOLDER, place_parts
from blade.report.page.runs_page import write_runs_page
from blade.report.workspace import Request, Workspace, canonical_json, open_workspace, write_workspace
from blade.rollouts import ReadOptions, read_runs
from blade.rollouts.decoding import collector_paused
from blade.rollouts.runs import FileProgress

NOT_COMPARED = "not compared"


class Done(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What was written."""

    folders: list[Path]
    """One per run."""
    several: bool
    """Whether each run has a folder of its own, beside `runs.json`."""
    comparison: str | None = None
    """What the comparison of the runs says, or why there is none; `None` when nobody asked for one."""

    @cached_property
    def workspaces(self) -> list[Workspace]:
        """What is in the folders, read when somebody asks: a large analysis takes longer to read than to copy."""
        return [open_workspace(folder) for folder in self.folders]


@collector_paused()
def diagnose_into(
    out: Path,
    inputs: Sequence[str],
    *,
    read: ReadOptions,
    options: AnalyzeOptions,
    keep: bool = True,
    progress: FileProgress | None = None,
) -> Done:
    """Reads, analyses and writes; nothing is written unless every run could be analysed.

    The same inputs diagnosed again are not: what was kept when they were is written again.
    """
    read = with_named_fields(read, options)
    place = kept.place_of(inputs, read, options) if keep and read.use_cache and kept.is_ours(out) else None
    if place is not None and (known := kept.load(place)) is not None:
        return written_again(out, known)
    since = kept.now()
    runs = read_runs(inputs, read, progress=progress)
    several = len(runs) > 1 or bool(read.group_by)
    check_unmixed(out, several=several)
    diagnosed = [diagnose(run, options, others=runs) for run in runs]
    folders = [out / name for name in folder_names([run.name for run in runs])] if several else [out]
    workspaces = [
        write_workspace(
            folder, one.run, one.analysis, Request(inputs=list(inputs), read=read, analyze=options, run=one.run.name)
        )
        for folder, one in zip(folders, diagnosed, strict=True)
    ]
    if several:
        write_file(out / RUNS, canonical_json(RunList(runs=[entry(workspace) for workspace in workspaces])))
    said = compare_into(out, diagnosed, options) if read.group_by else None
    if several:
        compared = said is not None and not said.startswith(NOT_COMPARED)
        write_runs_page(out, diagnosed, [folder.name for folder in folders], compared=compared)
    if place is not None and place == kept.place_of(inputs, read, options):  # nothing has changed meanwhile
        kept.save(place, out, since=since, folders=folders, several=several, said=said)
    done = Done(folders=folders, several=several, comparison=said)
    vars(done)["workspaces"] = workspaces
    return done


def written_again(out: Path, known: kept.Kept) -> Done:
    """A diagnosis that was kept, in a folder."""
    head = known.head
    check_unmixed(out, several=head.several)
    folders = [out / name for name in head.folders]
    with contextlib.ExitStack() as locks:
        for folder in folders:
            locks.enter_context(locked(folder))
            place_parts(folder / FOLDER, [])  # an earlier page may have had more of them
        for name, content in known.files:
            write_file(out / name, content)
    return Done(folders=folders, several=head.several, comparison=head.comparison)


def compare_into(out: Path, diagnosed: list[Diagnosed], options: AnalyzeOptions) -> str:
    """Writes the comparison of the runs the user told apart, and returns what it says or why there is none."""
    from blade.comparison import CompareOptions
    from blade.report.comparison_report import write_comparison

    try:
        found = write_comparison(out, diagnosed, CompareOptions(slices=options.slices))
    except UsageError as error:
        return f"{NOT_COMPARED}: {error}"
    pairs = "; all pairs and a ranking are in comparison.md" if len(diagnosed) > 2 else ""
    return f"{found.candidate.run} against {found.base.run}: {found.sentence}{pairs}"


def entry(workspace: Workspace) -> RunEntry:
    """A run's line in `runs.json`."""
    analysis = workspace.analysis
    return RunEntry(
        name=analysis.inputs.run,
        folder=workspace.folder.name,
        metric=analysis.headline,
        headline=headline_of(analysis),
        tasks=analysis.coverage.tasks,
        rollouts=analysis.coverage.rollouts,
        buckets=bucket_counts(analysis),
        bad_lines=analysis.coverage.malformed,
    )


def bucket_counts(analysis: Analysis) -> BucketCounts:
    """How many tasks are in each bucket."""
    buckets = analysis.buckets
    return BucketCounts(
        always=len(buckets.always),
        sometimes=len(buckets.sometimes),
        never=len(buckets.never),
        missing=len(buckets.missing),
    )


def cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - only Linux can say
        return os.cpu_count() or 1
