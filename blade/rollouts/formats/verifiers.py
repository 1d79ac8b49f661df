"""verifiers: `results.jsonl` with its `metadata.json` (versions 0.1) and the `traces.jsonl` of a run (versions since).

The older rows are rollouts; a line of the newer file is an episode, in which several agents may have traces. The ones
that are trained or evaluated are rollouts; a judge's or a simulated user's trace is not.
"""

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import (
    Attempts,
    bad_line,
    decode_lenient,
    json_lines,
    objects,
    part,
    place,
    read_bytes,
    text_or_none,
)
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.verifiers_rollout import TraceRollout, episode_without_traces, output_rollout, task_of
from blade.rollouts.values import BadLine, Rollout

OUTPUT_KEYS = frozenset({"example_id", "prompt", "completion", "reward", "timing", "is_completed", "is_truncated"})
EPISODE_KEYS = frozenset({"env", "task", "ok"})
METADATA_KEYS = frozenset({"env_id", "model", "num_examples", "rollouts_per_example"})
TRACES = "traces.jsonl"


def recognises(probe: Probe) -> bool:
    """Whether a path holds outputs or episodes; a run folder of the newer versions is one source."""
    if probe.is_folder:
        return TRACES in probe.names and has_episodes(Probe(probe.path / TRACES))
    return not probe.is_array and (probe.keys >= OUTPUT_KEYS or has_episodes(probe))


def has_episodes(probe: Probe) -> bool:
    return probe.keys >= EPISODE_KEYS and b'"traces":' in probe.head.replace(b" ", b"")


def is_metadata(probe: Probe) -> bool:
    """Whether a file says what outputs beside it were made with."""
    return not probe.is_folder and probe.keys >= METADATA_KEYS


def rows_file(path: Path) -> Path:
    return path / TRACES if path.is_dir() else path


def metadata_file(path: Path) -> Path | None:
    beside = path.parent / "metadata.json"
    return beside if not path.is_dir() and beside.is_file() and is_metadata(Probe(beside)) else None


def files(path: Path) -> list[Path]:
    """The rows and what says how they were made."""
    metadata = metadata_file(path)
    return [rows_file(path), *([metadata] if metadata else [])]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every rollout; its place is that of its line, plus its number within an episode."""
    file = rows_file(path)
    metadata = metadata_of(path)
    environment = text_or_none(metadata.get("env_id"))
    attempts = Attempts()
    said: set[str] = set()
    for line in json_lines(file):
        if isinstance(line, BadLine):
            yield line
            continue
        row = decode_lenient(line.data)
        made = makers(row, metadata) if isinstance(row, dict) else []
        if not made:
            yield bad_line(file, "is not a rollout of verifiers", line=line.line, offset=line.offset)
        for number, (task, make) in enumerate(made):
            repeat = attempts.next(task)
            at = line.offset + number
            if wanted is not None and at not in wanted:
                continue
            rollout = make(task, repeat)
            others = ", ".join(name for name in rollout.scores if name != "reward")
            if others and others not in said:
                said.add(others)
                yield Note(text=f"reward counts as the score; --score also takes {others}")
            where = place(file, at, line=line.line, length=len(line.data))
            yield msgspec.structs.replace(rollout, run=environment, source=where)


Maker = partial[Rollout]


def makers(row: dict[str, Any], metadata: dict[str, Any]) -> list[tuple[str, Maker]]:
    """The task of each rollout in a row, and what makes the rollout of it."""
    if "traces" in row:
        task = task_of(row)
        traces = objects(row["traces"])
        evaluated = [trace for trace in traces if part(trace, "agent").get("trainable") is not False] or traces
        if task is None:
            return []
        made = [(task, partial(trace_rollout, row, trace)) for trace in evaluated]
        return made or [(task, partial(episode_without_traces, row))]
    example = text_or_none(row.get("example_id"))
    return [] if example is None or "completion" not in row else [(example, partial(output_rollout, row, metadata))]


def trace_rollout(episode: dict[str, Any], trace: dict[str, Any], task: str, repeat: int) -> Rollout:
    return TraceRollout(episode, trace).rollout(task, repeat)


def metadata_of(path: Path) -> dict[str, Any]:
    """What outputs were made with; nothing when nobody says."""
    file = metadata_file(path)
    try:
        found = decode_lenient(read_bytes(file)) if file is not None else None
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


READER = Reader(
    name="verifiers",
    title="verifiers evaluations (results.jsonl with metadata.json, or traces.jsonl)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=is_metadata,
)
