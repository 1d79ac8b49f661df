import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_logs import (
    AGENTS,
    EVERY_WAY,
    as_object,
    bad_lines,
    log_with,
    members,
    notes,
    read,
    rollouts,
    write_archive,
)
from typer.testing import CliRunner

import blade
from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import inspect
from blade.rollouts.formats.reader import Probe
from blade.rollouts.values import Ending, Expected, Rollout


def steps(rollout: Rollout) -> list[tuple[str, str | None, str]]:
    return [(item.kind, item.name or item.role, item.text) for item in rollout.items]


def test_words_and_numbers_count_as_they_do_for_inspect() -> None:
    # The accuracy Inspect wrote into the log: 10 samples are scored, (1 + .5 + 0 + 0 + 0 + 1 + .25 + 1 + 1 + 1) / 10.
    header = json.loads(members(EVERY_WAY)["header.json"])
    rewards = {task: found.reward for task, found in rollouts(EVERY_WAY).items() if found.reward is not None}
    assert rewards == {
        "fine": 1.0, "partial": 0.5, "none": 0.0, "wrong": 0.0, "odd": 0.0, "yes": 1.0, "digits": 0.25,
        "absent": 1.0, "slow": 1.0, "loop": 1.0,
    }  # fmt: skip
    assert sum(rewards.values()) / len(rewards) == header["results"]["scores"][0]["metrics"]["accuracy"]["value"]


def test_why_a_sample_ended_is_typed_by_what_the_log_recorded() -> None:
    found = {task: rollout.ending for task, rollout in rollouts(EVERY_WAY).items() if rollout.ending != Ending()}
    assert found == {
        "crash": Ending(
            kind="error", origin="environment", name="RuntimeError", message="RuntimeError('sandbox died')"
        ),
        "loop": Ending(
            kind="limit", origin="agent", name="message_limit", message="Message limit reached. count: 6; limit: 6"
        ),
        "solver": Ending(kind="error", origin="runner", name="ValueError", message="ValueError('no plan')"),
        "scorer": Ending(kind="error", origin="verifier", name="KeyError", message="KeyError('no verdict')"),
        "provider": Ending(
            kind="error", origin="model", name="ConnectionError", message="ConnectionError('503 from the provider')"
        ),
    }


def test_every_score_is_kept_by_name_and_the_headline_counts() -> None:
    assert rollouts(EVERY_WAY)["partial"].scores == {"verdict": 0.5, "looks.style": 1.0, "looks.length": 0.5}
    assert notes(EVERY_WAY) == [
        "there are 3 scores (verdict, looks.style, looks.length): verdict counts; --score NAME takes another",
        "scores that Inspect has no number for count as 0, as they do there: 'maybe'",
    ]


def test_an_unscored_sample_has_no_reward() -> None:
    found = rollouts(EVERY_WAY)["unscored"]
    assert (found.reward, found.scores["verdict"], found.ending.kind) == (None, None, "completed")


def test_a_sample_says_what_was_asked_answered_and_used() -> None:
    found = rollouts(EVERY_WAY)["fine"]
    assert found.expected == Expected(answers=["done"])
    assert (found.answer, found.model, found.agent) == ("It is done", "mockllm/model", "careless")
    assert found.settings == {
        "temperature": 0.5, "message_limit": 6, "epochs": 1, "task": "every_way", "task_version": 0,
        "plan": "system_message, use_tools, careless", "inspect_ai": "0.3.285",
    }  # fmt: skip
    assert found.fields == {"kind": "f", "score.strict": True, "explanation": "judged", "stop_reason": "stop"}
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cost) == (30, 10, None)
    assert [tool["name"] for tool in found.tools] == ["look_up"]
    assert steps(found) == [
        ("message", "system", "Be brief."),
        ("message", "user", "fine"),
        ("reasoning", None, "hm " * 50),
        ("message", "assistant", "It is done"),
    ]


def test_errors_of_tools_are_typed() -> None:
    found = rollouts(EVERY_WAY)
    errors = {task: [item.error for item in rollout.items if item.error] for task, rollout in found.items()}
    assert {task: error for task, error in errors.items() if error} == {
        "absent": ["no such record"],
        "slow": ["timeout"],
        "crash": ["failed"],
    }


