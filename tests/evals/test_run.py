"""A run from tasks to rows, against a server that answers over real sockets."""

import json
from pathlib import Path

import pytest
from loopback import Answer, Call, Cut, Garbage, Loopback, Say, Status, Tool, in_turn
from small_benchmark import ADD, Row, key, keys, read_rows, run_small, small_job, small_plan

import blade
from blade.evals.files import RunFiles
from blade.evals.run import RunOptions, run_job
from blade.llm import Sampling

ALL = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


def echo(call: Call) -> Say:
    """Says the number it is asked for, and 0 where that is 3."""
    number = call.body["messages"][-1]["content"].removeprefix("Say ").rstrip(".")
    return Say("0" if number == "3" else number)


def test_every_rollout_is_asked_judged_and_written_once(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        result = run_small(small_plan(tmp_path), server, tmp_path / "out.jsonl")

        assert len(server.calls) == 6
    assert result.status == "finished"
    assert keys(tmp_path / "out.jsonl") == ALL
    assert [row["reward"] for row in read_rows(tmp_path / "out.jsonl")] == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert (result.progress.done, result.progress.failed, result.progress.total) == (6, 0, 6)
    # two of three tasks pass always
    assert result.progress.pass_rate.value == pytest.approx(2 / 3)


def test_a_row_holds_what_was_asked_answered_and_judged(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        run_small(small_plan(tmp_path, max_turns=1), server, tmp_path / "out.jsonl")
    row = read_rows(tmp_path / "out.jsonl")[1]

    assert row["responses_create_params"] == {
        "input": [
            {"type": "message", "role": "system", "content": "You count {up}."},
            {"type": "message", "role": "user", "content": "Say 1."},
        ],
        "metadata": {"extra_body": '{"seed":8}'},
    }
    assert row["agent_ref"] == {"type": "responses_api_agents", "name": "small_agent"}
    assert (row["answer"], row["said"], row["reward"], row["turns_used"]) == (1, "1", 1.0, 1)
    assert row["finished_naturally"] is True
    response = row["response"]
    assert response["output"][0]["content"][0]["text"] == "1"
    assert response["usage"]["total_tokens"] == 15
    assert (response["status"], response["object"], response["model"]) == ("completed", "response", "m-1")
    assert 0 <= row["agent_run_time"] < 60


def test_the_inputs_are_what_the_rollouts_were_made_of(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        run_small(small_plan(tmp_path), server, tmp_path / "out.jsonl")
    files = RunFiles(tmp_path / "out.jsonl")

    for asked, row in zip(read_rows(files.inputs), read_rows(files.output), strict=True):
        assert {name: row[name] for name in asked} == asked


def test_the_rollouts_can_be_read_with_their_sidecars(tmp_path: Path) -> None:
    with Loopback(lambda call: Status(400, "no") if "Say 2." in call.words else echo(call)) as server:
        run_small(small_plan(tmp_path), server, tmp_path / "out.jsonl")
    coverage = blade.analyze(blade.read(tmp_path / "out.jsonl")).coverage

    # tasks 0 and 2 have two rollouts each; both of task 1 failed before a verdict
    assert (coverage.tasks, coverage.expected_rollouts, coverage.unscored) == (3, 6, 2)


def test_metrics_are_written_beside_the_rollouts(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        result = run_small(small_plan(tmp_path, success="reward >= 1.0"), server, tmp_path / "out.jsonl")
    [entry] = json.loads((tmp_path / "out_aggregate_metrics.json").read_bytes())

    assert result.notes == []
    assert entry["agent_ref"] == {"name": "small_agent"}
    assert entry["agent_metrics"]["mean/reward"] == pytest.approx(2 / 3)


def test_every_rollout_is_asked_with_a_seed_of_its_own(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        run_small(small_plan(tmp_path), server, tmp_path / "out.jsonl")

        assert len({call.body["seed"] for call in server.calls}) == 6


def test_tools_are_called_until_the_model_is_done(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 2, "calls": 2}], repeats=1, max_turns=5)
    script = in_turn(Say("Let me.", (Tool("add", {}),)), Say("", (Tool("add", {}),)), Say("done"))
    with Loopback(script) as server:
        run_small(plan, server, tmp_path / "out.jsonl")

        assert server.calls[0].body["tools"][0]["function"]["name"] == "add"
        assert [m["role"] for m in server.calls[2].body["messages"]] == ["system", "user"] + ["assistant", "tool"] * 2
    [row] = read_rows(tmp_path / "out.jsonl")
    kinds = [item["type"] for item in row["response"]["output"]]
    round_trip = ["function_call", "function_call_output"]
    assert kinds == ["message", *round_trip, *round_trip, "message"]
    assert (row["reward"], row["made"], row["turns_used"], row["response"]["usage"]["total_tokens"]) == (1.0, 2, 3, 45)
    assert row["response"]["output"][4]["output"] == "2"
    assert row["responses_create_params"]["tools"] == [ADD]


def test_a_model_that_never_stops_calling_is_stopped(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 2, "calls": 2}], repeats=1, max_turns=3)
    with Loopback(in_turn(Say("", (Tool("add", {}),)))) as server:
        run_small(plan, server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert (row["turns_used"], row["finished_naturally"]) == (3, False)
    assert row["response"]["incomplete_details"] == {"reason": "max_turns"}


def test_a_rollout_ends_when_its_tokens_are_spent(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 2, "calls": 9}], repeats=1, max_turns=9, max_rollout_tokens=10)
    with Loopback(in_turn(Say("", (Tool("add", {}),), tokens=(1, 5)))) as server:
        run_small(plan, server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert (row["turns_used"], row["response"]["incomplete_details"]) == (2, {"reason": "max_output_tokens"})


def test_a_conversation_that_outgrows_the_model_is_judged_as_far_as_it_came(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1, "calls": 1}], repeats=1, max_turns=3)
    with Loopback(in_turn(Say("", (Tool("add", {}),)), Status(400, "exceeds the context size"))) as server:
        run_small(plan, server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert (row["reward"], row["response"]["incomplete_details"]) == (1.0, {"reason": "context_length"})


def test_a_cut_answer_is_judged_and_marked(tmp_path: Path) -> None:
    with Loopback(in_turn(Say("1", is_cut=True))) as server:
        run_small(small_plan(tmp_path, repeats=1, limit=1), server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert (row["reward"], row["response"]["incomplete_details"]) == (1.0, {"reason": "max_output_tokens"})


def test_a_setting_the_model_does_not_take_is_noted_and_not_claimed(tmp_path: Path) -> None:
    def script(call: Call) -> Say | Status:
        return Status(400, "`temperature` is deprecated for this model") if "temperature" in call.body else Say("1")

    plan = small_plan(tmp_path, repeats=1, limit=1, sampling=Sampling(temperature=0.7))
    with Loopback(script) as server:
        result = run_small(plan, server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert result.notes == ["m-1 takes no temperature; the rollouts were drawn without it"]
    assert (row["responses_create_params"]["temperature"], row["response"]["temperature"]) == (0.7, None)


def test_an_invented_tool_is_answered_and_not_raised(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1}], repeats=1, max_turns=3)
    with Loopback(in_turn(Say("", (Tool("fly", "not json"),)), Say("1"))) as server:
        run_small(plan, server, tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")

    assert row["response"]["output"][1]["output"] == "Error: there is no tool named fly."
    assert row["reward"] == 1.0


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        pytest.param(Status(500), "transient", id="server_error"),
        pytest.param(Status(429), "transient", id="rate_limit"),
        pytest.param(Cut(), "transient", id="cut"),
        pytest.param(Garbage(), "transient", id="garbage"),
        pytest.param(Status(400, "no"), "rejected", id="rejected"),
    ],
)
def test_one_bad_request_costs_its_rollout_and_no_other(
    tmp_path: Path, fault: Status | Cut | Garbage, failure: str
) -> None:
    with Loopback(lambda call: fault if "Say 2." in call.words else echo(call)) as server:
        result = run_small(small_plan(tmp_path, repeats=1), server, tmp_path / "out.jsonl")

    assert (result.status, result.progress.done, result.progress.failures) == ("finished", 2, {failure: 1})
    assert keys(tmp_path / "out.jsonl") == [(0, 0), (2, 0)]
    [lost] = read_rows(tmp_path / "out_failures.jsonl")
    assert (key(lost), lost["_ng_failure_class"], lost["reward"], lost["response"]["output"]) == (
        (1, 0),
        failure,
        None,
        [],
    )


