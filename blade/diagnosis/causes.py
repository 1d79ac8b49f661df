"""Why a task is not always passed, as far as rules can tell, with the proof.

Causes are tried in their fixed order, so that the model is blamed only for what data, infrastructure and verifier did
not do: each failing rollout is explained by the first cause that has grounds on it. The task's cause is the one that
explains most of its failures; two are named only when the second explains nearly as many. What nothing explains is
unreliable knowledge when the task sometimes passes and a knowledge gap when it never does; without a stable wrong
answer a gap is only suspected (`KG?`), and the task goes to the reading list.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.found import Found
from blade.diagnosis.labels import CAUSES, CONFIDENCES, Confidence, Label
from blade.diagnosis.readings import Answered
from blade.diagnosis.signals import RULES, Sightings
from blade.metrics import Outcomes, TaskResult
from blade.metrics.values import Ints
from blade.rollouts.table import RolloutTable

MOST_EVIDENCE = 3
LONGEST_ANSWER = 60
"""Longer answers are not repeated in a reason."""
NEARLY_ALL = 0.75
"""Share of a task's failures a cause must explain to be named with more than low confidence."""
MIXED = 0.4
"""Share of a task's failures the second cause must explain to be named too."""
NOT_DECISIVE = frozenset(
    {
        "tool_error",
        "tool_timeout",
        "anomalous_group",
        "mixed_config",
        "leaked_answer",
        "twin_tasks",
        "identical_duplicates",
        "conflicting_duplicates",
    }
)
"""Observations too far from the verdict to decide a cause: they are on passing rollouts as well."""
DESCRIPTIVE = frozenset({"wrong_action", "missing_action"})
"""What a failure consists of: it tells behaviour from a gap in knowledge, but not why a task passes only sometimes."""
CERTAIN = frozenset({"failed_rollout", "provider_error", "verifier_exception", "right_answer_failed", "verdict_flips"})
"""Grounds that say in so many words whose fault it was; a time-out may be a slow agent's."""
REST = "rest"
TITLES = {
    "right_answer_failed": "gave the expected answer, and failed",
    "verdict_flips": "gave an answer that passed in another attempt, and failed",
    "suspect_gold": "gave the one answer all runs agree on, and failed",
    "verdict_contradicts_reward": "the row's own verdict contradicts its reward",
    "conflicting_twins": "was asked exactly like another task that expects another answer",
    "constant_reward": "carries a score of the whole batch",
}
"""What a finding about a whole run says of one of its rollouts."""
MOSTLY_FAILING = 0.75
MORE_FAILING = 0.2
"""A behaviour explains failures if nearly all that show it fail, or clearly more than of those that do not."""


class Ground(NamedTuple):
    """Something on failing rollouts of a task that explains them."""

    code: str
    cause: str
    title: str
    places: dict[int, int]
    """Row -> item, -1 for none."""
    confidence: Confidence = "medium"
    """How sure it is that this explains a failure."""


class Verdict(NamedTuple):
    """What was decided about a task: the label without its quotes, and where its evidence is."""

    label: Label
    places: list[tuple[int, int]]
    """(row, item) of each piece of evidence."""


def decide_causes(
    results: list[TaskResult],
    table: RolloutTable,
    outcomes: Outcomes,
    sightings: Sightings,
    findings: list[Found],
    answers: list[Answered],
    family: Sequence[Ground] = (),
) -> list[Verdict]:
    """One verdict for every task that is not always passed; none when success is not defined.

    Grounds that hold for the benchmark's family come before those that hold for any.
    """
    if outcomes.is_continuous:
        return []
    telling = [ground for ground in all_grounds(sightings, findings) if separates(ground, outcomes)]
    grounds = grounds_by_task(table, outcomes, in_order([*family, *telling]))
    failing = rows_by_task(table, outcomes)
    said = answers_by_task(outcomes, answers)
    return [
        decide(result, failing.get(index, []), for_bucket(result, grounds.get(index, [])), said.get(index, {}))
        for index, result in enumerate(results)
        if result.bucket != "always"
    ]


def for_bucket(result: TaskResult, grounds: list[Ground]) -> list[Ground]:
    """The grounds that say something about a task, given whether it ever passes."""
    return [ground for ground in grounds if not (result.c and ground.code in DESCRIPTIVE)]


