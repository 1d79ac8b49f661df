"""Failures that other people read and labelled: how often causes and decisive steps agree with them.

AgentRx labels 27 failures of a tau-bench retail run with a category and a step. Who&When labels the failures of agent
teams with the responsible agent and step. Neither uses BLADE's causes, so a label is right when it is among those that
the category leaves open.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.api import analyze, read
from blade.diagnosis.differences import conventions_of, differences_of
from blade.diagnosis.steps import Step, decisive_step
from blade.rollouts import Rollout, Run

OF_THE_MODEL = frozenset({"BI", "UK", "KG"})
OPEN_CAUSES = {"Underspecified User Intent": frozenset({"TI"}), "System Failure": frozenset({"IR"})}
"""Categories of AgentRx that are not the model's doing."""


HALVES = ("Who&When, chosen on", "Who&When, held out")


class Case(NamedTuple):
    """A labelled failure and what was said of it."""

    source: str
    task: str
    causes: frozenset[str]
    """Causes that the label leaves open."""
    said: str
    """The label in force, `?` at its end where undecided."""
    confidence: float | None
    """How sure the diagnosis is of it, where it is decided."""
    step: int
    """The labelled step."""
    agent: str | None
    """Who is responsible, where that is labelled."""
    claim: Step | None
    """The decisive step as claimed."""
    claimed: int | None
    """The step that the claimed item belongs to."""
    steps: int
    """Steps of the rollout."""

    @property
    def is_decided(self) -> bool:
        """Whether a cause was named without reservation."""
        return not self.said.endswith("?")


def labelled_cases(data: Path) -> list[Case]:
    """Every labelled failure in the folder of data; what is not there is left out."""
    cases: list[Case] = []
    if (data / "agentrx").is_dir():
        cases += agentrx(data / "agentrx")
    for path in sorted((data / "who_and_when").glob("*.jsonl")):
        cases += who_and_when(path)
    return cases


def agentrx(folder: Path) -> Iterator[Case]:
    """The root cause of each labelled trajectory; steps are messages, counted from 1."""
    source = folder / "tau_dataset_full.json"
    rows = json.loads(source.read_bytes())
    diagnosed = Diagnosed.of(read(source, use_cache=False))
    for label in json.loads((folder / "tau_ground_truth.json").read_bytes()):
        if label["trajectory_id"] >= len(rows):
            continue
        row = rows[label["trajectory_id"]]
        root = next(f for f in label["failures"] if f["failure_id"] == label["root_cause"]["failure_id"])
        owners = [at for at, message in enumerate(row["traj"]) for _ in range(items_of(message))]
        yield diagnosed.case(
            "AgentRx tau",
            str(row["task_id"]),
            causes=OPEN_CAUSES.get(root["failure_category"], OF_THE_MODEL),
            step=root["step_number"] - 1,
            owners=owners,
        )


def items_of(message: dict[str, Any]) -> int:
    """Items that a chat message is read as: itself, unless it is nothing but its calls, and the calls."""
    calls = len(message.get("tool_calls") or [])
    return calls + (1 if message.get("content") or not calls else 0)


def who_and_when(path: Path) -> Iterator[Case]:
    """The responsible agent and step of each failure; steps are messages, counted from 0."""
    diagnosed = Diagnosed.of(read(path, use_cache=False))
    for rollout in diagnosed.rollouts.values():
        fields = rollout.fields
        yield diagnosed.case(
            half_of(rollout.task),
            rollout.task,
            causes=OF_THE_MODEL,
            step=int(fields["mistake_step"]),
            agent=str(fields["mistake_agent"]),
            owners=[item.position for item in rollout.items],
        )


def half_of(task: str) -> str:
    """The half of Who&When that a failure belongs to by its id: constants were chosen on one, the other is held out."""
    return HALVES[hashlib.sha256(task.encode()).digest()[0] % 2]


class Diagnosed(NamedTuple):
    """A run with what was said of its failures."""

    rollouts: dict[str, Rollout]
    claims: dict[str, Step | None]
    labels: dict[str, str]
    confidences: dict[str, float | None]

    @classmethod
    def of(cls, run: Run) -> "Diagnosed":
        """Diagnoses a run of one rollout per task."""
        analysis = analyze(run)
        passed = {result.task: bool(result.c) for result in analysis.tasks}
        whole = [msgspec.structs.replace(r, success=passed[r.task]) for r in run.rollouts(range(len(run.table)))]
        conventions = conventions_of(whole)
        failed = [rollout for rollout in whole if not rollout.success]
        return cls(
            {rollout.task: rollout for rollout in failed},
            {r.task: decisive_step(r, differences_of(r, conventions), conventions) for r in failed},
            {cause.task: cause.label for cause in analysis.causes},
            {cause.task: STATED.get(cause.confidence) for cause in analysis.causes},
        )

    def case(
        self,
        source: str,
        task: str,
        *,
        causes: frozenset[str],
        step: int,
        owners: Sequence[int],
        agent: str | None = None,
    ) -> Case:
        """What was said of one task beside what it was labelled."""
        claim = self.claims[task]
        return Case(
            source=source,
            task=task,
            causes=causes,
            said=self.labels.get(task, "?"),
            confidence=self.confidences.get(task),
            step=step,
            agent=agent,
            claim=claim,
            claimed=None if claim is None else owners[claim.item],
            steps=max(owners) + 1,
        )


STATED = {"high": 0.9, "medium": 0.7, "low": 0.5}
"""What words of confidence promise at least."""


def trivial_hits(cases: Sequence[Case]) -> dict[str, float]:
    """How many labelled steps each trivial guess gets; the most common one is that of the other cases."""
    counts = Counter(case.step for case in cases)
    others = [(counts - Counter([case.step])).most_common(1) for case in cases]
    return {
        "first": sum(case.step == 0 for case in cases),
        "second": sum(case.step == 1 for case in cases),
        "middle": sum(case.step == case.steps // 2 for case in cases),
        "last": sum(case.step == case.steps - 1 for case in cases),
        "most common": sum(bool(best) and best[0][0] == case.step for best, case in zip(others, cases, strict=True)),
        "random": sum(1 / case.steps for case in cases),
    }
