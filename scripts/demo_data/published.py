"""The metrics file that Gym would have written beside the rollouts: five statistics per number, and pass@k in percent.

Computed exactly, with fractions, and rounded once, so that the bytes are the same everywhere.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, sqrt
from statistics import mean, median, stdev
from typing import Any

Row = dict[str, Any]
INDICES = ("_ng_task_index", "_ng_rollout_index")
STALE = "pass@5/accuracy"
"""The one value that is left as it was before a retry came in."""


def published_metrics(rows: list[Row], *, before_retry: list[Row]) -> list[Row]:
    """The content of the metrics file: one entry, because there is one agent."""
    passes = pass_metrics(scores(rows))
    passes[STALE] = pass_metrics(scores(before_retry))[STALE]
    pooled = field_stats(rows)
    key_metrics = {"pass@1/accuracy": passes["pass@1/accuracy"], "mean/reward": pooled["mean/reward"]}
    return [
        {
            "agent_ref": {"name": rows[0]["agent_ref"]["name"]},
            "agent_metrics": {**pooled, **passes},
            "key_metrics": key_metrics,
            "group_level_metrics": [group_metrics(group) for group in by_task(rows)],
        }
    ]


def by_task(rows: list[Row]) -> list[list[Row]]:
    """Rows of each task, both in the order of their keys."""
    tasks: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: tuple(row[index] for index in INDICES)):
        tasks.setdefault(row["_ng_task_index"], []).append(row)
    return list(tasks.values())


def scores(rows: list[Row]) -> list[list[int]]:
    return [[int(row["reward"]) for row in group] for group in by_task(rows)]


def group_metrics(group: list[Row]) -> Row:
    """One task. Gym derives what it expects from what it received, so nothing is ever missing here."""
    return {
        "_ng_task_index": group[0]["_ng_task_index"],
        **field_stats(group),
        "sample": {"agent_ref": {"name": "agent"}},
        "num_rollouts": len(group),
        "expected_num_rollouts": len(group),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": [rollout_info(row) for row in group],
    }


def rollout_info(row: Row) -> Row:
    task, rollout = (row[index] for index in INDICES)
    return {"rollout_id": f"{task}:{rollout}", **{index: row[index] for index in INDICES}, **numbers(row)}


def numbers(row: Row) -> dict[str, int | float]:
    """The numeric fields of a row and of its usage; true and false are 1 and 0, indices are left out."""
    fields = {**row, **(row["response"]["usage"] or {})}
    found = {name: value for name, value in fields.items() if isinstance(value, int | float) and name not in INDICES}
    return {name: int(value) if isinstance(value, bool) else value for name, value in found.items()}


def field_stats(rows: list[Row]) -> dict[str, float]:
    """Mean, max, min, median and sample standard deviation of every number; a number seen once has no deviation."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in numbers(row).items():
            columns.setdefault(name, []).append(float(value))
    stats: dict[str, float] = {}
    for stat, compute in (("mean", mean), ("max", max), ("min", min), ("median", median), ("std", stdev)):
        for name, values in columns.items():
            if stat != "std" or len(values) > 1:
                stats[f"{stat}/{name}"] = float(compute(values))
    return stats


def pass_metrics(tasks: list[list[int]]) -> dict[str, Any]:
    """pass@k, the average of the first k, and the noise across runs, for every k."""
    metrics: dict[str, Any] = {}
    repeats = max(map(len, tasks))
    for k in range(1, repeats + 1):
        metrics[f"pass@{k}/accuracy"] = percent([pass_at_k(task, k) for task in tasks if len(task) >= k])
        metrics[f"pass@1[avg-of-{k}]/accuracy"] = percent([Fraction(sum(task[:k]), len(task[:k])) for task in tasks])
    runs = [percent([Fraction(task[i]) for task in tasks if len(task) > i]) for i in range(repeats)]
    for k in range(2, repeats + 1):
        deviation = stdev(runs[:k])
        metrics[f"pass@1[avg-of-{k}]/accuracy/std_dev_across_runs"] = deviation
        metrics[f"pass@1[avg-of-{k}]/accuracy/std_err_across_runs"] = deviation / sqrt(k)
    return {**metrics, "per_sample_aggregate": {"accuracy": runs}}


def pass_at_k(task: list[int], k: int) -> Fraction:
    """The chance that k of the task's rollouts, drawn without replacement, hold a pass."""
    return 1 - Fraction(comb(task.count(0), k), comb(len(task), k))


def percent(shares: Sequence[Fraction]) -> float:
    return float(100 * sum(shares, Fraction()) / len(shares))