def all_grounds(sightings: Sightings, findings: list[Found]) -> list[Ground]:
    """Findings and signals that decide something; a finding that repeats a signal is left out."""
    signals = [Ground(rule.code, rule.cause, rule.title, as_places(*sightings.seen[rule.code])) for rule in RULES]
    known = {ground.code for ground in signals}
    others = [
        Ground(finding.code, finding.cause, TITLES.get(finding.code, finding.message), as_places(rows, None))
        for finding, rows in findings
        if finding.code not in known and len(rows)
    ]
    decisive = [ground for ground in [*others, *signals] if ground.code not in NOT_DECISIVE]
    return [ground._replace(confidence="high") if ground.code in CERTAIN else ground for ground in decisive]


def separates(ground: Ground, outcomes: Outcomes) -> bool:
    """Whether a behaviour goes with failing; what data, infrastructure and verifier did needs no such proof."""
    if ground.cause != "BI":
        return True
    shows = np.zeros(len(outcomes.success), dtype=np.bool_)
    shows[list(ground.places)] = True
    failed = outcomes.success != 1.0
    rate = float(failed[shows].mean()) if shows.any() else 0.0
    elsewhere = float(failed[~shows].mean()) if (~shows).any() else 1.0
    return rate >= MOSTLY_FAILING or rate >= elsewhere + MORE_FAILING


def in_order(grounds: list[Ground]) -> list[Ground]:
    """Grounds by the order in which causes are tried."""
    return sorted(grounds, key=lambda ground: order(ground.cause))


def as_places(rows: Ints, items: Ints | None) -> dict[int, int]:
    return dict(zip(rows.tolist(), [-1] * len(rows) if items is None else items.tolist(), strict=True))


def grounds_by_task(table: RolloutTable, outcomes: Outcomes, grounds: list[Ground]) -> dict[int, list[Ground]]:
    """For every task, what is on its failing rollouts."""
    out: dict[int, list[Ground]] = {}
    for ground in grounds:
        mine: dict[int, dict[int, int]] = {}
        for row, item in ground.places.items():
            if outcomes.success[row] != 1.0:
                mine.setdefault(int(table.task[row]), {})[row] = item
        for task, places in mine.items():
            out.setdefault(task, []).append(ground._replace(places=places))
    return out


def rows_by_task(table: RolloutTable, outcomes: Outcomes) -> dict[int, list[int]]:
    out: dict[int, list[int]] = {}
    for row in np.flatnonzero(outcomes.success != 1.0).tolist():
        out.setdefault(int(table.task[row]), []).append(row)
    return out


def answers_by_task(outcomes: Outcomes, answers: list[Answered]) -> dict[int, dict[int, Answered]]:
    """Task -> failing row -> its answer."""
    out: dict[int, dict[int, Answered]] = {}
    for answer in answers:
        if outcomes.success[answer.row] == 0.0:
            out.setdefault(int(outcomes.task[answer.row]), {})[answer.row] = answer
    return out


def decide(result: TaskResult, failing: list[int], grounds: list[Ground], said: dict[int, Answered]) -> Verdict:
    if not failing:
        # As in the run's health: what is missing was lost on the way.
        return verdict(result, "IR", "medium", "missing_rollouts", "no rollout of this task is there", [])
    shares = explain(failing, grounds)
    ranked = sorted(shares, key=lambda cause: (-len(shares[cause]), order(cause)))
    first = ranked[0]
    second = ranked[1] if len(ranked) > 1 and is_mixed(shares[ranked[1]], failing) else None
    if first == REST and not result.n:
        reason = f"none of its {len(failing)} rollouts has a score"
        return verdict(result, "DA", "medium", "unscored", reason, rest_places(shares[REST]))
    if first == REST:
        return unexplained(result, shares[REST], grounds, said, second)
    return explained(result, failing, shares[first], first, second, grounds)


def order(cause: str) -> int:
    return len(CAUSES) if cause == REST else list(CAUSES).index(cause)


def is_mixed(rows: list[int], failing: list[int]) -> bool:
    return len(rows) >= 2 and len(rows) >= MIXED * len(failing)


