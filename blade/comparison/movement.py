"""Which tasks moved: from bucket to bucket, and which of them drove the difference."""

from typing import Literal

import numpy as np

from blade.comparison.comparison import Driver, DriverSide, Failing, McNemar
from blade.comparison.difference import mcnemar_p
from blade.comparison.losses import Ledger
from blade.comparison.pairing import Pairing, Scores
from blade.diagnosis import Diagnosed
from blade.metrics.buckets import ORDER, bucket_of
from blade.metrics.values import Ints

MOST_CHARGES = 3


def transitions(pairing: Pairing) -> dict[str, dict[str, int]]:
    """Tasks both runs know, by bucket in the base and then in the candidate."""
    counts: dict[str, dict[str, int]] = {before: dict.fromkeys(ORDER, 0) for before in ORDER}
    for task in np.flatnonzero(pairing.base.knows & pairing.candidate.knows).tolist():
        counts[bucket(pairing.base, task)][bucket(pairing.candidate, task)] += 1
    return counts


def bucket(scores: Scores, task: int) -> str:
    """The bucket of a task of a run that has a success rule."""
    return bucket_of(successes(scores, task), int(scores.known[task]))


def successes(scores: Scores, task: int) -> int:
    known = int(scores.known[task])
    return round(float(scores.mean[task]) * known) if known else 0


def count_majorities(pairing: Pairing) -> McNemar:
    """Paired tasks by who passes more than half of them."""
    paired = pairing.paired
    before, after = (scores.mean[paired] > 0.5 for scores in (pairing.base, pairing.candidate))
    only_base, only_candidate = int((before & ~after).sum()), int((~before & after).sum())
    return McNemar(
        both=int((before & after).sum()),
        only_base=only_base,
        only_candidate=only_candidate,
        neither=int((~before & ~after).sum()),
        p_value=mcnemar_p(only_base, only_candidate),
    )


class DriverFinder:
    """Finds the tasks that moved most, and what to read of them."""

    def __init__(self, base: Diagnosed, candidate: Diagnosed, pairing: Pairing, ledger: Ledger) -> None:
        self.runs = (base, candidate)
        self.scores = (pairing.base, pairing.candidate)
        self.charges = ledger.charges
        self.losses = (ledger.base, ledger.candidate)
        self.pairing = pairing
        self.paired = int(pairing.paired.sum())
        # Rows of every task of either run, found once: drivers may be many.
        self.rows = tuple(rows_by_task(scores.place, len(pairing.tasks)) for scores in self.scores)

    def find(self, most: int) -> list[Driver]:
        """The largest regressions, then the largest improvements."""
        moved = self.pairing.moved
        # Rounded, so that equal changes of different rates stay in the order of their tasks.
        size = np.round(np.nan_to_num(moved), 9)
        order = np.argsort(-np.abs(size), kind="stable").tolist()
        worse = [task for task in order if size[task] < 0][:most]
        better = [task for task in order if size[task] > 0][:most]
        return [self.driver(task, float(moved[task])) for task in [*worse, *better]]

    def driver(self, task: int, delta: float) -> Driver:
        direction: Literal["regressed", "improved"] = "regressed" if delta < 0 else "improved"
        worse = 1 if delta < 0 else 0
        return Driver(
            task=self.pairing.tasks[task],
            direction=direction,
            base=self.side(0, task, is_worse=worse == 0),
            candidate=self.side(1, task, is_worse=worse == 1),
            delta=delta,
            contribution=delta / self.paired,
            failing=self.failing(worse, task),
        )

    def side(self, which: int, task: int, *, is_worse: bool) -> DriverSide:
        run, scores = self.runs[which], self.scores[which]
        graded = run.outcomes.is_continuous
        return DriverSide(
            c=None if graded else successes(scores, task),
            n=int(scores.known[task]),
            mean=float(scores.mean[task]),
            bucket=None if graded else bucket(scores, task),
            citation=self.citation(which, task, lowest=is_worse),
        )

    def citation(self, which: int, task: int, *, lowest: bool) -> str:
        """The first rollout with the task's lowest score, or with its highest."""
        run, rows = self.runs[which], self.rows[which][task]
        scores = run.outcomes.scores[rows]
        place = np.nanargmin(scores) if lowest else np.nanargmax(scores)
        return run.run.table.citation(int(rows[place]))

    def failing(self, which: int, task: int) -> list[Failing]:
        charged = self.losses[which].charge[self.rows[which][task]]
        codes, counts = np.unique(charged[charged >= 0], return_counts=True)
        pairs = sorted(zip(codes.tolist(), counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return [
            Failing(part=self.charges[code].part, title=self.charges[code].title, rollouts=count)
            for code, count in pairs[:MOST_CHARGES]
        ]


def rows_by_task(place: Ints, tasks: int) -> list[Ints]:
    order = np.argsort(place, kind="stable")
    return np.split(order, np.searchsorted(place[order], np.arange(1, tasks)))
