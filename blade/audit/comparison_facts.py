"""The facts of a comparison: both sides, the difference, its parts, levels, drivers, pairs and ranking."""

from collections.abc import Iterator
from typing import NamedTuple

from blade.audit.facts import Fact, Thing, Unit, count_fact, interval_fact, metric_facts, number_fact
from blade.comparison import Comparison
from blade.comparison.comparison import Driver, LevelChange, Part, Side, SliceChange
from blade.metrics.buckets import ORDER
from blade.report.results import INFRASTRUCTURE, MISSING

CHANGE = ("", "difference", "change", "changed")
"""What a difference of the headline is called."""


class Units(NamedTuple):
    """How scores and their differences are written."""

    score: Unit
    change: Unit


def comparison_facts(comparison: Comparison) -> Iterator[Fact]:
    """Every named value of a comparison."""
    units = Units("share", "points") if comparison.metric == "pass_at_1" else Units("number", "number")
    yield from side_facts("base", comparison.base, units)
    yield from side_facts("candidate", comparison.candidate, units)
    yield from whole_facts(comparison, units)
    yield from count_facts(comparison, units)
    for part in comparison.decomposition:
        yield from part_facts(part, units)
    for cut in comparison.slices:
        yield from cut_facts(cut, units)
    for driver in comparison.drivers:
        yield from driver_facts(driver, units)
    yield from pair_facts(comparison, units)


def side_facts(name: str, side: Side, units: Units) -> Iterator[Fact]:
    """One of the two runs."""
    words = frozenset({"run", "model", "task", "scored", "pass@1", "passrate"})
    thing = Thing("side", name, tuple(dict.fromkeys((side.run, name, *side.files))), words)
    own = ("", "pass@1", "headline", "scored tasks")
    yield from metric_facts(f"{name}.headline", side.headline, units.score, own, thing=thing)
    yield from number_fact(f"{name}.paired", side.paired, units.score, "", "paired tasks", "paired", thing=thing)
    yield from count_fact(f"{name}.tasks", side.tasks, "tasks", thing=thing)
    yield from count_fact(f"{name}.headline.n", side.headline.n, "scored tasks", "tasks", thing=thing)
    yield from count_fact(f"{name}.rollouts", side.rollouts, "rollouts", thing=thing)
    yield from count_fact(f"{name}.not_in_other", side.not_in_other, "tasks not known to the other run", thing=thing)


def whole_facts(comparison: Comparison, units: Units) -> Iterator[Fact]:
    """The difference over paired tasks, and the change of the headline."""
    delta, change = comparison.delta, comparison.change
    names = (*CHANGE[1:], "improved", "regressed", "tied", "difference over paired tasks", "pass@1 changed")
    yield from number_fact("delta.value", delta.value, units.change, *names)
    yield from number_fact(
        "change.value", change.value, units.change, "headline changed", "change of the headline", *CHANGE[1:]
    )
    yield from interval_fact(
        "delta.ci95", delta.ci95, units.change, "interval", *(f"{name} interval" for name in names)
    )
    yield from number_fact("delta.p_value", delta.p_value, "number", "p", "p-value")
    yield from number_fact("p_holm", comparison.p_holm, "number", "p after holm", "p holm")
    yield from number_fact("delta.se", delta.se, units.change, "standard error")
    yield from number_fact("mde", comparison.mde, units.change, "smallest visible difference")
    paired = comparison.base.paired, comparison.candidate.paired
    own = change.base, change.candidate
    for path, ends in (("paired", paired), ("change", own)):
        yield from interval_fact(path, ends, units.score, "headline", "pass@1", "paired tasks", "paired")
    for cut in comparison.slices:
        yield from number_fact(
            f"slices.{cut.field}.standardised",
            cut.standardised,
            units.change,
            "same mix of levels headline changed",
            "mix",
        )


def count_facts(comparison: Comparison, units: Units) -> Iterator[Fact]:
    """How many tasks went which way."""
    tasks = comparison.paired_tasks
    yield from count_fact("paired_tasks", tasks, "paired tasks", "tasks", "paired")
    worse = ("worse", "tasks worse", "regressions", "tasks regressed", "regressed", "paired tasks worse")
    yield from count_fact("regressed_tasks", comparison.regressed_tasks, *worse, wholes=(tasks,))
    better = ("better", "tasks better", "improvements", "tasks improved", "improved", "paired tasks better")
    yield from count_fact("improved_tasks", comparison.improved_tasks, *better, wholes=(tasks,))
    table = comparison.mcnemar
    if table is not None:
        yield from count_fact("mcnemar.both", table.both, "tasks pass in both runs", "pass both", wholes=(tasks,))
        alone = ("base alone", "only base", "pass in the base alone")
        yield from count_fact("mcnemar.only_base", table.only_base, *alone, wholes=(tasks,))
        alone = ("candidate alone", "only candidate", "pass in the candidate alone")
        yield from count_fact("mcnemar.only_candidate", table.only_candidate, *alone, wholes=(tasks,))
        yield from count_fact("mcnemar.neither", table.neither, "neither", "pass in neither", wholes=(tasks,))
        yield from number_fact("mcnemar.p_value", table.p_value, "number", "mcnemar exact p", "mcnemar p")
    for before in ORDER if comparison.transitions else ():
        row = Thing("bucket", before, ("no outcome" if before == "missing" else before,), frozenset())
        for after in ORDER:
            phrase = "no outcome" if after == "missing" else after
            yield from count_fact(
                f"transitions.{before}.{after}", comparison.transitions[before][after], phrase, thing=row
            )
    for place, counting in enumerate(comparison.countings):
        row = Thing("variant", str(place), (f"{MISSING[counting.missing]}|{INFRASTRUCTURE[counting.infrastructure]}",))
        for name, value in (("base", counting.base), ("candidate", counting.candidate)):
            yield from number_fact(f"countings.{place}.{name}", value, units.score, name, thing=row)
        yield from number_fact(f"countings.{place}.value", counting.value, units.change, *CHANGE, thing=row)