def explain(failing: list[int], grounds: list[Ground]) -> dict[str, list[int]]:
    """Each failing rollout under the first cause with grounds on it."""
    shares: dict[str, list[int]] = {}
    for row in failing:
        cause = next((ground.cause for ground in grounds if row in ground.places), REST)
        shares.setdefault(cause, []).append(row)
    return shares


def explained(
    result: TaskResult,
    failing: list[int],
    rows: list[int],
    cause: str,
    second: str | None,
    grounds: list[Ground],
) -> Verdict:
    """A cause with grounds; named with a second one when that explains nearly as many failures."""
    mine = [ground for ground in grounds if ground.cause == cause and set(ground.places) & set(rows)]
    widest = max(mine, key=lambda ground: len(set(ground.places) & set(rows)))
    explained = len(rows) / len(failing)
    by_share: Confidence = "high" if explained == 1.0 else "medium" if explained >= NEARLY_ALL else "low"
    confidence = min([by_share, *(ground.confidence for ground in mine)], key=CONFIDENCES.index)
    label = cause if second is None else mixed_label(cause, rest_cause(result) if second == REST else second)
    titles = ", ".join(dict.fromkeys(ground.title for ground in mine))
    reason = f"{len(rows)} of {len(failing)} failing rollouts: {titles}"
    places = [(row, ground.places[row]) for ground in mine for row in ground.places if row in rows]
    return verdict(result, label, confidence, widest.code, reason, places)


def mixed_label(first: str, second: str) -> str:
    return "+".join(sorted([first, second], key=order))


def rest_cause(result: TaskResult) -> str:
    """The cause of failures that nothing explains."""
    return "UK" if result.c else "KG"


def unexplained(
    result: TaskResult, rows: list[int], grounds: list[Ground], said: dict[int, Answered], second: str | None
) -> Verdict:
    """Nothing explains most failures: what the model does not know, or does not know reliably."""
    given = [said[row] for row in rows if row in said]
    stable = len({answer.plain for answer in given}) == 1 and len(given) >= 2
    seen = ", ".join(dict.fromkeys(ground.title for ground in grounds))
    also = f"; a few show: {seen}" if seen else ""
    if second is not None:
        label, reason = mixed_label(second, rest_cause(result)), f"no single cause explains its failures{also}"
        return verdict(result, label, "low", "mixed", reason, rest_places(rows))
    if result.c:
        clear = not grounds and result.n >= 3
        reason = f"passes {result.c} of {result.n}; nothing else separates its failures{also}"
        confidence: Confidence = "medium" if clear else "low"
        return verdict(result, "UK" if clear else "UK?", confidence, "sometimes", reason, rest_places(rows))
    if stable:
        reason = f"never passes and always gives one wrong answer{beside_expected(given[0])}{also}"
        return verdict(result, "KG", "medium", "stable_wrong_answer", reason, rest_places(rows))
    reason = f"never passes; no signal explains its failures{also}"
    return verdict(result, "KG?", "low", "never", reason, rest_places(rows))


def beside_expected(answer: Answered) -> str:
    """A short answer beside the expected one, where the row says both."""
    given, expected = (" ".join((text or "").split()) for text in (answer.given, answer.expected))
    short = given and expected and max(len(given), len(expected)) <= LONGEST_ANSWER
    return f", {given!r} where {expected!r} is expected" if short else ""


def rest_places(rows: list[int]) -> list[tuple[int, int]]:
    return [(row, -1) for row in rows]


def first_of_each(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first place in each row, in the order of time, and then the others."""
    rows: dict[int, list[int]] = {}
    for row, item in places:
        rows.setdefault(row, []).append(item)
    in_time = {row: sorted(items, key=lambda item: (item < 0, item)) for row, items in rows.items()}
    return [(row, items[0]) for row, items in in_time.items()] + [
        (row, item) for row, items in in_time.items() for item in items[1:] if item >= 0
    ]


def verdict(
    result: TaskResult, cause: str, confidence: Confidence, code: str, reason: str, places: list[tuple[int, int]]
) -> Verdict:
    chosen = first_of_each(dict.fromkeys(places))[:MOST_EVIDENCE]
    label = Label(task=result.task, cause=cause, confidence=confidence, author=f"rule:{code}", reason=reason)
    return Verdict(label, chosen)
