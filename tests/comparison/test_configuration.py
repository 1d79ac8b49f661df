from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, message, rollout
from two_runs import run_of

from blade.comparison import Comparison, compare
from blade.comparison.comparison import ConfigChange

TOOL = {"type": "function", "name": "search", "description": "find", "parameters": {}}


def rows(*, system: str = "Be brief.", question: str = "question", **fields: Any) -> list[Row]:
    """Six scored rollouts with a system prompt."""
    params = {"input": [message(system, "system"), message(question, "user")], **fields.pop("params", {})}
    return [rollout(task, 0, float(task % 2), params=params, **fields) for task in range(6)]


def changes(tmp_path: Path, base: list[Row], candidate: list[Row]) -> Comparison:
    return compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", candidate))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"response": {"model": "model-b"}}, ("model", "model", ["model-a"], ["model-b"]), id="model"),
        pytest.param({"agent_ref": {"name": "loop"}}, ("agent", "agent", ["plain"], ["loop"]), id="agent"),
        pytest.param(
            {"params": {"temperature": 0.7}},
            ("sampling", "responses_create_params.temperature", ["1"], ["0.7"]),
            id="temperature",
        ),
        pytest.param(
            {"skills_ref": {"hash": "bbb"}}, ("skills", "skills_ref.hash", ["aaa"], ["bbb"]), id="skills"
        ),
        pytest.param({"judge_model": "j2"}, ("verifier", "judge_model", ["j1"], ["j2"]), id="judge"),
        pytest.param({"harness_version": "2"}, ("other", "harness_version", ["1"], ["2"]), id="version"),
    ],
)  # fmt: skip
def test_what_the_rows_state_differently_is_named(
    tmp_path: Path, fields: dict[str, Any], expected: tuple[str, str, list[str], list[str]]
) -> None:
    usual: dict[str, Any] = {"agent_ref": {"name": "plain"}, "skills_ref": {"hash": "aaa"}, "judge_model": "j1"}
    usual |= {"harness_version": "1", "params": {"temperature": 1.0}}
    found = changes(tmp_path, rows(**usual), rows(**usual | fields))

    aspect, name, base, candidate = expected
    assert found.config_changes == [ConfigChange(aspect=aspect, name=name, base=base, candidate=candidate)]
    assert not any("changed together" in warning for warning in found.warnings)


def test_giving_a_model_skills_is_one_change(tmp_path: Path) -> None:
    catalog = "Be brief.\n\nYou have skills: open them.\n- add (add/SKILL.md): How to add."
    tools = [TOOL, {"type": "function", "name": "read_skill_file"}]
    equipped = rows(system=catalog, params={"tools": tools}, skills_ref={"hash": "aaa"}, skills_read=[])
    found = changes(tmp_path, rows(params={"tools": [TOOL]}), equipped)

    assert found.config_changes == [
        ConfigChange(aspect="skills", name="skills_ref.hash", base=["none"], candidate=["aaa"])
    ]
    assert not any("changed together" in warning for warning in found.warnings)


def test_a_system_prompt_is_told_by_its_hash(tmp_path: Path) -> None:
    (change,) = changes(tmp_path, rows(), rows(system="Think first.")).config_changes

    assert (change.aspect, change.name) == ("prompt", "system prompt (hash)")
    assert change.base != change.candidate and len(change.base[0]) == 12


def test_other_words_under_the_same_key_are_counted_and_warned_of(tmp_path: Path) -> None:
    found = changes(tmp_path, rows(), rows(question="another question"))
    (change,) = found.config_changes

    assert (change.aspect, change.candidate) == ("prompt", ["differs on 6 of 6 tasks that were read"])
    assert "the text of tasks differs on 6 of 6 tasks that were read: keys may name different tasks" in found.warnings


def test_a_simulated_user_who_words_it_anew_each_time_is_no_change(tmp_path: Path) -> None:
    said = [
        [rollout(0, repeat, 1.0, params={"input": [message(f"{run} {repeat}", "user")]}) for repeat in range(2)]
        for run in ("first", "second")
    ]

    assert changes(tmp_path, *said).config_changes == []


def test_what_a_simulated_user_says_first_is_not_the_text_of_the_task(tmp_path: Path) -> None:
    def talks(opening: str) -> list[Row]:
        output = [message("Which seat?"), message("The last one.", "user"), message("Done.")]
        params = {"input": [message("Be brief.", "system"), message(opening, "user")]}
        return [rollout(task, 0, 1.0, params=params, output=output) for task in range(6)]

    assert changes(tmp_path, talks("Hi, a seat please."), talks("Good morning!")).config_changes == []


def test_a_system_prompt_with_a_clock_in_it_is_not_taken_for_a_change(tmp_path: Path) -> None:
    said = [
        [
            rollout(0, r, 1.0, params={"input": [message(f"{run} {r}", "system"), message("q", "user")]})
            for r in range(2)
        ]
        for run in ("10:00", "11:00")
    ]
    found = changes(tmp_path, *said)

    assert found.config_changes == []
    assert "prompt" in found.config_unknown


def test_tools_are_compared_by_all_that_is_said_about_them(tmp_path: Path) -> None:
    other = {**TOOL, "description": "find anything"}
    (change,) = changes(tmp_path, rows(params={"tools": [TOOL]}), rows(params={"tools": [other]})).config_changes

    assert (change.aspect, [text.split()[0] for text in change.base]) == ("tools", ["search"])
    assert change.base != change.candidate


def test_expected_answers_and_tasks_are_the_dataset(tmp_path: Path) -> None:
    base = [rollout(task, 0, 1.0, expected_answer=str(task)) for task in range(4)]
    after = [rollout(task, 0, 1.0, expected_answer=str(task or "zero")) for task in range(3)]
    found = changes(tmp_path, base, after).config_changes

    assert [(c.aspect, c.name, c.base, c.candidate) for c in found] == [
        ("dataset", "expected_answer", [], ["differs on 1 of 3 shared tasks"]),
        ("dataset", "task set", ["1 task of its own"], []),
    ]


def test_two_changes_at_once_cannot_be_told_apart(tmp_path: Path) -> None:
    found = changes(
        tmp_path,
        rows(params={"temperature": 1.0}),
        rows(params={"temperature": 0.0}, response={"model": "model-b"}),
    )

    said = "model and sampling changed together: what each of them did to the score cannot be told apart"
    assert said in found.warnings


def test_nothing_different_is_said_to_be_the_same_and_nothing_stated_to_be_unknown(tmp_path: Path) -> None:
    found = changes(tmp_path, rows(params={"temperature": 1.0}), rows(params={"temperature": 1.0}))

    assert found.config_changes == []
    assert found.config_same == ["model", "sampling", "prompt", "verifier", "dataset"]
    assert found.config_unknown == ["agent", "tools"]


def test_a_field_of_one_run_alone_points_at_its_verifier(tmp_path: Path) -> None:
    (change,) = changes(tmp_path, rows(), rows(rubric_score=0.5)).config_changes

    assert (change.aspect, change.name, change.candidate) == ("verifier", "fields only one run has", ["rubric_score"])
