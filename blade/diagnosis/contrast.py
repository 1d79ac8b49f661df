"""What separates pass from fail *within the same task*: traits over all sometimes-pass tasks, and for each such task
the place where its closest passing and failing rollouts part ways.

Only tasks with both outcomes say anything. Traits are tested by Mantel-Haenszel over tasks, and the p-values are
adjusted for the number of traits looked at.
"""

import numpy as np

from blade.diagnosis.budget import within_budget
from blade.diagnosis.divergence import Divergence, diverge
from blade.diagnosis.pairs import REPORTED, Contrast, TaskContrast, Trait
from blade.diagnosis.traits import above_median, common_phrases, phrases_of, traits_of
from blade.metrics import Outcomes
from blade.metrics.adjusting import benjamini_hochberg
from blade.metrics.stratified import associate
from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts import Rollout, Run, citation

MOST_ROLLOUTS = 2000
MOST_PAIRS = 12


def contrast_run(run: Run, outcomes: Outcomes, quantities: dict[str, Floats]) -> Contrast:
    """The contrast of a run; empty when no task has both outcomes."""
    rows = within_budget(run.table, mixed_rows(outcomes), most=MOST_ROLLOUTS)
    if not len(rows):
        return Contrast()
    found = dict(run.numbered_rollouts(rows.tolist()))
    rollouts = {row: found[row] for row in rows.tolist()}
    flags = trait_flags(list(rollouts.values()))
    flags.update(above_median(outcomes.task[rows], {name: values[rows] for name, values in quantities.items()}))
    failing = outcomes.success[rows] == 0.0
    traits = tested_traits(run, rows, outcomes.task[rows], failing, flags)
    return Contrast(
        tasks=len(np.unique(outcomes.task[rows])),
        rollouts=len(rows),
        tested=len(flags),
        traits=traits,
        pairs=task_pairs(outcomes, rows, rollouts),
    )


def mixed_rows(outcomes: Outcomes) -> Ints:
    """Rows with an outcome of their own making, of tasks that have both; infrastructure failures say nothing here."""
    width = len(outcomes.tasks)
    failing = (outcomes.success == 0.0) & ~outcomes.infrastructure
    passed = np.bincount(outcomes.task[outcomes.success == 1.0], minlength=width)
    failed = np.bincount(outcomes.task[failing], minlength=width)
    mixed = (passed > 0) & (failed > 0)
    return np.flatnonzero(mixed[outcomes.task] & (failing | (outcomes.success == 1.0)))


def trait_flags(rollouts: list[Rollout]) -> dict[str, Bools]:
    """Trait -> which rollouts have it; traits that all or none have are left out."""
    found = [traits_of(rollout) for rollout in rollouts]
    said = [phrases_of(rollout) for rollout in rollouts]
    names = sorted({name for traits in found for name in traits})
    flags = {name: np.array([name in traits for traits in found]) for name in names}
    for phrase in common_phrases(said, len(rollouts)):
        flags[f"says “{phrase}”"] = np.array([phrase in phrases for phrases in said])
    return {name: mask for name, mask in flags.items() if 0 < mask.sum() < len(mask)}


def tested_traits(run: Run, rows: Ints, task: Ints, failing: Bools, flags: dict[str, Bools]) -> list[Trait]:
    tests = {name: associate(task, mask, failing) for name, mask in flags.items()}
    tested = [(name, found, found.p_value) for name, found in tests.items() if found.p_value is not None]
    adjusted = benjamini_hochberg([p_value for _, _, p_value in tested])
    out: list[Trait] = []
    for (name, found, p_value), q_value in zip(tested, adjusted, strict=True):
        if q_value > REPORTED:
            continue
        mask = flags[name]
        out.append(
            Trait(
                trait=name,
                favours="fail" if found.excess > 0 else "pass",
                tasks=found.strata,
                passing=(int((mask & ~failing).sum()), int((~failing).sum())),
                failing=(int((mask & failing).sum()), int(failing.sum())),
                odds_ratio=found.odds_ratio,
                ci95=found.ci95,
                p_value=p_value,
                q_value=q_value,
                examples=example(run, rows, task, failing, mask if found.excess > 0 else ~mask),
            )
        )
    return sorted(out, key=lambda trait: (trait.q_value, trait.p_value, trait.trait))


def example(run: Run, rows: Ints, task: Ints, failing: Bools, mask: Bools) -> list[str]:
    """A failing rollout with the trait and a passing one without, of the first task that has both."""
    for number in np.unique(task).tolist():
        bad = rows[(task == number) & failing & mask]
        good = rows[(task == number) & ~failing & ~mask]
        if len(bad) and len(good):
            return [run.table.citation(int(bad[0])), run.table.citation(int(good[0]))]
    return []


def task_pairs(outcomes: Outcomes, rows: Ints, rollouts: dict[int, Rollout]) -> list[TaskContrast]:
    out: list[TaskContrast] = []
    for number in np.unique(outcomes.task[rows]).tolist():
        mine = rows[outcomes.task[rows] == number]
        passing = mine[outcomes.success[mine] == 1.0].tolist()
        failing = mine[outcomes.success[mine] == 0.0].tolist()
        if passing and failing:  # a task too large to be read to its end may have one of them only
            out.append(closest_pair(passing[:MOST_PAIRS], failing[:MOST_PAIRS], rollouts))
    return out


def closest_pair(passing: list[int], failing: list[int], rollouts: dict[int, Rollout]) -> TaskContrast:
    """The pair with the longest common beginning, calls first; among equals, the pair most alike in length."""
    found = {(p, f): diverge(rollouts[p].items, rollouts[f].items) for p in passing for f in failing}
    size = {row: sum(len(item.text) for item in rollouts[row].items) for row in [*passing, *failing]}
    first, second = max(found, key=lambda pair: likeness(found[pair], size[pair[0]] - size[pair[1]]))
    return describe_pair(rollouts[first], rollouts[second], found[first, second])


def likeness(found: Divergence, longer: int) -> tuple[int, int, int]:
    return found.common_calls, found.common, -abs(longer)


def describe_pair(passing: Rollout, failing: Rollout, found: Divergence) -> TaskContrast:
    fork = found.call or found.item
    left, right = (None, None) if fork is None else (fork.left, fork.right)
    return TaskContrast(
        task=passing.task,
        passing=citation(passing.task, passing.repeat, left),
        failing=citation(failing.task, failing.repeat, right),
        common=found.common if found.call is None else found.common_calls,
        counted="item" if found.call is None else "tool call",
        passing_does=what(passing, left, found),
        failing_does=what(failing, right, found),
    )


def what(rollout: Rollout, position: int | None, found: Divergence) -> str:
    """An item in a few words."""
    if position is None:
        return "has ended" if found.call is None else "calls no further tool"
    item = rollout.items[position]
    text = " ".join(item.text.split())[:120]
    return f"calls {item.name} {text}" if item.kind == "tool_call" else f"{item.kind}: {text}"
