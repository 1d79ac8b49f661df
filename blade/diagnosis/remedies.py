"""What could be done about each failure mode, and what it would be worth at most.

A recommendation names the mode in its own words and the tool, field, test or limit it is about. A mode that only tells
where failures are is something to read, not something to do. Headroom is an upper bound: what the score would be if the
mode vanished and nothing else changed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import Action, Cause, Intervention, Mode
from blade.diagnosis.differences import Difference
from blade.diagnosis.found import Found
from blade.diagnosis.headroom import Headroom, at_least_nothing, headroom, within_reach, without_loss
from blade.diagnosis.rules import Rule
from blade.diagnosis.signals import RULES, Sightings, titled
from blade.metrics import Outcomes, TaskResult
from blade.metrics.intervals import estimate_mean
from blade.metrics.values import Floats, Ints
from blade.rollouts.columns import codes_in
from blade.rollouts.table import RolloutTable

MOST_CITED, MOST_SHOWN = 5, 4
LONGEST_SHOWN, LONGEST_RULE = 40, 320
"""Characters of a value and of a rule that a recommendation repeats."""


class Remedy(NamedTuple):
    """What removes a failure mode."""

    action: Action
    what: str
    cause: str = ""
    """Root cause it belongs to, when no signal tells."""


REPAIRS: dict[str, tuple[Action, str]] = {
    "failed_rollout": ("rerun", "rerun these rollouts, which ended before a verdict"),
    "provider_error": ("rerun", "rerun these rollouts, with retries and back-off"),
    "timeout": ("environment", "raise this limit or find what is slow, and rerun these rollouts"),
    "sandbox_fault": ("environment", "repair the sandbox, and rerun these rollouts"),
    "verifier_exception": ("verifier repair", "make the verifier survive these outputs, and score them again"),
    "verifier_unfinished": (
        "verifier repair",
        "find out whether the verifier or what it was given stopped it, and score again",
    ),
    "simulated_user_failure": ("environment", "repair the simulated user, and rerun these rollouts"),
    "environment_failure": ("environment", "repair the tools that failed, and rerun these rollouts"),
    "right_answer_failed": ("verifier repair", "accept answers that differ from the expected one in format only"),
    "extraction_missed": ("verifier repair", "extract the answer that these texts end on, and score them again"),
    "verdict_flips": ("verifier repair", "give one answer one verdict, and score these rollouts again"),
    "suspect_gold": ("data repair", "check the expected answers of these tasks"),
}
"""What to do about what is not the model's doing, behind what was seen."""

CAUSES_OF_SIGNALS = {rule.code: rule.cause for rule in RULES}
WRONG_VERDICTS = frozenset({"right_answer_failed", "extraction_missed", "verdict_flips", "suspect_gold"})


def faults(outcomes: Outcomes, sightings: Sightings, findings: Sequence[Found]) -> dict[str, Ints]:
    """What data, infrastructure and verifier did to rollouts, with all rows concerned, passing ones too."""
    modes: dict[str, Ints] = {}
    for code, seen in sightings.seen.items():
        if code in REPAIRS and (outcomes.success[seen.rows] != 1.0).any():
            modes[code] = seen.rows
    for found in findings:
        if found.finding.code in REPAIRS and found.finding.code not in modes and len(found.rows):
            modes[found.finding.code] = found.rows
    return modes


def repairs(
    outcomes: Outcomes, sightings: Sightings, findings: Sequence[Found], table: RolloutTable
) -> dict[str, Remedy]:
    """What to do about each fault, in the words of what was seen."""
    seen = {rule.code: titled(rule, failing_of(sightings.seen[rule.code].rows, outcomes), table) for rule in RULES}
    said = {**{found.finding.code: found.finding.message for found in findings}, **seen}
    return {
        code: Remedy(action, f"{sentence(said[code])}: {what}")
        for code, (action, what) in REPAIRS.items()
        if code in said
    }


def failing_of(rows: Ints, outcomes: Outcomes) -> Ints:
    return np.asarray(rows[outcomes.success[rows] != 1.0])


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


class Behind(NamedTuple):
    """What stands behind a mode."""

    rule: Rule | None
    """What is known of the rule that its calls break."""
    differences: list[Difference]
    """Those of its failing rollouts that it is made of."""
    talks: int
    """Failing rollouts in which a simulated user speaks."""
    alone: int
    """Failing rollouts that differ from what is expected in nothing else."""


