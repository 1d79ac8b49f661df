"""One run in, everything that can be computed about it out."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Analysis, Coverage, Mode
from blade.diagnosis.causes import decide_causes
from blade.diagnosis.contrast import contrast_run
from blade.diagnosis.evidence import quote_evidence
from blade.diagnosis.found import Found, with_effect
from blade.diagnosis.funnel import build_funnel
from blade.diagnosis.headroom import ablate
from blade.diagnosis.health import check_health
from blade.diagnosis.inventory import describe_inputs
from blade.diagnosis.judging import decide_success, make_outcomes
from blade.diagnosis.modes import NOTHING_MINED, Mined, Tested, describe_modes, mine, mirrors_of, traits_of
from blade.diagnosis.noting import NOTHING_NOTED, Noted, note_run, observations_of
from blade.diagnosis.predictors import Feature, field_features, find_predictors
from blade.diagnosis.published import check_published
from blade.diagnosis.reading_order import group_tasks, reading_list
from blade.diagnosis.remedies import Behind, Remedy, faults, recommend, rejudged, remedy_for, repairs
from blade.diagnosis.replies import blamed_on_tools, broken_tools
from blade.diagnosis.rules import rules_behind
from blade.diagnosis.signals import Sightings, describe_signals, find_signals
from blade.diagnosis.slicing import cut
from blade.diagnosis.taxonomy import (
    classify,
    describe_pack,
    named_by_pack,
    pack_findings,
    pack_proofs,
)
from blade.diagnosis.verdicts import Rival
from blade.errors import UsageError
from blade.metrics import Outcomes, Success, measure, parse_success_rule
from blade.metrics.effort import compare_effort
from blade.metrics.prices import Prices, cost_of, dollars, load_prices
from blade.metrics.values import Floats, Ints
from blade.rollouts import ReadOptions
from blade.rollouts.copies import is_copy
from blade.rollouts.table import FAILED, TRUNCATED, RolloutTable, Run

SEED = 0


class AnalyzeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user can say about how a run is measured."""

    success: str | None = None
    """Success rule, such as `reward >= 1.0`; inferred from the rewards when `None`."""
    success_source: str = "given with --success"
    """Who states that rule, in words."""
    slices: tuple[str, ...] = ()
    """Fields to cut the run by, besides those that are found."""
    cluster_field: str | None = None
    """Field that says which tasks belong together, for the standard errors."""
    prices: str | None = None
    """Path of a price table that replaces the one that comes with BLADE."""
    pack: str | None = None
    """Taxonomy pack by name or path; chosen by the rows' fields when `None`, and `none` for no pack at all."""


def with_named_fields(read: ReadOptions, options: AnalyzeOptions) -> ReadOptions:
    """The reading options with every field the analysis will ask for."""
    rule = parse_success_rule(options.success) if options.success is not None else None
    named = [*options.slices, options.cluster_field, None if rule is None or rule.reads_reward else rule.field]
    fields = {*read.fields, *(name for name in named if name)}
    return msgspec.structs.replace(read, fields=tuple(sorted(fields)), observe=True)


class Diagnosed(NamedTuple):
    """A run with everything known about it, row by row and as a whole."""

    run: Run
    outcomes: Outcomes
    sightings: Sightings
    analysis: Analysis
    mined: Mined = NOTHING_MINED
    """The failure modes with their rows, in the order of the analysis, and everything else that was tested."""


class Judged(NamedTuple):
    """A run with its successes and what was seen in it, before anything is computed from them."""

    success: Success
    outcomes: Outcomes
    sightings: Sightings
    noted: Noted


def analyze(run: Run, options: AnalyzeOptions | None = None, *, others: Sequence[Run] = ()) -> Analysis:
    """Everything computed about a run; `others` are runs it may be a copy of."""
    return diagnose(run, options, others=others).analysis


