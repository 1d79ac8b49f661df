"""The values a narrative may name: everything in one Analysis, under the words a writer would use.

headline, tasks, rollouts, failing            the run in four numbers
metrics.consistency, pass_at["4"]             named metrics; .interval and .n belong to each
buckets.never, labels.KG, signals.cut_off     groups and counts: .count, .share, or the list itself
slices.difficulty.hard, funnel["answered"]    parts of the run
task("12").passed, label("12")                one task
find(passed=false, says="wait")               rollouts by what they hold
quote("12:3#5", "words"), cite("12:3#5")      proof, checked when the report is built
"""

from collections.abc import Callable
from typing import Any

import msgspec

from blade.audit.golden.proof import Proof
from blade.audit.golden.quantities import Amount, Gain, Group, Measure, Names, NarrativeError, Plain, Rate
from blade.diagnosis import CAUSES, Analysis
from blade.diagnosis.analysis import Cause, Finding, Intervention, PatternSeen, Signal, SliceTable, Stage, headline_of
from blade.diagnosis.headroom import Headroom
from blade.diagnosis.pairs import TaskContrast, Trait
from blade.metrics import Metric, Slice, TaskResult
from blade.metrics.buckets import ORDER
from blade.metrics.effort import Effort, EffortSummary
from blade.report.contrasts import MODES
from blade.report.headline import failing_rollouts, is_rate
from blade.report.text import Markdown, code, md


class OfTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task: prints as `1 of 4`."""

    result: TaskResult
    """What its rollouts showed."""
    cause: Cause | None
    """The label in force."""

    @property
    def key(self) -> Markdown:
        """Its key."""
        return code(self.result.task)

    @property
    def passed(self) -> int:
        """Rollouts that succeeded."""
        return self.result.c

    @property
    def failed(self) -> int:
        """Scored rollouts that did not."""
        return self.result.n - self.result.c

    @property
    def of(self) -> int:
        """Scored rollouts."""
        return self.result.n

    @property
    def bucket(self) -> Markdown:
        """always, sometimes, never or missing."""
        return md(self.result.bucket or "not in a bucket")

    @property
    def label(self) -> Markdown:
        """The cause in force."""
        if self.cause is None:
            raise NarrativeError(f"task {self.result.task} has no label: it always passes.")
        return Markdown(self.cause.label)

    @property
    def shown(self) -> Markdown:
        return Markdown(f"{self.passed} of {self.of}")


class OfSlice(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a field: prints as its headline."""

    field: str
    """The field."""
    slice: Slice
    """What its rollouts showed."""
    headline: Measure
    """Its headline."""

    @property
    def shown(self) -> Measure:
        return self.headline

    @property
    def where(self) -> Markdown:
        """Which rollouts these are: those where the field has this level."""
        return Markdown(f"{code(self.field)} is {code(self.slice.level)}")

    @property
    def interval(self) -> Markdown:
        """The headline's interval."""
        return self.headline.interval

    @property
    def tasks(self) -> int:
        """Tasks at this level."""
        return self.slice.tasks

    @property
    def rollouts(self) -> int:
        """Rollouts at this level."""
        return self.slice.rollouts

    @property
    def always(self) -> int:
        """Tasks whose every rollout succeeds."""
        return self._bucket("always")

    @property
    def sometimes(self) -> int:
        """Tasks that pass sometimes."""
        return self._bucket("sometimes")

    @property
    def never(self) -> int:
        """Tasks that never pass."""
        return self._bucket("never")

    def __sub__(self, other: "OfSlice") -> float:
        return self.headline - other.headline

    def _bucket(self, name: str) -> int:
        if self.slice.buckets is None:
            raise NarrativeError("this run has no success rule, so tasks are in no buckets.")
        found: int = getattr(self.slice.buckets, name)
        return found


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Something seen in rollouts, a signal or a pattern: prints as how many failing rollouts it was seen in."""

    seen: Signal | PatternSeen
    """What was seen."""
    failing: int
    """Rollouts that did not pass, in all."""

    @property
    def title(self) -> Markdown:
        """What it is, in words."""
        return md(self.seen.title)

    @property
    def rollouts(self) -> int:
        """Rollouts it was seen in."""
        return self.seen.rollouts

    @property
    def failed(self) -> int:
        """Those of them that did not pass."""
        return self.seen.failed if isinstance(self.seen, Signal) else self.seen.rollouts

    @property
    def primary(self) -> int:
        """Of a pattern: failing rollouts that no earlier pattern claims."""
        return self.seen.primary if isinstance(self.seen, PatternSeen) else self.seen.failed

    @property
    def passed(self) -> int:
        """Rollouts that passed all the same."""
        if self.seen.passed is None:
            raise NarrativeError(f"passing rollouts were not searched for {self.seen.code!r}.")
        return self.seen.passed

    @property
    def tasks(self) -> int:
        """Tasks it was seen in."""
        return self.seen.tasks

    @property
    def share(self) -> Rate:
        """Its share of the rollouts that did not pass."""
        return Rate(self.primary / self.failing)

    @property
    def shown(self) -> int:
        return self.failed


def values_of(analysis: Analysis, proof: Proof) -> dict[str, Any]:
    """Everything a narrative about this run may name."""
    failing = failing_rollouts(analysis)
    coverage = analysis.coverage
    return {
        "headline": headline(analysis),
        "tasks": coverage.tasks,
        "rollouts": coverage.rollouts,
        "passing": coverage.rollouts - failing,
        "failing": failing,
        "coverage": coverage,
        "metrics": named_metrics(analysis),
        "pass_at": Names("k", {k: measure(f"pass@{k}", Rate, m) for k, m in analysis.metrics.pass_at_k.items()}),
        "pass_pow": Names("k", {k: measure(f"pass^{k}", Rate, m) for k, m in analysis.metrics.pass_pow_k.items()}),
        "buckets": buckets_of(analysis),
        "labels": labels_of(analysis),
        "signals": Names("signal", {one.code: Counted(seen=one, failing=failing) for one in analysis.signals}),
        "patterns": patterns_of(analysis, failing),
        "slices": Names("field", {table.field: levels_of(analysis, table) for table in analysis.slices}),
        "funnel": Names[Stage]("stage", {stage.name: stage for stage in analysis.funnel}),
        "findings": Names[Finding]("finding", {found.code: found for found in analysis.health}),
        "traits": Names("trait", {one.trait: OfTrait(trait=one) for one in analysis.contrast.traits}),
        "effort": Names("quantity", {one.name: effort_of(one) for one in analysis.effort}),
        "headroom": Names("mode", {row.mode: headroom_of(row, analysis) for row in analysis.headroom}),
        "interventions": [intervention_of(one, analysis) for one in analysis.interventions],
        "partings": Names[TaskContrast]("parting of task", {pair.task: pair for pair in analysis.contrast.pairs}),
        "task": tasks_of(analysis).__getitem__,
        "label": lambda task: tasks_of(analysis)[task].label,
        "quote": proof.quote,
        "cite": proof.cite,
        "field": proof.field,
        "find": proof.find,
    }


def measure(name: str, kind: type[float], metric: Metric) -> Measure:
    return Measure(name=name, kind=kind, metric=metric)


def headline(analysis: Analysis) -> Measure:
    """What speaks for the run."""
    return measure(analysis.headline, Rate if is_rate(analysis) else Plain, headline_of(analysis))


def named_metrics(analysis: Analysis) -> Names[Measure]:
    """Metrics by the names they have in the analysis."""
    metrics = analysis.metrics
    rates = ("pass_at_1", "pass_at_1_micro", "consistency", "coverage")
    found = {name: measure(name, Rate, getattr(metrics, name)) for name in rates}
    found["retry_value"] = measure("retry_value", Gain, metrics.retry_value)
    found["mean_reward"] = measure("mean_reward", Plain, metrics.mean_reward)
    return Names("metric", found)


def buckets_of(analysis: Analysis) -> Names[Group]:
    """Task keys by bucket."""
    total = analysis.coverage.tasks
    return Names("bucket", {name: Group(keys=tuple(getattr(analysis.buckets, name)), of=total) for name in ORDER})


def labels_of(analysis: Analysis) -> Names[Group]:
    """Tasks by the label in force; a cause that nobody was given is an empty group."""
    given: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for cause in analysis.causes:
        given.setdefault(cause.label, []).append(cause.task)
    total = len(analysis.causes)
    return Names("label", {label: Group(keys=tuple(tasks), of=total) for label, tasks in given.items()})


def patterns_of(analysis: Analysis, failing: int) -> Names[Counted]:
    """Patterns of the pack that were seen."""
    seen = [] if analysis.pack is None else analysis.pack.patterns
    return Names("pattern", {one.code: Counted(seen=one, failing=failing) for one in seen})


def levels_of(analysis: Analysis, table: SliceTable) -> Names[OfSlice]:
    """The levels of a field."""
    kind = Rate if is_rate(analysis) else Plain
    measured = {one.level: (one, measure(one.level, kind, one.headline)) for one in table.levels}
    return Names("level", {k: OfSlice(field=table.field, slice=s, headline=m) for k, (s, m) in measured.items()})


def tasks_of(analysis: Analysis) -> Names[OfTask]:
    """Tasks by key."""
    causes = {cause.task: cause for cause in analysis.causes}
    return Names("task", {one.task: OfTask(result=one, cause=causes.get(one.task)) for one in analysis.tasks})


class OfTrait(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with failing or passing within a task."""

    trait: Trait
    """What was tested."""

    @property
    def title(self) -> Markdown:
        """What rollouts with it do, in words."""
        return md(self.trait.trait)

    @property
    def passing(self) -> Markdown:
        """Passing rollouts with it, of all passing ones."""
        return Markdown("{} of {}".format(*self.trait.passing))

    @property
    def failing(self) -> Markdown:
        """Failing rollouts with it, of all failing ones."""
        return Markdown("{} of {}".format(*self.trait.failing))

    @property
    def odds_ratio(self) -> Plain:
        """Odds of failing with it against without."""
        if self.trait.odds_ratio is None:
            raise NarrativeError(f"the odds ratio of {self.trait.trait!r} is not known; do not name it.")
        return Plain(self.trait.odds_ratio)

    @property
    def tasks(self) -> int:
        """Tasks in which both vary."""
        return self.trait.tasks


