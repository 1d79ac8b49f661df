"""What rows of the Gym say about what was expected, answered and tested."""

from pathlib import Path
from typing import Any

import pytest
from rollout_rows import call, read_rows, result, rollout

from blade.rollouts.values import Expected, ExpectedCall, Rollout

STRICT = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}


def read_one(folder: Path, **fields: Any) -> Rollout:
    output = fields.pop("output", None)
    return read_rows(folder, [{**rollout(0, 0, 0.0, output=output), **fields}]).rollout_at(0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"expected_answer": "7"}, Expected(answers=["7"]), id="answer"),
        pytest.param({"expected_answer": ["7", "seven"]}, Expected(answers=["7", "seven"]), id="answers"),
        pytest.param(
            {"expected_answer": "B", "options": [{"A": "no"}, {"B": "yes"}]},
            Expected(answers=["B", "yes"]),
            id="option",
        ),
        pytest.param(
            {"ground_truth": [{"name": "drop", "arguments": '{"id": 1}'}]},
            Expected(calls=[ExpectedCall(name="drop", arguments={"id": 1})]),
            id="calls",
        ),
        pytest.param({"ground_truth": []}, Expected(calls=[]), id="no_call_at_all"),
        pytest.param(
            {"task": {"evaluation_criteria": {"actions": [{"name": "hand_over", "compare_args": []}]}}},
            Expected(calls=[ExpectedCall(name="hand_over", compared=[])]),
            id="criteria",
        ),
        pytest.param(
            {"schema_str": '{"type": "object", "properties": {"a": {}}}', "schema_type": "json"},
            Expected(answer_schema=STRICT),
            id="schema",
        ),
        pytest.param({"expected_answer": None, "ground_truth": "", "schema_str": "{"}, None, id="broken"),
    ],
)
def test_verifier_fields_say_what_is_expected(
    tmp_path: Path, fields: dict[str, Any], expected: Expected | None
) -> None:
    assert read_one(tmp_path, **fields).expected == expected


def test_the_answer_and_the_checks_of_a_verifier_are_taken(tmp_path: Path) -> None:
    row = read_one(
        tmp_path,
        extracted_answer="7",
        instruction_id_list=["count:words", "case:lower", "case:lower"],
        follow_instruction_list=[True, False, True],
        container_services=[{"service": "synth", "exit_code": 1}, {"service": "sanity", "exit_code": 0}],
        base_status="pass",
        plus_status="timeout",
    )

    assert row.answer == "7"
    assert row.tests == {
        "count:words": "passed", "case:lower": "failed", "synth": "failed", "sanity": "passed",
        "base": "passed", "plus": "failed",
    }  # fmt: skip


def test_a_result_that_is_an_error_object_is_typed_as_one(tmp_path: Path) -> None:
    texts = [
        '{"error": "no such id"}',
        '{"error": null, "rows": []}',
        "Error: said by a page",
        '{"error": {"code": 5}}',
    ]
    output = [part for n, text in enumerate(texts) for part in (call(call_id=str(n)), result(text, str(n)))]
    items = read_one(tmp_path, output=output).items

    assert [item.error for item in items if item.kind == "tool_result"] == ["no such id", None, None, '{"code":5}']


@pytest.mark.parametrize(
    ("last", "reward", "kind"),
    [
        pytest.param({"role": "assistant", "content": "Well"}, 0.0, "limit", id="cut_off_at_a_step"),
        pytest.param({"role": "user", "content": "Bye ###STOP###"}, 0.0, "completed", id="the_user_stopped"),
        pytest.param({"role": "tool", "name": "transfer_to_human_agents"}, 0.0, "completed", id="handed_over"),
        pytest.param({"role": "user", "content": "And then?"}, 0.0, "limit", id="cut_off"),
        pytest.param({"role": "user", "content": "Bye"}, 1.0, "completed", id="rewarded_so_it_had_ended"),
    ],
)
def test_a_trial_of_tau_bench_that_nothing_ended_ran_out_of_steps(
    tmp_path: Path, last: dict[str, Any], reward: float, kind: str
) -> None:
    long = [{"role": "user", "content": "Hi"}, *[{"role": "assistant", "content": "Hello"}] * 30, last]
    rows = [{"task_id": 0, "trial": n, "reward": reward, "traj": long[n:]} for n in (0, 20)]
    whole, short = read_rows(tmp_path, rows).rollouts([0, 1])

    assert (whole.ending.kind, short.ending.kind) == (kind, "completed")


def test_a_trial_of_tau_bench_says_what_decided_its_reward_and_which_exception_ended_it(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    judged = [
        {"task": {"actions": []}, "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0, "gt_data_hash": "a"}}},
        {"task": {"actions": []}, "reward_info": {"info": {"r_outputs": 0.0, "outputs": {"12": True, "13": False}}}},
        {"error": "rate limit", "traceback": "Traceback ..."},
    ]
    rows = [{"task_id": n, "trial": 0, "reward": 0.0, "info": info, "traj": talk} for n, info in enumerate(judged)]
    state, said, broken = read_rows(tmp_path, rows).rollouts([0, 1, 2])

    assert state.tests == {"database": "failed"}
    assert said.tests == {"output 12": "passed", "output 13": "failed"}
    assert (broken.ending.kind, broken.ending.message) == ("error", "rate limit")
