"""For each task that passes sometimes, the place where its closest passing and failing rollouts part ways."""

from itertools import chain

import numpy as np

from blade.diagnosis.budget import within_budget
from blade.diagnosis.divergence import Divergence, diverge
from blade.diagnosis.pairs import Contrast, TaskContrast, Trait
from blade.engine import share
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Rollout, Run, citation
from blade.rollouts.columns import codes_in

MOST_ROLLOUTS = 2000
"""Rollouts that are read for pairs, which are examples; what is counted covers every rollout."""
MOST_PAIRS = 12


def contrast_run(run: Run, outcomes: Outcomes, traits: list[Trait], *, tested: int) -> Contrast:
    """The contrast of a run; empty when no task has both outcomes."""
    every = mixed_rows(outcomes)
    if not len(every):
        return Contrast()
    rows = within_budget(run.table, every, most=MOST_ROLLOUTS)

    def pair_up(mine: Ints) -> list[TaskContrast]:
        return task_pairs(outcomes, mine, dict(run.numbered_rollouts(mine.tolist())))

    cuts = [np.searchsorted(outcomes.task[rows], outcomes.task[piece[0]]) for piece in run.shared_out(rows)[1:]]
    pieces = [piece for piece in np.split(rows, cuts) if len(piece)]
    return Contrast(
        tasks=len(codes_in(outcomes.task[every])),
        rollouts=len(every),
        tested=tested,
        traits=traits,
        pairs=list(chain.from_iterable(share(pair_up, pieces))),
    )


def mixed_rows(outcomes: Outcomes) -> Ints:
    """Rows with an outcome of their own making, of tasks that have both; infrastructure failures say nothing here."""
    width = len(outcomes.tasks)
    failing = (outcomes.success == 0.0) & ~outcomes.infrastructure
    passed = np.bincount(outcomes.task[outcomes.success == 1.0], minlength=width)
    failed = np.bincount(outcomes.task[failing], minlength=width)
    mixed = (passed > 0) & (failed > 0)
    return np.flatnonzero(mixed[outcomes.task] & (failing | (outcomes.success == 1.0)))


def task_pairs(outcomes: Outcomes, rows: Ints, rollouts: dict[int, Rollout]) -> list[TaskContrast]:
    out: list[TaskContrast] = []
    for number in codes_in(outcomes.task[rows]).tolist():
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
