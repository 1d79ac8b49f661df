"""One agent's metrics, as the sidecar files hold them, with what Gym's own lack beside them under `blade`.

There stand true counts of what was expected and is missing, and the headline with an interval over tasks.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from blade.evals.counted import TASK, Task, rank
from blade.evals.families import (
    Metrics,
    Tasks,
    family_of,
    key_metrics,
    statistics_of,
    subsets_of,
    task_family,
)
from blade.evals.scored import Pool
from blade.metrics import Metric, Outcomes, infer_success, measure, parse_success_rule
from blade.metrics.values import Floats

STUB = {"agent_ref": {"name": "agent"}}
"""What Gym puts in the place of a task's sample where it has none."""
LISTED = 20


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what was asked for is there."""

    tasks: int
    """Tasks asked for, or seen when nobody says what was asked for."""
    expected_rollouts: int | None
    """Rollouts asked for; None when nobody says."""
    rollouts: int
    """Rollouts present."""
    missing: int | None
    """Rollouts asked for and not present; None when nobody says what was asked for."""
    unscored: int
    """Rollouts present without a reward."""
    tasks_without_rollouts: list[Task]
    """Tasks asked for of which nothing is there, the first ones."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of one agent."""

    name: str | None
    """As its rows have it; None for rows that name none."""
    recipe: str
    """How its scores were made."""
    subsets: list[str]
    """Fields by whose values pass@k is given too."""
    metrics: dict[str, Any]
    """Statistics of every field and pass@k of every score."""
    key_metrics: dict[str, Any]
    """Those to look at first."""
    coverage: Coverage
    """What is there and what is missing."""
    headline: dict[str, Metric]
    """pass@1, pass@k and the mean reward with intervals over tasks."""


def measure_agent(pool: Pool, tasks: Tasks, expected: Mapping[Task, int] | None, *, success: str | None) -> Agent:
    """Everything about one agent but its single tasks."""
    rows = [row for members in tasks.values() for row in members]
    metrics: Metrics = {**statistics_of(pool, rows), **family_of(pool, tasks), **subsets_of(pool, tasks)}
    return Agent(
        name=pool.agent,
        recipe=pool.recipe.name,
        subsets=list(pool.recipe.subsets),
        metrics=metrics,
        key_metrics=key_metrics(pool, metrics),
        coverage=coverage_of(pool, tasks, expected),
        headline=headline_of(pool, tasks, expected, success=success),
    )


def coverage_of(pool: Pool, tasks: Tasks, expected: Mapping[Task, int] | None) -> Coverage:
    present = {task: len(rows) for task, rows in tasks.items()}
    wanted = None if expected is None else sum(expected.values())
    absent = [] if expected is None else sorted((task for task in expected if task not in tasks), key=rank)
    # Surplus rollouts of one task do not make up for those another task lacks.
    missing = None if expected is None else sum(max(n - present.get(task, 0), 0) for task, n in expected.items())
    rows = [row for members in tasks.values() for row in members]
    return Coverage(
        tasks=len(expected.keys() | tasks.keys()) if expected is not None else len(tasks),
        expected_rollouts=wanted,
        rollouts=len(rows),
        missing=missing,
        unscored=sum(pool.value("reward", row) is None for row in rows),
        tasks_without_rollouts=absent[:LISTED],
    )


def headline_of(
    pool: Pool, tasks: Tasks, expected: Mapping[Task, int] | None, *, success: str | None
) -> dict[str, Metric]:
    """BLADE's own numbers: fractions over tasks, with intervals that treat tasks as the sampling unit."""
    names = sorted({*tasks, *(expected or {})}, key=rank)
    place = {task: index for index, task in enumerate(names)}
    rows = [(place[task], repeat, row) for task, members in tasks.items() for repeat, row in enumerate(members)]
    found = measure(
        Outcomes(
            tasks=[str(task) for task in names],
            task=np.array([task for task, _, _ in rows], dtype=np.int64),
            repeat=np.array([repeat for _, repeat, _ in rows], dtype=np.int64),
            reward=column(pool, "reward", [row for _, _, row in rows]),
            success=successes(pool, [row for _, _, row in rows], success),
            infrastructure=np.zeros(len(rows), dtype=np.bool_),
            expected=np.array([(expected or {}).get(task, len(tasks.get(task, ()))) for task in names], dtype=np.int64),
        )
    ).metrics
    named = {"pass_at_1": found.pass_at_1, "mean_reward": found.mean_reward, "consistency": found.consistency}
    return {**named, **{f"pass_at_{k}": metric for k, metric in found.pass_at_k.items() if k != "1"}}


def successes(pool: Pool, rows: list[int], rule: str | None) -> Floats:
    """Which rows succeeded: by a rule over a number, else by rewards that are all 0 or 1; nan where that is open."""
    stated = rule or infer_success(column(pool, "reward", rows)).rule
    if stated is None:
        return np.full(len(rows), np.nan)
    parsed = parse_success_rule(stated)
    return parsed.apply(column(pool, parsed.field, rows))


def column(pool: Pool, field: str, rows: list[int]) -> Floats:
    values = (pool.value(field, row) for row in rows)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def task_entries(
    pool: Pool, tasks: Tasks, expected: Mapping[Task, int] | None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Every task that has rollouts, without its sample: statistics, pass@k, counts and its rollouts."""
    for task, rows in tasks.items():
        wanted = len(rows) if expected is None else expected.get(task, 0)
        yield (
            task,
            {
                TASK: task,
                **statistics_of(pool, rows),
                **task_family(pool, task, rows),
                "sample": STUB,
                "num_rollouts": len(rows),
                "expected_num_rollouts": wanted,
                "missing_num_rollouts": max(wanted - len(rows), 0),
                "reward_profile_completion_pct": 100.0 * len(rows) / wanted if wanted else 100.0,
                "rollout_infos": [msgspec.Raw(pool.infos[row]) for row in rows],
            },
        )
