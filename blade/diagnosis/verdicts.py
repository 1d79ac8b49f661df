"""Verdicts that cannot be right: the verifier, not the model, is at fault.

The same answer to the same task rewarded differently; an answer equal to the expected one scored as a failure; a task
that hardly any attempt passes although most attempts of every run agree on one answer.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.answers import Answered, form_of, same_answer
from blade.diagnosis.differences import Difference
from blade.diagnosis.found import Found, about_rows, count, say
from blade.diagnosis.noting import Noted
from blade.metrics import Outcomes
from blade.rollouts import Run

FEWEST_AGREEING = 3
"""Attempts, over all runs, that must agree on an answer before the expected one is doubted."""
EXACT = frozenset({"a number", "a letter"})
"""Forms in which there is one way to say a thing."""
RARELY = 0.2
"""Attempts that may pass all the same: a wrong expected answer is sometimes somebody's own error too."""


class Rival(NamedTuple):
    """Another run on the same tasks."""

    run: Run
    outcomes: Outcomes
    answers: list[Answered]


def verdict_findings(run: Run, outcomes: Outcomes, noted: Noted, others: Sequence[Rival] = ()) -> list[Found]:
    """Everything of this kind; `others` are runs on the same tasks."""
    if outcomes.is_continuous:
        return []
    return [
        *flipped(run, outcomes, noted.answers),
        *right_but_failed(run, outcomes, noted.answers),
        *missed_answers(run, outcomes, noted.differences),
        *suspect_gold(run, outcomes, noted.answers, others),
    ]


def flipped(run: Run, outcomes: Outcomes, answers: list[Answered]) -> list[Found]:
    """Rows without a tool call whose very answer got the other verdict in other attempts at the task."""
    groups: dict[tuple[int, str], list[Answered]] = {}
    calls = run.table.rows.fact("tool_calls")  # an agent is judged by what its calls led to: "Done." may be true or not
    for answer in answers:
        if calls[answer.row] <= 0:
            groups.setdefault((int(outcomes.task[answer.row]), answer.plain), []).append(answer)
    odd = [answer for group in groups.values() for answer in odd_verdicts(outcomes, group)]
    failed = [answer for answer in odd if outcomes.success[answer.row] == 0.0]
    passed = [answer for answer in odd if outcomes.success[answer.row] == 1.0]
    hint = "make the verifier deterministic, or vote over several judgements"
    return [
        *finding(run, "verdict_flips", "gave an answer that passed in another attempt, and failed", failed, hint),
        *finding(run, "wrong_answer_passed", "gave an answer that failed elsewhere, and passed", passed, hint),
    ]


def odd_verdicts(outcomes: Outcomes, group: list[Answered]) -> list[Answered]:
    """Of rows with one answer, those whose verdict is the wrong one: the expected answer decides where it can, else the
    majority."""
    failed = [answer for answer in group if outcomes.success[answer.row] == 0.0]
    passed = [answer for answer in group if outcomes.success[answer.row] == 1.0]
    if not failed or not passed:
        return []
    if any(is_expected(answer) for answer in group):
        return failed
    if all(is_another(answer) for answer in group):
        return passed
    if len(failed) != len(passed):
        return min(failed, passed, key=len)
    # As many of either: an answer that is known not to be the expected one should not have passed.
    return failed if group[0].expected is None else passed


def is_expected(answer: Answered) -> bool:
    return answer.expected is not None and same_answer(answer.given, answer.expected)


def is_another(answer: Answered) -> bool:
    """Whether an answer and the expected one are of forms so plain that they cannot mean the same."""
    return answer.expected is not None and {form_of(answer.given), form_of(answer.expected)} <= EXACT


def right_but_failed(run: Run, outcomes: Outcomes, answers: list[Answered]) -> list[Found]:
    """Failing rows whose answer is the expected one."""
    wrong = [answer for answer in answers if outcomes.success[answer.row] == 0.0 and is_expected(answer)]
    hint = "loosen the comparison: these differ from the expected answer by format only"
    return finding(run, "right_answer_failed", "gave the expected answer, and failed", wrong, hint)


