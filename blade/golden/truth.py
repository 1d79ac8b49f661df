"""What is true of a run, as far as a report can be held to it: its metrics sidecar and its rollouts.

Standard library only; `blade golden check` holds the sidecar itself to the engine, byte for byte.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from blade.golden.facts import Check
from blade.golden.package.layout import METRICS, GoldenFiles, rollouts_beside
from blade.golden.package.rows import SHARE_TOLERANCE, read_rows_with_text
from blade.golden.passages import squeezed


@dataclass(frozen=True)
class Truth:
    """One run."""

    stated: dict[str, Any]
    """Its metrics sidecar; empty when there is none."""
    texts: dict[str, str] = field(default_factory=dict)
    """What every rollout says, by `task:repeat`; empty when the rollouts are not at hand."""

    @cached_property
    def tasks(self) -> dict[str, tuple[int, int]]:
        """Of every task how many rollouts pass, and of how many."""
        return {task: (one["passed"], one["of"]) for task, one in self.group("tasks").items()}

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of every task that has one."""
        return {str(task): str(label) for task, label in self.group("labels").items()}

    @cached_property
    def listed(self) -> dict[str, dict[str, list[str]]]:
        """Tasks by bucket, where the sidecar lists them, and by label."""
        by_label: dict[str, list[str]] = {}
        for task, label in self.labels.items():
            by_label.setdefault(label, []).append(task)
        counted = self.group("buckets").items()
        buckets = {name: list(map(str, tasks)) for name, tasks in counted if isinstance(tasks, list)}
        return {"buckets": buckets, "labels": by_label}

    def group(self, name: str) -> dict[str, Any]:
        """An object of the sidecar; empty when it has none of that name."""
        found = self.stated.get(name)
        return found if isinstance(found, dict) else {}

    def members(self, path: str) -> list[str] | None:
        """The tasks of a bucket or a label."""
        kind, _, name = path.partition(".")
        return self.listed.get(kind, {}).get(name)

    def value(self, path: str) -> float | None:
        """A number by its path; a group counts its members."""
        members = self.members(path)
        if members is not None:
            return len(members)
        found = next(walk(self.stated, path), None)
        for name in ("value", "failed", "primary"):
            found = found.get(name) if isinstance(found, dict) and name in found else found
        if isinstance(found, bool) or not isinstance(found, int | float):
            return None
        return found


def walk(value: Any, path: str) -> Iterator[Any]:
    """Values at a path of names joined by dots; a name may hold dots itself."""
    if not path:
        yield value
    elif isinstance(value, dict):
        for name in sorted(value, key=len, reverse=True):
            if path == name or path.startswith(f"{name}."):
                yield from walk(value[name], path[len(name) + 1 :])


def truth_beside(report: Path) -> Truth:
    """The truth about the run of a golden report: what stands beside it and, where they are found, the rollouts."""
    files = GoldenFiles(report)
    metrics, rollouts = files.beside(METRICS), rollouts_beside(files)
    stated = json.loads(metrics.read_text(encoding="utf-8")) if metrics.is_file() else {}
    texts = read_rows_with_text(rollouts) if rollouts is not None else {}
    return Truth(stated=stated if isinstance(stated, dict) else {}, texts=texts)


def why_false(check: Check, truth: Truth) -> str:
    """What is true instead of a fact; empty when the fact is true."""
    if check.kind in ("metric", "count"):
        value = truth.value(check.of)
        tolerance = 0.0 if check.kind == "count" else (check.tolerance or SHARE_TOLERANCE)
        if value is None or check.value is None or abs(value - check.value) > tolerance + 1e-9:
            return f"{check.of} is {value}, not {check.value}"
    elif check.kind == "task_set":
        members = truth.members(check.of)
        if members is None or set(members) != set(check.tasks):
            return f"{check.of} holds {', '.join(members or ()) or 'nothing'}"
    elif check.kind == "label":
        wrong = [task for task in check.tasks if truth.labels.get(task) != check.label]
        if wrong:
            return f"task {wrong[0]} is labelled {truth.labels.get(wrong[0])}, not {check.label}"
    elif check.kind == "rate":
        rate = truth.tasks.get(check.tasks[0])
        if rate != (check.passed, check.total):
            return f"task {check.tasks[0]} passes {rate}, not {(check.passed, check.total)}"
    elif check.kind == "ordering":
        more, less = (truth.value(f"{check.of}.{part}") for part in (check.greater, check.lesser))
        if more is None or less is None or more <= less:
            return f"{check.greater} has {more}, {check.lesser} has {less}"
    elif truth.texts:  # without rollouts nobody can tell what is said in them
        missing = [citation for citation in check.citations if citation.partition("#")[0] not in truth.texts]
        if missing:
            return f"there is no rollout {missing[0]}"
        if squeezed(check.quote) not in squeezed(truth.texts[check.citations[0].partition("#")[0]]):
            return f"{check.citations[0]} does not say {check.quote!r}"
    return ""
