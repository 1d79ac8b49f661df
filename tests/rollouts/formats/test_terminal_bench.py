"""The sample was written by terminal-bench's own classes, see tests/data/formats/README.md; its `accuracy` is 2 of 12.
One more trial left a result in its folder after the summary was written."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.rollouts.formats import terminal_bench
from blade.rollouts.formats.reader import Probe
from blade.rollouts.formats.registry import passed_over, reader_for
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

RUN = Path(__file__).parents[2] / "data" / "formats" / "terminal-bench" / "run"
SUMMARY = json.loads((RUN / "results.json").read_text())


def trials(path: Path) -> dict[str, Rollout]:
    found = [one for one in terminal_bench.read(path) if isinstance(one, Rollout)]
    return {f"{one.task}:{one.repeat}": one for one in found}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_mean_reward_of_a_results_file_is_its_accuracy(tmp_path: Path) -> None:
    alone = Path(shutil.copy(RUN / "results.json", tmp_path / "results.json"))
    found = list(trials(alone).values())
    assert sum(trial.reward or 0 for trial in found) / len(found) == pytest.approx(SUMMARY["accuracy"])
    assert [trial.reward for trial in found if trial.task.startswith("broken")] == [0.0] * 8


def test_a_run_folder_adds_trials_the_summary_does_not_list() -> None:
    assert set(trials(RUN)) - set(trials(RUN / "results.json")) == {"late:1"}


def test_a_task_id_that_no_file_system_could_hold_has_no_folder(tmp_path: Path) -> None:
    row = {"task_id": "t" * 9000, "trial_name": "one", "is_resolved": True, "failure_mode": "unset"}
    assert [trial.reward for trial in trials(written(tmp_path / "rows.jsonl", [row])).values()] == [1.0]


@pytest.mark.parametrize(
    ("key", "kind", "origin"),
    [
        ("hello:2", "timeout", "agent"),
        ("broken-test_timeout:1", "timeout", "verifier"),
        ("broken-parse_error:1", "error", "verifier"),
        ("broken-unknown_agent_error:1", "error", "agent"),
        ("broken-fatal_llm_parse_error:1", "error", "agent"),
        ("broken-context_length_exceeded:1", "limit", "agent"),
        ("broken-output_length_exceeded:1", "limit", "agent"),
        ("broken-agent_installation_failed:1", "error", "environment"),
        ("broken-unknown:1", "error", None),
        ("no-docker:1", "error", "runner"),
    ],
)
def test_failure_modes_are_typed(key: str, kind: Any, origin: Any) -> None:
    ending = trials(RUN)[key].ending
    assert (ending.kind, ending.origin) == (kind, origin)


def test_a_trial_says_what_it_used_and_how_its_tests_went() -> None:
    found = trials(RUN)
    first = found["hello:1"]
    assert first.ending == Ending()
    assert first.tests == {"test_a": "passed", "test_b": "passed"}
    assert found["chess:1"].tests["test_b"] == "failed"
    assert (first.usage, first.seconds) == (Usage(input_tokens=1000, output_tokens=50), 120.0)
    assert found["hello:2"].usage.input_tokens is None
    assert (first.model, first.agent) == ("anthropic/m", "terminus-1")
    assert first.settings == {
        "dataset": "terminal-bench-core", "dataset_version": "0.1.1", "commit": "unknown", "temperature": 0.7
    }  # fmt: skip


def test_the_turns_an_agent_logged_are_its_trajectory_and_else_the_terminal_is() -> None:
    found = trials(RUN)
    assert [(item.kind, item.prompt, item.text) for item in found["hello:1"].items] == [
        ("message", True, "Solve hello."),
        ("message", False, '{"commands": [{"keystrokes": "ls\\n"}]}'),
        ("environment", False, "root# ls\nfile"),
        ("message", False, '{"is_task_complete": true}'),
        ("message", False, "{}"),
    ]
    assert [item.text for item in found["chess:1"].items] == ["Solve chess.", "root# agent run"]
    assert found["chess:1"].fields["verifier_output"] == "FAILED test_outputs.py::test_b - AssertionError"
    assert [item.text for item in found["no-docker:1"].items] == ["Solve no-docker."]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".jsonl.gz"])
def test_trials_of_several_systems_in_one_table_are_several_runs(tmp_path: Path, suffix: str) -> None:
    rows = [{"system": system, **trial} for system in ("a", "b") for trial in SUMMARY["results"]]
    path = written(tmp_path / f"trials{suffix}", rows)
    if suffix == ".json":
        path.write_text(json.dumps(rows, indent=1))
    if suffix.endswith("gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert terminal_bench.recognises(Probe(path))
    found = [one for one in terminal_bench.read(path) if isinstance(one, Rollout)]
    assert [one.run for one in found] == ["a"] * 12 + ["b"] * 12
    assert len({(one.run, one.task, one.repeat) for one in found}) == 24
    again = list(terminal_bench.read(path, {one.source.offset for one in found[3:4] if one.source}))
    assert again == found[3:4]


def test_attempts_whose_names_do_not_tell_them_apart_are_counted(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "is_resolved": value, "failure_mode": "unset"} for value in (True, False, None)]
    found = trials(written(tmp_path / "trials.jsonl", rows))
    assert {key: trial.reward for key, trial in found.items()} == {"a:1": 1.0, "a:2": 0.0, "a:3": 0.0}


def test_a_broken_trial_is_a_bad_line_and_the_rest_is_read(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps({**SUMMARY, "results": [3, {"is_resolved": True}, *SUMMARY["results"]]}))
    found = list(terminal_bench.read(results))
    assert [one.offset for one in found if isinstance(one, BadLine)] == [0, 1]
    assert len(found) == 14


@pytest.mark.parametrize("part", ["", "results.json", "hello/hello.1-of-2.run-1/results.json"])
def test_a_run_its_summary_and_a_trial_are_recognised(part: str) -> None:
    reader = reader_for(RUN / part)
    assert reader is not None and reader.name == "terminal-bench"
    assert not reader_for(RUN / "run_metadata.json")
    assert passed_over(RUN / "run_metadata.json")


def test_other_records_are_left_to_others(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"task_id": 1, "is_resolved": True}, {"results": [], "accuracy": 1}]
    assert not any(terminal_bench.recognises(Probe(written(tmp_path / "x.jsonl", [row]))) for row in rows)


def test_a_run_goes_through_diagnose_and_show(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = shutil.copytree(RUN, tmp_path / "run")
    done = CliRunner().invoke(app, ["diagnose", str(run), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "12 tasks, 13 of " in done.output
    shown = CliRunner().invoke(app, ["show", str(out), "hello:1"])
    assert "is_task_complete" in shown.output
