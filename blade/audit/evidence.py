"""What a report is held against: the documents of a diagnosis or a comparison, and the rollouts behind them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade._version import __version__
from blade.comparison import Comparison
from blade.comparison.comparison import DECODER
from blade.diagnosis import Analysis, Diagnosed
from blade.diagnosis.judging import decide_success
from blade.diagnosis.labels import Label
from blade.diagnosis.relabelling import relabel
from blade.errors import InputError
from blade.report.comparison_report import COMPARISON
from blade.report.comparison_report import DEFINITIONS as COMPARISON_DEFINITIONS
from blade.report.notes import BOUNDS, DEFINITIONS
from blade.report.proofs import Judged, RolloutProofs
from blade.report.values import Value, every_value
from blade.report.workspace import ANALYSIS, Workspace, open_workspace
from blade.report.writing import Sources
from blade.rollouts import Run

ROLES = ("base", "candidate")
SMALLEST = 1e-9
"""How far mean scores may be apart that were added in another order."""


@dataclass(frozen=True)
class Source:
    """One diagnosed run."""

    analysis: Analysis
    """What was computed, with the labels in force."""
    open_run: Callable[[], Run] | None = None
    """Reads its rollouts; nothing when nobody knows where they are."""
    rule: str | None = None
    """The success rule that was asked for."""

    @cached_property
    def run(self) -> Run | None:
        """Its rollouts, if they are where they were."""
        if self.open_run is None:
            return None
        try:
            return self.open_run()
        except InputError:
            return None

    @cached_property
    def judged(self) -> Judged | None:
        """Its rollouts with their verdicts."""
        if self.run is None:
            return None
        success = enumerate(decide_success(self.run.table, self.rule)[1].tolist())
        known = {self.run.table.citation(row): None if value != value else value == 1.0 for row, value in success}
        return Judged(run=self.run, passed=known)


@dataclass(frozen=True)
class Evidence:
    """Everything a report may be checked against."""

    sources: Sequence[Source] = ()
    """The runs it may speak of."""
    comparison: Comparison | None = None
    """What changed between them."""

    @cached_property
    def documents(self) -> dict[str, Any]:
        """JSON documents by the names that addresses use."""
        structs: dict[str, Any] = {} if self.comparison is None else {"comparison": self.comparison}
        structs |= {name: source.analysis for name, source in zip(self.names, self.sources, strict=False)}
        return {name: msgspec.json.decode(msgspec.json.encode(struct)) for name, struct in structs.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """What the documents of runs are called."""
        return ("analysis",) if self.comparison is None else ROLES

    @cached_property
    def proofs(self) -> RolloutProofs | None:
        """The rollouts, where all of them are there."""
        runs = {name: source.judged for name, source in zip(self.names, self.sources, strict=False)}
        known = {name: judged for name, judged in runs.items() if judged is not None}
        return RolloutProofs(known) if known and len(known) == len(runs) else None

    @property
    def writing(self) -> Sources:
        """What a text about it can name."""
        return Sources(documents=self.documents, proofs=self.proofs)

    @cached_property
    def addressable(self) -> dict[str, Any]:
        """Documents that addresses may point into, what the package itself states among them."""
        own = {
            "version": __version__,
            "definitions": DEFINITIONS,
            "bounds": BOUNDS,
            "comparison_definitions": COMPARISON_DEFINITIONS,
        }
        return {**self.documents, "blade": own}

    @cached_property
    def values(self) -> list[Value]:
        """Everything that can be said."""
        return [value for name, document in self.documents.items() for value in every_value(document, name)]

    @cached_property
    def tasks(self) -> frozenset[str]:
        """Keys of every task."""
        return frozenset(task.task for source in self.sources for task in source.analysis.tasks)


def holds_evidence(folder: Path) -> bool:
    """Whether a folder holds a diagnosis or a comparison."""
    return (folder / ANALYSIS).is_file() or (folder / COMPARISON).is_file()


def evidence_in(folder: Path) -> Evidence:
    """What a folder holds that `blade diagnose` or `blade compare` wrote.

    Raises:
        InputError: it holds neither a diagnosis nor a comparison, or one that cannot be read.
    """
    comparison, stored = None, folder / COMPARISON
    if stored.is_file():
        try:
            comparison = DECODER.decode(stored.read_bytes())
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(f"{stored}: cannot be read: {error}; run `blade compare` again.") from error
    places = [folder] if (folder / ANALYSIS).is_file() else sorted(path.parent for path in folder.glob(f"*/{ANALYSIS}"))
    if comparison is None and not places:
        open_workspace(folder)  # says what is missing
    sources = [source_in(open_workspace(place)) for place in places]
    if comparison is not None:
        roles = [comparison.base.run, comparison.candidate.run]
        by_name = {source.analysis.inputs.run: source for source in sources}
        sources = [by_name[name] for name in roles] if set(roles) <= set(by_name) else []
    return Evidence(sources, comparison)


def source_in(workspace: Workspace) -> Source:
    """A diagnosis on disk."""
    request = workspace.request
    rule = None if request is None else request.analyze.success
    return Source(relabel(workspace.analysis, workspace.labels), None if request is None else workspace.run, rule)


def evidence_of(
    found: Sequence[Diagnosed], labels: Mapping[str, Label] | None = None, *, slices: Sequence[str] = ()
) -> Evidence:
    """Runs that were diagnosed just now, and their comparison where they are several.

    Args:
        labels: by task, the label in force where it is not the draft.
        slices: fields that a comparison is sliced by.

    Raises:
        UsageError: several runs that have no task in common, or were judged by different rules.
    """
    comparison = None
    if len(found) > 1:
        from blade.comparison import CompareOptions, compare_many

        comparison = compare_many(list(found), CompareOptions(slices=tuple(slices)))

    def source(one: Diagnosed) -> Source:
        return Source(relabel(one.analysis, labels or {}), lambda: one.run, one.analysis.success.rule)

    return Evidence([source(one) for one in found], comparison)


class Drift(NamedTuple):
    """A run whose rows are no longer those that were diagnosed."""

    sentence: str
    is_changed: bool
    """Whether they are others; otherwise they are gone."""


def drifts(evidence: Evidence) -> Iterator[Drift]:
    """What became of the rows of every run, where anything did and somebody knows where they were."""
    for source in evidence.sources:
        name = source.analysis.inputs.run
        if source.open_run is not None and source.run is None:
            yield Drift(f"the rollouts of {name} are gone; numbers were held against analysis.json alone.", False)
        if source.open_run is None or source.run is None:
            continue
        now: dict[str, list[float]] = {}
        table = source.run.table
        for task, reward in zip(table.task.tolist(), table.reward.tolist(), strict=True):
            if not math.isnan(reward):
                now.setdefault(table.tasks[task], []).append(reward)
        then = {task.task: task.mean_reward for task in source.analysis.tasks if task.mean_reward is not None}
        if now.keys() != then.keys() or not all(
            math.isclose(math.fsum(now[task]) / len(now[task]), score, rel_tol=SMALLEST, abs_tol=SMALLEST)
            for task, score in then.items()
        ):
            changed = f"the rollouts of {name} have changed since they were diagnosed; run `blade diagnose` again."
            yield Drift(changed, True)
