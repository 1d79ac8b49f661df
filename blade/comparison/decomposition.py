"""The change of the headline, split into parts that add up to it exactly.

Each run's headline H is the mean over its scored tasks of the task's mean score. Two further means are taken: C over
its scored tasks that the other run knows too, and P over the paired tasks, which both runs have scored. With Δ for
candidate minus base,

    ΔH = Δ(H − C) + Δ(C − P) + ΔP
         task set   missing   paired tasks

and on the paired tasks every rollout's loss, best score minus its score, is charged to one thing (`losses`), so that
ΔP is minus the sum over charges of the change of the mean loss. It is accounting: a part says where the change shows,
not what would have happened otherwise. Intervals are those of a difference, on what each task contributes; for the
first two parts, which are differences of ratios, Student's t on its influence (delta method).
"""

import numpy as np

from blade.comparison.comparison import Change, Counting, Part
from blade.comparison.difference import spread_of
from blade.comparison.losses import Charge, Ledger, Losses
from blade.comparison.pairing import Pairing, Scores
from blade.metrics import Outcomes, vary_headline
from blade.metrics.intervals import mean_interval, spread_of_mean
from blade.metrics.values import Bools, Floats, Interval

ALWAYS_SHOWN = frozenset({"infrastructure", "verifier", "unexplained"})
"""Charges that are listed even when no rollout is charged with them: their absence is news."""
TASK_SET = Charge("task_set", "task_set", "tasks that only one run has")
MISSING = Charge("missing_rows", "missing", "shared tasks without a scored rollout in one run")


def decompose(pairing: Pairing, ledger: Ledger) -> tuple[Change, list[Part]]:
    """The change of the headline and its parts."""
    headlines = pairing.base.headline, pairing.candidate.headline
    change = Change(base=headlines[0], candidate=headlines[1], value=headlines[1] - headlines[0])
    shared = pairing.base.knows & pairing.candidate.knows
    everything = np.ones(len(pairing.tasks), dtype=np.bool_)
    parts = [
        composition_part(TASK_SET, pairing, change, wide=everything, narrow=shared),
        composition_part(MISSING, pairing, change, wide=shared, narrow=pairing.paired),
    ]
    for index, charge in enumerate(ledger.charges):
        counts = [
            charged_rollouts(ledger.base, pairing.base, index, pairing),
            charged_rollouts(ledger.candidate, pairing.candidate, index, pairing),
        ]
        if charge.part in ALWAYS_SHOWN or any(counts):
            parts.append(loss_part(charge, index, pairing, change, ledger=ledger, rollouts=counts))
    return change, parts


def composition_part(charge: Charge, pairing: Pairing, change: Change, *, wide: Bools, narrow: Bools) -> Part:
    """What narrowing the tasks from `wide` to `narrow` takes out of the change."""
    wider, narrower = (
        [Mean(scores, among) for scores in (pairing.base, pairing.candidate)] for among in (wide, narrow)
    )
    value = (wider[1].value - narrower[1].value) - (wider[0].value - narrower[0].value)
    influence = (wider[1].influence - narrower[1].influence) - (wider[0].influence - narrower[0].influence)
    spread = spread_of_mean(influence, pairing.cluster)
    seen = bool(influence.any()) and not np.isnan(spread.se)
    low, high = mean_interval(value, spread.se, units=spread.units)
    # Tasks that are left out move a mean by no more than their share of it.
    left_out = sum(1.0 - after.share / before.share for before, after in zip(wider, narrower, strict=True))
    most = max(pairing.scale.limit * left_out, abs(value)) if left_out else 0.0
    return Part(
        part=charge.part,
        kind=charge.kind,
        title=charge.title,
        value=value,
        ci95=(max(low, -most), min(high, most)) if seen else None,
        share=share_of(value, change),
    )


class Mean:
    """A run's mean over its scored tasks among some, and what each task does to it."""

    def __init__(self, scores: Scores, among: Bools) -> None:
        counted = scores.scored & among
        self.value = float(scores.mean[counted].mean())
        self.share = float(counted.mean())
        pull = np.where(counted, np.nan_to_num(scores.mean) - self.value, 0.0)
        self.influence: Floats = pull / self.share


def loss_part(
    charge: Charge, index: int, pairing: Pairing, change: Change, *, ledger: Ledger, rollouts: list[int]
) -> Part:
    """What the change of one mean loss adds on the paired tasks."""
    before, after = (side.by_task[pairing.paired, index] for side in (ledger.base, ledger.candidate))
    gained = before - after
    value = float(gained.mean())
    return Part(
        part=charge.part,
        kind=charge.kind,
        title=charge.title,
        value=value,
        ci95=interval(gained, pairing) if any(rollouts) else None,
        share=share_of(value, change),
        base_loss=float(before.mean()),
        candidate_loss=float(after.mean()),
        base_rollouts=rollouts[0],
        candidate_rollouts=rollouts[1],
    )


def interval(gained: Floats, pairing: Pairing) -> Interval | None:
    spread = spread_of(gained, cluster=pairing.paired_cluster, scale=pairing.scale)
    return None if spread is None else spread.ci95


def charged_rollouts(losses: Losses, scores: Scores, index: int, pairing: Pairing) -> int:
    """Rollouts of paired tasks with this charge."""
    mine = losses.charge == index
    return int(pairing.paired[scores.place[mine]].sum())


def share_of(value: float, change: Change) -> float | None:
    # Adding 0 turns the -0.0 of no value over a negative change into a plain 0.
    return value / change.value + 0.0 if abs(change.value) > 1e-12 else None


def count_in_four_ways(base: Outcomes, candidate: Outcomes) -> list[Counting]:
    """The change of the headline with missing rollouts and infrastructure failures counted or not."""
    found: list[Counting] = []
    for before, after in zip(vary_headline(base), vary_headline(candidate), strict=True):
        values = before.metric.value, after.metric.value
        known = None if values[0] is None or values[1] is None else values[1] - values[0]
        counting = Counting(
            missing=before.missing,
            infrastructure=before.infrastructure,
            base=values[0],
            candidate=values[1],
            value=known,
        )
        found.append(counting)
    return found
