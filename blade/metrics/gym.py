"""NeMo Gym's own numbers, to read and write its sidecar files: five statistics per field, and its pass@k family.

They are kept exactly as Gym defines them, in percent and with its quirks (tasks short of k leave the denominator;
graded scores take the best of the first k; runs are the i-th present rollout), so that files compare equal. BLADE's
own numbers are in `measure`.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import comb, sqrt
from statistics import fmean, median

Scores = Sequence[Sequence[float]]
Answers = Sequence[Sequence[Hashable | None]]
GymMetrics = dict[str, float | dict[str, list[float]]]


def field_stats(rows: Iterable[Mapping[str, object]]) -> dict[str, float]:
    """`mean/ max/ min/ median/ std/` of every numeric field of one group of rows.

    Booleans count as 0 and 1, anything else that is not a number is skipped. A field seen once has no `std`, unless
    that is so for every field: then fields present in every row get 0.
    """
    group = list(rows)
    return column_stats(_numeric_fields(group), rows=len(group))


def column_stats(columns: Mapping[str, Sequence[float]], *, rows: int) -> dict[str, float]:
    """The five statistics of columns that hold the numbers of each field, however many of the rows have one."""
    stats: dict[str, dict[str, float]] = {"mean": {}, "max": {}, "min": {}, "median": {}, "std": {}}
    for field, values in columns.items():
        stats["mean"][field] = fmean(values)
        stats["max"][field] = max(values)
        stats["min"][field] = min(values)
        stats["median"][field] = median(values)
        if len(values) > 1:
            stats["std"][field] = sample_std(values)
    if not stats["std"]:
        stats["std"] = {field: 0.0 for field, values in columns.items() if len(values) == rows}
    return {f"{stat}/{field}": value for stat, column in stats.items() for field, value in column.items()}


def pass_metrics(scores: Scores, *, name: str = "accuracy", answers: Answers | None = None) -> GymMetrics:
    """The pass@k family, in percent, of one score; `scores[i]` are task i's rollouts in order.

    With `answers` of the same shape, None meaning that no answer was found, `majority@k` and the same family of the
    score `no_answer` are added.
    """
    if not any(scores):
        return {}
    columns: dict[str, Scores] = {name: scores}
    if answers is not None:
        columns["no_answer"] = [[float(answer is None) for answer in task] for task in answers]
    metrics: GymMetrics = {}
    for k in range(1, max(map(len, scores)) + 1):
        for column in sorted(columns):
            metrics.update(_metrics_at_k(columns[column], k, name=column, answers=answers))
    runs = {column: run_means(columns[column]) for column in sorted(columns)}
    for column, means in runs.items():
        metrics.update(_noise_across_runs(means, name=column))
    return {**metrics, "per_sample_aggregate": runs}


def gym_pass_at_k(scores: Scores, k: int) -> float | None:
    """Percent: unbiased pass@k for tasks scored 0/1, best of the first k otherwise; None when every task is short."""
    values = [_task_pass_at_k(task, k) for task in scores if len(task) >= k]
    return 100.0 * fmean(values) if values else None


def average_of_k(scores: Scores, k: int) -> float:
    """Percent: mean over tasks of the mean of the first k scores, or of fewer where there are fewer."""
    return 100.0 * fmean(fmean(task[:k]) for task in scores if task)


def majority_at_k(scores: Scores, answers: Answers, k: int) -> float:
    """Percent: mean score of the most frequent (answer, score) pairs of the first k; 0 for a task without answers."""
    return 100.0 * fmean(_task_majority(task, given, k) for task, given in zip(scores, answers, strict=True))


def run_means(scores: Scores) -> list[float]:
    """Percent: mean over tasks of the i-th rollout that is present, for every i."""
    longest = max(map(len, scores), default=0)
    return [100.0 * fmean(task[i] for task in scores if len(task) > i) for i in range(longest)]


def sample_std(values: Sequence[float]) -> float:
    """Standard deviation with n − 1."""
    mean = fmean(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _numeric_fields(rows: Sequence[Mapping[str, object]]) -> dict[str, list[float]]:
    fields: dict[str, list[float]] = {}
    for row in rows:
        for field, value in row.items():
            if isinstance(value, int | float) and value == value:
                fields.setdefault(field, []).append(float(value))
    return fields


def _metrics_at_k(scores: Scores, k: int, *, name: str, answers: Answers | None) -> dict[str, float]:
    metrics = {f"pass@1[avg-of-{k}]/{name}": average_of_k(scores, k)}
    pass_at_k = gym_pass_at_k(scores, k)
    if pass_at_k is not None:
        metrics[f"pass@{k}/{name}"] = pass_at_k
    if answers is not None:
        metrics[f"majority@{k}/{name}"] = majority_at_k(scores, answers, k)
    return metrics


def _task_pass_at_k(scores: Sequence[float], k: int) -> float:
    if any(score not in (0, 1) for score in scores):
        return max(scores[:k])
    wrong = sum(not score for score in scores)
    return 1.0 - comb(wrong, k) / comb(len(scores), k)


def _task_majority(scores: Sequence[float], answers: Sequence[Hashable | None], k: int) -> float:
    pairs = zip(answers[:k], scores[:k], strict=True)
    votes = Counter((answer, score) for answer, score in pairs if answer is not None)
    most = max(votes.values(), default=0)
    return fmean(score for (_, score), count in votes.items() if count == most) if votes else 0.0


def _noise_across_runs(means: Sequence[float], *, name: str) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for k in range(2, len(means) + 1):
        std = sample_std(means[:k])
        metrics[f"pass@1[avg-of-{k}]/{name}/std_dev_across_runs"] = std
        metrics[f"pass@1[avg-of-{k}]/{name}/std_err_across_runs"] = std / sqrt(k)
    return metrics