def test_what_another_agent_did_stands_where_it_was_asked() -> None:
    found = rollouts(AGENTS)["1"]
    assert [(item.agent, item.kind, item.name) for item in found.items if item.kind.startswith("tool")] == [
        ("react", "tool_call", "researcher"),
        ("researcher", "tool_call", "look_up"),
        ("researcher", "tool_result", "look_up"),
        ("researcher", "tool_call", "submit"),
        ("researcher", "tool_result", "submit"),
        ("react", "tool_result", "researcher"),
        ("react", "tool_call", "submit"),
        ("react", "tool_result", "submit"),
    ]
    assert [item.prompt for item in found.items[:3]] == [True, True, False]


def test_an_archive_and_an_object_say_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "log.json.gz"
    packed.write_bytes(gzip.compress(as_object(EVERY_WAY, tmp_path / "log.json").read_bytes()))
    expected = [without_source(found) for found in rollouts(EVERY_WAY).values()]
    for path in (tmp_path / "log.json", packed):
        assert [without_source(found) for found in rollouts(path).values()] == expected
        assert inspect.recognises(Probe(path))


def without_source(rollout: Rollout) -> Rollout:
    return msgspec.structs.replace(rollout, source=None)


def test_a_sample_is_found_again_by_its_place(tmp_path: Path) -> None:
    for path in (EVERY_WAY, as_object(EVERY_WAY, tmp_path / "log.json")):
        found = rollouts(path)["loop"]
        assert found.source is not None
        assert list(inspect.READER.read(path, {found.source.offset})) == [found]


def test_epochs_are_repeats_and_the_later_of_two_members_counts(tmp_path: Path) -> None:
    files = list(members(AGENTS).items())
    name, sample = next((name, data) for name, data in files if name.startswith("samples/"))
    again = name.replace("epoch_1", "epoch_2"), json.dumps({**json.loads(sample), "epoch": 2}).encode()
    edited = json.loads(sample)
    edited["scores"]["verdict"]["value"] = "I"
    path = write_archive(tmp_path / "log.eval", [*files, again, (name, json.dumps(edited).encode())])
    found = [(f.task, f.repeat, f.reward) for f in read(path) if isinstance(f, Rollout)]
    assert sorted(found) == [("1", 1, 0.0), ("1", 2, 1.0)]


def test_a_sample_in_pieces_is_put_together(tmp_path: Path) -> None:
    files = members(AGENTS)
    name = next(name for name in files if name.startswith("samples/"))
    sample = json.loads(files.pop(name))
    folder, pool = name.removesuffix(".json"), sample["events_data"]["messages"]
    first = len(pool)
    shell = {k: v for k, v in sample.items() if k not in ("messages", "events", "events_data", "attachments")}
    indices = {text: index for index, text in enumerate(sample["attachments"])}
    pieces: dict[str, Any] = {
        "sample.json": {**shell, "message_refs": [[first, first + len(sample["messages"])]]},
        "messages/0.json": pool[:2],
        "messages/2.json": [*pool[2:], *sample["messages"]],
        "events/0.json": sample["events"][:10],
        "events/10.json": sample["events"][10:],
        "attachments/0.json": list(sample["attachments"].values()),
    }
    texts = {piece: json.dumps(value) for piece, value in pieces.items()}
    for text, index in indices.items():
        texts = {
            piece: written.replace(f"attachment://{text}", f"attachment://{index}") for piece, written in texts.items()
        }
    files |= {f"{folder}/{piece}": written.encode() for piece, written in texts.items()}
    path = write_archive(tmp_path / "log.eval", files.items())
    assert without_source(rollouts(path)["1"]) == without_source(rollouts(AGENTS)["1"])


def test_a_run_that_was_killed_is_read_as_far_as_it_came(tmp_path: Path) -> None:
    files = {name: data for name, data in members(EVERY_WAY).items() if name.startswith(("_journal/", "samples/"))}
    path = write_archive(tmp_path / "log.eval", list(files.items())[:8])
    assert len(rollouts(path)) == 7
    assert notes(path)[0] == "the status of the run is 'started' and 7 of 15 planned samples are in the log"
    path.write_bytes(path.read_bytes()[:-900])
    assert len(rollouts(path)) == 6
    assert bad_lines(path)[0].endswith("cannot be read: it is cut off")
    assert notes(path)[0].startswith("the archive has no end")
    assert inspect.recognises(Probe(path))