def effort_of(effort: Effort) -> dict[str, Any]:
    """What passing and failing rollouts cost."""
    return {"passing": spread_of(effort.passing), "failing": spread_of(effort.failing)}


def spread_of(summary: EffortSummary) -> dict[str, Any]:
    known = {name: getattr(summary, name) for name in ("mean", "median", "p90")}
    return {"n": summary.n, **{name: Amount(value) for name, value in known.items() if value is not None}}


def headroom_of(row: Headroom, analysis: Analysis) -> dict[str, Any]:
    """What the headline would be without a mode."""
    kind: Callable[[float], float] = Rate if is_rate(analysis) else Plain
    gain = measure(f"gain without {row.mode}", Gain if is_rate(analysis) else Plain, row.gain)
    titles = MODES | {signal.code: signal.title for signal in analysis.signals}
    return {
        "title": md(titles.get(row.mode, row.mode.replace("_", " "))),
        "gain": gain,
        "score": None if row.score is None else kind(row.score),
        "tasks": row.tasks,
        "rollouts": row.rollouts,
    }


def intervention_of(found: Intervention, analysis: Analysis) -> dict[str, Any]:
    """Something that could be done."""
    gain = measure(f"gain of {found.target}", Gain if is_rate(analysis) else Plain, found.headroom)
    return {
        **{"what": md(found.what), "target": md(found.target), "cause": md(found.cause), "gain": gain},
        **{"tasks": found.tasks, "rollouts": found.rollouts, "unseen_tasks": found.unseen_tasks},
    }
