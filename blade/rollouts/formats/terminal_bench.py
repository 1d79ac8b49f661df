"""Terminal-Bench 1: a run folder with `results.json`, or that file alone, or its trials as rows of one table.

The harness counts a trial as solved when `is_resolved` is true and as failed otherwise, so a trial that was never
judged counts as 0. `failure_mode` says why a trial ended; one that timed out is still judged and may be solved.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import number_or_none, seconds_between, text_or_none, whole
from blade.rollouts.formats.files import ANYTHING, BROKEN, OBJECT, is_at, json_lines, read_bytes, read_json, subfolders
from blade.rollouts.formats.reader import SMALL, Found, Probe, Reader
from blade.rollouts.values import BadLine, Ending, EndingKind, Item, Origin, Rollout, TestStatus, Usage

RESULTS, METADATA = "results.json", "run_metadata.json"
RUN_KEYS, TRIAL_KEYS = (
    frozenset({"results", "n_resolved", "accuracy"}),
    frozenset({"task_id", "is_resolved", "failure_mode"}),
)
KEPT = 2000
"""Characters of a verifier's output that are kept with a trial."""
LOOKED_AT = 20
"""Folders looked into before a folder is taken for no run."""
ATTEMPT = re.compile(r"\.(\d+)-of-\d+\.")
EPISODE = re.compile(r"episode-(\d+)")

ENDINGS: dict[str, tuple[EndingKind, Origin | None]] = {
    "agent_timeout": ("timeout", "agent"),
    "test_timeout": ("timeout", "verifier"),
    "context_length_exceeded": ("limit", "agent"),
    "output_length_exceeded": ("limit", "agent"),
    "fatal_llm_parse_error": ("error", "agent"),
    "parse_error": ("error", "verifier"),
    "agent_installation_failed": ("error", "environment"),
    "unknown_agent_error": ("error", "agent"),
    "unknown": ("error", None),
}
FINE = (None, "unset", "none")
TESTS: dict[str, TestStatus] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}
RUN_NAMES = ("system", "agent", "agent_name", "model", "model_name")
"""Fields by which somebody who put trials of several runs into one table tells them apart: the first, or the rest."""
OWN = frozenset({
    "id", "task_id", "instruction", "is_resolved", "parser_results", "total_input_tokens", "total_output_tokens",
    "recording_path", "trial_started_at", "trial_ended_at", "agent_started_at", "agent_ended_at", "test_started_at",
    "test_ended_at",
})  # fmt: skip


class Results(msgspec.Struct, frozen=True):
    results: list[msgspec.Raw] = []


class Metadata(msgspec.Struct, frozen=True):
    agent_name: str | None = None
    model_name: str | None = None
    dataset_name: Any = None
    dataset_version: Any = None
    commit_hash: Any = None
    agent_kwargs: Any = None


RUN = msgspec.json.Decoder(Results)
ROWS = msgspec.json.Decoder(list[msgspec.Raw])
METADATA_DECODER = msgspec.json.Decoder(Metadata)


def recognises(probe: Probe) -> bool:
    """Whether a path is a run, or a file of trials: in the summary of a run, one alone, an array or lines of them."""
    if not probe.is_folder:
        return probe.keys >= RUN_KEYS or probe.keys >= TRIAL_KEYS
    if RESULTS in probe.names and Probe(probe.path / RESULTS).keys >= RUN_KEYS:
        return True
    return next((True for file in trial_files(probe.path, most=LOOKED_AT) if Probe(file).keys >= TRIAL_KEYS), False)


def trial_files(folder: Path, most: int | None = None) -> list[Path]:
    """Results of single trials in a run's folder, which stand in `<task>/<trial>/`."""
    found: list[Path] = []
    for task in subfolders(folder)[:most]:
        found += [trial / RESULTS for trial in subfolders(task)[:most] if (trial / RESULTS).is_file()]
    return found