def test_a_verifier_that_breaks_costs_its_rollout_and_no_other(tmp_path: Path) -> None:
    tasks = [{"answer": 1}, {"answer": 2, "breaks": True}]
    with Loopback(echo) as server:
        result = run_small(small_plan(tmp_path, tasks, repeats=1), server, tmp_path / "out.jsonl")

    assert (result.progress.done, result.progress.failures) == (1, {"environment_failed": 1})
    [lost] = read_rows(tmp_path / "out_failures.jsonl")
    assert lost["_ng_failure_error"] == "RuntimeError: the verifier broke"


@pytest.mark.parametrize("value", ["\ud800", object()], ids=["half_a_character", "no_json"])
def test_a_verdict_that_no_file_can_hold_costs_its_rollout_and_no_other(tmp_path: Path, value: object) -> None:
    tasks = [{"answer": 1}, {"answer": 2}]
    with Loopback(echo) as server:
        job = small_job(small_plan(tmp_path, tasks, repeats=1), server)
        honest = job.player.judged

        async def judged(row: Row) -> Row:
            return {**await honest(row), **({"odd": value} if row["answer"] == 2 else {})}

        job.player.judged = judged  # type: ignore[method-assign]
        result = run_job(job, RunFiles(tmp_path / "out.jsonl"), options=RunOptions())

    assert (result.status, result.progress.done, result.progress.failures) == (
        "finished",
        1,
        {"environment_failed": 1},
    )
    assert keys(tmp_path / "out.jsonl") == [(0, 0)] and keys(tmp_path / "out_failures.jsonl") == [(1, 0)]


