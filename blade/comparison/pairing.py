"""Two runs laid side by side, task by task.

Tasks are matched by key. A task is paired when both runs have a scored rollout of it; the others are never dropped
silently but counted, listed and given their own part in the change of the headline.
"""

from typing import Final, NamedTuple

import msgspec
import numpy as np

from blade.comparison.comparison import MAX_LISTED, Side
from blade.comparison.difference import Scale
from blade.diagnosis import Diagnosed
from blade.errors import UsageError
from blade.metrics import Outcomes, natural_key, vary_headline
from blade.metrics.outcomes import total_by_task
from blade.metrics.values import Bools, Floats, Ints

ROUNDING: Final = 1e-12
"""Means this close are the same number, summed in another order."""


class Scores(NamedTuple):
    """One run's scores on the tasks of both."""

    place: Ints
    """Per row: index into the tasks of both runs."""
    knows: Bools
    """Per task: the run has it, scored or not."""
    known: Ints
    """Per task: scored rollouts."""
    mean: Floats
    """Per task: their mean; nan when there is none."""
    spread: Floats
    """Per task: sample variance of its scored rollouts; nan when there are not two."""

    @property
    def scored(self) -> Bools:
        return np.asarray(self.known > 0)

    @property
    def headline(self) -> float:
        """Mean over the scored tasks."""
        return float(self.mean[self.scored].mean())


class Pairing(NamedTuple):
    """Two runs on the union of their tasks."""

    tasks: list[str]
    """Keys of either run, in natural order."""
    base: Scores
    """The base."""
    candidate: Scores
    """The candidate."""
    cluster: Ints | None
    """Per task: its cluster, when tasks come in related groups."""
    scale: Scale
    """Differences a task could show; the smallest is one rollout of those a task has at most."""

    @property
    def paired(self) -> Bools:
        return self.base.scored & self.candidate.scored

    @property
    def moved(self) -> Floats:
        """Per task: candidate minus base; nan where it is not paired, 0 where only rounding differs."""
        moved = self.candidate.mean - self.base.mean
        return np.where(np.abs(moved) < ROUNDING, 0.0, moved)

    @property
    def differences(self) -> Floats:
        """Candidate minus base on the paired tasks."""
        return self.moved[self.paired]

    @property
    def paired_cluster(self) -> Ints | None:
        return None if self.cluster is None else self.cluster[self.paired]

    @property
    def units(self) -> int:
        """Paired tasks, or the clusters they fall into."""
        cluster = self.paired_cluster
        return int(self.paired.sum()) if cluster is None else len(np.unique(cluster))

    def names(self, chosen: Bools) -> list[str]:
        """Keys of some tasks."""
        return [self.tasks[index] for index in np.flatnonzero(chosen).tolist()]


def pair(base: Outcomes, candidate: Outcomes) -> Pairing:
    """The runs side by side.

    Raises:
        UsageError: no task has a scored rollout in both.
    """
    tasks = sorted({*base.tasks, *candidate.tasks}, key=natural_key)
    place = {task: index for index, task in enumerate(tasks)}
    first, second = (lay_out(outcomes, place) for outcomes in (base, candidate))
    most = max(int(side.known.max(initial=1)) for side in (first, second))
    scale = Scale(range_of(base, candidate) / most, limit_of(base, candidate))
    pairing = Pairing(tasks, first, second, join_clusters(base, candidate, place), scale)
    if not pairing.paired.any():
        shown = " and ".join(", ".join(outcomes.tasks[:3]) or "none" for outcomes in (base, candidate))
        raise UsageError(
            f"the runs have no scored task in common (their tasks begin {shown}); name the task with --task-field."
        )
    return pairing


def range_of(base: Outcomes, candidate: Outcomes) -> float:
    """How far scores are apart: 1 for success, what was seen for graded rewards."""
    if not (base.is_continuous and candidate.is_continuous):
        return 1.0
    scores = np.concatenate([base.scores, candidate.scores])
    known = scores[~np.isnan(scores)]
    return float(np.ptp(known)) or 1.0 if len(known) else 1.0


def limit_of(base: Outcomes, candidate: Outcomes) -> float:
    """How far scores can be apart; nobody knows for graded rewards."""
    return float("inf") if base.is_continuous and candidate.is_continuous else 1.0


def lay_out(outcomes: Outcomes, place: dict[str, int]) -> Scores:
    """One run's scores on all tasks of both."""
    where = np.asarray([place[task] for task in outcomes.tasks], dtype=np.int64)
    rows = where[outcomes.task] if len(outcomes.task) else np.empty(0, dtype=np.int64)
    knows = np.zeros(len(place), dtype=np.bool_)
    knows[where] = True
    totals = total_by_task(rows, outcomes.scores, tasks=len(place))
    squares = total_by_task(rows, (outcomes.scores - totals.mean[rows]) ** 2, tasks=len(place)).sum
    spread = np.divide(squares, totals.known - 1, out=np.full(len(place), np.nan), where=totals.known > 1)
    return Scores(rows, knows, totals.known, totals.mean, spread)