def missed_answers(run: Run, outcomes: Outcomes, differences: Mapping[int, Sequence[Difference]]) -> list[Found]:
    """Failing rows whose text ends on the expected answer, while the verifier took another one from it, or none."""
    missed = {
        row: -1 if difference.item is None else difference.item
        for row, found in differences.items()
        for difference in found
        if difference.key == "answer:extraction_missed" and outcomes.success[row] == 0.0
    }
    if not missed:
        return []
    message = (
        f"{count(len(missed), 'rollout')} ended on the expected answer, which the verifier did not take from the text"
    )
    finding = say("extraction_missed", "TI", message, "repair the extraction, and score these rollouts again")
    rows = np.asarray(sorted(missed), dtype=np.int64)
    return [about_rows(run.table, finding, rows, items=np.asarray([missed[row] for row in rows.tolist()]))]


def suspect_gold(run: Run, outcomes: Outcomes, answers: list[Answered], others: Sequence[Rival]) -> list[Found]:
    """Tasks that hardly ever pass while most attempts of every run give one and the same answer."""
    mine = given_answers(run, outcomes, answers)
    if not mine or not others:
        return []
    rivals = [given_answers(*other) for other in others]
    agreed = {task: agreed_answer([given, *(rival.get(task) for rival in rivals)]) for task, given in mine.items()}
    failed = [answer for answer in answers if outcomes.success[answer.row] == 0.0]
    wrong = [answer for answer in failed if agreed[run.table.tasks[int(outcomes.task[answer.row])]] == answer.plain]
    hint = "check the expected answer of these tasks"
    return finding(run, "suspect_gold", "gave the one answer all runs agree on, and failed", wrong, hint)


class Given(NamedTuple):
    """How often each answer to a task failed, and how many attempts passed."""

    failed: Counter[str]
    passed: int


def given_answers(run: Run, outcomes: Outcomes, answers: list[Answered]) -> dict[str, Given]:
    """What was answered, by task."""
    failed: dict[int, Counter[str]] = {}
    for answer in answers:
        if outcomes.success[answer.row] == 0.0:
            failed.setdefault(int(outcomes.task[answer.row]), Counter())[answer.plain] += 1
    passed = np.bincount(outcomes.task[outcomes.success == 1.0], minlength=len(outcomes.tasks))
    return {run.table.tasks[task]: Given(counts, int(passed[task])) for task, counts in failed.items()}


def leading_answer(given: Given | None) -> str | None:
    """The failing answer given more often than any other, and than attempts passed; `None` when none leads."""
    if given is None:
        return None
    (answer, most), *rest = given.failed.most_common(2)
    second = max([given.passed, *(count for _, count in rest)])
    return answer if most > second else None


def agreed_answer(attempts: Sequence[Given | None]) -> str | None:
    """The failing answer that leads in every run, most attempts of all gave, and hardly a pass contradicts."""
    answers = {leading_answer(given) for given in attempts}
    known = [given for given in attempts if given is not None]
    if len(answers) > 1 or None in answers:
        return None
    answer = next(iter(answers))
    assert answer is not None
    support, passed = sum(given.failed[answer] for given in known), sum(given.passed for given in known)
    total = passed + sum(given.failed.total() for given in known)
    is_agreed = support >= FEWEST_AGREEING and 2 * support > total and passed <= RARELY * total
    return answer if is_agreed else None


def finding(run: Run, code: str, what: str, wrong: list[Answered], hint: str) -> list[Found]:
    if not wrong:
        return []
    ordered = sorted(wrong, key=lambda answer: answer.row)
    shown = " ".join(ordered[0].given.split())[:80]
    message = f"{count(len(ordered), 'rollout')} {what}, for example {shown!r}"
    rows = np.asarray([answer.row for answer in ordered], dtype=np.int64)
    return [about_rows(run.table, say(code, "TI", message, hint), rows)]
