"""Precision, recall and confusion over many trials, with intervals, beside baselines that do not think."""

from collections import Counter
from collections.abc import Callable, Iterable
from math import sqrt
from typing import NamedTuple

from accuracy.trials import Trial
from blade.diagnosis.labels import CAUSES

Predict = Callable[[Trial, str], str]


class Tally(NamedTuple):
    """Places that were struck and found, found only, and struck only."""

    hit: int
    false: int
    missed: int

    @property
    def precision(self) -> float | None:
        return share(self.hit, self.hit + self.false)

    @property
    def recall(self) -> float | None:
        return share(self.hit, self.hit + self.missed)

    @property
    def f1(self) -> float | None:
        return share(2 * self.hit, 2 * self.hit + self.false + self.missed)


def share(part: int, whole: int) -> float | None:
    """A share, unknown when there is nothing to share."""
    return part / whole if whole else None


def wilson(part: float, whole: int, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    if not whole:
        return 0.0, 1.0
    rate, spread = part / whole, z * z / whole
    middle = (rate + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * sqrt(rate * (1 - rate) / whole + spread / (4 * whole))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def tally_places(trials: Iterable[Trial]) -> Tally:
    """Struck and found rollouts, tasks or runs."""
    counts = [(len(t.struck & t.found), len(t.found - t.struck), len(t.struck - t.found)) for t in trials]
    return Tally(*(sum(column) for column in zip(*counts, strict=True))) if counts else Tally(0, 0, 0)


def tally_labels(trials: Iterable[Trial], cause: str) -> Tally:
    """Tasks that should have a label and have it, that have it without reason, and that lack it.

    A task the fault touched without being its main cause may have the label or not.
    """
    hit = false = missed = 0
    for trial in trials:
        wanted = {task for task, truth in trial.truths.items() if truth == cause}
        given = {task for task, label in trial.labels.items() if cause in parts(label)}
        allowed = (trial.touched if trial.fault.cause == cause else set()) | (trial.gave_up if cause == "BI" else set())
        hit += len(wanted & given)
        false += len(given - wanted - allowed)
        missed += len(wanted - given)
    return Tally(hit, false, missed)


def parts(label: str) -> list[str]:
    """The causes a label names."""
    return label.rstrip("?").split("+")


def predicted(trial: Trial, task: str) -> str:
    """Our label: the true cause when the label names it, else the first it names."""
    named = parts(trial.labels.get(task, "none"))
    truth = trial.truths[task]
    if truth in ("UK", "KG") and named == ["BI"] and task in trial.gave_up:
        return truth
    return truth if truth in named else named[0] or "?"


def confusion(trials: Iterable[Trial]) -> dict[str, Counter[str]]:
    """Fault -> how often each cause was named for the tasks it explains."""
    out: dict[str, Counter[str]] = {}
    for trial in trials:
        for task, truth in sorted(trial.truths.items()):
            name = trial.fault.name if trial.fault.cause else f"no fault ({truth})"
            out.setdefault(name, Counter())[predicted(trial, task)] += 1
    return out


class Accuracy(NamedTuple):
    """How often a way of naming causes is right, over tasks and as a mean over causes."""

    right: int
    tasks: int
    balanced: float


def accuracy(trials: list[Trial], predict: Predict) -> Accuracy:
    """One way of naming causes, on all tasks whose cause is known."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for trial in trials:
        for task, truth in trial.truths.items():
            total[truth] += 1
            right[truth] += predict(trial, task) == truth
    rates = [right[cause] / total[cause] for cause in total]
    return Accuracy(right.total(), total.total(), sum(rates) / len(rates) if rates else 0.0)


def baselines(trials: list[Trial]) -> dict[str, Accuracy]:
    """Ours, and three that need no diagnosis."""
    truths = Counter(truth for trial in trials for truth in trial.truths.values())
    majority = max(CAUSES, key=lambda cause: truths[cause])
    return {
        "blade": accuracy(trials, predicted),
        "always KG": accuracy(trials, lambda trial, task: "KG"),
        f"majority cause ({majority})": accuracy(trials, lambda trial, task: majority),
        "says “error” → IR, else KG": accuracy(trials, lambda trial, task: trial.keywords.get(task, "KG")),
    }