def test_no_file_of_a_run_holds_the_key_whatever_a_server_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very.secret/value")

    def repeating(call: Call) -> Answer:
        said = f"{echo(call).text} {call.headers['authorization']}"
        return Status(500, said) if "Say 2." in call.words else Say(said, thought=said)

    with Loopback(repeating) as server:
        run_small(small_plan(tmp_path / "in", repeats=1), server, tmp_path / "out.jsonl", attempts=1)
        assert "very.secret/value" in str(server.calls[0].headers)

    written = {path.name: path.read_text() for path in tmp_path.glob("out*")}
    assert "1 Bearer [key]" in written["out.jsonl"] and len(written) == 5
    assert [name for name, text in written.items() if "secret" in text] == []


def test_a_run_stops_by_itself_when_nothing_works(tmp_path: Path) -> None:
    tasks = [{"answer": n} for n in range(500)]
    with Loopback(in_turn(Status(401, "who are you"))) as server:
        result = run_small(small_plan(tmp_path, tasks), server, tmp_path / "out.jsonl")

    assert result.status == "stopped"
    assert "who are you" in (result.error or "")
    assert 32 <= result.progress.failed < 100


def test_no_more_rollouts_are_asked_at_a_time_than_wanted(tmp_path: Path) -> None:
    tasks = [{"answer": n} for n in range(20)]
    with Loopback(lambda call: Say("1", after=0.01)) as server:
        run_small(small_plan(tmp_path, tasks), server, tmp_path / "out.jsonl", concurrency=5)

        assert server.most_at_once == 5


def test_the_limit_counts_tasks(tmp_path: Path) -> None:
    with Loopback(echo) as server:
        run_small(small_plan(tmp_path, limit=2, repeats=3), server, tmp_path / "out.jsonl")

    assert keys(tmp_path / "out.jsonl") == [(task, repeat) for task in (0, 1) for repeat in (0, 1, 2)]
