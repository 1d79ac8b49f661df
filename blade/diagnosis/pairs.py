"""The values a contrast of pass against fail within tasks is told in."""

import msgspec

from blade.metrics import Interval

REPORTED = 0.10
"""Adjusted p-value up to which a trait is listed."""


class Trait(msgspec.Struct, frozen=True, kw_only=True):
    """Something that goes with failing, or with passing, within tasks."""

    trait: str
    """What the rollout does."""
    favours: str
    """`pass` or `fail`."""
    tasks: int
    """Tasks in which both the trait and the outcome vary."""
    passing: tuple[int, int]
    """Passing rollouts with the trait, and passing rollouts."""
    failing: tuple[int, int]
    """Failing rollouts with the trait, and failing rollouts."""
    odds_ratio: float | None
    """Odds of failing with the trait against without, within tasks."""
    ci95: Interval | None
    """95 % interval of the odds ratio."""
    p_value: float
    """Mantel-Haenszel, two-sided."""
    q_value: float
    """The same, adjusted for all traits tested."""
    examples: list[str] = []
    """A failing and a passing rollout of one task that differ in it."""


class TaskContrast(msgspec.Struct, frozen=True, kw_only=True):
    """The closest passing and failing rollouts of one task."""

    task: str
    """Task key."""
    passing: str
    """Citation of the passing rollout, at the item where they part."""
    failing: str
    """Citation of the failing rollout, at the item where they part."""
    common: int
    """How many both made alike before that."""
    counted: str = "item"
    """What `common` counts: tool calls where the calls part, items where only words do."""
    passing_does: str
    """What the passing rollout does there."""
    failing_does: str
    """What the failing rollout does there."""


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """Pass against fail, within tasks."""

    tasks: int = 0
    """Tasks with both outcomes."""
    rollouts: int = 0
    """Their rollouts."""
    tested: int = 0
    """Traits tested."""
    traits: list[Trait] = []
    """Traits whose adjusted p-value is at most `REPORTED`, most certain first."""
    pairs: list[TaskContrast] = []
    """First divergence of such tasks, of as many as are read."""
