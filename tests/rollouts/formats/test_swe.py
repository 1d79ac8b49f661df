"""SWE-bench's family: samples as tests/data/formats/README.md says; the harness printed 6 instances, 5 submitted,
1 resolved, 1 unresolved, 3 empty patches and 1 incomplete for the batch."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.finding import find_inputs
from blade.rollouts.formats import openhands, swe_agents, swe_bench
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

DATA = Path(__file__).parents[2] / "data" / "formats"
BATCH, OUTPUT, TRAJ = (
    DATA / "swe-bench" / "batch",
    DATA / "openhands" / "output.jsonl",
    DATA / "swe-agent" / "org__repo-7.traj",
)


def by_task(reader: Any, path: Path) -> dict[str, Rollout]:
    return {one.task: one for one in reader.read(path) if isinstance(one, Rollout)}


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BATCH, tmp_path / "batch"))


def test_scores_trajectories_and_exit_statuses_in_one_folder_are_joined() -> None:
    found = by_task(swe_bench, BATCH)
    assert {name: (one.reward, one.ending.kind, one.ending.origin, one.ending.name) for name, one in found.items()} == {
        "org__repo-1": (1.0, "completed", None, None),
        "org__repo-2": (0.0, "limit", "agent", "LimitsExceeded"),
        "org__repo-3": (0.0, "completed", None, None),
        "org__repo-4": (0.0, "error", "environment", "RuntimeError"),
        "org__repo-5": (0.0, "error", "model", "RateLimitError"),
        "org__repo-6": (None, "not_run", None, "incomplete"),
    }
    assert found["org__repo-3"].tests == {"t::a": "failed", "t::b": "passed"}
    assert found["org__repo-3"].fields["verifier_output"] == "FAILED t::a - AssertionError"
    assert found["org__repo-1"].fields["repo"] == "org/repo"


def test_a_mini_swe_agent_attempt_is_told_with_its_calls_and_typed_errors() -> None:
    found = by_task(swe_bench, BATCH)
    first = found["org__repo-1"]
    assert [(item.kind, item.name, item.text[:22]) for item in first.items[:6]] == [
        ("message", None, "You fix code."),
        ("message", None, "Task: Fix org__repo-1."),
        ("reasoning", None, "First look."),
        ("message", None, "Let me look."),
        ("tool_call", "bash", '{"command": "echo hi"}'),
        ("tool_result", "bash", "<returncode>0</returnc"),
    ]
    assert first.usage == Usage(input_tokens=203, output_tokens=20, cached_tokens=100, cost=2.0)
    assert (first.model, first.agent, first.answer) == ("p/m", "mini-swe-agent", "diff --git a/x.py b/x.py\n")
    assert first.settings == {"agent_version": "2.4.6", "step_limit": 3, "cost_limit": 3.0}
    assert [item.kind for item in found["org__repo-2"].items[2:5]] == ["message", "tool_call", "tool_result"]
    (timed_out,) = [item.error for item in found["org__repo-3"].items if item.error]
    assert timed_out.endswith("timed out after 1 seconds")


def test_a_report_alone_counts_as_the_harness_counts(tmp_path: Path) -> None:
    report = Path(shutil.copy(BATCH / "p__m.run1.json", tmp_path / "p__m.run1.json"))
    found = by_task(swe_bench, report)
    assert {name: one.reward for name, one in found.items()} == {
        "org__repo-1": 1.0, "org__repo-2": 0.0, "org__repo-3": 0.0, "org__repo-4": 0.0, "org__repo-5": 0.0,
        "org__repo-6": None,
    }  # fmt: skip
    assert found["org__repo-2"].ending.name == "empty_patch"


def test_errors_and_infrastructure_failures_of_an_evaluation_are_typed(tmp_path: Path) -> None:
    report = tmp_path / "m.run.json"
    ids = {"resolved_ids": [], "unresolved_ids": ["a"], "error_ids": ["b", "c"], "infra_failure_ids": ["c"]}
    report.write_text(json.dumps({**ids, "failure_reasons": {"c": "docker_daemon"}}))
    found = by_task(swe_bench, report)
    assert [one.reward for one in found.values()] == [0.0, 0.0, 0.0]
    assert found["b"].ending == Ending(kind="error", origin="verifier", name="error")
    assert found["c"].ending == Ending(kind="error", origin="environment", name="docker_daemon")


def test_an_evaluation_that_left_no_verdict_says_why(batch: Path) -> None:
    logs = batch / "logs" / "run_evaluation" / "run1" / "p__m"
    for name, log in (("org__repo-1", ">>>>> Patch Apply Failed:\n"), ("org__repo-3", "something else")):
        (logs / name / "report.json").write_text("")
        (logs / name / "run_instance.log").write_text(log)
    found = by_task(swe_bench, batch)
    endings = [(found[name].ending.origin, found[name].ending.name) for name in ("org__repo-1", "org__repo-3")]
    assert endings == [("agent", "patch_apply_failed"), ("verifier", "error")]


@pytest.mark.parametrize("failed", [[], ["org__repo-9"]], ids=["all_resolved", "some_without_a_patch"])
def test_a_summary_that_lists_only_what_was_resolved_is_no_rate(tmp_path: Path, failed: list[str]) -> None:
    (tmp_path / "results").mkdir()
    summary = tmp_path / "results" / "results.json"
    summary.write_text(json.dumps({"no_generation": failed, "no_logs": [], "resolved": ["org__repo-1"]}))
    with pytest.raises(InputError, match="lists what was resolved and not what was tried"):
        list(swe_bench.read(summary))
    rows = [{"instance_id": f"org__repo-{n}", "model_patch": "x", "model_name_or_path": "m"} for n in (1, 2)]
    (tmp_path / "all_preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [one.reward for one in by_task(swe_bench, tmp_path).values()] == [1.0, 0.0, *(0.0 for _ in failed)]


def test_details_of_every_instance_are_read_with_their_cost(tmp_path: Path) -> None:
    details = {"org__repo-1": {"cost": 0.5, "api_calls": 7, "resolved": True}, "org__repo-2": {"resolved": False}}
    path = tmp_path / "per_instance_details.json"
    path.write_text(json.dumps(details, indent=2))
    assert swe_bench.recognises(Probe(path))
    found = by_task(swe_bench, path)
    assert [(one.reward, one.usage.cost, one.fields.get("api_calls")) for one in found.values()] == [
        (1.0, 0.5, 7.0),
        (0.0, None, None),
    ]


@pytest.mark.parametrize("form", ["object", "array", "lines"])
def test_predictions_are_attempts_without_a_score(tmp_path: Path, form: str) -> None:
    rows = list(json.loads((BATCH / "preds.json").read_text()).values())
    path = tmp_path / ("preds.jsonl" if form == "lines" else "preds.json")
    texts = {
        "object": json.dumps({row["instance_id"]: row for row in rows}, indent=2),
        "array": json.dumps(rows),
        "lines": "".join(json.dumps(row) + "\n" for row in rows) + "{broken\n",
    }
    path.write_text(texts[form])
    assert swe_bench.recognises(Probe(path))
    found = list(swe_bench.read(path))
    kept = [one for one in found if isinstance(one, Rollout)]
    assert [(one.task, one.reward, one.model) for one in kept] == [(f"org__repo-{n}", None, "p/m") for n in range(1, 6)]
    assert kept[0].answer == "diff --git a/x.py b/x.py\n"
    assert [isinstance(one, BadLine) for one in found].count(True) == (form == "lines")


def test_rows_of_ones_own_with_a_patch_and_a_score_are_left_to_records(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"instance_id": "a", "model_patch": "x", "resolved": True}) + "\n")
    assert reader_for(path) is None


def test_a_swe_agent_attempt_is_told_with_its_calls() -> None:
    assert swe_agents.recognises_swe_agent(Probe(TRAJ))
    (rollout,) = by_task(swe_agents, TRAJ).values()
    assert [(item.kind, item.prompt, item.name, item.text) for item in rollout.items] == [
        ("message", True, None, "You are a helpful assistant."),
        ("message", True, None, "A demonstration."),
        ("message", True, None, "Fix the bug."),
        ("reasoning", False, None, "Hm."),
        ("message", False, None, "Let me look."),
        ("tool_call", False, "bash", '{"command":"ls"}'),
        ("tool_result", False, "bash", "OBSERVATION:\nsetup.py"),
        ("message", False, None, "Submit."),
        ("tool_call", False, "submit", "submit\n"),
        ("tool_result", False, None, "diff --git a/x.py b/x.py"),
    ]
    assert (rollout.task, rollout.reward, rollout.model) == ("org__repo-7", None, "p/m")
    assert rollout.ending == Ending(kind="limit", origin="agent", name="submitted (exit_cost)")
    assert rollout.usage == Usage(input_tokens=1000, output_tokens=50, cost=3.01)


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("submitted", Ending()),
        ("exit_context", Ending(kind="limit", origin="agent", name="exit_context")),
        ("exit_environment_error", Ending(kind="error", origin="environment", name="exit_environment_error")),
        ("submitted (exit_api)", Ending(kind="error", origin="model", name="submitted (exit_api)")),
        ("exit_unheard_of", Ending(kind="error", name="exit_unheard_of")),
        (None, Ending(kind="cancelled", origin="runner", message="no exit status")),
    ],
)
def test_exit_statuses_of_swe_agent_are_typed(status: str | None, ending: Ending) -> None:
    assert swe_agents.swe_agent_ending(status) == ending


def test_a_folder_of_swe_agent_is_joined_with_its_report(tmp_path: Path) -> None:
    (tmp_path / "org__repo-7").mkdir()
    shutil.copy(TRAJ, tmp_path / "org__repo-7")
    (tmp_path / "m.run.json").write_text(json.dumps({"resolved_ids": ["org__repo-7"], "unresolved_ids": []}))
    assert find_inputs([str(tmp_path)]) == [tmp_path]
    (rollout,) = by_task(swe_bench, tmp_path).values()
    assert (rollout.reward, len(rollout.items)) == (1.0, 10)


def test_one_openhands_row_is_one_rollout() -> None:
    found = by_task(openhands, OUTPUT)
    assert {name: (one.reward, one.ending.kind, one.ending.origin, one.ending.name) for name, one in found.items()} == {
        "org__repo-1": (1.0, "completed", None, None),
        "org__repo-2": (0.0, "error", "agent", "failed_apply_patch"),
        "org__repo-3": (0.0, "error", "agent", "AgentStuckInLoopError"),
        "org__repo-4": (None, "limit", "agent", "RuntimeError"),
        "org__repo-5": (0.0, "error", "environment", "AgentRuntimeDisconnectedError"),
        "org__repo-6": (None, "timeout", "runner", None),
    }
    first = found["org__repo-1"]
    assert (first.model, first.agent, first.answer) == ("p/m", "CodeActAgent", "diff --git a/x.py b/x.py")
    assert first.usage == Usage(input_tokens=100, output_tokens=20, cached_tokens=30, cost=0.25)
    assert [(item.kind, item.prompt, item.name) for item in first.items] == [
        ("message", True, None), ("message", True, None), ("reasoning", False, None), ("message", False, None),
        ("tool_call", False, "execute_bash"), ("tool_result", False, "execute_bash"),
        ("tool_call", False, "str_replace_editor"), ("tool_result", False, "str_replace_editor"),
        ("message", False, None), ("environment", False, None), ("message", False, None),
    ]  # fmt: skip
    assert [item.error for item in first.items if item.error] == ["No replacement was performed."]
    assert [item.kind for item in found["org__repo-2"].items] == ["message", "message", "tool_call", "tool_result"]


def test_openhands_rows_are_scored_by_the_report_beside_them(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in OUTPUT.read_text().splitlines()]
    lines = [json.dumps({key: value for key, value in row.items() if key != "report"}) for row in rows]
    (tmp_path / "output.jsonl").write_text("\n".join(lines))
    ids = {"resolved_ids": ["org__repo-2"], "unresolved_ids": ["org__repo-1"], "error_ids": ["org__repo-3"]}
    (tmp_path / "report.json").write_text(json.dumps(ids))
    rewards = [one.reward for one in by_task(openhands, tmp_path).values()]
    assert rewards == [0.0, 1.0, 0.0, None, None, None]


def test_events_of_the_openhands_sdk_are_understood(tmp_path: Path) -> None:
    text = {"type": "text", "text": "Fix it."}
    call = {"tool_name": "terminal", "tool_call_id": "c1"}
    history = [
        {"kind": "SystemPromptEvent", "system_prompt": {"text": "You fix."}, "tools": [{"name": "t"}]},
        {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [text]}},
        {"kind": "ActionEvent", "source": "agent", "thought": [{"text": "Look."}], "reasoning_content": "Hm.", **call,
         "tool_call": {"name": "terminal", "arguments": '{"command":"ls"}'}, "action": {"kind": "TerminalAction"}},
        {"kind": "ObservationEvent", **call, "observation": {"content": [{"text": "no such file"}], "is_error": True}},
        {"kind": "AgentErrorEvent", **call, "error": "bad arguments"},
        {"kind": "ConversationStateUpdateEvent", "key": "x", "value": 1},
        {"kind": "ConversationErrorEvent", "code": "MaxIterationsReached", "detail": "100"},
    ]  # fmt: skip
    row = {"instance_id": "a", "attempt": 2, "test_result": {}, "history": history, "metrics": None, "error": None}
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (rollout,) = by_task(openhands, path).values()
    assert [(item.kind, item.prompt, item.error) for item in rollout.items] == [
        ("message", True, None), ("message", True, None), ("reasoning", False, None), ("message", False, None),
        ("tool_call", False, None), ("tool_result", False, "no such file"), ("tool_result", False, "bad arguments"),
    ]  # fmt: skip
    assert rollout.ending == Ending(kind="limit", origin="agent", name="MaxIterationsReached", message="100")
    assert (rollout.repeat, rollout.reward, len(rollout.tools)) == (2, None, 1)


def test_the_resolvers_own_judgement_is_said_to_be_one(tmp_path: Path) -> None:
    issue = {"owner": "org", "repo": "repo", "number": 5}
    row = {"issue": issue, "instruction": "Fix.", "history": [], "metrics": {}, "success": True, "git_patch": "x"}
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(row) + "\nnot json\n" + json.dumps({**row, "success": None}) + "\n")
    found = list(openhands.read(path))
    assert [(one.task, one.repeat, one.reward) for one in found if isinstance(one, Rollout)] == [
        ("org/repo#5", 0, 1.0),
        ("org/repo#5", 1, None),
    ]
    assert [type(one) for one in found if not isinstance(one, Rollout)] == [BadLine, Note]


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("swe-bench/batch", "swe-bench"),
        ("swe-bench/batch/p__m.run1.json", "swe-bench"),
        ("swe-bench/batch/preds.json", "swe-bench"),
        ("swe-bench/batch/logs/run_evaluation/run1/p__m", "swe-bench"),
        ("swe-bench/batch/logs/run_evaluation/run1/p__m/org__repo-1/report.json", "swe-bench"),
        ("swe-bench/batch/org__repo-1/org__repo-1.traj.json", "mini-swe-agent"),
        ("swe-agent/org__repo-7.traj", "swe-agent"),
        ("openhands", "openhands"),
        ("openhands/output.jsonl", "openhands"),
    ],
)
def test_each_of_the_family_is_recognised(part: str, name: str) -> None:
    reader = reader_for(DATA / part)
    assert reader is not None and reader.name == name


@pytest.mark.parametrize("beside", ["rows.jsonl", "trials.json", "other/rows.jsonl"])
def test_rows_of_another_kind_beside_a_trajectory_are_read_too(batch: Path, tmp_path: Path, beside: str) -> None:
    folder = tmp_path / "mixed"
    rows = folder / beside
    rows.parent.mkdir(parents=True)
    rows.write_text(
        '[{"task_id": "a", "reward": 1}]' if beside.endswith(".json") else '{"task_id": "a", "reward": 1}\n'
    )
    attempt = folder / "sub" / "org__repo-1.traj.json"
    attempt.parent.mkdir()
    shutil.copy(batch / "org__repo-1" / attempt.name, attempt)

    found = find_inputs([str(folder)])

    assert rows in found and any(path in (attempt, attempt.parent) for path in found)


def test_attempts_are_found_again_by_their_place() -> None:
    for reader, path in ((swe_bench, BATCH), (openhands, OUTPUT), (swe_bench, BATCH / "p__m.run1.json")):
        everything = [one for one in reader.read(path) if isinstance(one, Rollout)]
        places = [one.source.offset for one in everything if one.source]
        assert len(set(places)) == len(everything)
        assert list(reader.read(path, {places[2]})) == [everything[2]]


@pytest.mark.parametrize("part", ["swe-bench/batch", "openhands/output.jsonl"])
def test_a_run_goes_through_diagnose_and_show(tmp_path: Path, part: str) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["diagnose", str(DATA / part), "--out", str(out)])
    assert done.exit_code == 0, done.output
    # Of the batch, one instance is listed as incomplete: it is missing, and nobody's failure.
    assert ("5 of 6 rollouts" if part.endswith("batch") else "6 tasks, 6 rollouts") in done.output
    shown = CliRunner().invoke(app, ["show", str(out), "org__repo-1:0"])
    assert shown.exit_code == 0, shown.output
    assert '"command"' in shown.output


def openhands_row(task: str, result: dict[str, Any], error: str | None = None) -> dict[str, Any]:
    """A row with the keys that a run of OpenHands' benchmarks writes."""
    return {
        "instance_id": task, "test_result": result, "instruction": "do", "metadata": {"llm": {"model": "m"}},
        "history": [], "metrics": {}, "error": error,
    }  # fmt: skip


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_run_is_read_with_its_report_and_the_attempts_that_broke(tmp_path: Path) -> None:
    write_lines(tmp_path / "output.jsonl", [openhands_row("a", {"git_patch": "x"}), openhands_row("b", {})])
    write_lines(tmp_path / "output_errors.jsonl", [openhands_row(task, {}, "ConnError: x") for task in ("b", "c")])
    write_lines(tmp_path / "output.critic_attempt_1.jsonl", [openhands_row("a", {})])
    report = {"submitted_ids": ["a", "b", "c"], "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}
    (tmp_path / "output.report.json").write_text(json.dumps(report))
    found = list(openhands.read(tmp_path))
    rollouts = [one for one in found if isinstance(one, Rollout)]
    assert [(one.task, one.repeat, one.reward, one.ending.name) for one in rollouts] == [
        ("a", 0, 1.0, None), ("b", 0, 0.0, None), ("c", 0, 0.0, "ConnError"),
    ]  # fmt: skip
    assert len({one.source.offset for one in rollouts if one.source}) == 3
    assert [one.text for one in found if isinstance(one, Note)] == [
        "attempts a critic chose from are not read: output.critic_attempt_1.jsonl"
    ]


@pytest.mark.parametrize(
    ("result", "reward"),
    [
        pytest.param({"score": True, "ground_truth": "x"}, 1.0, id="score"),
        pytest.param({"result": False, "matched": "A"}, 0.0, id="one_flag"),
        pytest.param({"eval_result": {"passed": 0.5, "num_tests": 2}}, 0.0, id="some_tests"),
        pytest.param({"eval_result": {"passed": 1.0, "num_tests": 2}}, 1.0, id="every_test"),
        pytest.param({"ok": True, "done": False}, None, id="two_flags"),
        pytest.param({"exit_code": 1}, None, id="no_verdict"),
    ],
)
def test_verdicts_of_other_benchmarks_count(tmp_path: Path, result: dict[str, Any], reward: float | None) -> None:
    write_lines(tmp_path / "output.jsonl", [openhands_row("a", result)])
    assert by_task(openhands, tmp_path)["a"].reward == reward


def test_time_is_what_passed_between_the_first_and_the_last_event(tmp_path: Path) -> None:
    stamps = ("2026-01-01T10:00:00.500000", "2026-01-01T10:02:00.500000")
    history = [{"action": "message", "source": "user", "args": {"content": "go"}, "timestamp": at} for at in stamps]
    write_lines(tmp_path / "output.jsonl", [{**openhands_row("a", {}), "history": history}])
    assert by_task(openhands, tmp_path)["a"].seconds == 120.0
    messages = [{"role": role, "content": "x", "timestamp": at} for role, at in (("user", 10.0), ("assistant", 12.5))]
    path = tmp_path / "org__repo-1.traj.json"
    path.write_text(json.dumps({"info": {"mini_version": "1.9", "exit_status": "Submitted"}, "messages": messages}))
    [rollout] = [one for one in swe_agents.read(path) if isinstance(one, Rollout)]
    assert (rollout.seconds, rollout.agent) == (2.5, "mini-swe-agent")
