"""What could be done about each failure mode, and what it would be worth at most.

A recommendation names the mode in its own words and the tool, field, test or limit it is about. A mode that only tells
where failures are is something to read, not something to do. Headroom is an upper bound: what the score would be if the
mode vanished and nothing else changed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import Action, Cause, Intervention, Mode
from blade.diagnosis.found import Found
from blade.diagnosis.headroom import Headroom, at_least_nothing, headroom, within_reach, without_loss
from blade.diagnosis.signals import RULES, Sightings
from blade.metrics import Outcomes, TaskResult
from blade.metrics.intervals import estimate_mean
from blade.metrics.values import Floats, Ints
from blade.rollouts.table import RolloutTable

MOST_CITED = 5


class Remedy(NamedTuple):
    """What removes a failure mode."""

    action: Action
    what: str
    cause: str = ""
    """Root cause it belongs to, when no signal tells."""


REMEDIES: dict[str, Remedy] = {
    "failed_rollout": Remedy("rerun", "rerun the rollouts that ended before a verdict"),
    "provider_error": Remedy("rerun", "rerun the rollouts the provider failed, with retries and back-off"),
    "timeout": Remedy("environment", "raise the time limit of container and evaluation, or find out what is slow"),
    "sandbox_fault": Remedy("environment", "repair the sandbox: memory, disk, containers"),
    "verifier_exception": Remedy("verifier repair", "make the verifier survive these outputs, and score them again"),
    "verifier_unfinished": Remedy("verifier repair", "let the verifier finish, and score these rollouts again"),
    "simulated_user_failure": Remedy("environment", "repair the simulated user"),
    "environment_failure": Remedy("environment", "repair the tools that failed"),
    "right_answer_failed": Remedy("verifier repair", "accept answers that differ from the expected one by format only"),
    "extraction_missed": Remedy("verifier repair", "take the answer that these texts end on"),
    "verdict_flips": Remedy("verifier repair", "make the verdict depend on the answer alone"),
    "suspect_gold": Remedy("data repair", "check the expected answers of these tasks"),
}
"""What to do about what is not the model's doing; it is about these rollouts, so it is specific by itself."""

CAUSES_OF_SIGNALS = {rule.code: rule.cause for rule in RULES}
WRONG_VERDICTS = frozenset({"right_answer_failed", "extraction_missed", "verdict_flips", "suspect_gold"})


def faults(outcomes: Outcomes, sightings: Sightings, findings: Sequence[Found]) -> dict[str, Ints]:
    """What data, infrastructure and verifier did to rollouts, with all rows concerned, passing ones too."""
    modes: dict[str, Ints] = {}
    for code, seen in sightings.seen.items():
        if code in REMEDIES and (outcomes.success[seen.rows] != 1.0).any():
            modes[code] = seen.rows
    for found in findings:
        if found.finding.code in REMEDIES and found.finding.code not in modes and len(found.rows):
            modes[found.finding.code] = found.rows
    return modes


def remedy_for(mode: Mode) -> Remedy:
    """What to do about a mode: something specific by its kind, else to read it."""
    action, cause, what = suggestion(mode)
    return Remedy(action, f"{mode.title}: {what}", cause)


def suggestion(mode: Mode) -> tuple[Action, str, str]:
    """The kind of work, the root cause it belongs to, and what to do."""
    part, _, name = mode.subject.partition(":")
    tool, _, argument = name.partition(".")
    match mode.kind, part:
        case "difference", "call_extra":
            return "prompt", "BI", f"say when `{tool}` may be called, and check that before the call"
        case "difference", "call_missing":
            return "agent loop", "BI", f"do not end before `{tool}` was called where the request asks for it"
        case "difference", "argument":
            return "prompt", "BI", f"check `{argument}` against request and records before `{tool}` is called"
        case "difference", "schema":
            return "prompt", "BI", "show the schema, and validate the answer before it is sent"
        case "difference", "output_missing":
            return "prompt", "BI", "have the agent say every figure it was asked for"
        case "tool_error", _:
            return "agent loop", "BI", f"have the agent deal with this answer of `{mode.subject}` before it goes on"
        case "invalid_call" | "repeated_call" | "no_call", _:
            return "agent loop", "BI", "check calls before they are made, and send the fault back"
        case "test", _:
            return "sft", "", f"add cases for what `{mode.subject}` checks"
        case "ending", _:
            return ENDINGS.get(mode.cause or "", ("reading", "", "find out whose error it was"))
    return "reading", "", "read what stands behind it"


