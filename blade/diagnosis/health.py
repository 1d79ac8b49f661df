"""What is wrong with the data, the infrastructure and the verifier, before anybody blames the model."""

from collections.abc import Sequence

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, FindingCause, PublishedCheck
from blade.diagnosis.anomalies import find_anomalies
from blade.diagnosis.found import Found, about_files, about_rows, count, say
from blade.diagnosis.hygiene import data_findings
from blade.diagnosis.observations import Noted
from blade.diagnosis.signals import RULES, Sightings
from blade.diagnosis.verdicts import Rival, verdict_findings
from blade.metrics import Outcomes
from blade.rollouts.table import Run, examples

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
    message = f"{count(number, 'row')} whose score is no number; the first is line {first.line}: {first.reason}"
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
            message = f"{rule.title} in {count(int(keep.sum()), 'rollout')} that did not pass"
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
                f"against {found.rate_elsewhere:.1%} elsewhere (p = {found.p_value:.2g} within tasks, adjusted)"
            )
            finding = say("anomalous_group", "IR", message, "look at what happened there; rerun it if it was an outage")
            out.append(about_rows(run.table, finding, found.rows))
    return out
