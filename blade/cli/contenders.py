"""The runs a comparison is about: rollout files, globs or folders that `blade diagnose` wrote, in the order given.

Inputs that hold several runs of the same names or of the same tasks are compared run by run. All are judged alike:
by the rule that was given, else by the one rule their folders were diagnosed with, else by what their rewards say
together.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from blade.cli.folders import RUNS, run_folders
from blade.diagnosis import AnalyzeOptions, Diagnosed, diagnose, with_named_fields
from blade.errors import UsageError
from blade.report.workspace import ANALYSIS, Workspace, open_workspace
from blade.rollouts import ReadOptions, Run, read_runs
from blade.rollouts.grouping import models_of, run_names
from blade.rollouts.runs import FileProgress
from blade.rollouts.table import examples

UNSAID = ReadOptions()
"""What is read as when nobody says anything."""


class Contender(NamedTuple):
    """A run and the name of the folder it came from, which tells it from a namesake."""

    run: Run
    place: str


class Group(NamedTuple):
    """Runs that are compared with each other; the base comes first."""

    name: str
    """The name they share; empty when all runs are compared with each other."""
    runs: list[Diagnosed]


class Gathered(NamedTuple):
    """The runs in groups, those that no other input has, and how all of them were judged."""

    groups: list[Group]
    unpaired: list[str]
    options: AnalyzeOptions


def gather(
    words: Sequence[str],
    *,
    read: ReadOptions,
    options: AnalyzeOptions,
    base: str | None = None,
    progress: FileProgress | None = None,
) -> Gathered:
    """Every run the inputs stand for, diagnosed, in the groups in which they are compared.

    Raises:
        UsageError: together they are fewer than two runs, none is called like the base, or folders disagree on how
            they were judged.
        InputError: an input is missing or unreadable.
    """
    places = [find_places(word) for word in words]
    options = settled(options, read, [place for word in places for place in word if isinstance(place, Workspace)])
    found = [[one for place in word for one in read_place(place, read, options, progress)] for word in places]
    together = [contender for word in found for contender in word]
    if len(together) < 2:
        raise UsageError("a comparison takes at least two runs; name a second file or folder, or use --group-by.")
    alike = {name: [c for c in together if c.run.name == name] for name in shared_names(found)} or pairs_by_tasks(found)
    if base is not None or not alike:
        runs = base_first(with_own_names(together), base)
        return Gathered([Group("", [diagnose(run, options) for run in runs])], [], options)
    groups = [
        Group(name, [diagnose(run, options) for run in with_own_names(contenders)])
        for name, contenders in alike.items()
    ]
    paired = {id(contender) for contenders in alike.values() for contender in contenders}
    return Gathered(groups, [f"{c.place}/{c.run.name}" for c in together if id(c) not in paired], options)


def pairs_by_tasks(inputs: Sequence[Sequence[Contender]]) -> dict[str, list[Contender]]:
    """The runs of two inputs in pairs, where each has tasks in common with just one run of the other; else none."""
    if len(inputs) != 2 or min(map(len, inputs)) < 2:
        return {}
    tasks = {id(contender): set(contender.run.table.tasks) for runs in inputs for contender in runs}
    first, second = (
        [[other for other in others if tasks[id(one)] & tasks[id(other)]] for one in runs]
        for runs, others in (inputs, inputs[::-1])
    )
    if any(len(matches) > 1 for matches in (*first, *second)):
        return {}
    return {one.run.name: [one, *matches] for one, matches in zip(inputs[0], first, strict=True) if matches}


def shared_names(inputs: Sequence[Sequence[Contender]]) -> list[str]:
    """Names that runs of several inputs share, where an input holds several runs; else none."""
    if all(len(runs) == 1 for runs in inputs):
        return []
    having = Counter(name for runs in inputs for name in dict.fromkeys(contender.run.name for contender in runs))
    return [name for name, count in having.items() if count > 1]


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


def settled(options: AnalyzeOptions, read: ReadOptions, workspaces: Sequence[Workspace]) -> AnalyzeOptions:
    """The options with what the folders were diagnosed with, where the user said nothing and they agree."""
    requests = [workspace.request for workspace in workspaces if workspace.request is not None]
    asked = [request.analyze for request in requests]
    for option in ("true_words", "score"):
        if not getattr(read, option):
            stated = [getattr(request.read, option) for request in requests]
            only(option.replace("_", "-"), [",".join(one) if isinstance(one, tuple) else one for one in stated if one])
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
            folder = Path(place) if Path(place).is_dir() else run.files[0].path.parent
            yield Contender(run, folder.absolute().name)
        return
    if place.request is not None:
        said = {name: value for name, value in msgspec.structs.asdict(read).items() if value != getattr(UNSAID, name)}
        again = msgspec.structs.replace(place.request.read, **said)
        request = msgspec.structs.replace(place.request, read=with_named_fields(again, options))
        place = msgspec.structs.replace(place, request=request)
    yield Contender(place.run(), place.folder.absolute().name)


def with_own_names(contenders: Sequence[Contender]) -> list[Run]:
    """The runs; namesakes carry what tells them apart: their folder, else their model, else the name of their file."""
    namesakes: dict[str, list[Contender]] = {}
    for contender in contenders:
        namesakes.setdefault(contender.run.name, []).append(contender)
    said: dict[int, str] = {}
    for name, alike in namesakes.items():
        if len(alike) == 1:
            continue
        models = [" ".join(sorted(models_of(contender.run.table.rows))) for contender in alike]
        stems = run_names([contender.run.files[0].path for contender in alike])
        for each in ([f"{contender.place}/{name}" for contender in alike], [f"{name} {m}" for m in models], stems):
            if len(set(each)) == len(alike):
                said |= {id(contender): own for contender, own in zip(alike, each, strict=True)}
                break
    return [msgspec.structs.replace(c.run, name=said[id(c)]) if id(c) in said else c.run for c in contenders]