ENDINGS: dict[str, tuple[Action, str, str]] = {
    "IR": ("rerun", "IR", "rerun these rollouts"),
    "TI": ("verifier repair", "TI", "repair the verifier, and score these rollouts again"),
    "BI": ("agent loop", "BI", "raise this limit, or have the agent use less of it"),
}


def recommend(
    table: RolloutTable,
    outcomes: Outcomes,
    rows: Sequence[Headroom],
    places: Mapping[str, Ints],
    remedies: Mapping[str, Remedy],
) -> list[Intervention]:
    """One remedy per fault and mode, with what it would be worth; `places` are their rows."""
    return [intervene(table, outcomes, row, places[row.mode], remedies[row.mode]) for row in rows if row.mode in places]


def intervene(table: RolloutTable, outcomes: Outcomes, row: Headroom, rows: Ints, remedy: Remedy) -> Intervention:
    """One mode's remedy. A wrong verdict is repaired by passing its rows, everything else by being rid of them."""
    if row.mode in WRONG_VERDICTS:
        row = without_loss(headroom(row.mode, outcomes, repaired(outcomes, rows), rollouts=row.rollouts))
    failing = rows[outcomes.success[rows] != 1.0]
    return Intervention(
        action=remedy.action,
        target=row.mode,
        what=remedy.what,
        cause=remedy.cause or CAUSES_OF_SIGNALS.get(row.mode, "TI" if row.mode in REMEDIES else "?"),
        headroom=row.gain,
        tasks=row.tasks,
        rollouts=row.rollouts,
        unseen_tasks=row.unseen_tasks,
        citations=table.citations(failing[:MOST_CITED]),
        in_tasks=[table.tasks[task] for task in np.unique(table.task[failing]).tolist()],
    )


def repaired(outcomes: Outcomes, rows: Ints) -> Floats:
    """Per task: its score if these rows had passed."""
    scores = outcomes.scores.copy()
    scores[rows] = np.fmax(scores[rows], 1.0)
    return outcomes.totals(scores).mean


KNOWLEDGE: dict[str, tuple[Action, str]] = {
    "UK": ("rl", "train on these tasks, whose attempts give right and wrong answers of one form"),
    "KG": ("sft", "teach or provide what these tasks ask for"),
}
GAIN = "mean over tasks of (1 − success rate) on the tasks with this label, 0 on all others"


def knowledge_interventions(results: list[TaskResult], causes: list[Cause]) -> list[Intervention]:
    """What it would be worth to pass always the tasks that labels call unreliable or unknown."""
    return [knowledge(code, results, causes) for code in KNOWLEDGE if any(code in cause.label for cause in causes)]


def knowledge(code: str, results: list[TaskResult], causes: list[Cause]) -> Intervention:
    mine = {cause.task: cause for cause in causes if code in cause.label}
    scored = [result for result in results if result.rate is not None]
    gains = np.array([1.0 - (result.rate or 0.0) if result.task in mine else 0.0 for result in scored])
    gain = within_reach(estimate_mean(gains, definition=GAIN), np.array([r.rate or 0.0 for r in scored]))
    cited = [evidence.citation for cause in mine.values() for evidence in cause.evidence[:1]]
    action, what = KNOWLEDGE[code]
    return Intervention(
        action=action,
        target=code,
        what=what,
        cause=code,
        headroom=at_least_nothing(gain),
        tasks=int((gains > 0).sum()),
        rollouts=sum(result.n - result.c for result in scored if result.task in mine),
        citations=cited[:MOST_CITED],
        in_tasks=list(mine),
    )


def ranked(interventions: list[Intervention]) -> list[Intervention]:
    """What can be done before what should be read, most headroom first; those without any are left out."""
    worth = [i for i in interventions if (i.headroom.value or 0.0) > 0 or i.unseen_tasks]
    return sorted(worth, key=lambda i: (i.action == "reading", -(i.headroom.value or 0.0), -i.unseen_tasks, i.target))


def rejudged(interventions: list[Intervention], results: list[TaskResult], causes: list[Cause]) -> list[Intervention]:
    """The same list after labels have changed."""
    modes = [intervention for intervention in interventions if intervention.target not in KNOWLEDGE]
    return ranked([*modes, *knowledge_interventions(results, causes)])
