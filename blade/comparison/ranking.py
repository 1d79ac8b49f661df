"""Several runs in order: who beats whom after Holm's adjustment, and who cannot be told apart."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

import numpy as np

from blade.comparison.comparison import Comparison, Rank
from blade.metrics import Outcomes
from blade.metrics.outcomes import total_by_task

Pair = tuple[int, int]


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that came before."""
    seen: set[str] = set()
    out: list[str] = []
    for name in names:
        unique, number = name, 1
        while unique in seen:
            number += 1
            unique = f"{name} ({number})"
        seen.add(unique)
        out.append(unique)
    return out


def rank_runs(runs: Sequence[Outcomes], names: Sequence[str], pairs: Mapping[Pair, Comparison]) -> list[Rank]:
    """The runs, best first by their mean over the tasks that all of them scored."""
    means, tasks = common_means(runs)
    order = sorted(range(len(runs)), key=lambda run: (-means[run], run))
    place = {run: position for position, run in enumerate(order)}
    apart = {sorted_pair(place[i], place[j]): pair.verdict != "tied" for (i, j), pair in pairs.items()}
    groups = tie_groups(len(runs), apart)
    beats = {winner_first(key, pair) for key, pair in pairs.items() if pair.verdict != "tied"}
    ranks: list[Rank] = []
    for run in order:
        better = [other for other in order if (run, other) in beats]
        worse = [other for other in order if (other, run) in beats]
        rank = Rank(
            run=names[run],
            rank=1 + len(worse),
            value=means[run],
            tasks=tasks,
            better_than=[names[other] for other in better],
            worse_than=[names[other] for other in worse],
            tied_with=[names[other] for other in order if other not in (run, *better, *worse)],
            groups="".join(letters(number) for number, group in enumerate(groups) if place[run] in group),
        )
        ranks.append(rank)
    return ranks


def sorted_pair(first: int, second: int) -> Pair:
    return (first, second) if first < second else (second, first)


def winner_first(key: Pair, pair: Comparison) -> Pair:
    base, candidate = key
    return (candidate, base) if pair.verdict == "improved" else (base, candidate)


def common_means(runs: Sequence[Outcomes]) -> tuple[list[float], int]:
    """Each run's mean over the tasks all have scored, and how many those are; over its own tasks when there is none."""
    found = [task_means(run) for run in runs]
    common = set.intersection(*(set(means) for means in found))
    chosen = [[means[task] for task in means if task in common or not common] for means in found]
    return [float(np.mean(values)) for values in chosen], len(common)


def task_means(run: Outcomes) -> dict[str, float]:
    totals = total_by_task(run.task, run.scores, tasks=len(run.tasks))
    return {task: mean for task, mean in zip(run.tasks, totals.mean.tolist(), strict=True) if not np.isnan(mean)}


def tie_groups(runs: int, apart: Mapping[Pair, bool]) -> list[list[int]]:
    """Largest groups of runs no two of which are apart; insert and absorb (Piepho 2004). Groups may overlap."""
    groups = [set(range(runs))]
    for (first, second), is_apart in apart.items():
        if not is_apart:
            continue
        split = [part for group in groups for part in halves(group, first, second)]
        groups = [group for i, group in enumerate(split) if not absorbed(group, split, i)]
    return sorted(sorted(group) for group in groups)


def halves(group: set[int], first: int, second: int) -> list[set[int]]:
    """The group as it is, or without each of two runs that cannot be in it together."""
    return [group - {first}, group - {second}] if first in group and second in group else [group]


def absorbed(group: set[int], groups: Sequence[set[int]], place: int) -> bool:
    """Whether another group holds this one; of equal groups the first stays."""
    return any(group < other or (group == other and i < place) for i, other in enumerate(groups))


def letters(number: int) -> str:
    """a, b, … z, a2, b2, …"""
    cycle, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(cycle + 1) if cycle else "")