def files(path: Path) -> list[Path]:
    """Results, and of a folder all that belongs to its trials."""
    folder = path if path.is_dir() else path.parent
    top = [folder / RESULTS, folder / METADATA] if path.is_dir() else [path, folder / METADATA]
    trials = trial_files(folder)
    parts = [
        part for one in trials for sub in ("agent-logs", "panes") for part in sorted((one.parent / sub).rglob("*"))
    ]
    return [file for file in (*top, *trials, *parts) if file.is_file()]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trial; its place is its position, or its byte offset in a file of lines."""
    folder = path if path.is_dir() else path.parent
    about = metadata(folder / METADATA)
    taken: set[tuple[str | None, str, int]] = set()
    for offset, line, found in rows(path):
        trial = decoded(found)
        task = trial if isinstance(trial, str) else text_or_none(trial.get("task_id"))
        if isinstance(trial, str) or task is None:
            yield bad_line(
                path, trial if isinstance(trial, str) else "a trial has no task_id", line=line, offset=offset
            )
            continue
        run = run_name(trial)
        repeat = attempt(trial)
        while (run, task, repeat) in taken:
            repeat += 1
        taken.add((run, task, repeat))
        if wanted is None or offset in wanted:
            made = rollout(trial, task, about, folder)
            yield msgspec.structs.replace(made, run=run, repeat=repeat, source=place(path, offset, line=line))


def rows(path: Path) -> Iterator[tuple[int, int, msgspec.Raw | bytes | BadLine]]:
    """Trials as JSON with their offsets and lines: those the summary lists, then those only their folders have."""
    if path.is_file() and not Probe(path).keys >= RUN_KEYS and not Probe(path).is_array and not is_one_object(path):
        for record in json_lines(path):
            yield record.offset, record.line, record if isinstance(record, BadLine) else bytes(record.data)
        return
    listed = listed_trials(path)
    yield from ((index, 1, raw) for index, raw in enumerate(listed))
    if path.is_dir():
        known = {name for name in map(trial_name, listed) if name}
        others = [file for file in trial_files(path) if file.parent.name not in known]
        yield from ((len(listed) + index, 1, read_bytes(file)) for index, file in enumerate(others))


def is_one_object(path: Path) -> bool:
    """Whether a file holds one trial, over however many lines."""
    try:
        return path.stat().st_size < SMALL and bool(OBJECT.decode(read_bytes(path)))
    except (*BROKEN, OSError, InputError):
        return False


def listed_trials(path: Path) -> list[msgspec.Raw]:
    file = path / RESULTS if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        return []
    if Probe(file).is_array:
        return read_json(file, ROWS)
    if Probe(file).keys >= RUN_KEYS:
        return read_json(file, RUN).results
    return [msgspec.Raw(read_bytes(file))]


def decoded(found: msgspec.Raw | bytes | BadLine) -> dict[str, Any] | str:
    """A trial, or why it is none."""
    if isinstance(found, BadLine):
        return found.reason
    try:
        return OBJECT.decode(found)
    except BROKEN as error:
        return str(error)


def trial_name(raw: msgspec.Raw) -> str | None:
    trial = decoded(raw)
    return None if isinstance(trial, str) else text_or_none(trial.get("trial_name"))


def attempt(trial: dict[str, Any]) -> int:
    """The number in `task.2-of-5.run`, or 1."""
    match = ATTEMPT.search(text_or_none(trial.get("trial_name")) or "")
    return int(match.group(1)) if match and len(match.group(1)) < 9 else 1


def run_name(trial: dict[str, Any]) -> str | None:
    """Which run a row of a table belongs to; the harness's own files hold one run and do not say."""
    first, *rest = (text_or_none(trial.get(name)) for name in RUN_NAMES)
    return first or " ".join(filter(None, rest)) or None


def metadata(file: Path) -> Metadata:
    try:
        return read_json(file, METADATA_DECODER) if file.is_file() else Metadata()
    except InputError:
        return Metadata()


