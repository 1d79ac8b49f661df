"""The figures as text."""

from collections import Counter
from collections.abc import Callable, Iterable

from accuracy.faults import FAULTS
from accuracy.scores import Tally, baselines, confusion, predicted, tally_labels, tally_places, wilson
from accuracy.trials import Trial

GOAL = 0.95
MOST_FALSE_ALARMS = 0.02
CAUSE_COLUMNS = ("DA", "IR", "TI", "BI", "UK", "KG", "?")
TOLD_BY_STRUCTURE = ("TI found", "truncation found", "tool loop found")
"""What rows say by their structure, so that all of it is to be found; what only words tell is left to a reader."""


def shown(value: float | None) -> str:
    return "  n/a" if value is None else f"{value:5.3f}"


def span(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{low:.2f}–{high:.2f}"


def pick(trials: Iterable[Trial], keep: Callable[[Trial], bool]) -> list[Trial]:
    return [trial for trial in trials if keep(trial)]


def of_fault(trials: list[Trial], name: str) -> list[Trial]:
    return pick(trials, lambda trial: trial.fault.name == name)


def of_cause(trials: list[Trial], cause: str) -> list[Trial]:
    return pick(trials, lambda trial: trial.fault.cause == cause)


def tally_cells(tally: Tally) -> str:
    found, struck = tally.hit + tally.false, tally.hit + tally.missed
    return (
        f"{shown(tally.precision)} {span(tally.hit, found)}  {shown(tally.recall)} {span(tally.hit, struck)}  "
        f"{shown(tally.f1)}"
    )


def fault_lines(trials: list[Trial]) -> list[str]:
    """One line per fault: runs in which it was seen, places that were found, labels of the tasks it explains."""
    head = f"{'fault':<19} {'cause':<5} {'of':<8} {'runs seen':>9} {'95 %':>9}  "
    lines = [head + f"{'prec.':>5} {'95 %':>9}  {'recall':>5} {'95 %':>9}  {'F1':>5}  labels right"]
    for fault in FAULTS:
        mine = of_fault(trials, fault.name)
        seen = sum(bool(trial.struck & trial.found) for trial in mine)
        right = sum(predicted(trial, task) == truth for trial in mine for task, truth in trial.truths.items())
        tasks = sum(len(trial.truths) for trial in mine)
        lines.append(
            f"{fault.name:<19} {fault.cause:<5} {fault.level:<8} {seen:>4}/{len(mine):<4} {span(seen, len(mine)):>9}  "
            f"{tally_cells(tally_places(mine))}  {f'{right}/{tasks}' if tasks else 'explains no failure'}"
        )
    return lines


def cause_lines(trials: list[Trial]) -> list[str]:
    """Places and labels pooled over the faults of each cause."""
    lines = [f"{'cause':<5} {'what':<7} {'prec.':>5} {'95 %':>9}  {'recall':>5} {'95 %':>9}  {'F1':>5}"]
    for cause in ("DA", "IR", "TI", "BI"):
        lines.append(f"{cause:<5} {'places':<7} {tally_cells(tally_places(of_cause(trials, cause)))}")
        labels = tally_labels(trials, cause)
        if sum(labels):
            lines.append(f"{cause:<5} {'labels':<7} {tally_cells(labels)}")
    return lines


def confusion_lines(trials: list[Trial]) -> list[str]:
    """Fault -> cause that was named."""
    lines = [f"{'':<19}" + "".join(f"{cause:>6}" for cause in CAUSE_COLUMNS)]
    for name, counts in confusion(trials).items():
        lines.append(f"{name:<19}" + "".join(f"{counts[cause]:>6}" for cause in CAUSE_COLUMNS))
    return lines


def baseline_lines(trials: list[Trial]) -> list[str]:
    """Our labels beside what needs no diagnosis."""
    lines = [f"{'labels by':<28} {'right':>11} {'share':>6} {'mean over causes':>17}"]
    for name, found in baselines(trials).items():
        part = found.right / found.tasks if found.tasks else None
        lines.append(f"{name:<28} {f'{found.right}/{found.tasks}':>11} {shown(part):>6} {found.balanced:>17.3f}")
    return lines


def alarm_lines(trials: list[Trial]) -> list[str]:
    """Clean runs that were accused of something."""
    clean = pick(trials, lambda trial: not trial.fault.cause)
    alarmed = [trial for trial in clean if trial.alarms]
    lines = [f"{len(alarmed)} of {len(clean)} clean runs (95 %: {span(len(alarmed), len(clean))})"]
    said = Counter(label for trial in clean for label in trial.labels.values())
    decided = ", ".join(f"{label} {times}" for label, times in sorted(said.items()) if not label.endswith("?"))
    lines.append(f"of their {said.total()} failing tasks decided: {decided or 'none'}")
    lines += [f"  {t.family} seed {t.seed}: {alarm}" for t in alarmed[:8] for alarm in t.alarms[:3]]
    return lines


def goals(trials: list[Trial]) -> list[tuple[str, float | None, bool]]:
    """Every goal, what was measured, and whether it was met."""
    out: list[tuple[str, float | None, bool]] = []
    groups = [(cause, of_cause(trials, cause)) for cause in ("DA", "IR", "TI")]
    groups += [(fault.name, of_fault(trials, fault.name)) for fault in FAULTS if fault.cause == "BI"]
    tallies = [(f"{name} found", tally_places(mine)) for name, mine in groups]
    tallies += [(f"{cause} labels", tally_labels(trials, cause)) for cause in ("IR", "TI", "BI")]
    for name, tally in tallies:
        # Where nothing is claimed nothing is wrong.
        out.append((f"{name}: precision ≥ {GOAL}", tally.precision, tally.precision is None or tally.precision >= GOAL))
        if name in TOLD_BY_STRUCTURE:
            out.append((f"{name}: recall ≥ {GOAL}", tally.recall, tally.recall is not None and tally.recall >= GOAL))
    clean = pick(trials, lambda trial: not trial.fault.cause)
    rate = sum(bool(trial.alarms) for trial in clean) / len(clean) if clean else None
    name = f"false alarms on clean runs ≤ {MOST_FALSE_ALARMS:.0%}"
    return [*out, (name, rate, rate is not None and rate <= MOST_FALSE_ALARMS)]


def goal_lines(trials: list[Trial]) -> list[str]:
    return [f"{'met   ' if met else 'MISSED'} {shown(value)}  {name}" for name, value, met in goals(trials)]
