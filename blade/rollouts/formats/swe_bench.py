"""SWE-bench runs: reports, predictions and trajectories, joined by the instance's id when they stand in one folder.

A folder is what a batch of mini-swe-agent or SWE-agent leaves (`preds.json` and a folder per instance), the logs of
the harness (`logs/run_evaluation/<run>/<model>/<instance>/report.json`), a submission to the leaderboard (`all_preds`,
`logs`, `trajs`, `results`), or any of them together. A report or predictions alone are read too.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from blade.errors import InputError
from blade.rollouts.formats.building import Attempts, bad_line, place
from blade.rollouts.formats.coercion import text_or_none
from blade.rollouts.formats.files import ANYTHING, OBJECT, json_objects, read_json, subfolders
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.swe_agents import (
    SUFFIXES,
    attempt,
    exit_ending,
    instance_of,
    recognises_mini,
    recognises_swe_agent,
)
from blade.rollouts.formats.swe_reports import (
    NO_VERDICT,
    OLD_KEYS,
    Verdict,
    has_no_rate,
    instance_report,
    is_details,
    is_run_report,
    read_instance,
    read_report,
    unreported,
)
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

PREDICTION = frozenset({"instance_id", "model_patch"})
BESIDE = frozenset({"model_name_or_path", "full_output", "text", "text_inputs", "patch", "cost"})
"""What else predictions may say; a row that says more is somebody's own record."""
REPORT = "report.json"
LOOKED_AT = 40
"""Folders looked into before a folder is taken for no run."""


def recognises(probe: Probe) -> bool:
    """Whether a path is a report, predictions, or a folder of them or of trajectories."""
    return recognises_folder(probe) if probe.is_folder else kind_of(probe) is not None


def kind_of(probe: Probe) -> str | None:
    """What a file of this family is: `report`, `instance`, `predictions`; `None` for any other."""
    keys = probe.keys
    if is_run_report(keys):
        lists = probe.record.get("resolved_ids", probe.record.get("resolved", []))
        return "report" if isinstance(lists, list) else None
    if b'"resolved"' in probe.head and is_details(probe.record):
        return "report"
    if keys >= PREDICTION:
        return "predictions" if keys <= PREDICTION | BESIDE else None
    if len(keys) == 1 and probe.path.name == REPORT:
        return "instance" if instance_report(probe.record) else None
    if probe.is_array or b'"model_patch"' not in probe.head:
        return None
    first = next(iter(probe.record.values()), None)
    return "predictions" if isinstance(first, dict) and PREDICTION <= first.keys() <= PREDICTION | BESIDE else None


def recognises_folder(probe: Probe) -> bool:
    """Whether a folder is one run; one that holds rows of another kind beside it is several, each read by itself."""
    probes = [Probe(file) for file in loose_files(probe.path) if not file.name.endswith(SUFFIXES)]
    top = [kind_of(one) for one in probes]
    if top.count("report") > 1 or any(
        kind is None and (one.is_array or one.path.suffix == ".jsonl") for one, kind in zip(probes, top, strict=True)
    ):
        return False
    found = {file.parent for file in trajectories(probe.path, most=LOOKED_AT)}
    others = [sub for sub in subfolders(probe.path)[:LOOKED_AT] if sub not in found and any(sub.glob("*.json*"))]
    if "predictions" in top or probe.path in found or len(found) > len(others):
        return True
    return any(kind_of(Probe(file)) == "instance" for file in instance_reports(probe.path, most=LOOKED_AT)) or (
        "report" in top and (probe.path / "logs").is_dir()
    )


def loose_files(folder: Path) -> list[Path]:
    """JSON files in a folder itself, and the summary of a submission."""
    found = [file for pattern in ("*.json", "*.jsonl") for file in sorted(folder.glob(pattern))]
    return [file for file in (*found[:LOOKED_AT], folder / "results" / "results.json") if file.is_file()]


def trajectories(folder: Path, most: int | None = None) -> Iterator[Path]:
    """Trajectories: in the folder itself, in a folder per instance, or in `trajs`."""
    places = [folder, *subfolders(folder)[:most]]
    if (folder / "trajs").is_dir():
        places += subfolders(folder / "trajs")[:most]
    for one in places:
        for file in sorted(entry for entry in one.iterdir() if entry.name.endswith(SUFFIXES) and entry.is_file()):
            probe = Probe(file)
            if recognises_mini(probe) or recognises_swe_agent(probe):
                yield file


