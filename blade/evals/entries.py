"""One agent's metrics, as the sidecar files hold them, with what Gym's own lack beside them under `blade`.

There stand true counts of what was expected and is missing, and the headline with an interval over tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from statistics import fmean
from typing import Any

import msgspec
import numpy as np

from blade.evals.counted import TASK, Task, rank
from blade.evals.scored import Pool
from blade.metrics import Metric, Outcomes, infer_success, measure, parse_success_rule
from blade.metrics.gym import Answers, GymMetrics, Scores, average_of_k, column_stats, pass_metrics, sample_std
from blade.metrics.recipes import Score
from blade.metrics.values import Floats

Metrics = dict[str, Any]
Tasks = Mapping[Task, Sequence[int]]
"""Rows of a pool by task, in the order of their repeats."""

RUNS = "per_sample_aggregate"
NO_ANSWER = "no_answer"
MAX_SUBSETS = 50
"""A field with more values than this names tasks instead of grouping them."""


def statistics_of(pool: Pool, rows: Sequence[int]) -> dict[str, float]:
    """`mean/ max/ min/ median/ std/` of every field some of the rows have."""
    columns: dict[str, list[float]] = {}
    for name, column in pool.columns.items():
        values = [column[row] for row in rows if row < len(column) and not isnan(column[row])]
        if values:
            columns[name] = values
    return column_stats(columns, rows=len(rows))


def family_of(pool: Pool, tasks: Tasks) -> Metrics:
    """Everything the server's recipe makes of these tasks, in percent."""
    metrics: Metrics = {}
    runs: dict[str, list[float]] = {}
    for family in families(pool, tasks):
        found = family.pop(RUNS, {})
        runs.update(found if isinstance(found, dict) else {})
        metrics.update(family)
    return {**metrics, **({RUNS: runs} if runs else {}), **spreads(pool, tasks), **rates(pool, tasks)}


def families(pool: Pool, tasks: Tasks) -> Iterator[GymMetrics]:
    """The pass@k family of every score, then that of missing answers over all rows, which replaces any before."""
    for score in pool.recipe.scores:
        rows = rows_with(pool, tasks, score)
        yield pass_metrics(scores_of(pool, rows, score), name=score.name, answers=answers_of(pool, rows))
    if pool.recipe.answer is not None:
        given = pool.texts[pool.recipe.answer]
        yield pass_metrics([[float(given[row] is None) for row in rows] for rows in tasks.values()], name=NO_ANSWER)


def rows_with(pool: Pool, tasks: Tasks, score: Score) -> list[list[int]]:
    """Per task that has any: the rows that have a score."""
    needed = pool.texts.get(score.needs) if score.needs is not None else None
    found = [
        [
            row
            for row in rows
            if pool.value(score.field, row) is not None and (needed is None or needed[row] is not None)
        ]
        for rows in tasks.values()
    ]
    return [rows for rows in found if rows]


def scores_of(pool: Pool, tasks: Sequence[Sequence[int]], score: Score) -> Scores:
    return [[score.of(pool.columns[score.field][row]) for row in rows] for rows in tasks]


def answers_of(pool: Pool, tasks: Sequence[Sequence[int]]) -> Answers | None:
    """What rollouts vote by; None when the server holds no vote."""
    if pool.recipe.answer is None or not pool.recipe.votes:
        return None
    given = pool.texts[pool.recipe.answer]
    return [[given[row] for row in rows] for rows in tasks]


def spreads(pool: Pool, tasks: Tasks) -> Metrics:
    """Mean over tasks of the deviation of a task's first k scores, not in percent."""
    metrics: Metrics = {}
    for score in pool.recipe.scores if pool.recipe.spreads else ():
        scores = scores_of(pool, rows_with(pool, tasks, score), score)
        for k in range(2, longest(scores) + 1):
            deviations = [sample_std(task[:k]) for task in scores if len(task) > 1]
            metrics[f"pass@1[avg-of-{k}]/{score.name}/avg_sample_std_dev"] = fmean(deviations)
    return metrics


def rates(pool: Pool, tasks: Tasks) -> Metrics:
    """Error rates in percent: means of task means, and one over all words together."""
    metrics: Metrics = {}
    for name, field in pool.recipe.means.items():
        score = Score(name=name, field=field)
        scores = scores_of(pool, rows_with(pool, tasks, score), score)
        metrics.update({f"{name}@k={k}": average_of_k(scores, k) for k in range(1, longest(scores) + 1)})
    corpus = pool.recipe.corpus
    if corpus is not None:
        rows_by_task = rows_with(pool, tasks, Score(name=corpus.name, field=corpus.rate))
        for k in range(1, longest(rows_by_task) + 1):
            rows = [row for task in rows_by_task for row in task[:k]]
            words = sum(pool.words[row] for row in rows)
            errors = sum(pool.columns[corpus.rate][row] * pool.words[row] for row in rows)
            metrics.update({f"{corpus.name}@k={k}": 100.0 * errors / words} if words else {})
    return metrics


def subsets_of(pool: Pool, tasks: Tasks) -> Metrics:
    """The same family over tasks that share a value, as the recipe groups them; `hard/pass@1/accuracy`."""
    metrics: Metrics = {}
    for field in pool.recipe.subsets:
        groups: dict[str, dict[Task, Sequence[int]]] = {}
        for task, rows in tasks.items():
            value = pool.texts[field][rows[0]]
            if value:
                groups.setdefault(value, {})[task] = rows
        for value, members in groups.items() if len(groups) <= MAX_SUBSETS else ():
            family = family_of(pool, members)
            metrics.update({f"{value}/{key}": number for key, number in family.items() if key != RUNS})
    return metrics


def task_family(pool: Pool, task: Task, rows: Sequence[int]) -> Metrics:
    """pass@k of one task, in percent."""
    found = family_of(pool, {task: rows})
    return {
        key: value for key, value in found.items() if key.startswith("pass@") and key.count("/") == 1 and "[" not in key
    }


def key_metrics(pool: Pool, metrics: Metrics) -> Metrics:
    """What to look at first: all means, and of every score the numbers at the largest k."""
    most = max((len(runs) for runs in metrics.get(RUNS, {}).values()), default=0)
    heads = (f"pass@1[avg-of-{most}]/", f"pass@{most}/", f"majority@{most}/")
    names = [name for name in metrics if name.startswith("mean/") or (name.startswith(heads) and name.count("/") == 1)]
    chosen = {name: metrics[name] for name in names}
    plain = [*pool.recipe.means, *([pool.recipe.corpus.name] if pool.recipe.corpus else [])]
    rates = {name.removeprefix("corpus_"): metrics.get(f"{name}@k={most}") for name in plain}
    return {**chosen, **{name: value for name, value in rates.items() if value is not None}}


def longest(tasks: Sequence[Sequence[Any]]) -> int:
    return max(map(len, tasks), default=0)


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
