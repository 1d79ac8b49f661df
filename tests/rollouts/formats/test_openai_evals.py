import json
from pathlib import Path
from typing import Any

import pytest
from trace_samples import write_lines

from blade.rollouts.formats import openai_evals
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Rollout

SPEC = {
    "completion_fns": ["gpt-x"], "eval_name": "coqa.dev", "base_eval": "coqa", "split": "dev", "created_by": "",
    "run_config": {"eval_spec": {"cls": "evals.elsuite.basic.match:Match", "args": {}}, "seed": 20220722},
    "run_id": "2601011200ABC", "created_at": "2026-01-01 12:00:00",
}  # fmt: skip
PROMPT = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "2+2?"}]


def event(number: int, sample: str, kind: str, **data: Any) -> dict[str, Any]:
    """An event as `LocalRecorder` of evals 3.0 writes it."""
    return {"run_id": SPEC["run_id"], "event_id": number, "sample_id": sample, "type": kind, "data": data,
            "created_by": "", "created_at": "2026-01-01"}  # fmt: skip


def write_log(folder: Path, events: list[dict[str, Any]], *, spec: dict[str, Any] = SPEC, report: Any = None) -> Path:
    rows: list[dict[str, Any]] = [{"spec": spec}, *events]
    return write_lines(folder / "log.jsonl", [*rows, {"final_report": report, "run_id": "x"}] if report else rows)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    events = [
        event(0, "coqa.dev.0", "sampling", prompt=PROMPT, sampled=["4"], model="gpt-x-0613", usage=usage),
        event(2, "coqa.dev.1", "sampling", prompt="2+3?", sampled=["6"]),
        event(1, "coqa.dev.0", "match", correct=True, expected="4", picked="4", sampled="4", options=["4"]),
        event(3, "coqa.dev.1", "match", correct=False, expected=["5", "five"], picked=None, sampled="6"),
        event(4, "coqa.dev.2", "error", type="RateLimitError", message="429"),
    ]
    return write_log(tmp_path, events, report={"accuracy": 0.5})


def rollouts(path: Path) -> dict[str, Rollout]:
    return {found.task: found for found in openai_evals.READER.read(path, None) if isinstance(found, Rollout)}


def test_a_sample_counts_as_its_match_says(log: Path) -> None:
    found = rollouts(log)
    assert {task: rollout.reward for task, rollout in found.items()} == {
        "coqa.dev.0": 1.0, "coqa.dev.1": 0.0, "coqa.dev.2": None,
    }  # fmt: skip
    assert reader_for(log) is openai_evals.READER


def test_a_sample_says_what_was_asked_answered_and_used(log: Path) -> None:
    first, second = rollouts(log)["coqa.dev.0"], rollouts(log)["coqa.dev.1"]
    assert [(item.role, item.text, item.prompt) for item in first.items] == [
        ("system", "Answer.", True), ("user", "2+2?", True), ("assistant", "4", False),
    ]  # fmt: skip
    assert (first.model, second.model, first.usage.input_tokens, first.answer) == ("gpt-x-0613", "gpt-x", 7, "4")
    assert second.expected is not None
    assert (second.answer, second.expected.answers) == ("6", ["5", "five"])
    assert first.settings == {"eval_name": "coqa.dev", "split": "dev", "seed": 20220722}


def test_an_error_is_typed(log: Path) -> None:
    ending = rollouts(log)["coqa.dev.2"].ending
    assert (ending.kind, ending.name, ending.message) == ("error", "RateLimitError", "429")


def test_a_graders_sampling_is_not_a_step(tmp_path: Path) -> None:
    config = {"eval_spec": {"cls": "evals.elsuite.modelgraded.classify:ModelBasedClassify"}}
    events = [
        event(0, "joke.0", "sampling", prompt="Tell a joke", sampled=["Knock knock"]),
        event(1, "joke.0", "sampling", prompt="Is this funny?", sampled=["Yes"]),
        event(2, "joke.0", "metrics", choice="Yes", score=1.0),
    ]
    found = rollouts(write_log(tmp_path, events, spec={**SPEC, "run_config": config}))["joke.0"]
    assert [item.text for item in found.items] == ["Tell a joke", "Knock knock"]
    assert (found.reward, found.scores, found.fields) == (1.0, {"score": 1.0}, {"choice": "Yes"})


def test_tools_are_steps(tmp_path: Path) -> None:
    events = [
        event(0, "s.0", "function_call", name="add", arguments={"a": 1}, return_value="2"),
        event(1, "s.0", "match", correct=True),
    ]
    found = rollouts(write_log(tmp_path, events))["s.0"]
    assert [(item.kind, item.name, item.text) for item in found.items] == [
        ("tool_call", "add", '{"a":1}'), ("tool_result", "add", "2"),
    ]  # fmt: skip


def test_a_run_without_a_report_did_not_finish_and_a_bad_line_costs_itself(tmp_path: Path) -> None:
    path = write_log(tmp_path, [event(0, "s.0", "match", correct=True)])
    path.write_text(path.read_text() + '{"run_id": "cut')
    found = list(openai_evals.READER.read(path, None))
    assert [note.text for note in found if isinstance(note, Note)] == [
        "the log has no final report, so the run did not finish"
    ]
    assert [bad.line for bad in found if isinstance(bad, BadLine)] == [3]


def test_other_rows_with_a_spec_are_not_taken_for_a_log(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"spec": {"run_id": "x"}, "task": 1}) + "\n")
    assert not openai_evals.recognises(Probe(path))
