"""Somebody else's agent plays and judges; what it gives back is kept, and what identifies a rollout stays ours."""

import asyncio
from pathlib import Path

import pytest
from loopback import Call, Cut, Drop, Garbage, Give, Hang, Loopback, Status, Wrong, in_turn
from small_benchmark import keys, read_rows, small_plan

from blade.errors import UsageError
from blade.evals.files import RunFiles
from blade.evals.jobs import Job
from blade.evals.manifest import settings_of
from blade.evals.players import AgentPlayer, run_url
from blade.evals.run import RunOptions, RunResult, run_job
from blade.llm import ModelError
from blade.llm.client import Backoff


def run_remote(folder: Path, server: Loopback, *, attempts: int = 3, resume: bool = False) -> RunResult:
    plan = small_plan(folder)
    player = AgentPlayer(server.root, timeout=2.0, backoff=Backoff(attempts=attempts, first=0.001))
    settings = settings_of(plan, model="m-1", api="agent", skills=None)
    job = Job(plan=plan, player=player, settings=settings, environment=None)
    return run_job(job, RunFiles(folder / "out.jsonl"), options=RunOptions(concurrency=2, resume=resume))


def judge(call: Call) -> Give:
    """Gives the row back as an agent does: answered, judged, and with indices it made up."""
    response = {"id": "r", "output": [], "usage": {"input_tokens": 3, "output_tokens": 4}}
    return Give({**call.body, "response": response, "reward": 1.0, "_ng_task_index": 99, "agent_ref": {"name": "x"}})


def test_rows_are_posted_to_run_and_come_back_judged(tmp_path: Path) -> None:
    with Loopback(judge) as server:
        result = run_remote(tmp_path, server)

        assert {call.path for call in server.calls} == {"/run"}
        assert server.calls[0].body["responses_create_params"]["input"][1]["content"].startswith("Say ")
    rows = read_rows(tmp_path / "out.jsonl")
    assert keys(tmp_path / "out.jsonl") == [(task, repeat) for task in range(3) for repeat in range(2)]
    assert {row["agent_ref"]["name"] for row in rows} == {"small_agent"}
    assert [row["reward"] for row in rows] == [1.0] * 6
    assert result.progress.pass_rate.value == 1.0


def test_an_agent_that_drops_the_task_s_fields_does_not_lose_them(tmp_path: Path) -> None:
    with Loopback(lambda call: Give({"reward": 0.0, "response": {"output": []}})) as server:
        run_remote(tmp_path, server)

    assert [row["answer"] for row in read_rows(tmp_path / "out.jsonl")] == [1, 1, 2, 2, 3, 3]


def test_rollouts_that_the_agent_calls_failed_go_to_the_failures(tmp_path: Path) -> None:
    lost = {"reward": 0.0, "_ng_failure_class": "timeout_exceeded", "_ng_failure_terminal": True}
    with Loopback(lambda call: Give({**call.body, **lost}) if "Say 2." in call.words else judge(call)) as server:
        result = run_remote(tmp_path, server)
        again = run_remote(tmp_path, server, resume=True)

        assert len(server.calls) == 6
    assert result.progress.failures == {"timeout_exceeded": 2}
    assert keys(tmp_path / "out_failures.jsonl") == [(1, 0), (1, 1)]
    assert again.progress.failed == 0


def test_rollouts_that_are_not_to_be_kept_are_asked_for_again(tmp_path: Path) -> None:
    with Loopback(lambda call: Give({"_ng_no_persist": True}) if call.number == 0 else judge(call)) as server:
        result = run_remote(tmp_path, server)
        assert len(read_rows(tmp_path / "out.jsonl")) == 5
        run_remote(tmp_path, server, resume=True)

    assert "not to be kept" in result.notes[0]
    assert len(keys(tmp_path / "out.jsonl")) == 6


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Status(500), "server", id="server_error"),
        pytest.param(Status(429), "rate_limit", id="rate_limit"),
        pytest.param(Cut(), "connection", id="cut"),
        pytest.param(Drop(), "connection", id="dropped"),
        pytest.param(Garbage(), "malformed", id="garbage"),
        pytest.param(Wrong({"no": "reward"}), "malformed", id="no_reward"),
        pytest.param(Wrong({"reward": "good"}), "malformed", id="no_number"),
        pytest.param(Wrong({"reward": 10**400}), "malformed", id="no_number_that_metrics_can_hold"),
        pytest.param(Hang(), "timeout", id="hang"),
    ],
)
def test_an_agent_s_trouble_is_told_apart_and_passes(
    fault: Status | Cut | Drop | Garbage | Wrong | Hang, kind: str
) -> None:
    async def both(server: Loopback) -> tuple[str, float]:
        patience = 1.5 if isinstance(fault, Hang) else 30.0  # a busy machine takes its time too
        player = AgentPlayer(server.root, timeout=patience, backoff=Backoff(attempts=1, first=0.001))
        with pytest.raises(ModelError) as raised:
            await player.judged({})
        row = await player.judged({})
        await player.close()
        return raised.value.kind, row["reward"]

    with Loopback(in_turn(fault, Give({"reward": 0.5}))) as server:
        assert asyncio.run(both(server)) == (kind, 0.5)


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/run"])
def test_the_address_may_leave_out_run(url: str) -> None:
    assert run_url(url) == "http://h:1/run"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="expected something like"):
        run_url("localhost:8000")
