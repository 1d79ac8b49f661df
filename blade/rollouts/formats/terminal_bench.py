"""Terminal-Bench 1: one `results.json` per run, its trials in the list `results`."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.rollouts.formats.building import Attempts, bad_line, number_or_none, place, read_json, text_or_none
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.values import Ending, EndingKind, Origin, Rollout, TestStatus, Usage


class Results(msgspec.Struct):
    results: list[dict[str, Any]]


RESULTS = msgspec.json.Decoder(Results)
ENDINGS: dict[str, tuple[EndingKind, Origin | None]] = {
    "agent_timeout": ("timeout", "agent"),
    "test_timeout": ("timeout", "verifier"),
    "context_length_exceeded": ("limit", "model"),
    "output_length_exceeded": ("limit", "model"),
    "fatal_llm_parse_error": ("error", "agent"),
    "parse_error": ("error", "verifier"),
    "agent_installation_failed": ("error", "environment"),
    "unknown_agent_error": ("error", "agent"),
    "unknown": ("error", None),
}
TESTS: dict[str, TestStatus] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}


def recognises(probe: Probe) -> bool:
    """Whether a file has the summary of a run around its trials."""
    return {"results", "accuracy", "n_resolved"} <= probe.keys or (
        "results" in probe.keys and "pass_at_k" in probe.keys and "n_resolved" in probe.keys
    )


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trial; its place is its position in the list."""
    attempts = Attempts()
    for index, trial in enumerate(read_json(path, RESULTS).results):
        task = text_or_none(trial.get("task_id"))
        if task is None:
            yield bad_line(path, f"results[{index}] has no task_id", offset=index)
            continue
        repeat = attempts.next(task)
        if wanted is None or index in wanted:
            yield rollout(path, index, task, repeat, trial)


def rollout(path: Path, index: int, task: str, repeat: int, trial: dict[str, Any]) -> Rollout:
    """One trial. One that was not judged counts as failed, as in the run's own accuracy."""
    mode = text_or_none(trial.get("failure_mode"))
    kind, origin = ENDINGS.get(mode or "unset", ("completed", None)) if mode not in (None, "unset", "none") else (
        "completed", None,
    )  # fmt: skip
    tests = trial.get("parser_results")
    resolved = number_or_none(trial.get("is_resolved"))
    return Rollout(
        task=task,
        repeat=repeat,
        reward=0.0 if resolved is None else resolved,
        ending=Ending(kind=kind, origin=origin, name=mode if kind != "completed" else None),
        tests={name: TESTS.get(str(status), "error") for name, status in tests.items()}
        if isinstance(tests, dict)
        else {},
        usage=Usage(
            input_tokens=trial.get("total_input_tokens") or None, output_tokens=trial.get("total_output_tokens") or None
        ),
        fields={"failure_mode": mode, "trial_name": trial.get("trial_name")},
        source=place(path, index),
    )


READER = Reader(name="terminal-bench", title="Terminal-Bench 1 runs (results.json)", recognises=recognises, read=read)
