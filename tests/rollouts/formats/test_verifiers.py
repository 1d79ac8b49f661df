"""verifiers: the files in tests/data were written by its own save functions (see the README beside them)."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.rollouts.formats import verifiers
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import passed_over, reader_for
from blade.rollouts.values import BadLine, Ending, Expected, Rollout, Usage

DATA = Path(__file__).parents[2] / "data" / "formats" / "verifiers"
OLD = DATA / "old" / "results.jsonl"
NEW = DATA / "new"


def rollouts(path: Path) -> list[Rollout]:
    return [one for one in verifiers.READER.read(path, None) if isinstance(one, Rollout)]


def test_the_mean_of_old_outputs_is_the_average_that_verifiers_wrote() -> None:
    rewards = [one.reward for one in rollouts(OLD) if one.reward is not None]
    assert sum(rewards) / len(rewards) == pytest.approx(
        json.loads((OLD.parent / "metadata.json").read_text())["avg_reward"]
    )


def test_examples_are_tasks_and_their_outputs_are_repeats() -> None:
    assert [(one.task, one.repeat) for one in rollouts(OLD)] == [(str(n), k) for n in range(3) for k in range(3)]


@pytest.mark.parametrize(
    ("place", "ending"),
    [
        pytest.param(0, Ending(), id="one_turn_is_no_limit"),
        pytest.param(2, Ending(kind="limit", origin="model", name="truncated"), id="truncated"),
        pytest.param(
            4,
            Ending(
                kind="error", origin="environment", name="SandboxError",
                message="SandboxError('sandbox died') -> RuntimeError('boom')",
            ),
            id="sandbox",
        ),
        pytest.param(
            5,
            Ending(
                kind="limit", origin="model", name="OverlongPromptError", message="OverlongPromptError('too long')",
            ),
            id="overlong",
        ),
        pytest.param(
            6, Ending(kind="error", origin="model", name="ModelError", message="ModelError('503')"), id="model",
        ),
        pytest.param(8, Ending(kind="timeout", name="timeout_reached"), id="timeout"),
    ],
)  # fmt: skip
def test_endings_of_old_outputs_are_typed(place: int, ending: Ending) -> None:
    assert rollouts(OLD)[place].ending == ending


def test_an_old_output_has_its_scores_calls_and_settings() -> None:
    one = rollouts(OLD)[3]
    assert one.scores == {"reward": 1.0, "correct_answer": 1.0, "num_turns": 1.0}
    assert [(item.kind, item.name, item.text) for item in one.items if not item.prompt] == [
        ("tool_call", "python", '{"code": "2+2"}'), ("tool_result", "python", "4"), ("message", None, "4"),
    ]  # fmt: skip
    assert one.expected == Expected(answers=["4"])
    assert (one.model, one.seconds, one.usage) == ("acme/m-7b", 3.5, Usage(input_tokens=12, output_tokens=3))
    assert one.settings == {"env_id": "gsm8k", "temperature": 0.7, "max_tokens": 64, "verifiers": "0.1.14"}
    assert one.fields == {"is_truncated": False, "stop_condition": "no_tools_called", "info": {"level": "easy"}}


def test_metadata_is_passed_over_and_a_run_folder_is_one_source() -> None:
    assert passed_over(OLD.parent / "metadata.json")
    assert verifiers.READER.files(OLD) == [OLD, OLD.parent / "metadata.json"]
    assert reader_for(NEW) is verifiers.READER


def test_a_trace_that_broke_has_no_score_and_a_judge_is_no_rollout() -> None:
    found = [(one.task, one.repeat, one.reward, one.ending.name) for one in rollouts(NEW)]
    assert found == [
        ("q0", 0, 1.0, None), ("q0", 1, 0.0, None), ("q1", 0, 1.0, None), ("q1", 1, 0.0, "max_output_tokens"),
        ("q2", 0, None, "SandboxError"), ("q2", 1, None, "ProviderError"), ("q3", 0, None, "scoring_timeout"),
        ("q3", 1, 1.0, None), ("q3", 2, None, "EnvError"),
    ]  # fmt: skip


def test_endings_of_traces_are_typed() -> None:
    kinds = [(one.ending.kind, one.ending.origin) for one in rollouts(NEW)]
    assert kinds[3:7] == [("limit", "agent"), ("error", "environment"), ("error", "model"), ("timeout", "verifier")]
    assert rollouts(NEW)[8].ending == Ending(kind="error", origin="runner", name="EnvError", message="run() raised")


def test_a_trace_has_its_scores_messages_and_usage() -> None:
    one = rollouts(NEW)[2]
    assert one.scores == {"reward": 1.0, "correct": 1.0, "short": 1.0, "num_turns": 1.0}
    assert [(item.kind, item.prompt, item.text) for item in one.items] == [
        ("message", True, "Be brief."), ("message", True, "2+2?"), ("reasoning", False, "compute"),
        ("tool_call", False, '{"code": "2+2"}'), ("tool_result", False, "4"), ("message", False, "4"),
    ]  # fmt: skip
    assert one.usage == Usage(input_tokens=34, output_tokens=8, cached_tokens=4, reasoning_tokens=1, cost=0.003)
    assert one.fields["data"] == {"id": "q1", "name": "sum", "answer": "4", "level": "easy"}
    notes = [note.text for note in verifiers.READER.read(NEW, None) if isinstance(note, Note)]
    assert notes == ["reward counts as the score; --score also takes correct, short, num_turns"]


def test_messages_of_another_branch_are_marked(tmp_path: Path) -> None:
    row = json.loads((NEW / "traces.jsonl").read_text().splitlines()[0])
    nodes = row["traces"][0]["nodes"]
    nodes.append({"parent": 1, "sampled": True, "message": {"role": "assistant", "content": "again: 4"}})
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (one,) = rollouts(path)
    assert [(item.text, item.agent) for item in one.items[2:]] == [("4", "branch"), ("again: 4", None)]


def test_broken_lines_are_records_and_places_find_rollouts_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(OLD.read_text() + '{"example_id": 9}\n{"x"\n')
    assert sum(isinstance(one, BadLine) for one in verifiers.READER.read(path, None)) == 2
    every = rollouts(NEW)
    wanted = {one.source.offset for one in every[3:5] if one.source}
    assert [one for one in verifiers.READER.read(NEW, wanted) if isinstance(one, Rollout)] == every[3:5]


@pytest.mark.parametrize("text", ['{"example_id": 1, "reward": 1}', '{"env": 1, "task": 2, "ok": true}', "[]", ""])
def test_other_files_are_not_rollouts_of_verifiers(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    assert not verifiers.recognises(Probe(path))


def test_diagnose_and_show_read_traces(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["diagnose", str(NEW), "--out", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["coverage"]["unscored"] == 4
    assert "SandboxError" in CliRunner().invoke(app, ["show", str(tmp_path), "q2:0"]).output