def test_a_broken_member_costs_only_itself(tmp_path: Path) -> None:
    files = members(EVERY_WAY)
    names = [name for name in files if name.startswith("samples/")]
    files[names[0]] = files[names[0]][:-20]
    files[names[1]] = b'{"id": {}, "epoch": 1}'
    path = write_archive(tmp_path / "log.eval", files.items())
    assert len(rollouts(path)) == 13
    assert [reason.partition(": ")[0] for reason in bad_lines(path)] == [
        f"{names[0]} is not a sample of an Inspect log",
        f"{names[1]} is not a sample of an Inspect log",
    ]


@pytest.mark.parametrize(
    ("header", "says"),
    [
        pytest.param({"status": "error", "error": {"message": "no key"}}, r"no samples; its status is 'error': no key"),
        pytest.param({}, r"no samples; its status is 'success'"),
    ],
)
def test_a_log_without_samples_is_refused_in_one_sentence(tmp_path: Path, header: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(log_with(tmp_path, **header))


def test_a_log_whose_beginning_is_lost_is_refused(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "log.eval", [("_journal/start.json", b"{"), ("samples/1_epoch_1.json", b"{}")])
    with pytest.raises(InputError, match=r"not a readable Inspect log: _journal/start.json cannot be read"):
        read(path)


@pytest.mark.parametrize(
    ("sample", "ending"),
    [
        pytest.param({"limit": {"type": "time", "limit": 5}}, ("timeout", "agent", "time_limit"), id="time"),
        pytest.param({"limit": {"type": "context", "limit": 5}}, ("limit", "model", "context_limit"), id="context"),
        pytest.param({"limit": {"type": "operator", "limit": 1}}, ("cancelled", None, "operator_limit"), id="operator"),
        pytest.param({"limit": {"type": "cost", "limit": 1}}, ("limit", "agent", "cost_limit"), id="cost"),
        pytest.param({"error": {"message": "CancelledError()"}}, ("cancelled", None, "CancelledError"), id="cancelled"),
        pytest.param(
            {"error": {"message": "Error code: 429", "traceback": "Traceback\n  x\nopenai.RateLimitError: Error code"}},
            ("error", "runner", "openai.RateLimitError"),
            id="class_in_traceback",
        ),
        pytest.param(
            {"output": {"choices": [{"message": {"role": "assistant", "content": "a"}, "stop_reason": "max_tokens"}]}},
            ("limit", "model", "max_tokens"),
            id="tokens_of_one_call",
        ),
    ],
)
def test_limits_and_errors(tmp_path: Path, sample: dict[str, Any], ending: tuple[str | None, ...]) -> None:
    found = rollouts(log_with(tmp_path, sample))["1"].ending
    assert (found.kind, found.origin, found.name) == ending


def test_a_score_of_several_values_counts_only_by_the_key_that_is_named(tmp_path: Path) -> None:
    scores = {"rubric": {"value": {"a": 1, "b": "P"}}}
    path = log_with(tmp_path, {"scores": scores})
    assert (rollouts(path)["1"].reward, rollouts(path)["1"].scores) == (None, {"rubric.a": 1.0, "rubric.b": 0.5})
    assert "none of them counts by itself" in notes(path)[0]
    results = {"scores": [{"name": "b", "scorer": "rubric", "metrics": {}}, {"name": "a", "scorer": "rubric"}]}
    assert rollouts(log_with(tmp_path, {"scores": scores}, results=results))["1"].reward == 0.5


def test_tokens_of_a_grader_are_not_the_agents_and_cached_ones_are_counted_in(tmp_path: Path) -> None:
    usage = {
        "m": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 115, "input_tokens_cache_read": 100,
              "total_cost": 0.5},
        "grader": {"input_tokens": 7, "output_tokens": 7, "total_tokens": 14},
    }  # fmt: skip
    events = [{"event": "model", "model": "m", "input": [], "tools": [], "output": {"choices": []}}]
    used = rollouts(log_with(tmp_path, {"model_usage": usage, "events": events}))["1"].usage
    assert (used.input_tokens, used.output_tokens, used.cached_tokens, used.cost) == (110, 5, 100, 0.5)


