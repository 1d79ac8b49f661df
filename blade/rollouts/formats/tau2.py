"""tau2-bench: one `results.json` per run, or the same with its simulations as files in a folder `simulations/`.

What tau2 counts is the simulation's reward; simulations that never became an attempt (infrastructure errors, an
exceeded context window) are left out of its averages and so have none here.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Attempts, bad_line, place
from blade.rollouts.formats.coercion import objects, part, text_or_none
from blade.rollouts.formats.files import BROKEN, decode_lenient, read_bytes, read_json
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.tau2_simulation import Simulation, describe

METADATA = "results.json"
FOLDER = "simulations"


def recognises(probe: Probe) -> bool:
    """Whether a path is a run: its file, or the folder of a run whose simulations are files of their own."""
    if probe.is_folder:
        return {METADATA, FOLDER} <= probe.names and is_run(Probe(probe.path / METADATA))
    return is_run(probe)


def is_run(probe: Probe) -> bool:
    """Whether a file begins as the results of a run do."""
    described = b'"environment_info"' in probe.head and b'"agent_info"' in probe.head
    return not probe.is_folder and not probe.is_array and described and {"info", "tasks"} <= probe.keys


def simulation_files(path: Path) -> list[Path]:
    """The simulations of a run that are files of their own."""
    folder = (path if path.is_dir() else path.parent) / FOLDER
    return sorted(file for file in folder.glob("*.json") if file.is_file()) if folder.is_dir() else []


def metadata_file(path: Path) -> Path:
    return path / METADATA if path.is_dir() else path


def files(path: Path) -> list[Path]:
    """The results and every simulation beside them."""
    return [metadata_file(path), *simulation_files(path)]


class Document(msgspec.Struct):
    """A run, its simulations undecoded."""

    info: Any = None
    tasks: Any = None
    simulations: list[msgspec.Raw] = []


DOCUMENT = msgspec.json.Decoder(Document)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every simulation; its place is its position in the list, or among the files in the order of their names."""
    metadata = metadata_file(path)
    document = read_json(metadata, DOCUMENT)
    sources: Sequence[msgspec.Raw | Path] = document.simulations or simulation_files(path)
    if not sources:
        raise InputError(f"{metadata}: describes a tau2 run without simulations, and there are none in {FOLDER}/.")
    run = describe(document.info, document.tasks, changing_tools(sources))
    attempts = Attempts()
    said = False
    for index, source in enumerate(sources):
        record = decode_lenient(content(source))
        task = text_or_none(record.get("task_id")) if isinstance(record, dict) else None
        if not isinstance(record, dict) or task is None:
            reason = "has no task_id" if isinstance(record, dict) else "is not a simulation"
            yield bad_line(*named(source, metadata, index, reason), offset=index)
            continue
        counted, trial = attempts.next(task), record.get("trial")
        if wanted is not None and index not in wanted:
            continue
        repeat = trial if isinstance(trial, int) and not isinstance(trial, bool) and trial >= 0 else counted
        rollout = Simulation(run, record).rollout(task, repeat)
        if len(rollout.scores) > 1 and not said:
            said = True
            others = ", ".join(name for name in rollout.scores if name != "reward")
            yield Note(text=f"reward counts as the score; --score also takes its parts ({others})")
        yield msgspec.structs.replace(rollout, source=place(source if isinstance(source, Path) else metadata, index))


def content(source: msgspec.Raw | Path) -> bytes:
    """The bytes of a simulation; none when its file cannot be read."""
    if isinstance(source, msgspec.Raw):
        return bytes(source)
    try:
        return read_bytes(source)
    except InputError:
        return b""


def named(source: msgspec.Raw | Path, metadata: Path, index: int, reason: str) -> tuple[Path, str]:
    """Where a bad simulation is and what is wrong with it."""
    return (source, reason) if isinstance(source, Path) else (metadata, f"simulations[{index}] {reason}")


class Checked(msgspec.Struct):
    """The part of a simulation that types tools."""

    reward_info: Any = None


CHECKED = msgspec.json.Decoder(Checked)


def changing_tools(sources: Iterable[msgspec.Raw | Path]) -> frozenset[str] | None:
    """Tools that the checks of any simulation type as writing; `None` when no simulation types its tools."""
    types: dict[str, str] = {}
    for source in sources:
        try:
            checked = CHECKED.decode(content(source)).reward_info
        except BROKEN:
            continue
        for check in objects(checked.get("action_checks") if isinstance(checked, dict) else None):
            name, kind = part(check, "action").get("name"), check.get("tool_type")
            if isinstance(name, str) and isinstance(kind, str):
                types[name] = kind
    return frozenset(name for name, kind in types.items() if kind == "write") if types else None


READER = Reader(
    name="tau2",
    title="tau2-bench runs (results.json, or a folder with results.json and simulations/)",
    recognises=recognises,
    read=read,
    files=files,
)
