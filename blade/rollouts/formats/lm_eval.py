"""lm-evaluation-harness: `samples_<task>_<date>.jsonl`, a line per document and filter; `results_<date>.json`."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import bad_line, decode_lenient, json_lines, place, read_bytes
from blade.rollouts.formats.lm_eval_sample import ROW_KEYS, Sample
from blade.rollouts.formats.lm_eval_task import describe, top_group
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.jsonl(?:\.gz|\.zst)?")
RESULTS = re.compile(r".*_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.json")
RESULTS_KEYS = frozenset({"results", "configs", "versions", "n-shot"})
FILE_ROOM = 1 << 40
"""Places kept for each file of a folder, so that places differ between its files."""


def recognises(probe: Probe) -> bool:
    """Whether a path holds samples: such a file, a folder with one, or the results file beside one."""
    if probe.is_folder:
        return any(map(SAMPLES.fullmatch, probe.names)) and any(has_samples(Probe(f)) for f in sample_files(probe.path))
    return has_samples(probe) or is_results(probe)


def has_samples(probe: Probe) -> bool:
    """Whether a file begins with a sample; of one with a very long document only the beginning is seen."""
    begins = {"doc_id", "doc"} <= probe.keys and SAMPLES.fullmatch(probe.path.name) is not None
    return not probe.is_array and (begins or probe.keys >= ROW_KEYS)


def is_results(probe: Probe) -> bool:
    """Whether a file is the summary that is written beside samples."""
    # Long configurations stand before some of the names, so the head of the file may not show them.
    return not probe.is_array and {"results", "configs"} <= probe.keys and probe.record.keys() >= RESULTS_KEYS


def sample_files(path: Path) -> list[Path]:
    """The files of samples a path stands for."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if SAMPLES.fullmatch(file.name) and file.is_file())
    if not is_results(Probe(path)):
        return [path]
    match = RESULTS.fullmatch(path.name)
    return [file for file in sample_files(path.parent) if match is None or date_of(file) == match["date"]]


def date_of(path: Path) -> str | None:
    match = SAMPLES.fullmatch(path.name)
    return match["date"] if match else None


def results_file(samples: Path) -> Path | None:
    """The summary of the evaluation that made a file of samples; without a date, the only one beside it."""
    date = date_of(samples)
    beside = [
        (file, match["date"]) for file in samples.parent.glob("*.json") if (match := RESULTS.fullmatch(file.name))
    ]
    found = [file for file, dated in beside if date in (None, dated) and file.is_file() and is_results(Probe(file))]
    return found[0] if len(found) == 1 else None


def files(path: Path) -> list[Path]:
    """Samples and summaries."""
    samples = sample_files(path)
    summaries = [found for file in samples if (found := results_file(file)) is not None]
    return list(dict.fromkeys([*samples, *summaries])) or [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every response of every document and filter; its place is that of its line, plus its number."""
    samples = sample_files(path)
    if not samples:
        raise InputError(f"{path}: has no samples_*.jsonl beside it, so no rollouts; run lm_eval with --log_samples.")
    runs = run_names(samples)
    said: set[str] = set()
    for index, file in enumerate(samples):
        base = index * FILE_ROOM
        within = None if wanted is None else sorted(at - base for at in wanted if 0 <= at - base < FILE_ROOM)
        if within == []:
            continue
        for found in read_file(file, base, within, run=runs[index]):
            if not isinstance(found, Note):
                yield found
            elif found.text not in said:
                said.add(found.text)
                yield found


def run_names(samples: list[Path]) -> list[str | None]:
    """The run of each file: its task, or the group that the harness sums it up in, and the date if there are several.

    Tasks that the harness never sums up have metrics of their own, and one number for them all would mean nothing.
    """
    tasks = [match["task"] if (match := SAMPLES.fullmatch(file.name)) else None for file in samples]
    units = [
        None if task is None else top_group(summary_of(file), task) for task, file in zip(tasks, samples, strict=True)
    ]
    dated = len(set(tasks)) < len(tasks)
    several = len(set(units)) > 1
    return [
        " ".join(filter(None, (unit if several else None, date_of(file) if dated else None))) or None
        for unit, file in zip(units, samples, strict=True)
    ]


def read_file(path: Path, base: int, wanted: list[int] | None, *, run: str | None) -> Iterator[Found]:
    """The rollouts of one file; of given places only those."""
    match = SAMPLES.fullmatch(path.name)
    task = describe(match["task"] if match else None, summary_of(path))
    for line in json_lines(path):
        if isinstance(line, BadLine):
            yield msgspec.structs.replace(line, offset=base + line.offset)
            continue
        if wanted is not None:
            at = bisect_left(wanted, line.offset)
            if at == len(wanted) or wanted[at] >= line.offset + len(line.data):
                continue
        row = decode_lenient(line.data)
        if not isinstance(row, dict) or not row.keys() >= ROW_KEYS:
            reason = "is not JSON" if row is None else "is not a sample of lm-eval"
            yield bad_line(path, reason, line=line.line, offset=base + line.offset)
            continue
        sample = Sample(task, row)
        yield from (Note(text=f"{run}: {note.text}") if run else note for note in sample.notes())
        for repeat, rollout in enumerate(sample.rollouts()):
            where = place(path, base + line.offset + repeat, line=line.line, length=len(line.data))
            yield msgspec.structs.replace(rollout, run=run, source=where)


def summary_of(samples: Path) -> dict[str, Any]:
    """What stands in the results file; nothing when there is none."""
    found = results_file(samples)
    summary = decode_lenient(read_bytes(found)) if found is not None else None
    return summary if isinstance(summary, dict) else {}


READER = Reader(
    name="lm-eval",
    title="lm-evaluation-harness samples (samples_*.jsonl with results_*.json)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=is_results,
)
