"""What could be done about each failure mode, and what it would be worth: the map from causes to work.

Headroom is an upper bound by construction: it says what the score would be if the mode vanished and nothing else
changed.
"""

from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import Action, Cause, Intervention
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
    "timeout": Remedy("environment", "raise the time limit, or find out what is slow"),
    "sandbox_fault": Remedy("environment", "repair the sandbox: memory, disk, containers"),
    "verifier_exception": Remedy("verifier repair", "make the verifier survive these outputs, and score them again"),
    "verifier_unfinished": Remedy("verifier repair", "let the verifier finish, and score these rollouts again"),
    "simulated_user_failure": Remedy("environment", "repair the simulated user"),
    "user_off_script": Remedy("environment", "hold the simulated user to its script, or make the script plainer"),
    "environment_failure": Remedy("environment", "repair the tools that failed"),
    "right_answer_failed": Remedy("verifier repair", "accept answers that differ from the expected one by format only"),
    "verdict_flips": Remedy("verifier repair", "make the verdict depend on the answer alone"),
    "suspect_gold": Remedy("data repair", "check the expected answers of these tasks"),
    "truncated": Remedy("agent loop", "raise the token or turn limit, or make the agent shorter"),
    "context_overflow": Remedy("agent loop", "compact the context before it overflows"),
    "empty_output": Remedy("agent loop", "ask again when nothing comes back"),
    "refusal": Remedy("prompt", "say why the request is legitimate, or train away the refusal"),
    "unparsable_answer": Remedy("prompt", "state the answer format, and show it once"),
    "repeated_tool_call": Remedy("agent loop", "stop identical calls and tell the model so"),
    "ignored_tool_error": Remedy("agent loop", "make the model read a tool error before it answers"),
    "fenced_answer": Remedy("prompt", "ask for the bare data, or let the verifier take off the fence"),
    "invalid_arguments": Remedy("agent loop", "check calls against the tool's schema, and send the fault back"),
    "wrong_action": Remedy("rl", "train the model to check a change against the request before it makes it"),
    "missing_action": Remedy("rl", "train the model to do all that is asked before it stops"),
    "no_tool_call": Remedy("prompt", "tell the model to use its tools"),
    "stopped_early": Remedy("agent loop", "do not end before there is an answer"),
    "no_patch": Remedy("agent loop", "check that a patch exists and applies before finishing"),
}


MODE_CAUSES = {rule.code: rule.cause for rule in RULES}
WRONG_VERDICTS = frozenset({"right_answer_failed", "verdict_flips", "suspect_gold"})


def failure_modes(outcomes: Outcomes, sightings: Sightings, findings: list[Found]) -> dict[str, Ints]:
    """Every mode with a remedy that a failing rollout carries, and all rollouts that carry it, passing ones too."""
    modes: dict[str, Ints] = {}
    for code, seen in sightings.seen.items():
        if code in REMEDIES and (outcomes.success[seen.rows] != 1.0).any():
            modes[code] = seen.rows
    for found in findings:
        if found.finding.code in REMEDIES and found.finding.code not in modes and len(found.rows):
            modes[found.finding.code] = found.rows
    return modes


def mode_interventions(
    table: RolloutTable,
    outcomes: Outcomes,
    modes: dict[str, Ints],
    rows: list[Headroom],
    remedies: dict[str, Remedy],
) -> list[Intervention]:
    """One remedy per failure mode; a pack's own remedies come with its modes."""
    known = {**REMEDIES, **remedies}
    return [intervene(table, outcomes, row, modes[row.mode], known[row.mode]) for row in rows if row.mode in modes]


def intervene(table: RolloutTable, outcomes: Outcomes, row: Headroom, rows: Ints, remedy: Remedy) -> Intervention:
    """One mode's remedy. A wrong verdict is repaired by passing its rows, everything else by being rid of them."""
    if row.mode in WRONG_VERDICTS:
        row = without_loss(headroom(row.mode, outcomes, repaired(outcomes, rows), rollouts=row.rollouts))
    return Intervention(
        action=remedy.action,
        target=row.mode,
        what=remedy.what,
        cause=remedy.cause or MODE_CAUSES.get(row.mode, "TI"),
        headroom=row.gain,
        tasks=row.tasks,
        rollouts=row.rollouts,
        unseen_tasks=row.unseen_tasks,
        citations=table.citations(rows[outcomes.success[rows] != 1.0][:MOST_CITED]),
    )


def repaired(outcomes: Outcomes, rows: Ints) -> Floats:
    """Per task: its score if these rows had passed."""
    scores = outcomes.scores.copy()
    scores[rows] = np.fmax(scores[rows], 1.0)
    return outcomes.totals(scores).mean


KNOWLEDGE: dict[str, Remedy] = {
    "UK": Remedy("rl", "make the model do every time what it does sometimes"),
    "KG": Remedy("sft", "teach or provide what the model does not know"),
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
    return Intervention(
        action=KNOWLEDGE[code].action,
        target=code,
        what=KNOWLEDGE[code].what,
        cause=code,
        headroom=at_least_nothing(gain),
        tasks=int((gains > 0).sum()),
        rollouts=sum(result.n - result.c for result in scored if result.task in mine),
        citations=cited[:MOST_CITED],
    )


def ranked(interventions: list[Intervention]) -> list[Intervention]:
    """Most headroom first; those without any are left out."""
    worth = [i for i in interventions if (i.headroom.value or 0.0) > 0 or i.unseen_tasks]
    return sorted(worth, key=lambda i: (-(i.headroom.value or 0.0), -i.unseen_tasks, i.target))


def rejudged(interventions: list[Intervention], results: list[TaskResult], causes: list[Cause]) -> list[Intervention]:
    """The same list after labels have changed."""
    modes = [intervention for intervention in interventions if intervention.target not in KNOWLEDGE]
    return ranked([*modes, *knowledge_interventions(results, causes)])