def rollout(trial: dict[str, Any], task: str, about: Metadata, folder: Path) -> Rollout:
    """One trial, not yet numbered."""
    parsed = trial.get("parser_results")
    tests = (
        {str(name): TESTS.get(str(status), "error") for name, status in parsed.items()}
        if isinstance(parsed, dict)
        else {}
    )
    name = text_or_none(trial.get("trial_name"))
    home = trial_home(folder, task, name)
    options = about.agent_kwargs if isinstance(about.agent_kwargs, dict) else {}
    settings = {
        "dataset": about.dataset_name,
        "dataset_version": about.dataset_version,
        "commit": about.commit_hash,
        **options,
    }
    fields = {key: value for key, value in trial.items() if key not in OWN and isinstance(value, str | int | float)}
    output = text_of(home / "panes" / "post-test.txt")[-KEPT:] if home else None
    return Rollout(
        task=task,
        repeat=0,
        reward=number_or_none(trial.get("is_resolved")) or 0.0,
        ending=ending_of(trial),
        model=text_or_none(trial.get("model") or trial.get("model_name")) or about.model_name,
        agent=text_or_none(trial.get("agent") or trial.get("agent_name")) or about.agent_name,
        tests=tests,
        settings={key: value for key, value in settings.items() if isinstance(value, str | int | float)},
        usage=Usage(
            input_tokens=whole(trial.get("total_input_tokens")) or None,
            output_tokens=whole(trial.get("total_output_tokens")) or None,
        ),
        seconds=seconds_between(trial.get("trial_started_at"), trial.get("trial_ended_at")),
        fields={**fields, **({"verifier_output": output} if output else {})},
        items=items_of(trial, home),
    )


def ending_of(trial: dict[str, Any]) -> Ending:
    """Why a trial ended. Where the harness itself broke, it blames the agent but keeps no time of a start."""
    mode = text_or_none(trial.get("failure_mode"))
    if mode in FINE:
        return Ending()
    kind, origin = ENDINGS.get(mode or "", ("error", None))
    has_times = "trial_started_at" in trial and "agent_started_at" in trial
    if mode == "unknown_agent_error" and has_times and trial["trial_started_at"] is trial["agent_started_at"] is None:
        origin = "runner"
    return Ending(kind=kind, origin=origin, name=mode)


def trial_home(folder: Path, task: str, name: str | None) -> Path | None:
    """The folder of a trial: below its run's, or that of its own results."""
    if name is None or {"/", "\0"} & set(task + name) or ".." in (task, name):
        return None
    return next((home for home in (folder / task / name, folder) if home.name == name and is_at(home)), None)


def items_of(trial: dict[str, Any], home: Path | None) -> list[Item]:
    """What an agent logged, turn by turn; for agents that log nothing, what stood on the terminal in the end."""
    story = Trajectory()
    logs = home / "agent-logs" if home else None
    episodes = sorted(
        (int(match.group(1)), folder)
        for folder in (subfolders(logs) if logs else ())
        if (match := EPISODE.fullmatch(folder.name)) and len(match.group(1)) < 9
    )
    turns = [folder for _, folder in episodes] or ([logs] if logs and (logs / "response.json").is_file() else [])
    if logs and not turns and (logs / "messages.json").is_file():
        messages = decoded_any(logs / "messages.json")
        story.add_chat(messages if isinstance(messages, list) else [])
    if not story.items and not (turns and (turns[0] / "prompt.txt").is_file()) and trial.get("instruction"):
        story.add("message", str(trial["instruction"]), role="user", prompt=True)
    for index, turn in enumerate(turns):
        if said := text_of(turn / "prompt.txt"):
            story.add("message" if index == 0 else "environment", said, role="user", prompt=index == 0)
        if answer := text_of(turn / "response.txt") or text_of(turn / "response.json"):
            story.add("message", answer, role="assistant")
    if home and not turns and (seen := text_of(home / "panes" / "post-agent.txt")):
        story.add("environment", seen, role="terminal")
    return story.items


def text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace").strip() if file.is_file() else ""
    except OSError:
        return ""


def decoded_any(file: Path) -> Any:
    try:
        return ANYTHING.decode(file.read_bytes())
    except (*BROKEN, OSError):
        return None


def passes_over(probe: Probe) -> bool:
    """Whether a file describes a run."""
    return {"run_id", "agent_name", "dataset_size"} <= probe.keys


READER = Reader(
    name="terminal-bench",
    title="Terminal-Bench 1 runs (a folder with results.json, that file alone, or its trials as lines)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=passes_over,
)