def remedy_for(mode: Mode, behind: Behind) -> Remedy:
    """What to do about a mode: something specific where its kind allows it, else what to read."""
    action, cause, what = suggestion(mode, behind)
    where = "" if action == "reading" or not mode.passed else f", and {mode.passed} that passed"
    return Remedy(action, f"{sentence(mode.title)} ({counted(mode.failed, 'failing rollout')}{where}): {what}", cause)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def suggestion(mode: Mode, behind: Behind) -> tuple[Action, str, str]:
    """The kind of work, the root cause it belongs to, and what to do."""
    rule, differences = behind.rule, behind.differences
    part, _, name = mode.subject.partition(":")
    tool, _, argument = name.partition(".")
    read = f"read {' and '.join(f'`{cited}`' for cited in mode.citations[:2])}"
    match mode.kind, part:
        case "difference", "call_extra":
            guard = f"make `{tool}` enforce the rule, or have the agent check it before the call"
            return (
                ("environment", "BI", f"{guard}. {known_rule(rule)}")
                if rule and (rule.told or rule.apart)
                else ("reading", "BI", f"{read} for what the request lacked, then state it as a condition of `{tool}`")
            )
        case "difference", "call_missing":
            ends = Counter(one.closer for one in differences if one.own and one.closer).most_common(1)
            closer, times = ends[0] if ends else ("", 0)
            if 2 * times >= len(differences) > 0:
                return (
                    "agent loop",
                    "BI",
                    f"the agent called `{closer}` in place of {times} of these calls; "
                    f"make it try `{tool}` first, or say why the request is out of scope",
                )
            instead = f"; in place of {times} of these calls it called `{closer}`" if times else ""
            doubt = (
                "whether the user dropped the request or the agent refused it"
                if behind.talks
                else "what it did instead"
            )
            return "reading", "BI", f"{read} for {doubt}{instead}"
        case "difference", "argument":
            pair = usual_pair(differences)
            ground = f" {known_rule(rule)}" if rule and rule.told else ""
            if pair or ground:
                return "prompt", "BI", f"have the agent work out `{argument}` before it calls `{tool}`{pair}.{ground}"
            return "reading", "BI", f"{read} for where the agent took `{argument}` from"
        case "difference", "schema":
            return "agent loop", "BI", f"validate answers against the schema and send violations back{place_of(name)}"
        case "difference", "output_missing" if 2 * behind.alone < mode.failed:
            others = f"{mode.failed - behind.alone} of these rollouts went wrong before: {read} for what came first"
            return "reading", "BI", others
        case "difference", "output_missing":
            said = Counter(one.expected for one in differences if one.expected and len(one.expected) <= LONGEST_SHOWN)
            shown = ", ".join(f"`{text}`" for text, _ in said.most_common(MOST_SHOWN))
            return (
                "prompt",
                "BI",
                f"have the agent state every figure the task asks for{f' (left out: {shown})' if shown else ''}",
            )
        case (("tool_error" | "tool_says"), _) if mode.cause == "IR":
            return "rerun", "IR", "rerun these rollouts: other attempts got the same calls answered"
        case "tool_error", _ if mode.passed:  # that some came through is the sign that a better call helps
            what = f"`{mode.subject}`" if mode.subject else "the tool"
            return (
                "agent loop",
                "BI",
                f"make {what} say which argument to change, and have the agent correct the call before it goes on",
            )
        case "invalid_call", _:
            return (
                "agent loop",
                "BI",
                f"validate arguments of `{mode.subject}` before it runs, and return the violation",
            )
        case "repeated_call", _:
            return (
                "agent loop",
                "BI",
                f"when `{mode.subject}` is called again with the same arguments, say that the result is the same",
            )
        case ("difference", "no_call") | ("no_call", _):
            return "agent loop", "BI", "require a tool call before an answer is taken"
        case "ending", _ if mode.cause in ENDINGS:
            return ENDINGS[mode.cause or ""]
    return "reading", "", read


def known_rule(rule: Rule) -> str:
    """What is known of a rule, in sentences."""
    told = f"The prompt says (`{rule.at}`): “{shortened(rule.told)}”" if rule.told else ""
    return " ".join(filter(None, [f"{sentence(rule.apart)}." if rule.apart else "", told]))


def shortened(text: str) -> str:
    """The first sentences that fit; where not even one does, its first words."""
    if len(text) <= LONGEST_RULE:
        return text
    ends = [found.end() for found in re.finditer(r"[.!?](?= )", text[: LONGEST_RULE + 1])]
    return text[: ends[-1]] if ends else f"{text[:LONGEST_RULE].rsplit(' ', 1)[0]} …"


def usual_pair(differences: Sequence[Difference]) -> str:
    """The value that is given most often where another is expected, when both are short."""
    pairs = Counter((one.given, one.expected) for one in differences)
    (given, expected), times = pairs.most_common(1)[0] if pairs else ((None, None), 0)
    if not given or not expected or max(len(given), len(expected)) > LONGEST_SHOWN or 2 * times < sum(pairs.values()):
        return ""
    return f"; it passed `{given}` instead of `{expected}` in {times} of {sum(pairs.values())} calls"


def place_of(name: str) -> str:
    rule, _, place = name.partition(":")
    return f"; `{rule}` is broken at `{place or '$'}`" if rule != "not_json" else ""


ENDINGS: dict[str, tuple[Action, str, str]] = {
    "IR": ("rerun", "IR", "rerun these rollouts"),
    "TI": ("verifier repair", "TI", "repair the verifier, and score these rollouts again"),
    "BI": ("agent loop", "BI", "show the agent what is left of this limit, or raise it"),
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
        cause=remedy.cause or CAUSES_OF_SIGNALS.get(row.mode, "TI" if row.mode in REPAIRS else "?"),
        headroom=row.gain,
        tasks=row.tasks,
        rollouts=row.rollouts,
        unseen_tasks=row.unseen_tasks,
        citations=table.citations(failing[:MOST_CITED]),
        in_tasks=[table.tasks[task] for task in codes_in(table.task[failing]).tolist()],
    )


def repaired(outcomes: Outcomes, rows: Ints) -> Floats:
    """Per task: its score if these rows had passed."""
    scores = outcomes.scores.copy()
    scores[rows] = np.fmax(scores[rows], 1.0)
    return outcomes.totals(scores).mean


KNOWLEDGE: dict[str, tuple[Action, str]] = {
    "UK": ("rl", "Answers vary between right and wrong: train on tasks like these, or vote over several attempts"),
    "KG": ("sft", "The answer is not known: provide what these tasks ask for by retrieval, tools or training data"),
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
