"""What is wrong with the data, the infrastructure and the verifier, before anybody blames the model."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, FindingCause, PublishedCheck
from blade.diagnosis.found import Found, about_files, about_rows, count, say
from blade.diagnosis.hygiene import data_findings
from blade.diagnosis.noting import Noted
from blade.diagnosis.signals import RULES, Sightings, titled
from blade.diagnosis.verdicts import Rival, verdict_findings
from blade.metrics import Outcomes
from blade.metrics.adjusting import benjamini_hochberg
from blade.metrics.rounding import percent
from blade.metrics.stratified import associate
from blade.metrics.values import Bools, Ints
from blade.rollouts.table import RolloutTable, Run, examples

MOST_NAMES = 4
DUPLICATE_HINTS = {"identical": "counted once", "conflicting": "choose with --duplicates first, last or all"}
HINTS = {
    "infrastructure": "rerun these rollouts; the headline is printed with and without them",
    "verifier": "repair the verifier or environment and score these rollouts again",
}


def check_health(
    run: Run,
    outcomes: Outcomes,
    sightings: Sightings,
    *,
    published: list[PublishedCheck],
    copies: list[str],
    noted: Noted,
    others: Sequence[Rival] = (),
) -> list[Found]:
    """Every finding: data first, then infrastructure, then the verifier."""
    return [
        *bad_lines(run),
        *bad_scores(run),
        *duplicates(run),
        *copied(copies),
        *constant_reward(run, outcomes),
        *disagreements(published),
        *data_findings(run, outcomes),
        *missing(run, outcomes),
        *by_kind(run, outcomes, sightings, kind="infrastructure", cause="IR"),
        *anomalies(run, outcomes),
        *by_kind(run, outcomes, sightings, kind="verifier", cause="TI"),
        *verdict_findings(run, outcomes, noted, others),
    ]


def bad_lines(run: Run) -> list[Found]:
    if not run.bad:
        return []
    first = run.bad[0]
    message = f"{count(len(run.bad), 'line')} could not be used; the first is line {first.line}: {first.reason}"
    return [about_files(say("bad_lines", "DA", message, "repair or rerun these rows", rows=len(run.bad)))]


def bad_scores(run: Run) -> list[Found]:
    if not run.bad_scores:
        return []
    first, number = run.bad_scores[0], len(run.bad_scores)
    message = f"{count(number, 'row')} whose score is not a number; the first is line {first.line}: {first.reason}"
    return [about_files(say("bad_scores", "DA", message, "judge these rollouts again", rows=number))]


def duplicates(run: Run) -> list[Found]:
    out: list[Found] = []
    for kind, hint in DUPLICATE_HINTS.items():
        found = [duplicate for duplicate in run.duplicates if duplicate.kind == kind]
        if found:
            message = f"{count(len(found), 'key')} claimed by more than one {kind} row"
            models = sorted({model for duplicate in found for model in duplicate.models})
            if models:
                message += f", of {len(models)} models ({examples(models, MOST_NAMES)})"
                hint = "these are several runs: diagnose them with --group-by model"
            rows = np.asarray([run.row(duplicate.rollout) for duplicate in found], dtype=np.int64)
            out.append(about_rows(run.table, say(f"{kind}_duplicates", "DA", message, hint), rows))
    return out


def copied(copies: list[str]) -> list[Found]:
    hint = "keep one of them: a copy is not a second measurement"
    return [about_files(say("copied_run", "DA", f"the run {name} holds the same rollouts", hint)) for name in copies]


def missing(run: Run, outcomes: Outcomes) -> list[Found]:
    present = np.bincount(outcomes.task, minlength=len(outcomes.tasks))
    short = np.maximum(outcomes.expected - present, 0)
    if not short.any():
        return []
    lost, tasks = int(short.sum()), int((short > 0).sum())
    message = f"{count(lost, 'rollout')} of {count(tasks, 'task')} missing (expected by {run.expected_from})"
    return [about_files(say("missing_rollouts", "IR", message, "resume the run", rows=lost))]


def constant_reward(run: Run, outcomes: Outcomes) -> list[Found]:
    """The same partial score on every row is a score of the batch, not of its tasks."""
    known = np.flatnonzero(~np.isnan(outcomes.reward))
    values = outcomes.reward[known]
    if len(known) < 3 or np.ptp(values) > 1e-12 or values[0] in (0.0, 1.0):
        return []
    message = f"every rollout has the reward {values[0]:.6g}: a batch score copied to its rows"
    finding = say("constant_reward", "DA", message, "per-task pass and fail mean nothing here")
    return [about_rows(run.table, finding, known)]


def disagreements(published: list[PublishedCheck]) -> list[Found]:
    hint = "the file is stale, or was made from other rows"
    out: list[Found] = []
    for check in published:
        if check.different:
            number = f"{len(check.different)}" if len(check.different) < MAX_LISTED else f"at least {MAX_LISTED}"
            message = f"{check.file}: {number} of {check.compared} published values differ from the rows"
            out.append(about_files(say("published_metrics_differ", "DA", message, hint, rows=len(check.different))))
    return out


def by_kind(run: Run, outcomes: Outcomes, sightings: Sightings, *, kind: str, cause: FindingCause) -> list[Found]:
    """Signals of one kind on rollouts that did not pass."""
    out: list[Found] = []
    for rule in RULES:
        seen = sightings.seen[rule.code]
        keep = outcomes.success[seen.rows] != 1.0
        if rule.kind == kind and keep.any():
            title = titled(rule, seen.rows[keep], run.table)
            message = f"{title} in {count(int(keep.sum()), 'rollout')} that did not pass"
            finding = say(rule.code, cause, message, HINTS[kind])
            out.append(about_rows(run.table, finding, seen.rows[keep], items=seen.items[keep]))
    return out


def anomalies(run: Run, outcomes: Outcomes) -> list[Found]:
    """Repeats, files and stretches of time that fail more than the same tasks elsewhere."""
    out: list[Found] = []
    crashed = outcomes.infrastructure | np.isnan(outcomes.reward)
    failed = outcomes.success == 0.0
    for flag, word in ((crashed, "crash or have no score"), (failed, "fail")):
        for found in find_anomalies(run.table, flag):
            message = (
                f"{found.group}: {found.failed} of {found.members} rollouts {word}, "
                f"against {percent(found.rate_elsewhere)} elsewhere (p = {found.p_value:.2g} within tasks, adjusted)"
            )
            finding = say("anomalous_group", "IR", message, "look at what happened there; rerun it if it was an outage")
            out.append(about_rows(run.table, finding, found.rows))
    return out


WINDOWS = 8
LEVEL = 0.01
FEWEST = 5
"""Rollouts a group must have to be judged at all."""


class Anomaly(NamedTuple):
    """A group of rollouts that fails more often than the rest of the same tasks."""

    group: str
    rows: Ints
    """Its failing rows."""
    members: int
    failed: int
    rate_elsewhere: float
    p_value: float
    """Adjusted for all groups tested."""


def find_anomalies(table: RolloutTable, failing: Bools) -> list[Anomaly]:
    """Groups whose failures (by the given flag) exceed those of their siblings, most certain first."""
    groups = [group for group in candidate_groups(table) if FEWEST <= int(group[1].sum()) < len(table)]
    tested: list[tuple[str, Bools, float]] = []
    for name, members in groups:
        found = associate(table.task, members, failing)
        if found.p_value is not None:
            tested.append((name, members, found.p_value if found.excess > 0 else 1.0))
    adjusted = benjamini_hochberg([p for _, _, p in tested])
    kept = [(t, p) for t, p in zip(tested, adjusted, strict=True) if p < LEVEL]
    return [describe(name, members, failing, p) for (name, members, _), p in sorted(kept, key=lambda k: k[1])]


def describe(name: str, members: Bools, failing: Bools, p_value: float) -> Anomaly:
    rest = ~members
    return Anomaly(
        group=name,
        rows=np.flatnonzero(members & failing),
        members=int(members.sum()),
        failed=int((members & failing).sum()),
        rate_elsewhere=float(failing[rest].mean()),
        p_value=p_value,
    )


def candidate_groups(table: RolloutTable) -> list[tuple[str, Bools]]:
    """Every repeat, every file, and equal stretches of time by when responses were made."""
    groups = [(f"repeat {number}", table.repeat == number) for number in np.unique(table.repeat)[:64].tolist()]
    files = np.unique(table.rows.file)
    if len(files) > 1:
        groups += [(f"file {number + 1}", table.rows.file == number) for number in files.tolist()]
    return groups + time_windows(table)


def time_windows(table: RolloutTable) -> list[tuple[str, Bools]]:
    made = table.rows.numbers("response.created_at")
    known = ~np.isnan(made)
    if known.sum() < WINDOWS * FEWEST or len(np.unique(made[known])) < WINDOWS:
        return []
    edges = np.quantile(made[known], np.linspace(0, 1, WINDOWS + 1))
    place = np.clip(np.searchsorted(edges, made, side="right") - 1, 0, WINDOWS - 1)
    return [(f"time window {i + 1} of {WINDOWS}", known & (place == i)) for i in range(WINDOWS)]
