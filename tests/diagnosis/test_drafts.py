from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, call, message, result, rollout, without, write_rows

from blade.diagnosis import Analysis, Label, draft_labels
from blade.diagnosis.analysis import Cause

KILLED: Row = {"response": {"id": "x-killed"}}
VERIFIER: Row = {"judge_error": "no reply"}


def attempts(*fields: dict[str, Any] | None, task: str = "t") -> list[Row]:
    """Attempts at one task: `None` passes, anything else fails with these fields."""
    return [rollout(task, n, float(f is None), **(f or {})) for n, f in enumerate(fields)]


def cause(folder: Path, rows: list[Row]) -> Cause:
    """The cause of the one task that is not always passed."""
    [found] = analyze_rows(folder, rows).causes
    return found


def labelled(analysis: Analysis) -> dict[str, str]:
    return {cause.task: cause.label for cause in analysis.causes}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(KILLED | VERIFIER, "IR", id="infrastructure_before_all"),
        pytest.param(VERIFIER, "TI", id="verifier_before_behaviour"),
        pytest.param({}, "?", id="nothing_proven"),
        pytest.param({"agent_timed_out": True}, "?", id="a_time_out_may_be_a_slow_agents"),
        pytest.param({"truncated": True}, "?", id="a_limit_may_be_too_tight"),
    ],
)
def test_a_label_is_a_proof(tmp_path: Path, fields: dict[str, Any], expected: str) -> None:
    assert cause(tmp_path, attempts(fields, fields)).label == expected


def test_a_failure_the_runner_admits_is_certain(tmp_path: Path) -> None:
    found = cause(tmp_path, attempts(None, KILLED, KILLED))
    assert (found.label, found.confidence, found.author) == ("IR", "high", "rule:failed_rollout")


def test_a_proof_of_few_failures_decides_nothing(tmp_path: Path) -> None:
    found = cause(tmp_path, attempts(None, VERIFIER, {}, {}))
    assert (found.label, found.author) == ("?", "rule:undecided")
    assert found.reason == "passed 1 of 4; 1 of 3 failing rollouts: verifier or judge raised an error (`no reply`)"


def test_a_task_that_always_passes_has_no_label(tmp_path: Path) -> None:
    rows = [*attempts(None, None, task="good"), *attempts({}, {}, task="poor")]
    assert list(labelled(analyze_rows(tmp_path, rows))) == ["poor"]


def test_an_undecided_task_says_what_tasks_like_it_turned_out_to_be(tmp_path: Path) -> None:
    sometimes, never = cause(tmp_path / "a", attempts(None, {})), cause(tmp_path / "b", attempts({}, {}))
    assert [(found.label, found.probability) for found in sometimes.candidates] == [("UK", 0.5), ("BI", 0.5)]
    assert [(found.label, found.probability) for found in never.candidates] == [("KG", 0.6), ("BI", 0.4)]


def test_without_a_trajectory_there_is_no_cause_and_no_guess(tmp_path: Path) -> None:
    rows: list[Row] = [{"task_id": "t", "trial": n, "score": 0.0, "question": "?"} for n in range(3)]
    found = cause(tmp_path, rows)
    assert (found.label, found.candidates) == ("?", [])
    assert found.reason == "passed 0 of 3; nothing in its rows proves why"


def answered(*given: str, expected: str = "Paris") -> list[Row]:
    """Attempts at one task with the answer each gave; the verifier says both."""
    return [
        rollout(
            "t", n, float(text == expected), output=[message(text)], extracted_answer=text, expected_answer=expected
        )
        for n, text in enumerate(given)
    ]


def test_one_plain_wrong_answer_every_time_is_a_gap(tmp_path: Path) -> None:
    found = cause(tmp_path, answered("Rome", "Rome", "Rome"))
    assert (found.label, found.author) == ("KG", "rule:stable_wrong_answer")
    assert "'Rome' where 'Paris' is expected" in found.reason


def test_wrong_answers_that_differ_or_are_too_few_prove_no_gap(tmp_path: Path) -> None:
    assert cause(tmp_path / "a", answered("Rome", "Rome", "Oslo")).label == "?"
    assert cause(tmp_path / "b", answered("Rome", "Rome")).label == "?"


def test_right_and_wrong_answers_of_one_form_are_probably_unreliable_knowledge(tmp_path: Path) -> None:
    found = cause(tmp_path, answered("Paris", "Rome", "Paris"))
    assert (found.label, found.candidates[0].label) == ("?", "UK")


def test_the_expected_answer_marked_wrong_is_the_verifiers_doing(tmp_path: Path) -> None:
    rows = [rollout("t", n, 0.0, output=[message("4")], extracted_answer="4.0", expected_answer="4") for n in range(2)]
    assert cause(tmp_path, rows).label == "TI"


def test_a_tool_error_alone_decides_nothing(tmp_path: Path) -> None:
    output = [call(), result("Error: no"), call("b"), result("yes"), message("done")]
    rows = [rollout("t", n, float(n == 0), output=[*output, message(f"say {n}")]) for n in range(2)]
    assert cause(tmp_path, rows).label == "?"


def test_a_missing_task_was_lost_and_of_an_unscored_one_nothing_is_proven(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", [rollout(n, 0) for n in range(3)])
    analysis = analyze_rows(tmp_path, [rollout(0, 0, 1.0), without(rollout(1, 0), "reward")])
    assert labelled(analysis) == {"1": "?", "2": "IR"}
    assert [cause.reason for cause in analysis.causes] == [
        "its only rollout has no score",
        "no rollout of this task is there",
    ]


def test_an_unscored_failure_of_infrastructure_stays_infrastructures(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(1, 0, _ng_failure_class="kill_shaped")])
    assert labelled(analyze_rows(tmp_path, [rollout(0, 0, 1.0)])) == {"1": "IR"}


