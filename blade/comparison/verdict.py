"""The verdict, in one word and in one sentence, and what a reader must know before believing it."""

from typing import Final

from blade.comparison.comparison import Delta, Side, SliceChange, Verdict
from blade.diagnosis import Diagnosed
from blade.metrics.rounding import fixed, percent

LEVEL: Final = 0.05
FEWEST_UNITS: Final = 6
"""With fewer tasks or clusters, even if all agree, no sign-flip test gets below 5 %: 2 / 2^5 = 0.0625."""


def decide(delta: Delta, p_value: float | None = None) -> Verdict:
    """Improved or regressed when p (the adjusted one, if given) is below 0.05 and the interval excludes 0."""
    p = delta.p_value if p_value is None else p_value
    if p >= LEVEL or delta.ci95 is None or delta.ci95[0] <= 0.0 <= delta.ci95[1]:
        return "tied"
    return "improved" if delta.value > 0 else "regressed"


def say_verdict(
    verdict: Verdict, delta: Delta, *, mde: float | None, is_rate: bool, p_holm: float | None = None
) -> str:
    """The verdict in words."""
    p = say_p(delta.p_value) if p_holm is None else f"{say_p(p_holm)} after Holm"
    over = f"{delta.tasks:,} paired {'task' if delta.tasks == 1 else 'tasks'}"
    evidence = f"{signed(delta.value, is_rate)}{ends(delta, is_rate)}, {p}, over {over}"
    if verdict != "tied":
        return f"{verdict}: {evidence}"
    if mde is None:
        return f"tied: {evidence}; so few tasks cannot tell runs apart"
    return f"tied: {evidence}; a difference of less than {amount(mde, is_rate)} would probably not have been seen"


def ends(delta: Delta, is_rate: bool) -> str:
    if delta.ci95 is None:
        return ""
    return f" (95 % interval {signed(delta.ci95[0], is_rate)} to {signed(delta.ci95[1], is_rate)})"


def signed(value: float, is_rate: bool) -> str:
    """A difference as it is printed: in percentage points for rates."""
    return f"{fixed(100.0 * value, signed=True)} pp" if is_rate else fixed(value, 3, signed=True)


def amount(value: float, is_rate: bool) -> str:
    return signed(abs(value), is_rate).removeprefix("+")


def say_p(p: float) -> str:
    """A p-value with the digits that matter."""
    return "p < 0.0001" if p < 0.0001 else f"p = {fixed(p, 4 if p < 0.001 else 3)}"


def pairing_warnings(base: Side, candidate: Side, *, units: int, is_rate: bool) -> list[str]:
    """What the pairing leaves out, and whether enough is left."""
    found: list[str] = []
    if units < FEWEST_UNITS:
        found.append(f"{units} paired tasks or clusters are too few to tell runs apart at 5 %, whatever they show")
    for side in (base, candidate):
        left, value = side.not_in_other + side.only_scored_here, side.headline.value
        if left and value is not None:
            shift = f"{score(value, is_rate)} over all its tasks and {score(side.paired, is_rate)} over the paired ones"
            found.append(f"{side.run}: {left:,} of {side.tasks:,} tasks have no counterpart; its headline is {shift}")
    return found


def score_warnings(base: Diagnosed, candidate: Diagnosed) -> list[str]:
    """Scores that stand in fields of other names."""
    fields = [one.run.reward_field for one in (base, candidate)]
    if None in fields or fields[0] == fields[1]:
        return []
    return [f"the score is `{fields[0]}` in {base.run.name} and `{fields[1]}` in {candidate.run.name}"]


def score(value: float, is_rate: bool) -> str:
    return percent(value) if is_rate else fixed(value, 3)


def slice_warnings(slices: list[SliceChange]) -> list[str]:
    """Cuts that tell another story than the headline."""
    return [
        f"by {cut.field} the headline moved against its parts (Simpson's paradox): the runs' mixes of tasks differ"
        for cut in slices
        if cut.simpson
    ]
