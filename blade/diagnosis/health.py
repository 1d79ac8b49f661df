"""What is wrong with the data, the infrastructure and the verifier, before anybody blames the model."""

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Finding, PublishedCheck
from blade.diagnosis.observations import Seen
from blade.diagnosis.signals import RULES, Sightings
from blade.metrics import Outcomes
from blade.rollouts.table import Run


def check_health(
    run: Run, outcomes: Outcomes, sightings: Sightings, *, published: list[PublishedCheck], copies: list[str]
) -> list[Finding]:
    """Every finding, data first."""
    return [
        *bad_lines(run),
        *duplicates(run),
        *copied(copies),
        *missing(run, outcomes),
        *constant_reward(run, outcomes),
        *disagreements(published),
        *infrastructure(run, outcomes, sightings),
        *verifier(run, outcomes, sightings),
    ]


def bad_lines(run: Run) -> list[Finding]:
    if not run.bad:
        return []
    first = run.bad[0]
    message = f"{count(len(run.bad), 'line')} could not be used; the first is line {first.line}: {first.reason}"
    return [
        Finding(code="bad_lines", cause="DA", message=message, rows=len(run.bad), hint="repair or rerun these rows")
    ]


def duplicates(run: Run) -> list[Finding]:
    out: list[Finding] = []
    for kind, hint in (("identical", "counted once"), ("conflicting", "choose with --duplicates first, last or all")):
        found = [duplicate for duplicate in run.duplicates if duplicate.kind == kind]
        if found:
            rows = sum(len(duplicate.rows) - 1 for duplicate in found)
            message = f"{count(len(found), 'key')} claimed by more than one {kind} row"
            cited = [duplicate.rollout for duplicate in found][:MAX_LISTED]
            code = f"{kind}_duplicates"
            out.append(Finding(code=code, cause="DA", message=message, rows=rows, citations=cited, hint=hint))
    return out


def copied(copies: list[str]) -> list[Finding]:
    hint = "keep one of them: a copy is not a second measurement"
    return [
        Finding(code="copied_run", cause="DA", message=f"the run {name} holds the same rollouts", rows=0, hint=hint)
        for name in copies
    ]


def missing(run: Run, outcomes: Outcomes) -> list[Finding]:
    present = np.bincount(outcomes.task, minlength=len(outcomes.tasks))
    short = np.maximum(outcomes.expected - present, 0)
    if not short.any():
        return []
    tasks = int((short > 0).sum())
    message = (
        f"{count(int(short.sum()), 'rollout')} of {count(tasks, 'task')} missing (expected by {run.expected_from})"
    )
    return [Finding(code="missing_rollouts", cause="IR", message=message, rows=int(short.sum()), hint="resume the run")]


def constant_reward(run: Run, outcomes: Outcomes) -> list[Finding]:
    """The same partial score on every row is a score of the batch, not of its tasks."""
    known = outcomes.reward[~np.isnan(outcomes.reward)]
    if len(known) < 3 or np.ptp(known) > 1e-12 or known[0] in (0.0, 1.0):
        return []
    message = f"every rollout has the reward {known[0]:.6g}: a batch score copied to its rows"
    hint = "per-task pass and fail mean nothing here"
    return [Finding(code="constant_reward", cause="DA", message=message, rows=len(known), hint=hint)]


def disagreements(published: list[PublishedCheck]) -> list[Finding]:
    hint = "the file is stale, or was made from other rows"
    return [
        Finding(
            code="published_metrics_differ",
            cause="DA",
            message=f"{check.file}: {len(check.different)} of {check.compared} published values differ from the rows",
            rows=len(check.different),
            hint=hint,
        )
        for check in published
        if check.different
    ]


def infrastructure(run: Run, outcomes: Outcomes, sightings: Sightings) -> list[Finding]:
    hint = "rerun these rollouts; the headline is printed with and without them"
    return by_kind(run, outcomes, sightings, kind="infrastructure", cause="IR", hint=hint)


def verifier(run: Run, outcomes: Outcomes, sightings: Sightings) -> list[Finding]:
    hint = "repair the verifier or environment and score these rollouts again"
    return by_kind(run, outcomes, sightings, kind="verifier", cause="TI", hint=hint)


def by_kind(run: Run, outcomes: Outcomes, sightings: Sightings, *, kind: str, cause: str, hint: str) -> list[Finding]:
    out: list[Finding] = []
    for rule in RULES:
        seen = not_passed(sightings.seen[rule.code], outcomes)
        if rule.kind == kind and len(seen.rows):
            cited = [run.table.citation(*place) for place in zip(seen.rows.tolist(), seen.items.tolist(), strict=True)]
            message = f"{rule.title} in {count(len(seen.rows), 'rollout')} that did not pass"
            finding = Finding(
                code=rule.code,
                cause=cause,  # type: ignore[arg-type]
                message=message,
                rows=len(seen.rows),
                citations=cited[:MAX_LISTED],
                hint=hint,
            )
            out.append(finding)
    return out


def not_passed(seen: Seen, outcomes: Outcomes) -> Seen:
    keep = outcomes.success[seen.rows] != 1.0
    return Seen(seen.rows[keep], seen.items[keep])


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
