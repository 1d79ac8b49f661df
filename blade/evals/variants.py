"""Runs that differ in their skills alone: what each variant costs, whether its skills were opened, and which tasks it
wins and loses against the first.

Tasks and seeds are the same in every variant, so that a task's rollouts are compared with each other. Costs are means
over tasks of what a rollout takes; what a row does not state stays unknown.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from blade.errors import UsageError
from blade.evals.files import read_lines
from blade.evals.rows import field_at
from blade.metrics.intervals import estimate_mean, estimate_rate
from blade.metrics.success import BINARY_RULE, parse_success_rule
from blade.metrics.values import Metric
from blade.rollouts.skills import SKILLS_READ

NONE = "none"
"""The variant without skills."""


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one task in one variant."""

    name: str
    """The task's own id, or else its index."""
    rollouts: int
    """Rollouts with a verdict."""
    passed: float
    """Share of them that passed."""
    opened: float | None
    """Share of them in which a skill's file was opened; `None` without skills."""
    tokens: float | None
    """Tokens per rollout, read and written."""
    seconds: float | None
    """Seconds per rollout."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """The run of one variant, summed up."""

    label: str
    """Its name."""
    hash: str | None
    """Name of its skills' content."""
    rollouts: int
    """Rollouts with a verdict."""
    pass_rate: Metric
    """Mean over tasks of the share that passed."""
    opened: Metric
    """Mean over tasks of the share of rollouts in which a skill was opened."""
    files: dict[str, int]
    """Rollouts in which each file of a skill was opened, most first."""
    input_tokens: float | None
    """Tokens read per rollout."""
    output_tokens: float | None
    """Tokens written per rollout."""
    seconds: float | None
    """Seconds per rollout."""
    tasks: dict[int, TaskResult]
    """By task index."""


class Duel(msgspec.Struct, frozen=True, kw_only=True):
    """A variant against the first, task by task."""

    base: str
    """The first."""
    variant: str
    """The other."""
    wins: list[str]
    """Tasks that pass more often with it."""
    losses: list[str]
    """Tasks that pass less often with it."""
    same: int
    """Tasks that pass as often."""
    unread_wins: int
    """Wins in whose rollouts no skill was ever opened: those are chance or the catalog's doing."""
    extra_tokens: Metric
    """Tokens it takes more per rollout, mean over the tasks of both."""
    extra_seconds: Metric
    """Seconds it takes more per rollout."""


def parse_variants(text: str) -> dict[str, str | None]:
    """Folders of skills from `none,DIR,DIR`, by the folder's name, made different where two are the same."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if len(words) < 2 or len(set(words)) < len(words):
        raise UsageError(f"--variants is {text!r}; name at least two different ones, e.g. none,skills.")
    labels = [NONE if word == NONE else Path(word).resolve().name for word in words]
    for place, label in enumerate(labels):
        if label in labels[:place] or (label == NONE and words[place] != NONE):
            labels[place] = f"{label}-{place + 1}"
    return {label: None if word == NONE else word for label, word in zip(labels, words, strict=True)}


def read_trial(path: Path, label: str, *, success: str | None) -> Trial:
    """Sums up the rollouts of one variant."""
    rule = parse_success_rule(success) if success else BINARY_RULE
    names: dict[int, str] = {}
    tasks: dict[int, dict[str, list[float]]] = {}
    files: Counter[str] = Counter()
    reads: list[float] = []
    writes: list[float] = []
    digest: str | None = None
    for _, line in read_lines(path):
        row: dict[str, Any] = msgspec.json.decode(line)
        passed = float(rule.apply([field_at(row, rule.field)])[0])
        if passed != passed:  # not judged
            continue
        index = row["_ng_task_index"]
        names.setdefault(index, str(row.get("task_id", index)))
        seen = tasks.setdefault(index, {"passed": [], "opened": [], "tokens": [], "seconds": []})
        seen["passed"].append(passed)
        usage = (row.get("response") or {}).get("usage") or {}
        if usage.get("input_tokens") is not None and usage.get("output_tokens") is not None:
            reads.append(usage["input_tokens"])
            writes.append(usage["output_tokens"])
            seen["tokens"].append(usage["input_tokens"] + usage["output_tokens"])
        if row.get("agent_run_time") is not None:
            seen["seconds"].append(row["agent_run_time"])
        if SKILLS_READ in row:
            seen["opened"].append(float(bool(row[SKILLS_READ])))
            files.update(row[SKILLS_READ])
        digest = (row.get("skills_ref") or {}).get("hash", digest)
    results = {
        index: TaskResult(
            name=names[index],
            rollouts=len(seen["passed"]),
            passed=mean(seen["passed"]) or 0.0,
            **{name: mean(seen[name]) for name in ("opened", "tokens", "seconds")},
        )
        for index, seen in sorted(tasks.items())
    }
    return Trial(
        label=label,
        hash=digest,
        rollouts=sum(result.rollouts for result in results.values()),
        pass_rate=rate_over(results, lambda result: result.passed, "share of rollouts that passed"),
        opened=rate_over(results, lambda result: result.opened, "share of rollouts in which a skill was opened"),
        files=dict(files.most_common()),
        input_tokens=mean(reads),
        output_tokens=mean(writes),
        seconds=mean([result.seconds for result in results.values() if result.seconds is not None]),
        tasks=results,
    )


def mean(values: Sequence[float]) -> float | None:
    """The mean; unknown without values."""
    return float(np.mean(values)) if values else None


def rate_over(results: dict[int, TaskResult], value: Callable[[TaskResult], float | None], definition: str) -> Metric:
    """A mean over the tasks that have the value."""
    having = [(known, result.rollouts) for result in results.values() if (known := value(result)) is not None]
    rollouts = sum(count for _, count in having)
    return estimate_rate(np.array([known for known, _ in having]), rollouts=rollouts, definition=definition)


def duel(base: Trial, variant: Trial) -> Duel:
    """A variant against the first over the tasks that both have."""
    pairs = [(base.tasks[index], variant.tasks[index]) for index in base.tasks if index in variant.tasks]
    wins = [now for was, now in pairs if now.passed > was.passed]
    losses = [now for was, now in pairs if now.passed < was.passed]
    return Duel(
        base=base.label,
        variant=variant.label,
        wins=[result.name for result in wins],
        losses=[result.name for result in losses],
        same=len(pairs) - len(wins) - len(losses),
        unread_wins=sum(result.opened == 0 for result in wins),
        extra_tokens=extra(pairs, lambda result: result.tokens, "tokens more per rollout"),
        extra_seconds=extra(pairs, lambda result: result.seconds, "seconds more per rollout"),
    )


def extra(
    pairs: list[tuple[TaskResult, TaskResult]], value: Callable[[TaskResult], float | None], definition: str
) -> Metric:
    """What the second takes more than the first, over the tasks where both say."""
    both = [(value(was), value(now)) for was, now in pairs]
    return estimate_mean(
        np.array([now - was for was, now in both if was is not None and now is not None], dtype=np.float64),
        definition=definition,
    )