def diagnose(run: Run, options: AnalyzeOptions | None = None, *, others: Sequence[Run] = ()) -> Diagnosed:
    """The analysis of a run together with the row-level columns it rests on."""
    options = options or AnalyzeOptions()
    table = run.table
    success, outcomes, sightings, noted = judged(run, options)
    measures = measure(outcomes)
    published = check_published(run)
    copies = [other for other in others if other is not run and is_copy(run, other)]
    names = [copy.name for copy in copies]
    findings = check_health(
        run,
        outcomes,
        sightings,
        published=published,
        copies=names,
        noted=noted,
        others=rivals(run, [other for other in others if other not in copies], options),
    )
    seen = observations_of(run) if noted is NOTHING_NOTED else noted.observations
    taxonomy = classify(run, outcomes, options.pack, seen)
    mined = mine(noted, outcomes)
    family, broken = pack_proofs(taxonomy), broken_tools(run, noted, outcomes)
    verdicts = decide_causes(measures.tasks, table, outcomes, noted, sightings, findings, mined, family, broken)
    findings += pack_findings(run, taxonomy, findings)
    prices = load_prices(Path(options.prices) if options.prices else None)
    modes = blamed_on_tools(describe_modes(mined.modes, table, outcomes), mined.modes, broken)
    modes = named_by_pack(modes, mined.modes, taxonomy)
    causes, modes = quote_evidence(run, verdicts, modes, mined, noted)
    places, remedies = what_to_do(run, outcomes, sightings, findings, noted, list(zip(modes, mined.modes, strict=True)))
    rows = ablate(outcomes, places)
    traits = traits_of(mined, table, outcomes)
    predictors = find_predictors(task_features_of(run, noted, outcomes), outcomes, rng=np.random.default_rng(SEED))
    contrast = contrast_run(run, outcomes, traits, tested=len(mined.tested))
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
        effort=compare_effort(outcomes, quantities(table, prices)),
        cost=cost_of(table, outcomes.success, prices),
        pack=describe_pack(run, taxonomy),
        funnel=build_funnel(table, outcomes) if result is None else [found.stage for found in result.stages],
        signals=describe_signals(sightings, table, outcomes),
        modes=modes,
        mirrors=mirrors_of(mined, table, outcomes),
        predictors=predictors,
        health=[with_effect(found, outcomes) for found in findings],
        contrast=contrast,
        causes=causes,
        headroom=rows,
        interventions=rejudged(recommend(table, outcomes, rows, places, remedies), measures.tasks, causes),
        reading_list=reading_list(
            causes, measures.tasks, table, outcomes, contrast.pairs, group_tasks(modes, mined.modes, table, outcomes)
        ),
    )
    return Diagnosed(run, outcomes, sightings, analysis, mined)


def judged(run: Run, options: AnalyzeOptions) -> Judged:
    """Which rollouts of a run succeeded, and what was seen in them."""
    success, passed = decide_success(run.table, options.success, source=options.success_source)
    noted = NOTHING_NOTED if success.rule is None else note_run(run, passed)
    sightings = find_signals(run.table)
    return Judged(success, make_outcomes(run.table, passed, sightings, options.cluster_field), sightings, noted)


def task_features_of(run: Run, noted: Noted, outcomes: Outcomes) -> dict[str, Feature]:
    """Everything known of tasks before they are tried but their names, plainest first."""
    named = f"`{run.identity.task_field}`"
    fields = {name: values for name, values in field_features(run.table, outcomes).items() if name != named}
    return {**noted.features, **fields}


def what_to_do(
    run: Run,
    outcomes: Outcomes,
    sightings: Sightings,
    findings: Sequence[Found],
    noted: Noted,
    modes: Sequence[tuple[Mode, Tested]],
) -> tuple[dict[str, Ints], dict[str, Remedy]]:
    """Everything that could be removed, by code: its rows, and how.

    A mode of a single task is something to read, not something to work on.
    """
    chosen = [(mode, found) for mode, found in modes if len(mode.tasks) > 1]
    rules = rules_behind(run, noted, chosen, outcomes)
    places = {**faults(outcomes, sightings, findings), **{mode.code: found.seen.rows for mode, found in chosen}}
    remedies = repairs(outcomes, sightings, findings, run.table)
    for mode, found in chosen:
        rows = found.failing.tolist()
        mine = [one for row in rows for one in noted.differences.get(row, ()) if one.key == mode.subject]
        kinds = [{one.kind for one in noted.differences.get(row, ())} - {"test_failed"} for row in rows]
        alone, talks = sum(len(kind) == 1 for kind in kinds), len(set(rows) & noted.talks)
        remedies[mode.code] = remedy_for(mode, Behind(rules.get(mode.code), mine, talks, alone))
    return places, remedies


def rivals(run: Run, others: Sequence[Run], options: AnalyzeOptions) -> list[Rival]:
    """Other runs on the same tasks, with what they made of them."""
    found: list[Rival] = []
    for other in others:
        if other is not run and set(other.table.tasks) & set(run.table.tasks):
            with contextlib.suppress(UsageError):  # a run that lacks a named field has no opinion
                theirs = judged(other, options)
                found.append(Rival(other, theirs.outcomes, theirs.noted.answers))
    return found


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
        unscored=int(np.isnan(outcomes.scores).sum()),
        failed=int((table.status == FAILED).sum()),
        truncated=int((table.status == TRUNCATED).sum()),
        infrastructure=int(outcomes.infrastructure.sum()),
    )


def quantities(table: RolloutTable, prices: Prices | None = None) -> dict[str, Floats]:
    """What a rollout may cost, per row; quantities no row has are left out."""
    found = {
        "US dollars": dollars(table, prices or load_prices())[0],
        "input tokens": table.input_tokens,
        "output tokens": table.output_tokens,
        "seconds": table.seconds,
    }
    if (table.rows.fact("items") > 0).any():
        found["output items"] = table.rows.fact("output_items").astype(np.float64)
        found["tool calls"] = table.rows.fact("tool_calls").astype(np.float64)
    return {name: values for name, values in found.items() if not np.isnan(values).all() and np.nanmax(values) > 0}
