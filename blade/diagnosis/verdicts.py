"""Verdicts that cannot be right: the verifier, not the model, is at fault.

The same answer to the same task rewarded differently; an answer equal to the expected one scored as a failure; a task
that no run solves although different runs agree on one answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.answers import normalize, read_answers, same_answer
from blade.diagnosis.budget import within_budget
from blade.diagnosis.found import Found, about_rows, say
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Run

MOST_ROLLOUTS = 5000


class Answered(NamedTuple):
    """What a row answered, in full and without harmless differences."""

    row: int
    given: str
    plain: str
    expected: str | None


def read_all(run: Run, rows: Ints) -> list[Answered]:
    """Answers of some rows, those without one left out."""
    found = read_answers(run, within_budget(run.table, rows, most=MOST_ROLLOUTS).tolist())
    return [
        Answered(row, given, normalize(given), expected) for row, given, expected in found if given and given.strip()
    ]


def verdict_findings(
    run: Run, outcomes: Outcomes, answers: list[Answered], others: Sequence[tuple[Run, Outcomes]] = ()
) -> list[Found]:
    """Everything of this kind; `others` are runs on the same tasks."""
    if outcomes.is_continuous:
        return []
    return [
        *flipped(run, outcomes, answers),
        *right_but_failed(run, outcomes, answers),
        *suspect_gold(run, outcomes, answers, others),
    ]


def scored_rows(outcomes: Outcomes) -> Ints:
    """Failing rows, and passing rows of the same tasks: nothing else can be wrong in these ways."""
    failed = np.zeros(len(outcomes.tasks), dtype=bool)
    failed[outcomes.task[outcomes.success == 0.0]] = True
    return np.flatnonzero(failed[outcomes.task] & ~np.isnan(outcomes.success))


def flipped(run: Run, outcomes: Outcomes, answers: list[Answered]) -> list[Found]:
    """Failing rows whose very answer passed in another attempt at the task."""
    passed = {(int(outcomes.task[a.row]), a.plain) for a in answers if outcomes.success[a.row] == 1.0}
    wrong = [a for a in answers if outcomes.success[a.row] == 0.0 and (int(outcomes.task[a.row]), a.plain) in passed]
    hint = "make the verifier deterministic, or vote over several judgements"
    return finding(run, "verdict_flips", "gave an answer that passed in another attempt, and failed", wrong, hint)


def right_but_failed(run: Run, outcomes: Outcomes, answers: list[Answered]) -> list[Found]:
    """Failing rows whose answer is the expected one."""
    wrong = [
        a
        for a in answers
        if outcomes.success[a.row] == 0.0 and a.expected is not None and same_answer(a.given, a.expected)
    ]
    hint = "loosen the comparison: these differ from the expected answer by format only"
    return finding(run, "right_answer_failed", "gave the expected answer, and failed", wrong, hint)


def suspect_gold(
    run: Run, outcomes: Outcomes, answers: list[Answered], others: Sequence[tuple[Run, Outcomes]]
) -> list[Found]:
    """Tasks no run solves while every run gives one and the same answer."""
    mine = lone_answers(run, outcomes, answers)
    if not mine or not others:
        return []
    rivals = [lone_answers(other, theirs, read_all(other, scored_rows(theirs))) for other, theirs in others]
    agreed = {task for task, answer in mine.items() if all(rival.get(task) == answer for rival in rivals)}
    wrong = [a for a in answers if run.table.tasks[int(outcomes.task[a.row])] in agreed]
    hint = "check the expected answer of these tasks"
    return finding(run, "suspect_gold", "gave the one answer all runs agree on, and failed", wrong, hint)


def lone_answers(run: Run, outcomes: Outcomes, answers: list[Answered]) -> dict[str, str]:
    """Tasks without a pass whose attempts all gave one answer."""
    passed = set(outcomes.task[outcomes.success == 1.0].tolist())
    given: dict[int, set[str]] = {}
    for answer in answers:
        given.setdefault(int(outcomes.task[answer.row]), set()).add(answer.plain)
    return {run.table.tasks[t]: next(iter(s)) for t, s in given.items() if len(s) == 1 and t not in passed}


def finding(run: Run, code: str, what: str, wrong: list[Answered], hint: str) -> list[Found]:
    if not wrong:
        return []
    ordered = sorted(wrong, key=lambda answer: answer.row)
    shown = " ".join(ordered[0].given.split())[:80]
    message = f"{len(ordered)} rollouts {what}, for example {shown!r}"
    rows = np.asarray([answer.row for answer in ordered], dtype=np.int64)
    return [about_rows(run.table, say(code, "TI", message, hint), rows)]