def join_clusters(base: Outcomes, candidate: Outcomes, place: dict[str, int]) -> Ints | None:
    """Per task: its cluster. Tasks that either run puts together belong together, since each numbers its own way."""
    if base.cluster is None and candidate.cluster is None:
        return None
    root = list(range(len(place)))

    def find(task: int) -> int:
        while root[task] != task:
            root[task] = root[root[task]]
            task = root[task]
        return task

    for outcomes in (base, candidate):
        first: dict[int, int] = {}
        for task, code in zip(outcomes.tasks, [] if outcomes.cluster is None else outcomes.cluster, strict=False):
            here = find(place[task])
            there = find(first.setdefault(int(code), here))
            root[max(here, there)] = min(here, there)
    return np.asarray([find(task) for task in range(len(root))], dtype=np.int64)


def describe_sides(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> tuple[Side, Side]:
    """Both runs, with names that differ."""
    first, second = base.run.name, candidate.run.name
    if first == second:
        first, second = f"{first} (base)", f"{second} (candidate)"
    return (
        describe_side(base, pairing.base, pairing.candidate, pairing, name=first),
        describe_side(candidate, pairing.candidate, pairing.base, pairing, name=second),
    )


def describe_side(diagnosed: Diagnosed, mine: Scores, other: Scores, pairing: Pairing, *, name: str) -> Side:
    alone, unscored = mine.knows & ~other.knows, mine.scored & other.knows & ~other.scored
    return Side(
        run=name,
        files=[file.path.name for file in diagnosed.run.files],
        headline=vary_headline(diagnosed.outcomes)[0].metric,
        paired=float(mine.mean[pairing.paired].mean()),
        tasks=int(mine.knows.sum()),
        rollouts=len(diagnosed.outcomes.task),
        paired_rollouts=int(mine.known[pairing.paired].sum()),
        not_in_other=int(alone.sum()),
        not_in_other_tasks=pairing.names(alone)[:MAX_LISTED],
        only_scored_here=int(unscored.sum()),
        only_scored_here_tasks=pairing.names(unscored)[:MAX_LISTED],
    )


def alike(base: Diagnosed, candidate: Diagnosed) -> tuple[Diagnosed, Diagnosed]:
    """Both judged in the same way: where one run's rewards are graded and no rule was given, both count as graded.

    Raises:
        UsageError: the runs were judged by different rules, less is better in only one of them, their scores are on
            different scales, or one has no score at all.
    """
    for run in (base, candidate):
        if run.analysis.success.kind == "unscored":
            raise UsageError(f"{run.run.name}: no rollout has a score; name its field with --reward-field.")
    less = [one for one in (base, candidate) if (one.run.reward_field or "").startswith("-")]
    if len(less) == 1:
        raise UsageError(
            f"less of the score is better in {less[0].run.name} (`{less[0].run.reward_field}`) and not in the other "
            "run; give one --reward-field for both."
        )
    rules = [run.analysis.success.rule for run in (base, candidate)]
    if rules[0] == rules[1]:
        if base.outcomes.is_continuous:
            check_scales(base, candidate)
        return base, candidate
    kinds = {run.analysis.success.kind for run in (base, candidate)}
    if "rule" in kinds:
        said = " and ".join(rule or "no rule" for rule in rules)
        raise UsageError(f"the runs were judged by different rules ({said}); give one for both with --success.")
    base, candidate = as_graded(base), as_graded(candidate)
    check_scales(base, candidate)
    return base, candidate


def check_scales(base: Diagnosed, candidate: Diagnosed) -> None:
    """Stops where one run's graded scores lie between 0 and 1 and most of the other's above.

    Raises:
        UsageError: a difference of such scores would mean nothing.
    """
    runs = (base, candidate)
    known = [one.outcomes.scores[~np.isnan(one.outcomes.scores)] for one in runs]
    small = [bool((scores > 0.0).any() and scores.min() >= 0.0 and scores.max() <= 1.0) for scores in known]
    large = [bool((scores > 1.0).sum() > (scores > 0.0).sum() / 2) for scores in known]
    if (small[0] and large[1]) or (small[1] and large[0]):
        ends = [f"{s.min():,g} to {s.max():,g} in {one.run.name}" for s, one in zip(known, runs, strict=True)]
        raise UsageError(
            f"scores run from {' and from '.join(ends)}, which are different scales; bring them to one, as with "
            "--reward-field score/max_score, or say when a rollout succeeds with --success."
        )


def as_graded(diagnosed: Diagnosed) -> Diagnosed:
    """The run with its rewards taken as they are."""
    outcomes = diagnosed.outcomes
    unknown = np.full(len(outcomes.task), np.nan)
    return diagnosed._replace(outcomes=msgspec.structs.replace(outcomes, success=unknown))
