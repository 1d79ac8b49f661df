"""The sample was written by harbor's own classes, see tests/data/formats/README.md; harbor's metric gives 0.41667 for
the six trials of terminus-2 and 1.0 for the one of claude-code."""

import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import blade
from blade.cli.main import app
from blade.rollouts.finding import find_inputs
from blade.rollouts.formats import atif, harbor
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

JOB = Path(__file__).parents[2] / "data" / "formats" / "harbor" / "job"


def trials(path: Path = JOB) -> dict[str, Rollout]:
    found = [one for one in harbor.read(path) if isinstance(one, Rollout)]
    return {Path(one.source.file).name: one for one in found if one.source}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return Path(shutil.copytree(JOB, tmp_path / "job"))


def test_the_score_of_each_run_is_the_one_harbor_prints() -> None:
    rewards = defaultdict(list)
    for trial in trials().values():
        if trial.reward is not None:
            rewards[trial.run].append(trial.reward)
    means = {run: sum(each) / len(each) for run, each in rewards.items()}
    assert means == {"terminus-2__m__terminal-bench": pytest.approx(0.4166666667), "claude-code__adhoc": 1.0}


@pytest.mark.parametrize(
    ("name", "reward", "ending"),
    [
        ("fix-git__a1", 0.0, Ending()),
        ("fix-git__b2", 1.0, Ending(
            kind="timeout", origin="agent", name="AgentTimeoutError",
            message="Agent execution timed out after 900.0 seconds",
        )),
        ("naïve-任务__c3", 0.0, Ending(
            kind="timeout", origin="environment", name="EnvironmentStartTimeoutError", message="no docker"
        )),
        ("naïve-任务__d4", 0.0, Ending(
            kind="error", origin="environment", name="RuntimeError", message="compose failed"
        )),
        ("steps__f6", 0.5, Ending(kind="timeout", origin="verifier", name="VerifierTimeoutError", message="slow")),
        ("chess__h8", None, Ending(kind="cancelled", origin="runner", message="the trial left no result.json")),
    ],
)  # fmt: skip
def test_why_a_trial_ended_is_typed_and_it_counts_as_harbor_counts_it(
    name: str, reward: float | None, ending: Ending
) -> None:
    trial = trials()[name]
    assert (trial.reward, trial.ending) == (reward, ending)


def test_a_trial_says_who_made_it_with_what_and_what_it_used() -> None:
    trial = trials()["fix-git__a1"]
    assert (trial.task, trial.repeat, trial.model, trial.agent, trial.seconds) == (
        "fix-git",
        0,
        "m",
        "terminus-2",
        90.5,
    )
    assert trial.usage == Usage(input_tokens=2000, output_tokens=90, cached_tokens=500, cost=0.02)
    assert trial.settings == {
        "agent_version": "2.0", "environment": "docker", "timeout_multiplier": 1.0, "temperature": 0.6,
        "parser_name": "json",
    }  # fmt: skip
    assert "failure_cause" not in trial.fields
    assert trials()["naïve-任务__c3"].fields["failure_cause"] == "sandbox_failed"
    assert trials()["fix-git__b2"].repeat == 1


def test_tests_come_from_the_ctrf_report_or_else_from_what_pytest_printed() -> None:
    found = trials()
    reported, printed = found["fix-git__a1"], found["fix-git__b2"]
    assert reported.tests == {"test_a": "passed", "test_b": "failed", "test_c": "skipped", "test_d": "error"}
    assert reported.fields["verifier_output"].startswith("test_b: assert 1 == 2")
    assert printed.tests == {
        "../tests/test_outputs.py::test_x": "passed",
        "../tests/test_outputs.py::test_y[a b]": "failed",
    }
    assert found["steps__f6"].tests == {"one/test_a": "passed"}


