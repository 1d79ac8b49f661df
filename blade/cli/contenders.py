"""The runs a comparison is about: rollout files, globs or folders that `blade diagnose` wrote, in the order given.

All are judged alike: by the rule that was given, else by the one rule their folders were diagnosed with, else by what
their rewards say together.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from blade.cli.folders import RUNS, run_folders
from blade.diagnosis import AnalyzeOptions, Diagnosed, diagnose, with_named_fields
from blade.errors import UsageError
from blade.report.workspace import ANALYSIS, Workspace, open_workspace
from blade.rollouts import ReadOptions, Run, read_runs
from blade.rollouts.runs import FileProgress
from blade.rollouts.table import examples


class Contender(NamedTuple):
    """A run and the name of the folder it came from, which tells it from a namesake."""

    run: Run
    place: str


class Gathered(NamedTuple):
    """The runs, and how all of them were judged."""

    runs: list[Diagnosed]
    options: AnalyzeOptions


def gather(
    words: Sequence[str],
    *,
    read: ReadOptions,
    options: AnalyzeOptions,
    base: str | None = None,
    progress: FileProgress | None = None,
) -> Gathered:
    """Every run the words stand for, diagnosed; the base comes first.

    Raises:
        UsageError: together they are fewer than two runs, none is called like the base, or folders disagree on how
            they were judged.
        InputError: an input is missing or unreadable.
    """
    places = [place for word in words for place in find_places(word)]
    options = settled(options, [place for place in places if isinstance(place, Workspace)])
    found = [contender for place in places for contender in read_place(place, read, options, progress)]
    if len(found) < 2:
        raise UsageError("a comparison takes at least two runs; name a second file or folder, or use --group-by.")
    runs = base_first(with_own_names(found), base)
    return Gathered([diagnose(run, options) for run in runs], options)


def base_first(runs: list[Run], base: str | None) -> list[Run]:
    """The runs with the one of this name first; an unknown name is told with the names there are."""
    if base is None:
        return runs
    chosen = [run for run in runs if run.name == base] or [run for run in runs if base in run.name]
    if len(chosen) != 1:
        names = examples([run.name for run in runs])
        raise UsageError(f"--base {base!r} names {len(chosen) or 'none'} of the runs; runs are: {names}.")
    return [chosen[0], *(run for run in runs if run is not chosen[0])]


def find_places(word: str) -> list[Workspace | str]:
    """The diagnoses in a folder, or the word itself when it is about rollouts."""
    folder = Path(word)
    if (folder / ANALYSIS).is_file():
        return [open_workspace(folder)]
    if not (folder / RUNS).is_file():
        return [word]
    return [open_workspace(run) for run in run_folders(folder)]


def settled(options: AnalyzeOptions, workspaces: Sequence[Workspace]) -> AnalyzeOptions:
    """The options with what the folders were diagnosed with, where the user said nothing and they agree."""
    asked = [workspace.request.analyze for workspace in workspaces if workspace.request is not None]
    return msgspec.structs.replace(
        options,
        success=options.success or only("success", [request.success for request in asked]),
        cluster_field=options.cluster_field or only("cluster-field", [request.cluster_field for request in asked]),
        pack=options.pack or only("pack", [request.pack for request in asked]),
    )


def only(option: str, values: Sequence[str | None]) -> str | None:
    """The one value that is stated."""
    stated = sorted({value for value in values if value is not None})
    if len(stated) > 1:
        raise UsageError(
            f"the folders were diagnosed with --{option} {' and '.join(stated)}; give one with --{option}."
        )
    return stated[0] if stated else None


def read_place(
    place: Workspace | str, read: ReadOptions, options: AnalyzeOptions, progress: FileProgress | None
) -> Iterator[Contender]:
    """The runs of a place."""
    if isinstance(place, str):
        for run in read_runs([place], with_named_fields(read, options), progress=progress):
            yield Contender(run, run.files[0].path.absolute().parent.name)
        return
    if place.request is not None:
        request = msgspec.structs.replace(place.request, read=with_named_fields(place.request.read, options))
        place = msgspec.structs.replace(place, request=request)
    yield Contender(place.run(), place.folder.absolute().name)


def with_own_names(contenders: Sequence[Contender]) -> list[Run]:
    """The runs; namesakes carry the name of their folder too."""
    names = [contender.run.name for contender in contenders]
    return [
        msgspec.structs.replace(run, name=f"{place}/{run.name}") if names.count(run.name) > 1 else run
        for run, place in contenders
    ]
