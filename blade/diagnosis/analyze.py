"""One run in, everything that can be computed about it out."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Analysis, Cause, Coverage
from blade.diagnosis.causes import decide_causes
from blade.diagnosis.contrast import contrast_run
from blade.diagnosis.evidence import quote_evidence
from blade.diagnosis.found import with_effect
from blade.diagnosis.funnel import build_funnel
from blade.diagnosis.headroom import ablate
from blade.diagnosis.health import check_health
from blade.diagnosis.interventions import failure_modes, mode_interventions, rejudged
from blade.diagnosis.inventory import describe_inputs
from blade.diagnosis.labels import Label, is_by_rule
from blade.diagnosis.published import check_published
from blade.diagnosis.reading import reading_list
from blade.diagnosis.signals import Sightings, describe_signals, find_signals
from blade.diagnosis.slicing import cut
from blade.diagnosis.taxonomy import (
    classify,
    describe_pack,
    pack_findings,
    pack_grounds,
    pack_modes,
    pack_remedies,
    without_covered,
)
from blade.diagnosis.verdicts import read_all, scored_rows
from blade.errors import UsageError
from blade.metrics import Outcomes, Success, SuccessRule, infer_success, measure, parse_success_rule
from blade.metrics.effort import compare_effort
from blade.metrics.success import BINARY_RULE
from blade.metrics.values import Floats, Ints
from blade.rollouts.columns import Column
from blade.rollouts.copies import is_copy
from blade.rollouts.identity import require_field
from blade.rollouts.table import FAILED, TRUNCATED, RolloutTable, Run


class AnalyzeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user can say about how a run is measured."""

    success: str | None = None
    """Success rule, such as `reward >= 1.0`; inferred from the rewards when `None`."""
    slices: tuple[str, ...] = ()
    """Fields to cut the run by, besides those that are found."""
    cluster_field: str | None = None
    """Field that says which tasks belong together, for the standard errors."""
    pack: str | None = None
    """Taxonomy pack by name or path; chosen by the rows' fields when `None`, and `none` for no pack at all."""


class Diagnosed(NamedTuple):
    """A run with everything known about it, row by row and as a whole."""

    run: Run
    outcomes: Outcomes
    sightings: Sightings
    analysis: Analysis


def analyze(run: Run, options: AnalyzeOptions | None = None, *, others: Sequence[Run] = ()) -> Analysis:
    """Everything computed about a run; `others` are runs it may be a copy of."""
    return diagnose(run, options, others=others).analysis


def diagnose(run: Run, options: AnalyzeOptions | None = None, *, others: Sequence[Run] = ()) -> Diagnosed:
    """The analysis of a run together with the row-level columns it rests on."""
    options = options or AnalyzeOptions()
    table = run.table
    success, passed = decide_success(table, options.success)
    sightings = find_signals(table)
    outcomes = make_outcomes(table, passed, sightings, options)
    measures = measure(outcomes)
    published = check_published(run)
    copies = [other for other in others if other is not run and is_copy(run, other)]
    names = [copy.name for copy in copies]
    answers = [] if outcomes.is_continuous else read_all(run, scored_rows(outcomes))
    findings = check_health(
        run,
        outcomes,
        sightings,
        published=published,
        copies=names,
        answers=answers,
        others=rivals(run, [other for other in others if other not in copies], options),
    )
    taxonomy = classify(run, outcomes, options.pack)
    family = pack_grounds(taxonomy)
    verdicts = decide_causes(measures.tasks, table, outcomes, sightings, findings, answers, family)
    findings += pack_findings(run, taxonomy, findings)
    causes = [as_cause(label) for label in quote_evidence(run, verdicts)]
    costs = quantities(table)
    own_modes, remedies = pack_modes(family), pack_remedies(taxonomy)
    modes = {**own_modes, **without_covered(failure_modes(outcomes, sightings, findings), own_modes)}
    rows = ablate(outcomes, modes)
    contrast = contrast_run(run, outcomes, costs)
    result = taxonomy.result
    analysis = Analysis(
        inputs=describe_inputs(run, published, names),
        coverage=coverage_of(run, outcomes),
        success=success,
        headline=measures.headline,
        metrics=measures.metrics,
        sensitivity=measures.sensitivity,
        variance=measures.variance,
        buckets=measures.buckets,
        misplacement=measures.misplacement,
        lowest_rate_behind_always=measures.lowest_rate_behind_always,
        tasks=measures.tasks,
        slices=cut(table, outcomes, options.slices, usual=() if result is None else result.pack.slices),
        effort=compare_effort(outcomes, costs),
        pack=describe_pack(run, taxonomy),
        funnel=build_funnel(table, outcomes) if result is None else [found.stage for found in result.stages],
        signals=describe_signals(sightings, table, outcomes),
        health=[with_effect(found, outcomes) for found in findings],
        contrast=contrast,
        causes=causes,
        headroom=rows,
        interventions=rejudged(mode_interventions(table, outcomes, modes, rows, remedies), measures.tasks, causes),
        reading_list=reading_list(causes, measures.tasks, table, outcomes, contrast.pairs),
    )
    return Diagnosed(run, outcomes, sightings, analysis)