def part_facts(part: Part, units: Units) -> Iterator[Fact]:
    """One part of the change."""
    words = frozenset({"part", "contribution", "charged", "rollout", "whose"})
    thing = Thing("part", part.part, (part.title, part.part), words)
    path = f"decomposition.{part.part}"
    yield from number_fact(f"{path}.value", part.value, units.change, "", "contribution", thing=thing)
    yield from interval_fact(f"{path}.ci95", part.ci95, units.change, "interval", thing=thing)
    yield from number_fact(f"{path}.share", part.share, "share", "", "share of the change", thing=thing)
    if part.base_rollouts is not None and part.candidate_rollouts is not None:
        ends = float(part.base_rollouts), float(part.candidate_rollouts)
        yield from interval_fact(
            f"{path}.rollouts", ends, "count", "", "rollouts charged base candidate", "rollouts", thing=thing
        )


def cut_facts(cut: SliceChange, units: Units) -> Iterator[Fact]:
    for level in cut.levels:
        yield from level_change_facts(cut.field, level, units)


def level_change_facts(field: str, level: LevelChange, units: Units) -> Iterator[Fact]:
    """What changed at one level."""
    words = frozenset({"level", f"`{field}`", "task", "slice", "paired"})
    thing = Thing("level", f"{field}={level.level}", (level.level,), words)
    path = f"slices.{field}.{level.level}"
    yield from number_fact(f"{path}.base", level.base, units.score, "base", thing=thing)
    yield from number_fact(f"{path}.candidate", level.candidate, units.score, "candidate", thing=thing)
    yield from number_fact(f"{path}.p_holm", level.p_holm, "number", "p", thing=thing)
    for side, own, tasks in (
        ("base", level.base_own, level.base_tasks),
        ("candidate", level.candidate_own, level.candidate_tasks),
    ):
        yield from number_fact(f"{path}.{side}_own", own, units.score, "own tasks base candidate", side, thing=thing)
        yield from count_fact(f"{path}.{side}_tasks", tasks, "own tasks base candidate", f"{side} tasks", thing=thing)
    if level.delta is not None:
        yield from number_fact(f"{path}.delta", level.delta.value, units.change, *CHANGE, thing=thing)
        yield from interval_fact(f"{path}.ci95", level.delta.ci95, units.change, "interval", thing=thing)
        yield from count_fact(f"{path}.tasks", level.delta.tasks, "paired tasks", "tasks", thing=thing)
    if level.base is not None and level.candidate is not None:
        yield from interval_fact(
            f"{path}.change", (level.base, level.candidate), units.score, "", "pass@1", thing=thing
        )


def driver_facts(driver: Driver, units: Units) -> Iterator[Fact]:
    """A task that moved."""
    words = frozenset({"task", "run", "rollout", "pass", "worse", "better", "from", "improvement", "regression"})
    thing = Thing("task", driver.task, (driver.task,), words)
    path = f"drivers.{driver.task}"
    for name, side in (("base", driver.base), ("candidate", driver.candidate)):
        yield from count_fact(f"{path}.{name}", side.c, name, "", thing=thing, wholes=(side.n,))
        yield from number_fact(f"{path}.{name}.mean", side.mean, units.score, name, "", thing=thing)
    yield from number_fact(f"{path}.delta", driver.delta, units.change, *CHANGE, thing=thing)
    yield from number_fact(f"{path}.contribution", driver.contribution, units.change, "contribution", thing=thing)
    for failing in driver.failing:
        sign = Thing("seen", f"{driver.task}|{failing.part}", (), frozenset({"rollout", "fail", "worse", "run"}))
        yield from count_fact(f"{path}.failing.{failing.part}", failing.rollouts, "", "failing rollouts", thing=sign)


def pair_facts(comparison: Comparison, units: Units) -> Iterator[Fact]:
    """Every pair of several runs, and their ranking."""
    pairs = comparison.pairs if isinstance(comparison.pairs, list) else []
    for pair in pairs:
        thing = Thing("pair", f"{pair.base.run}|{pair.candidate.run}", (f"{pair.base.run}|{pair.candidate.run}",))
        path = f"pairs.{thing.key}"
        yield from number_fact(f"{path}.delta", pair.delta.value, units.change, *CHANGE, thing=thing)
        yield from interval_fact(f"{path}.ci95", pair.delta.ci95, units.change, "interval", thing=thing)
        yield from count_fact(f"{path}.tasks", pair.paired_tasks, "paired tasks", thing=thing)
    for rank in comparison.ranking if isinstance(comparison.ranking, list) else []:
        thing = Thing("rank", rank.run, (f"{rank.rank}|{rank.run}",), frozenset({"common", "task"}))
        yield from number_fact(f"ranking.{rank.run}", rank.value, units.score, "pass@1", "mean reward", thing=thing)
