"""Draft labels: what rules can say about why a task is not always passed, before anybody has read a trajectory.

Causes are tried in their fixed order, so that the model is blamed only for what data, infrastructure and verifier did
not do. Where rules cannot decide they say so: `UK?` for a task that passes sometimes, `KG?` for one that never does.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.diagnosis.labels import Confidence, Evidence, Label
from blade.diagnosis.signals import RULES, Sightings
from blade.metrics import Outcomes, TaskResult
from blade.rollouts.table import RolloutTable

MOST_EVIDENCE = 3
NOT_DECISIVE = frozenset({"tool_error", "tool_timeout"})
"""Signals too common in passing rollouts, or too far from the verdict, to decide a cause alone."""


CERTAIN = frozenset({"failed_rollout", "provider_error"})
"""Signals that say in so many words that the infrastructure failed; a time-out may be a slow agent's."""


class Ground(NamedTuple):
    """A signal that is on failing rollouts of a task."""

    code: str
    kind: str
    title: str
    rows: list[int]
    citations: list[str]


def draft_label(result: TaskResult, failing: list[int], grounds: list[Ground]) -> Label:
    """The first cause in order that explains the failing rollouts."""
    if not failing:
        return label(result, "DA", "medium", "no_rollouts", "no rollout of this task has a known outcome", [])
    infra, verifier = of_kind(grounds, "infrastructure"), of_kind(grounds, "verifier")
    if left := unexplained(failing, infra):
        if not unexplained(left, verifier):
            return explained(result, "TI", "medium", verifier)
        behaviour = [g for g in of_kind(grounds, "behaviour") if set(g.rows) & set(left)]
        if behaviour and not unexplained(left, behaviour):
            return explained(result, "BI", "medium", behaviour)
        return undecided(result, behaviour, left)
    certain = all(ground.code in CERTAIN for ground in infra)
    return explained(result, "IR", "high" if certain else "medium", infra)


def of_kind(grounds: list[Ground], kind: str) -> list[Ground]:
    return [ground for ground in grounds if ground.kind == kind and ground.code not in NOT_DECISIVE]


def unexplained(rows: list[int], grounds: list[Ground]) -> list[int]:
    """The rows none of the grounds is on."""
    covered = {row for ground in grounds for row in ground.rows}
    return [row for row in rows if row not in covered]


def explained(result: TaskResult, cause: str, confidence: Confidence, grounds: list[Ground]) -> Label:
    widest = max(grounds, key=lambda ground: len(ground.rows))
    reason = (
        f"every failing rollout: {widest.title}"
        if len(grounds) == 1
        else "every failing rollout: " + ", ".join(sorted({ground.title for ground in grounds}))
    )
    citations = [citation for ground in grounds for citation in ground.citations]
    return label(result, cause, confidence, widest.code, reason, citations)


def undecided(result: TaskResult, behaviour: list[Ground], left: list[int]) -> Label:
    sometimes = bool(result.c)
    seen = ", ".join(sorted({ground.title for ground in behaviour}))
    reason = "passes sometimes" if sometimes else "never passes"
    reason += f"; some failing rollouts: {seen}" if seen else "; no signal explains its failures"
    citations = [citation for ground in behaviour for citation in ground.citations]
    return label(result, "UK?" if sometimes else "KG?", "low", "unexplained", f"{reason}; read it", citations)


def label(
    result: TaskResult, cause: str, confidence: Confidence, code: str, reason: str, citations: list[str]
) -> Label:
    evidence = [Evidence(citation=citation) for citation in dict.fromkeys(citations)][:MOST_EVIDENCE]
    return Label(
        task=result.task, cause=cause, confidence=confidence, author=f"rule:{code}", reason=reason, evidence=evidence
    )


def draft_labels(
    results: list[TaskResult], table: RolloutTable, outcomes: Outcomes, sightings: Sightings
) -> list[Label]:
    """A draft for every task that is not always passed; none when success is not defined."""
    if outcomes.is_continuous:
        return []
    failing = rows_by_task(table, outcomes.success != 1.0)
    grounds = grounds_by_task(table, outcomes, sightings)
    return [
        draft_label(result, failing.get(index, []), grounds.get(index, []))
        for index, result in enumerate(results)
        if result.bucket != "always"
    ]


def rows_by_task(table: RolloutTable, mask: npt.NDArray[np.bool_]) -> dict[int, list[int]]:
    out: dict[int, list[int]] = {}
    for row in np.flatnonzero(mask).tolist():
        out.setdefault(int(table.task[row]), []).append(row)
    return out


def grounds_by_task(table: RolloutTable, outcomes: Outcomes, sightings: Sightings) -> dict[int, list[Ground]]:
    """For every task, the signals on its failing rollouts."""
    out: dict[int, list[Ground]] = {}
    for rule in RULES:
        seen = sightings.seen[rule.code]
        by_task: dict[int, Ground] = {}
        for row, item in zip(seen.rows.tolist(), seen.items.tolist(), strict=True):
            if outcomes.success[row] == 1.0:
                continue
            task = int(table.task[row])
            ground = by_task.setdefault(task, Ground(rule.code, rule.kind, rule.title, [], []))
            ground.rows.append(row)
            ground.citations.append(table.citation(row, item))
        for task, ground in by_task.items():
            out.setdefault(task, []).append(ground)
    return out