def instance_reports(folder: Path, most: int | None = None) -> Iterator[Path]:
    """Reports of single instances, wherever the harness and its users keep them."""
    places = [folder, folder / "logs", folder / "eval_outputs"]
    for run in subfolders(folder / "logs" / "run_evaluation"):
        places += subfolders(run)
    for one in places:
        yield from (sub / REPORT for sub in subfolders(one)[:most] if (sub / REPORT).is_file())


class Pieces:
    """What the files of one folder say, by instance; trajectories stay in their files."""

    def __init__(self, folder: Path) -> None:
        self.notes: list[str] = []
        self.bad: list[BadLine] = []
        self.verdicts: dict[str, Verdict] = {}
        self.patches: dict[str, tuple[str | None, str | None]] = {}
        self.exits: dict[str, str] = {}
        self.trajectories: dict[str, Path] = {}
        self.logs: dict[str, Path] = {}
        self.rest = NO_VERDICT
        for file in loose_files(folder):
            self._add_loose(file)
        for file in instance_reports(folder):
            self._add_instance(file)
        for file in trajectories(folder):
            self.trajectories[instance_of(file)] = file
        for file in sorted(folder.glob("*exit_statuses*.yaml")):
            self._add_exits(file)

    def _add_loose(self, file: Path) -> None:
        probe = Probe(file)
        kind = kind_of(probe)
        try:
            if kind == "report":
                self.verdicts |= {**read_report(file), **self.verdicts}
                # What a submission's summary does not list was not resolved.
                self.rest = Verdict(reward=0.0) if probe.keys >= OLD_KEYS else self.rest
            elif kind == "predictions":
                for _, _, row in predictions(file):
                    if isinstance(row, dict) and (name := text_or_none(row.get("instance_id"))):
                        self.patches[name] = patch_and_model(row)
        except InputError as error:
            self.bad.append(bad_line(file, str(error).removeprefix(f"{file}: ").removesuffix(".")))

    def _add_instance(self, file: Path) -> None:
        try:
            name, verdict = read_instance(file)
        except InputError as error:
            # An empty report is how the harness marks an evaluation that came to nothing.
            name, verdict = file.parent.name, Verdict(reward=0.0, ending=unreported(file.parent))
            self.notes.append(
                f"the report of {name} cannot be read ({str(error).rpartition(': ')[2].removesuffix('.')})"
            )
        self.verdicts[name] = verdict
        self.logs[name] = file

    def _add_exits(self, file: Path) -> None:
        try:
            data = yaml.safe_load(file.read_text("utf-8", "replace"))
        except (yaml.YAMLError, OSError, ValueError, RecursionError):
            return
        by_status = data.get("instances_by_exit_status") if isinstance(data, dict) else None
        for status, names in by_status.items() if isinstance(by_status, dict) else ():
            self.exits |= {str(name): str(status) for name in (names if isinstance(names, list) else ())}

    @property
    def instances(self) -> list[str]:
        return sorted({*self.verdicts, *self.patches, *self.trajectories, *self.exits})


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every instance; its place is its position among the sorted ids, or in its file."""
    if path.is_dir():
        yield from read_folder(path, wanted)
        return
    kind = kind_of(Probe(path))
    if kind == "predictions":
        yield from read_predictions(path, wanted)
    elif kind == "instance":
        name, verdict = read_instance(path)
        yield from scored(path, {name: verdict}, wanted)
    else:
        verdicts = read_report(path)
        if has_no_rate(read_json(path, OBJECT)):
            raise InputError(
                f"{path}: lists what was resolved and not what was tried, so it has no rate; "
                "give the folder that also holds its predictions, logs or trajectories."
            )
        yield from scored(path, verdicts, wanted)


def scored(path: Path, verdicts: dict[str, Verdict], wanted: Collection[int] | None) -> Iterator[Found]:
    """Instances of which nothing but the verdict is known."""
    model = path.name.removesuffix(".json").rpartition(".")[0] or None
    for index, (name, verdict) in enumerate(sorted(verdicts.items())):
        if wanted is None or index in wanted:
            yield Rollout(
                task=name, repeat=0, reward=verdict.reward, ending=verdict.ending, tests=verdict.tests, model=model,
                usage=Usage(cost=verdict.cost), fields=fields_of(name, verdict), source=place(path, index),
            )  # fmt: skip


def fields_of(name: str, verdict: Verdict) -> dict[str, Any]:
    """The repository an instance is from, and what its verdict adds."""
    repository = name.rpartition("-")[0].replace("__", "/")
    return {**({"repo": repository} if "__" in name else {}), **verdict.fields}


def read_folder(folder: Path, wanted: Collection[int] | None) -> Iterator[Found]:
    """Everything known of each instance, in one rollout."""
    pieces = Pieces(folder)
    yield from pieces.bad
    unread: list[str] = []
    for index, name in enumerate(pieces.instances):
        if wanted is not None and index not in wanted:
            continue
        try:
            base = attempt(pieces.trajectories[name]) if name in pieces.trajectories else Rollout(task=name, repeat=0)
        except InputError as error:
            unread.append(str(error).removesuffix("."))
            base = Rollout(task=name, repeat=0)
        verdict = pieces.verdicts.get(name, pieces.rest)
        patch, model = pieces.patches.get(name, (None, None))
        ending = base.ending
        if name not in pieces.trajectories and name in pieces.exits:
            ending = before_the_agent(pieces.exits[name])
        yield msgspec.structs.replace(
            base,
            task=name,
            reward=verdict.reward,
            ending=ending if ending.kind != "completed" else verdict.ending,
            answer=base.answer if base.answer is not None else patch,
            model=base.model or model,
            tests=verdict.tests,
            usage=base.usage if base.usage != Usage() else Usage(cost=verdict.cost),
            fields={**base.fields, **fields_of(name, verdict)},
            source=place(folder, index),
        )
    if wanted is None:
        yield from notes(pieces, unread)


def before_the_agent(status: str) -> Ending:
    """Why an instance has an exit status and no trajectory: it failed while its environment was being made."""
    ending = exit_ending(status)
    return msgspec.structs.replace(ending, origin=ending.origin or "environment") if ending.name else ending


def notes(pieces: Pieces, unread: list[str]) -> Iterator[Note]:
    yield from (Note(text=text) for text in pieces.notes[:3])
    if unread:
        yield Note(text=f"{len(unread)} trajectories cannot be read, for example {unread[0]}")
    if not pieces.verdicts:
        yield Note(text="no report stands in this folder, so no attempt has a score")


def read_predictions(path: Path, wanted: Collection[int] | None) -> Iterator[Found]:
    """Patches that nobody has judged."""
    attempts = Attempts()
    for offset, line, row in predictions(path):
        name = text_or_none(row.get("instance_id")) if isinstance(row, dict) else None
        if not isinstance(row, dict) or name is None:
            reason = row if isinstance(row, str) else "a prediction has no instance_id"
            yield bad_line(path, reason, line=line, offset=offset)
            continue
        patch, model = patch_and_model(row)
        repeat = attempts.next(model, name)
        if wanted is None or offset in wanted:
            yield Rollout(
                task=name, repeat=repeat, model=model, answer=patch, fields=fields_of(name, NO_VERDICT),
                source=place(path, offset, line=line),
            )  # fmt: skip


def patch_and_model(row: dict[str, Any]) -> tuple[str | None, str | None]:
    return text_or_none(row.get("model_patch")), text_or_none(row.get("model_name_or_path"))


def predictions(path: Path) -> Iterator[tuple[int, int, dict[str, Any] | str]]:
    """Predictions with their places: lines, an array, or an object by instance."""
    probe = Probe(path)
    if probe.is_array or not probe.keys >= PREDICTION or path.suffix == ".json":
        data = read_json(path, ANYTHING)
        rows = list(data.values()) if isinstance(data, dict) and not data.keys() >= PREDICTION else data
        for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
            yield index, 1, row if isinstance(row, dict) else "a prediction is not an object"
        return
    for found in json_objects(path):
        if isinstance(found, BadLine):
            yield found.offset, found.line, found.reason
        else:
            yield found[0].offset, found[0].line, found[1]


def files(path: Path) -> list[Path]:
    """Everything that is joined."""
    if not path.is_dir():
        return [path]
    logs = [file for one in instance_reports(path) for file in (one, one.with_name("test_output.txt"))]
    found = [*loose_files(path), *sorted(path.glob("*exit_statuses*.yaml")), *logs, *trajectories(path)]
    return [file for file in found if file.is_file()]


READER = Reader(
    name="swe-bench",
    title="SWE-bench runs (reports, predictions, or a folder of them with trajectories of mini-swe-agent or SWE-agent)",
    recognises=recognises,
    read=read,
    files=files,
)