def test_a_trajectory_has_its_prompt_thoughts_calls_and_typed_tool_errors() -> None:
    items = trials()["fix-git__a1"].items
    assert [(item.kind, item.prompt) for item in items[:6]] == [
        ("message", True), ("message", True), ("reasoning", False), ("message", False), ("tool_call", False),
        ("tool_result", False),
    ]  # fmt: skip
    assert items[4].text == '{"command":"cat file0.txt","timeout":1.5,"n":{"a":[1,2]}}'
    assert [(item.name, item.call_id, item.error) for item in items if item.kind == "tool_result"] == [
        ("bash", "c0", None),
        ("bash", "c1", "line of output"),
    ]
    assert [item.position for item in items] == list(range(len(items)))


def test_sub_agents_and_continuations_are_told_in_their_place() -> None:
    trial = trials()["chess__e5"]
    assert [(item.kind, item.agent, item.text) for item in trial.items] == [
        ("message", None, "Play.\n[image]"),
        ("tool_call", None, "{}"),
        ("tool_result", None, "done"),
        ("environment", "searcher", "Search."),
        ("message", "searcher", "Found it."),
        ("message", "summarizer", "In short."),
        ("environment", None, "Context was summarised."),
        ("environment", None, "summary"),
        ("message", None, "Mate."),
    ]
    assert trial.usage == Usage(input_tokens=20, output_tokens=8, cached_tokens=4, cost=0.5)


def test_a_trial_of_several_steps_is_one_rollout() -> None:
    trial = trials()["steps__f6"]
    assert [item.text for item in trial.items] == ["Do one.", "Did one.", "Do two.", "Did two."]
    assert [item.prompt for item in trial.items] == [True, False, False, False]
    assert trial.scores == {"reward": 0.5, "one.reward": 1.0, "two.reward": 0.0}
    assert trial.usage == Usage(input_tokens=30, output_tokens=3, cost=0.25)


def test_what_a_reader_of_the_numbers_must_know_is_said(job: Path) -> None:
    result = json.loads((job / "fix-git__a1" / "result.json").read_text())
    result["verifier_result"] = {"rewards": {"accuracy": 0.25, "reward": 0.5}}
    (job / "fix-git__a1" / "result.json").write_text(json.dumps(result))
    (job / "steps__f6" / "steps" / "one" / "agent" / "trajectory.json").write_text("{")
    notes = [one.text for one in harbor.read(job) if isinstance(one, Note)]
    assert trials(job)["fix-git__a1"].reward == 0.5
    assert notes[0] == "several rewards in terminus-2__m__terminal-bench: 'reward' counts; others: accuracy"
    assert notes[1].startswith("trials without a reward, counted as 0 as harbor counts them: 2 (")
    assert notes[2].startswith("1 trajectories cannot be read, for example ")
    assert notes[3:] == [
        "the job has 9 trials, of which 7 left a result",
        "harbor retried 2 trials and kept only the last try of each",
    ]


def test_a_trial_that_lacks_the_reward_that_counts_gets_0_as_in_harbors_mean(job: Path) -> None:
    for name, rewards in (("fix-git__a1", {"a": 0.5, "b": 1}), ("fix-git__b2", {"b": 1}), ("steps__f6", {})):
        result = json.loads((job / name / "result.json").read_text())
        result["verifier_result"] = {"rewards": rewards}
        (job / name / "result.json").write_text(json.dumps(result))
    (job / "chess__e5" / "result.json").unlink()
    found = trials(job)
    assert [found[name].reward for name in ("fix-git__a1", "fix-git__b2", "steps__f6")] == [0.5, 0.0, 0.0]


def test_a_broken_trial_is_a_bad_line_and_the_rest_is_read(job: Path) -> None:
    (job / "fix-git__a1" / "result.json").write_text('{"task_name": "fix-git", ')
    (job / "fix-git__b2" / "result.json").write_text('{"task_name": 3}')
    bad = [one for one in harbor.read(job) if isinstance(one, BadLine)]
    assert [Path(one.file).parent.name for one in bad] == ["fix-git__a1", "fix-git__b2"]
    assert len(trials(job)) == 6


def test_trials_are_found_again_by_their_place() -> None:
    everything = list(trials().values())
    offsets = [trial.source.offset for trial in everything if trial.source]
    assert len(set(offsets)) == len(everything)
    again = [one for one in harbor.read(JOB, {offsets[2]}) if isinstance(one, Rollout)]
    assert everything[2] in again


