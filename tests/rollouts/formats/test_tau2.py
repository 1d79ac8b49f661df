"""tau2-bench. The run in tests/data/formats/tau2 was written after tau2's own data model; see the README there."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import tau2
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Ending, Expected, ExpectedCall, Rollout, Usage

RUN = Path(__file__).parents[2] / "data" / "formats" / "tau2" / "results.json"


def rollouts(path: Path) -> list[Rollout]:
    return [one for one in tau2.READER.read(path, None) if isinstance(one, Rollout)]


def by_id() -> dict[str, Rollout]:
    return {one.fields["simulation_id"]: one for one in rollouts(RUN)}


def changed(tmp_path: Path, **parts: Any) -> Path:
    document = json.loads(RUN.read_text())
    document["simulations"] = [document["simulations"][0] | parts]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    return path


def in_folder(tmp_path: Path) -> Path:
    """The same run as tau2 stores it in a folder."""
    document = json.loads(RUN.read_text())
    folder = tmp_path / "run"
    (folder / "simulations").mkdir(parents=True)
    for simulation in document.pop("simulations"):
        (folder / "simulations" / f"{simulation['id']}.json").write_text(json.dumps(simulation))
    (folder / "results.json").write_text(json.dumps(document | {"simulation_index": []}))
    return folder


def test_the_reward_is_what_tau2_averages() -> None:
    # tau2 leaves infrastructure errors and exceeded contexts out: (1 + 0 + 1 + 0 + 0 + 0) / 6.
    rewards = [(one.task, one.repeat, one.reward) for one in rollouts(RUN)]
    assert rewards == [
        ("0", 0, 1.0), ("0", 1, 0.0), ("tel-1", 0, 1.0), ("tel-1", 1, 0.0), ("2", 0, 0.0), ("2", 1, None),
        ("3", 0, None), ("3", 1, 0.0),
    ]  # fmt: skip


def test_parts_of_the_reward_are_scores() -> None:
    assert by_id()["s1"].scores == {"reward": 0.0, "DB": 0.0, "COMMUNICATE": 0.0}
    notes = [one.text for one in tau2.READER.read(RUN, None) if isinstance(one, Note)]
    assert notes == ["reward counts as the score; --score also takes its parts (DB, COMMUNICATE)"]


@pytest.mark.parametrize(
    ("simulation", "ending"),
    [
        pytest.param("s0", Ending(), id="user_stop"),
        pytest.param(
            "s3",
            Ending(
                kind="limit", name="max_steps",
                message="Simulation terminated prematurely. Termination reason: max_steps",
            ),
            id="max_steps",
        ),
        pytest.param("s4", Ending(kind="error", origin="user", name="user_error"), id="user_error"),
        pytest.param(
            "s5",
            Ending(
                kind="error", origin="runner", name="infrastructure_error",
                message="APIConnectionError: connection reset",
            ),
            id="infrastructure",
        ),
        pytest.param("s6", Ending(kind="limit", origin="model", name="context_window_exceeded"), id="context"),
        pytest.param(
            "s7",
            Ending(kind="error", origin="verifier", name="ValueError", message="ValueError: replay diverged"),
            id="verifier_broke",
        ),
    ],
)  # fmt: skip
def test_endings_are_typed(simulation: str, ending: Ending) -> None:
    assert by_id()[simulation].ending == ending


@pytest.mark.parametrize(
    ("reason", "kind", "origin"),
    [
        ("too_many_errors", "error", "agent"), ("agent_error", "error", "agent"), ("timeout", "timeout", None),
        ("unexpected_error", "error", "runner"), ("something_new", "error", None), ("agent_stop", "completed", None),
    ],
)  # fmt: skip
def test_every_termination_reason_has_a_type(tmp_path: Path, reason: str, kind: str, origin: str | None) -> None:
    (one,) = rollouts(changed(tmp_path, termination_reason=reason))
    assert (one.ending.kind, one.ending.origin) == (kind, origin)


def test_only_calls_that_change_something_are_expected_where_tools_are_typed() -> None:
    assert by_id()["s0"].expected == Expected(
        calls=[
            ExpectedCall(
                name="cancel_reservation", arguments={"reservation_id": "EHGLP3", "note": "x"},
                compared=["reservation_id"], requestor="assistant",
            )
        ],
        outputs=["refund", "5 days"],
        checks=["Agent is polite."],
        script="airline\nYou want to cancel.\nBe brief.",
    )  # fmt: skip


def test_the_user_may_be_expected_to_call_a_tool() -> None:
    expected = by_id()["s2"].expected
    assert expected is not None and expected.calls is not None
    assert [(call.name, call.requestor) for call in expected.calls] == [("toggle_airplane_mode", "user")]
    assert expected.checks == ["assert_mobile_data_status(expected_status=true)", "not assert_no_service()"]


def test_every_listed_call_is_expected_where_actions_decide_or_tools_have_no_type(tmp_path: Path) -> None:
    document = json.loads(RUN.read_text())
    basis = document["simulations"][0]["reward_info"] | {"reward_basis": ["DB", "ACTION"]}
    (one,) = rollouts(changed(tmp_path, reward_info=basis))
    assert one.expected is not None and one.expected.calls is not None
    assert [call.name for call in one.expected.calls] == ["get_reservation_details", "cancel_reservation"]
    (other,) = rollouts(changed(tmp_path, reward_info={"reward": 1.0}))
    assert other.expected is not None and other.expected.calls == one.expected.calls


def test_checks_that_decide_the_reward_are_tests() -> None:
    assert by_id()["s1"].tests == {
        "DB": "failed", "COMMUNICATE refund": "failed", "COMMUNICATE 5 days": "failed", "ACTION a1": "failed",
    }  # fmt: skip
    assert by_id()["s2"].tests == {
        "ENV_ASSERTION assert_mobile_data_status(expected_status=true)": "passed",
        "ENV_ASSERTION not assert_no_service()": "passed",
        "ACTION t0": "passed",
    }


def test_the_trajectory_shows_the_policy_thoughts_tool_errors_and_what_the_user_did() -> None:
    items = [(item.kind, item.role, item.name, item.agent, item.error, item.prompt) for item in by_id()["s1"].items]
    assert items == [
        ("message", "system", None, None, None, True),
        ("message", "assistant", None, None, None, False),
        ("environment", "user", None, None, None, False),
        ("reasoning", None, None, None, None, False),
        ("tool_call", None, "cancel_reservation", None, None, False),
        ("tool_result", None, "cancel_reservation", None, "Error: no such reservation", False),
        ("environment", "user", None, None, None, False),
    ]
    told = [(item.kind, item.name, item.agent) for item in by_id()["s2"].items if item.agent]
    assert told == [("tool_call", "toggle_airplane_mode", "user"), ("tool_result", "toggle_airplane_mode", "user")]


def test_costs_tokens_seed_and_settings_are_kept() -> None:
    one = by_id()["s1"]
    assert one.usage == Usage(input_tokens=300, output_tokens=30, cost=0.02)
    assert (one.seconds, one.model, one.agent) == (12.5, "gpt-4.1", "llm_agent")
    assert one.fields["seed"] == 11 and one.fields["user_cost"] == 0.004
    assert one.settings == {
        "domain": "airline", "temperature": 0.0, "user_temperature": 0.5, "user_model": "gpt-4.1-mini",
        "user_agent": "user_simulator", "num_trials": 2, "max_steps": 200, "max_errors": 10, "git_commit": "abc",
    }  # fmt: skip


def test_a_voice_call_is_read_from_its_ticks(tmp_path: Path) -> None:
    def said(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": text}

    call = {"id": "c", "name": "get_order", "arguments": {"id": 1}, "requestor": "assistant"}
    answer = {"id": "c", "role": "tool", "content": "shipped", "requestor": "assistant", "error": False}
    ticks = [
        {"tick_id": 0, "agent_chunk": said("assistant", "Hel")},
        {"tick_id": 1, "agent_chunk": said("assistant", "lo."), "user_chunk": None},
        {"tick_id": 2, "user_chunk": said("user", "My order?")},
        {"tick_id": 3, "agent_tool_calls": [call], "agent_tool_results": [answer]},
        {"tick_id": 4, "agent_chunk": said("assistant", "Shipped.")},
    ]
    (one,) = rollouts(changed(tmp_path, messages=None, ticks=ticks))
    assert [(item.kind, item.text) for item in one.items if not item.prompt] == [
        ("message", "Hello."), ("environment", "My order?"), ("tool_call", '{"id":1}'), ("tool_result", "shipped"),
        ("message", "Shipped."),
    ]  # fmt: skip


def test_a_run_stored_as_a_folder_gives_the_same_rollouts(tmp_path: Path) -> None:
    folder = in_folder(tmp_path)
    assert reader_for(folder) is tau2.READER
    plain = [one.task for one in rollouts(RUN)]
    assert [one.task for one in rollouts(folder)] == plain == [one.task for one in rollouts(folder / "results.json")]
    assert len(tau2.READER.files(folder)) == 9


def test_a_broken_simulation_is_a_record_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = in_folder(tmp_path)
    (folder / "simulations" / "s0.json").write_text("{")
    (folder / "simulations" / "s1.json").write_text('{"id": "s1"}')
    bad = [one for one in tau2.READER.read(folder, None) if isinstance(one, BadLine)]
    assert [(Path(one.file).name, one.reason) for one in bad] == [
        ("s0.json", "is not a simulation"), ("s1.json", "has no task_id"),
    ]  # fmt: skip
    assert len(rollouts(folder)) == 6


def test_places_find_simulations_again(tmp_path: Path) -> None:
    every = rollouts(RUN)
    assert [one for one in tau2.READER.read(RUN, {6}) if isinstance(one, Rollout)] == every[6:7]


def test_a_description_without_simulations_says_so(tmp_path: Path) -> None:
    document = json.loads(RUN.read_text()) | {"simulations": []}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    assert tau2.recognises(Probe(path))
    with pytest.raises(InputError, match="without simulations"):
        rollouts(path)


def test_a_compressed_run_is_read_and_a_cut_one_refused(tmp_path: Path) -> None:
    packed = tmp_path / "results.json.gz"
    packed.write_bytes(gzip.compress(RUN.read_bytes()))
    assert reader_for(packed) is tau2.READER and len(rollouts(packed)) == 8
    cut = tmp_path / "results.json"
    cut.write_bytes(RUN.read_bytes()[:-100])
    with pytest.raises(InputError, match="is the file complete"):
        rollouts(cut)


@pytest.mark.parametrize(
    "text", ['{"info": {}, "tasks": []}', '[{"task_id": 1, "traj": []}]', '{"results": [], "info": 1}', "", "{"]
)
def test_other_files_are_not_runs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    assert not tau2.recognises(Probe(path))


def test_diagnose_and_show_read_a_run(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["diagnose", str(RUN), "--out", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    analysis = json.loads(run.stdout)
    assert analysis["coverage"]["unscored"] == 2
    shown = CliRunner().invoke(app, ["show", str(tmp_path), "2:1"])
    assert "infrastructure_error" in shown.output