def test_without_a_notion_of_success_there_is_nothing_to_explain(tmp_path: Path) -> None:
    assert analyze_rows(tmp_path, [rollout(n, 0, n / 3) for n in range(3)]).causes == []


def trial(task: int, repeat: int, *, made: list[Row], expected: list[Row], user: bool) -> Row:
    """A tau-bench trial: what the task expects, what the agent called, with or without a simulated user."""
    turns: list[Row] = [{"role": "system", "content": "policy"}, {"role": "user", "content": f"please, {task}"}]
    for number, one in enumerate(made):
        called = {"id": f"c{number}", "type": "function", "function": {"name": one["name"], "arguments": "{}"}}
        turns.append({"role": "assistant", "content": None, "tool_calls": [called]})
        turns.append({"role": "tool", "tool_call_id": f"c{number}", "name": one["name"], "content": "{}"})
    turns.append({"role": "assistant", "content": f"Done, {repeat}."})
    if user:
        turns.append({"role": "user", "content": "Thanks."})
    reward = float([one["name"] for one in made] == [one["name"] for one in expected])
    info = {"task": {"actions": expected, "outputs": []}}
    return {"task_id": task, "trial": repeat, "reward": reward, "info": info, "traj": turns}


CANCEL: Row = {"name": "cancel", "kwargs": {}}


def trials(*, user: bool, expected: list[Row], made: list[Row]) -> list[Row]:
    """A run in which one task goes wrong in every attempt, beside tasks that expect a change and make it."""
    good = [trial(9 + n, r, made=[CANCEL], expected=[CANCEL], user=user) for n in range(3) for r in range(2)]
    return [*good, *(trial(1, r, made=made, expected=expected, user=user) for r in range(3))]


def test_the_same_wrong_change_in_every_failing_attempt_is_the_agents_doing(tmp_path: Path) -> None:
    passing = trial(1, 9, made=[], expected=[], user=True)
    found = cause(tmp_path, [*trials(user=True, expected=[], made=[CANCEL]), passing])
    assert (found.label, found.author) == ("BI", "rule:wrong_change")
    assert found.reason == "3 of 3 failing rollouts: `cancel` was called though not expected"
    assert [evidence.citation for evidence in found.evidence] == ["1:0#2", "1:1#2", "1:2#2"]


def test_a_wrong_change_that_no_attempt_avoids_may_be_what_the_task_asks_for(tmp_path: Path) -> None:
    assert cause(tmp_path, trials(user=True, expected=[], made=[CANCEL])).label == "?"


def test_an_agent_that_makes_every_change_and_leaves_something_unsaid_is_to_blame(tmp_path: Path) -> None:
    rows = trials(user=True, expected=[CANCEL], made=[CANCEL])
    for row in rows[-3:]:
        row |= {"reward": 0.0, "info": {"task": {"actions": [CANCEL], "outputs": ["42"]}}}
    found = cause(tmp_path, rows)
    assert (found.label, found.reason) == (
        "BI", "3 of 3 failing rollouts: every change is as expected, and '42' was not said"
    )  # fmt: skip


def test_a_simulated_user_may_have_asked_for_something_else(tmp_path: Path) -> None:
    found = cause(tmp_path, trials(user=True, expected=[CANCEL], made=[]))
    assert (found.label, [one.label for one in found.candidates]) == ("?", ["BI", "TI", "IR"])
    assert found.reason == "passed 0 of 3; `cancel` was expected and not called in 3 of 3"


def test_without_a_user_what_was_left_out_is_the_agents_doing(tmp_path: Path) -> None:
    found = cause(tmp_path, trials(user=False, expected=[CANCEL], made=[]))
    assert (found.label, found.confidence) == ("BI", "high")


def test_the_labels_of_an_analysis_are_its_causes(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, attempts(None, VERIFIER))
    [label], [found] = draft_labels(analysis), analysis.causes
    assert label == Label(
        task="t",
        cause=found.label,
        confidence=found.confidence,
        author=found.author,
        reason=found.reason,
        evidence=found.evidence,
        candidates=found.candidates,
    )
    assert isinstance(found, Cause)


def test_half_of_the_failures_decide_a_behaviour_where_nothing_else_is_proven(tmp_path: Path) -> None:
    rows = trials(user=True, expected=[CANCEL], made=[CANCEL])
    # Two of three leave something unsaid after every change; the third makes no change, which may be the user's doing.
    for row in rows[-3:]:
        row |= {"reward": 0.0, "info": {"task": {"actions": [CANCEL], "outputs": ["42"]}}}
    rows[-1] |= trial(1, 2, made=[], expected=[CANCEL], user=True) | {"info": rows[-1]["info"]}
    found = cause(tmp_path, rows)
    assert (found.label, found.confidence) == ("BI", "medium")
    assert found.reason.startswith("2 of 3 failing rollouts: every change is as expected")


def test_a_rollout_without_a_call_fails_by_that_where_all_that_pass_make_one(tmp_path: Path) -> None:
    good = [rollout(task, 0, 1.0, output=[call(), result("7"), message("7")]) for task in range(5)]
    found = cause(tmp_path, [*good, rollout("t", 0, 0.0, output=[message("8")])])
    assert (found.label, found.author) == ("BI", "rule:no_tool_call")
    assert found.reason == "1 of 1 failing rollouts: called no tool, which all 5 passing rollouts of the run do"


def test_four_passing_rollouts_are_too_few_to_say_that_a_call_is_needed(tmp_path: Path) -> None:
    good = [rollout(task, 0, 1.0, output=[call(), result("7"), message("7")]) for task in range(4)]
    assert cause(tmp_path, [*good, rollout("t", 0, 0.0, output=[message("8")])]).label == "?"