@pytest.mark.parametrize("part", ["", "result.json", "fix-git__a1", "fix-git__a1/result.json"])
def test_a_job_a_trial_and_their_results_are_recognised(part: str) -> None:
    reader = reader_for(JOB / part)
    assert reader is not None and reader.name == "harbor"


def test_a_folder_of_jobs_is_as_many_sources(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(JOB, tmp_path / name)
    assert find_inputs([str(tmp_path)]) == [tmp_path / "one", tmp_path / "two"]


def test_references_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"schema_version": "ATIF-v1.7", "steps": [{"message": "secret"}]}')
    (tmp_path / "agent").mkdir()
    file = tmp_path / "agent" / "trajectory.json"
    steps = [{"source": "agent", "message": "hi", "observation": {"results": [{"subagent_trajectory_ref": [
        {"trajectory_path": "../secret.json"}, {"trajectory_path": str(tmp_path / "secret.json")}, 3,
    ]}]}}]  # fmt: skip
    document = {
        "schema_version": "ATIF-v1.7",
        "steps": steps,
        "agent": {},
        "continued_trajectory_ref": "trajectory.json",
    }
    file.write_text(json.dumps(document))
    assert atif.recognises(Probe(file))
    (rollout,) = [one for one in atif.read(file) if isinstance(one, Rollout)]
    assert {item.text for item in rollout.items} == {"hi"}
    assert (rollout.task, rollout.reward) == ("trajectory", None)


def test_a_job_goes_through_diagnose_and_show(tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.rmtree(shutil.copytree(JOB, tmp_path / "job") / "fix-git__g7")
    done = CliRunner().invoke(app, ["diagnose", str(tmp_path / "job"), "--success", "reward >= 1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "4 tasks" in done.output
    shown = CliRunner().invoke(app, ["show", str(out), "chess:0"])
    assert shown.exit_code == 0, shown.output
    assert "Found it." in shown.output


def test_trials_given_one_by_one_are_attempts_of_one_run() -> None:
    each = [one for name in ("fix-git__a1", "fix-git__b2") for one in harbor.read(JOB / name, {0})]
    assert [(one.run, one.task, one.repeat) for one in each if isinstance(one, Rollout)] == [
        ("terminus-2__m__terminal-bench", "fix-git", 0),
        ("terminus-2__m__terminal-bench", "fix-git", 1),
    ]


def test_jobs_of_different_tasks_are_never_one_run(tmp_path: Path) -> None:
    for name, trial in (("one", "fix-git__a1"), ("two", "chess__e5")):
        shutil.copytree(JOB / trial, tmp_path / name / trial)
        (tmp_path / name / "result.json").write_text('{"n_total_trials": 1, "stats": {}}')
    runs = {one.run for name in ("one", "two") for one in harbor.read(tmp_path / name) if isinstance(one, Rollout)}
    assert runs == {"one", "two"}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"function_name": "f"}, ""),
        ({"function_name": "f", "arguments": None}, ""),
        ({"function_name": "f", "arguments": "ls\n"}, "ls\n"),
        ({"function_name": "f", "arguments": [1, 2]}, "[1,2]"),
    ],
)
def test_arguments_of_any_shape_are_texts(tmp_path: Path, call: dict[str, object], text: str) -> None:
    document = {"schema_version": "ATIF-v1.0", "agent": {}, "steps": [{"source": "agent", "tool_calls": [call]}]}
    (tmp_path / "t.json").write_text(json.dumps(document, indent=2))
    (rollout,) = [one for one in atif.read(tmp_path / "t.json") if isinstance(one, Rollout)]
    assert [item.text for item in rollout.items] == [text]


def test_a_broken_result_is_named_with_its_trial(job: Path) -> None:
    (job / "fix-git__a1" / "result.json").write_text('{"task_name": "fix-git", ', encoding="utf-8")
    named = {bad.reason.partition(": ")[0] for run in blade.read_all(job) for bad in run.bad}
    assert named == {"fix-git__a1/result.json"}