def rivals(run: Run, others: Sequence[Run], options: AnalyzeOptions) -> list[tuple[Run, Outcomes]]:
    """Other runs on the same tasks, with what they made of them."""
    found: list[tuple[Run, Outcomes]] = []
    for other in others:
        if other is not run and set(other.table.tasks) & set(run.table.tasks):
            with contextlib.suppress(UsageError):  # a run that lacks a named field has no opinion
                _, passed = decide_success(other.table, options.success)
                found.append((other, make_outcomes(other.table, passed, find_signals(other.table), options)))
    return found


def decide_success(table: RolloutTable, wanted: str | None) -> tuple[Success, Floats]:
    """How success is decided, and per row whether it was one (nan when unknown)."""
    if wanted is not None:
        rule = parse_success_rule(wanted)
        stated = Success(kind="rule", rule=str(rule), source="given with --success")
        return stated, apply_rule(rule, table)
    success = infer_success(table.reward)
    if success.rule is None:
        return success, np.full(len(table), np.nan)
    return success, BINARY_RULE.apply(table.reward)


def apply_rule(rule: SuccessRule, table: RolloutTable) -> Floats:
    if rule.field == "reward":
        return rule.apply(table.reward)
    require_field(table.rows, rule.field)
    column = table.rows.columns[rule.field]
    passed = rule.apply(
        [column.at(row) for row in range(len(table))] if isinstance(rule.value, str) else column.numbers()
    )
    if np.isnan(passed).all():
        kind = "a text" if isinstance(rule.value, str) else "a number or true/false"
        raise UsageError(f"success rule {str(rule)!r}: {rule.field} is never {kind}; it is {column_example(column)}.")
    # What failed before a verdict has none, whatever the runner wrote into the verdict's field.
    return np.where((table.status == FAILED) & np.isnan(table.reward), np.nan, passed)


def column_example(column: Column) -> str:
    """A value of a column as JSON would have it."""
    row = int(np.flatnonzero(column.known())[0])
    return msgspec.json.encode(column.at(row)).decode()


def make_outcomes(table: RolloutTable, passed: Floats, sightings: Sightings, options: AnalyzeOptions) -> Outcomes:
    return Outcomes(
        tasks=table.tasks,
        task=table.task,
        repeat=table.repeat,
        reward=table.reward,
        success=passed,
        infrastructure=sightings.infrastructure(table, passed),
        expected=table.expected,
        cluster=clusters(table, options.cluster_field),
    )


def clusters(table: RolloutTable, field: str | None) -> Ints | None:
    """Per task: its cluster, by the first row that says; a task that does not say is a cluster of its own."""
    if field is None:
        return None
    require_field(table.rows, field)
    codes = table.rows.columns[field].coded().values
    out = np.arange(len(table.tasks), dtype=np.int64) + int(codes.max(initial=0)) + 1
    known = np.flatnonzero(codes >= 0)[::-1]  # the last assignment wins, so the first row comes last
    out[table.task[known]] = codes[known]
    return out


def coverage_of(run: Run, outcomes: Outcomes) -> Coverage:
    table = run.table
    present = np.bincount(table.task, minlength=len(table.tasks))
    return Coverage(
        tasks=len(table.tasks),
        expected_rollouts=int(table.expected.sum()),
        rollouts=len(table),
        missing=int(np.maximum(table.expected - present, 0).sum()),
        duplicates=run.surplus,
        malformed=len(run.bad),
        unscored=int(np.isnan(table.reward).sum()),
        failed=int((table.status == FAILED).sum()),
        truncated=int((table.status == TRUNCATED).sum()),
        infrastructure=int(outcomes.infrastructure.sum()),
    )


def quantities(table: RolloutTable) -> dict[str, Floats]:
    """What a rollout may cost, per row; quantities no row has are left out."""
    found = {
        "input tokens": table.input_tokens,
        "output tokens": table.output_tokens,
        "seconds": table.seconds,
    }
    if (table.rows.fact("items") > 0).any():
        found["output items"] = table.rows.fact("output_items").astype(np.float64)
        found["tool calls"] = table.rows.fact("tool_calls").astype(np.float64)
    return {name: values for name, values in found.items() if not np.isnan(values).all() and np.nanmax(values) > 0}


def as_cause(label: Label) -> Cause:
    """A label as it stands in the analysis."""
    return Cause(
        task=label.task,
        label=label.cause,
        confidence=label.confidence,
        author=label.author,
        reason=label.reason,
        evidence=label.evidence,
    )


def draft_labels(analysis: Analysis) -> list[Label]:
    """The labels an analysis carries."""
    return [
        Label(
            task=cause.task,
            cause=cause.label,
            confidence=cause.confidence,
            author=cause.author,
            reason=cause.reason,
            evidence=cause.evidence,
        )
        for cause in analysis.causes
    ]


def relabel(analysis: Analysis, labels: Mapping[str, Label]) -> Analysis:
    """The analysis with other labels in force; what somebody has read and decided leaves the reading list."""
    causes = [as_cause(labels[cause.task]) if cause.task in labels else cause for cause in analysis.causes]
    decided = {cause.task for cause in causes if not is_by_rule(cause.author)}
    waiting = [item for item in analysis.reading_list if item.task not in decided]
    worth = rejudged(analysis.interventions, analysis.tasks, causes)
    return msgspec.structs.replace(analysis, causes=causes, reading_list=waiting, interventions=worth)
