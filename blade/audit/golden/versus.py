"""The golden comparison of two models: the same rules, with the values of both runs and of what lies between them."""

from typing import Any

import msgspec
from msgspec.structs import replace

from blade.audit.golden.build import REPORT, Built, check_headings, check_prose, narrative_for, without_words
from blade.audit.golden.narrative import render
from blade.audit.golden.proof import Proof
from blade.audit.golden.quantities import Gain, Names, PlainGain
from blade.audit.golden.sources import VERSUS, Source, diagnose_model, passed_by_key
from blade.audit.golden.values import values_of
from blade.comparison import CompareOptions, Comparison, compare_many
from blade.comparison.comparison import Driver, DriverSide, LevelChange
from blade.diagnosis import Diagnosed
from blade.metrics import Interval
from blade.report import numbers
from blade.report.comparison_report import PROSE_SECTIONS, build_comparison_report, render_comparison_report
from blade.report.text import Markdown, code, md

REQUIRED = ("Executive Summary", "Findings No Table Shows", "Recommendations")


def build_versus(source: Source, models: str) -> Built:
    """The comparison report of `base_vs_candidate`."""
    narrative = narrative_for(source, models)
    check_headings(narrative, REQUIRED, PROSE_SECTIONS)
    found = [diagnose_model(source, model) for model in models.split(VERSUS, 1)]
    comparison = compare_many(found, CompareOptions(slices=source.options.slices, pack=source.options.pack))
    prose = render(narrative, values_between(comparison, found))
    check_prose(narrative, prose, [one.run for one in found])
    front = narrative.front
    plain = build_comparison_report(comparison)
    report, counted = (
        render_comparison_report(replace(plain, author=front.author, prose=text, constants=front.constants))
        for text in (prose, without_words(prose))
    )
    files = {f"{models}{REPORT}": report.encode()}
    return Built(model=models, files=files, found=found, comparison=comparison, counted=counted)


def values_between(comparison: Comparison, found: list[Diagnosed]) -> dict[str, Any]:
    """What a comparison's narrative may name; `base` and `candidate` hold all of their own run's values."""
    base, candidate = (values_of(one.analysis, Proof(one.run, passed_by_key(one))) for one in found)
    between = Between(comparison)
    return {
        "base": base,
        "candidate": candidate,
        "delta": between.change(comparison.delta.value, comparison.delta.ci95),
        "verdict": md(comparison.verdict),
        "p": numbers.p_value(comparison.delta.p_value),
        "smallest_visible": None if comparison.mde is None else numbers.points(comparison.mde),
        "paired": comparison.paired_tasks,
        "worse": comparison.regressed_tasks,
        "better": comparison.improved_tasks,
        "parts": Names("part", {part.part: between.change(part.value, part.ci95) for part in comparison.decomposition}),
        "moved": Names("task that moved", {driver.task: moved(driver) for driver in comparison.drivers}),
        "transitions": comparison.transitions,
        "slices": Names("field", {cut.field: between.levels(cut.levels) for cut in comparison.slices}),
    }


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A difference, candidate minus base: prints as its value."""

    shown: float
    """The difference."""
    interval: Markdown
    """Its 95 % interval."""


class Between:
    """Differences written as the metric is."""

    def __init__(self, comparison: Comparison) -> None:
        self.is_rate = comparison.metric == "pass_at_1"

    def change(self, value: float, ends: Interval | None) -> Change:
        """One difference."""
        if self.is_rate:
            return Change(shown=Gain(value), interval=numbers.signed_pp_interval(ends))
        return Change(shown=PlainGain(value), interval=numbers.signed_number_interval(ends))

    def levels(self, levels: list[LevelChange]) -> Names[Change]:
        """The differences at the levels of a field."""
        known = {one.level: one.delta for one in levels if one.delta is not None}
        return Names("level", {level: self.change(delta.value, delta.ci95) for level, delta in known.items()})


def moved(driver: Driver) -> dict[str, Markdown]:
    """A task that moved, in both runs."""
    return {
        "base": score_of(driver.base),
        "candidate": score_of(driver.candidate),
        "base_at": code(driver.base.citation),
        "candidate_at": code(driver.candidate.citation),
    }


def score_of(side: DriverSide) -> Markdown:
    """`1 of 4`, or the mean reward where nothing passes or fails."""
    return numbers.number(side.mean) if side.c is None else Markdown(f"{side.c} of {side.n}")