def test_a_log_from_before_events_had_their_place_is_read(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": "tc://a"}
    model = {
        "event": "model",
        "model": "m",
        "input": [],
        "output": {"choices": [{"message": said}], "usage": {"input_tokens": 7, "output_tokens": 2}},
    }
    sample = {
        "messages": [{"role": "user", "content": "q"}, said],
        "transcript": {
            "events": [{"event": "step", "action": "begin", "type": "solver", "name": "s"}, model],
            "content": {"a": "long"},
        },
        "score": {"value": "C"},
    }
    found = rollouts(log_with(tmp_path, sample, results={"scorer": {"name": "match"}, "metrics": {}}))["1"]
    assert steps(found) == [("message", "user", "q"), ("message", "assistant", "long")]
    assert (found.reward, found.scores, found.usage.input_tokens) == (1.0, {"match": 1.0}, 7)


def test_lists_of_logs_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    for number, content in enumerate(({"a.eval": {"status": "success"}}, {"eval_set_id": "x", "tasks": []})):
        (tmp_path / f"{number}.json").write_text(json.dumps(content))
        assert inspect.READER.passes_over(Probe(tmp_path / f"{number}.json"))
    assert not inspect.READER.passes_over(Probe(EVERY_WAY))
    assert not inspect.READER.passes_over(Probe(log_with(tmp_path)))


def test_numbers_that_json_does_not_have_are_unknown(tmp_path: Path) -> None:
    path = log_with(tmp_path, {"scores": {"s": {"value": float("nan")}}, "metadata": {"text": "a NaN in a text"}})
    assert "NaN" in path.read_text()
    found = rollouts(path)["1"]
    assert (found.reward, found.fields) == (None, {"text": "a NaN in a text"})


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"PK\x03\x04 not really an archive", id="zip_magic_only"),
        pytest.param(b'{"version": 1, "status": "ok"}', id="half_the_keys"),
        pytest.param(b'[{"version": 1, "status": "ok", "eval": {}}]', id="array"),
        pytest.param(b"", id="empty"),
    ],
)
def test_other_files_are_not_taken_for_logs(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert not inspect.recognises(Probe(path))


def test_a_log_is_diagnosed_and_a_sample_shown(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = CliRunner().invoke(app, ["diagnose", str(EVERY_WAY), "--out", str(out), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    analysis = json.loads((out / "analysis.json").read_text())
    assert (analysis["coverage"]["rollouts"], analysis["coverage"]["unscored"]) == (15, 5)
    # (1 + .5 + 0 + 0 + 0 + 1 + .25 + 1 + 1 + 1) / 10
    assert analysis["metrics"]["mean_reward"]["value"] == pytest.approx(0.575)
    shown = CliRunner().invoke(app, ["show", str(out), "absent:1"], catch_exceptions=False)
    assert "no such record" in shown.output


def test_of_a_task_that_was_tried_again_the_last_log_counts(tmp_path: Path) -> None:
    first = log_with(tmp_path, {"id": 1, "error": {"message": "RuntimeError('x')"}}, status="error")
    first.rename(tmp_path / f"2026-11-18T20-00-00-00-00_my_task_{'a' * 22}.json")
    last = log_with(tmp_path, {"id": 1, "scores": {"s": {"value": "C"}}})
    last.rename(tmp_path / f"2026-11-18T20-05-00-00-00_my_task_{'a' * 22}.json")
    other = log_with(tmp_path, {"id": 1, "scores": {"s": {"value": "I"}}}, eval={"task": "u", "model": "m"})
    other.rename(tmp_path / f"2026-11-18T20-01-00-00-00_my_task_{'b' * 22}.json")

    runs = {run.name: run for run in blade.read_all(tmp_path)}
    assert {name: run.table.reward.tolist() for name, run in runs.items()} == {"t": [1.0], "u": [0.0]}
    assert runs["t"].notes == ["the log of the last try counts; earlier tries at this task are not read: 1"]
    assert {run.name for run in blade.read_all(str(tmp_path / "*.json"))} == {"t", "u"}


def test_logs_of_one_task_by_several_models_are_called_by_both(tmp_path: Path) -> None:
    for model in ("m", "n"):
        (tmp_path / model).mkdir()
        log_with(tmp_path / model, {"scores": {"s": {"value": "C"}}}, eval={"task": "t", "model": model})
    assert [run.name for run in blade.read_all(tmp_path)] == ["t m", "t n"]
