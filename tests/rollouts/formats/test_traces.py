import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from trace_samples import (
    ANSWER,
    CALL,
    QUESTION,
    SAID,
    SAMPLES,
    attribute,
    braintrust,
    genai,
    langfuse,
    langsmith,
    otlp,
    phoenix,
    stamp,
    weave,
    write_lines,
)
from typer.testing import CliRunner

from blade.cli.main import app
from blade.rollouts.formats import langfuse as langfuse_reader
from blade.rollouts.formats import otlp as otlp_reader
from blade.rollouts.formats.building import Trajectory
from blade.rollouts.formats.chats import chat
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Rollout

STEPS = [
    ("message", "user", "What is 6*7?"),
    ("tool_call", "multiply", '{"a":6,"b":7}'),
    ("tool_result", "multiply", "42"),
    ("message", "assistant", "It is 42"),
]


def rollouts(path: Path) -> list[Rollout]:
    reader = reader_for(path)
    assert reader is not None
    return [found for found in reader.read(path, None) if isinstance(found, Rollout)]


def steps(rollout: Rollout) -> list[tuple[str, str | None, str]]:
    return [(item.kind, item.name or item.role, item.text) for item in rollout.items]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_tracer_tells_the_same_story(tmp_path: Path, name: str) -> None:
    path = write_lines(tmp_path / "traces.jsonl", SAMPLES[name]())
    reader = reader_for(path)
    assert reader is not None
    assert reader.name == name.removesuffix("-openinference")
    good, bad = rollouts(path)
    assert steps(good) == STEPS
    assert [item.prompt for item in good.items] == [True, False, False, False]
    assert (good.reward, good.model, good.settings["temperature"]) == (1.0, "m", 0.5)
    assert (good.usage.input_tokens, good.usage.output_tokens, good.seconds) == (20, 10, 9.0)
    assert good.ending.kind == "completed"
    assert (bad.reward, bad.ending.kind, bad.ending.origin, bad.ending.name) == (
        0.0,
        "error",
        "environment",
        "TimeoutError",
    )
    assert [item.error for item in bad.items] == [None, None, "TimeoutError"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_trace_is_found_again_by_its_place(tmp_path: Path, name: str) -> None:
    path = write_lines(tmp_path / "traces.jsonl", SAMPLES[name]())
    _, bad = rollouts(path)
    reader = reader_for(path)
    assert reader is not None and bad.source is not None
    assert list(reader.read(path, {bad.source.offset})) == [bad]


@pytest.mark.parametrize(
    ("name", "around"),
    [("phoenix", "data"), ("langsmith", "runs"), ("braintrust", "events"), ("langfuse", "data"), ("weave", "calls")],
)
def test_rows_in_one_document_are_read_too(tmp_path: Path, name: str, around: str) -> None:
    path = tmp_path / "traces.json"
    for document in ({around: SAMPLES[name](), "cursor": None}, SAMPLES[name]()):
        path.write_text(json.dumps(document, indent=1))
        assert steps(rollouts(path)[0]) == STEPS


def test_tasks_and_runs_are_those_of_the_experiment(tmp_path: Path) -> None:
    rows = {"langsmith": langsmith(), "braintrust": braintrust(), "weave": weave()}
    found = {name: rollouts(write_lines(tmp_path / f"{name}.jsonl", sample))[0] for name, sample in rows.items()}
    assert {name: (rollout.task, rollout.run, rollout.answer) for name, rollout in found.items()} == {
        "langsmith": ("example-good", "experiment", None),
        "braintrust": ("record-good", "experiment", "It is 42"),
        "weave": ('{"question":"good: 6*7?"}', "evaluation", "It is 42"),
    }
    assert found["braintrust"].expected is not None
    assert found["braintrust"].expected.answers == ["42"]


def test_traces_with_one_input_are_trials_of_one_task_in_braintrust(tmp_path: Path) -> None:
    rows = [{**row, "dataset_record_id": None} for row in braintrust()]
    found = rollouts(write_lines(tmp_path / "rows.jsonl", rows))
    assert [(rollout.task, rollout.repeat) for rollout in found] == [("What is 6*7?", 0), ("What is 6*7?", 1)]


def test_an_unevaluated_trace_has_no_score_and_a_label_is_none(tmp_path: Path) -> None:
    rows = otlp(genai)
    for row in rows:
        (span,) = row["resourceSpans"][0]["scopeSpans"][0]["spans"]
        labelled = [attribute("gen_ai.evaluation.name", "tone"), attribute("gen_ai.evaluation.score.label", "pass")]
        span["events"] = [{"name": "gen_ai.evaluation.result", "attributes": labelled}]
    assert [(found.reward, found.scores) for found in rollouts(write_lines(tmp_path / "t.jsonl", rows))] == [
        (None, {})
    ] * 2


def test_an_evaluation_logged_apart_counts_for_its_trace(tmp_path: Path) -> None:
    trace = b"good".hex().rjust(32, "0")
    named = [attribute("gen_ai.evaluation.name", "helpful"), attribute("gen_ai.evaluation.score.value", 0.5)]
    record = {"traceId": trace, "eventName": "gen_ai.evaluation.result", "attributes": named}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    path = write_lines(tmp_path / "traces.jsonl", [*otlp(genai), logs])
    reader = reader_for(path)
    assert reader is not None
    found = list(reader.read(path, None))
    scores = {rollout.task[-8:]: rollout.scores for rollout in found if isinstance(rollout, Rollout)}
    assert scores == {"676f6f64": {"helpful": 0.5, "correct": 1.0}, "00626164": {"correct": 0.0}}
    assert [note.text for note in found if isinstance(note, Note)] == [
        "there are 2 scores (correct, helpful): correct counts; --score NAME takes another"
    ]


def test_another_agent_is_named_where_it_acted(tmp_path: Path) -> None:
    rows = phoenix()[:4]
    inner = {
        **rows[0],
        "id": "x",
        "context": {"trace_id": "good", "span_id": "sub"},
        "parent_id": "good-2",
        "annotations": [],
    }
    inner |= {"annotations": [], "attributes": {"agent.name": "helper"}, "start_time": stamp(3), "end_time": stamp(4)}
    asked = {**rows[1], "context": {"trace_id": "good", "span_id": "sub-1"}, "parent_id": "sub"}
    asked |= {"start_time": stamp(3), "end_time": stamp(4)}
    asked["attributes"] = {
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Multiplying",
    }  # fmt: skip
    (found,) = rollouts(write_lines(tmp_path / "spans.jsonl", [*rows, inner, asked]))
    assert [(item.agent, item.text) for item in found.items if item.role == "assistant"] == [
        ("helper", "Multiplying"),
        ("counter", "It is 42"),
    ]


def test_a_langfuse_export_joins_scores_from_their_own_files(tmp_path: Path) -> None:
    def snake(row: dict[str, Any]) -> dict[str, Any]:
        return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in row.items()}

    for folder in ("observations_v2", "scores"):
        (tmp_path / "export" / folder).mkdir(parents=True)
    for trace in langfuse():
        rows = [
            {key: json.dumps(value) if isinstance(value, list | dict) else value for key, value in snake(row).items()}
            for row in trace["observations"]
        ]
        write_lines(tmp_path / "export/observations_v2" / f"{trace['id']}.jsonl", rows)
        write_lines(tmp_path / "export/scores" / f"{trace['id']}.jsonl", [snake(row) for row in trace["scores"]])
    found = rollouts(tmp_path / "export")
    assert {rollout.task: (rollout.reward, rollout.scores) for rollout in found} == {
        "good": (1.0, {"correct": 1.0}),
        "bad": (0.0, {"correct": 0.0}),
    }
    assert steps(next(rollout for rollout in found if rollout.task == "good")) == STEPS
    assert len(langfuse_reader.READER.files(tmp_path / "export")) == 4


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([QUESTION, CALL, ANSWER, SAID], id="chat"),
        pytest.param(json.dumps({"messages": [QUESTION, CALL, ANSWER, SAID]}), id="request_in_a_text"),
        pytest.param(
            {
                "messages": [
                    [
                        {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["langchain", "schema", "messages", "HumanMessage"],
                            "kwargs": {"content": "What is 6*7?", "type": "human"},
                        },
                        {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["langchain", "schema", "messages", "AIMessage"],
                            "kwargs": {
                                "content": "",
                                "tool_calls": [{"name": "multiply", "args": {"a": 6, "b": 7}, "id": "c1"}],
                            },
                        },
                        {"type": "tool", "content": "42", "tool_call_id": "c1"},
                        {"type": "ai", "content": "It is 42"},
                    ]
                ]
            },
            id="langchain",
        ),
    ],
)
def test_messages_are_found_however_they_were_written_down(value: Any) -> None:
    trajectory = Trajectory()
    trajectory.add_chat(chat(value, "user"))
    assert [(item.kind, item.name or item.role, item.text) for item in trajectory.items] == STEPS


def test_a_bad_line_costs_only_itself(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "spans.jsonl", phoenix())
    path.write_text(path.read_text() + '{"context": \n[1]\n')
    reader = reader_for(path)
    assert reader is not None
    found = list(reader.read(path, None))
    assert sum(isinstance(one, Rollout) for one in found) == 2
    assert [one.line for one in found if isinstance(one, BadLine)] == [8, 9]


def test_traces_are_diagnosed_and_shown(tmp_path: Path) -> None:
    path, out = write_lines(tmp_path / "spans.jsonl", otlp(genai)), tmp_path / "out"
    found = CliRunner().invoke(app, ["diagnose", str(path), "--out", str(out), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    assert json.loads((out / "analysis.json").read_text())["metrics"]["pass_at_1"]["value"] == 0.5
    shown = CliRunner().invoke(app, ["show", str(out), f"{b'bad'.hex().rjust(32, '0')}:0"])
    assert "too slow" in shown.output


def test_a_langfuse_trace_downloaded_by_hand_has_its_observations_and_scores_beside_it(tmp_path: Path) -> None:
    [trace] = langfuse()[:1]
    beside = {name: trace[name] for name in ("observations", "scores")}
    alone = {name: value for name, value in trace.items() if name not in beside}
    whole, parts = tmp_path / "whole.json", tmp_path / "trace.json"
    whole.write_text(json.dumps([trace]))
    parts.write_text(json.dumps({"trace": alone, **beside}))
    assert langfuse_reader.recognises(Probe(parts))
    first, second = (
        [msgspec.structs.replace(one, source=None) for one in langfuse_reader.read(path) if isinstance(one, Rollout)]
        for path in (whole, parts)
    )
    assert first == second and len(first) == 1


@pytest.mark.parametrize("value", ["null", "1", "[]", '["a"]'])
def test_a_field_called_like_an_export_makes_no_export(tmp_path: Path, value: str) -> None:
    place = tmp_path / "rows.jsonl"
    place.write_text(f'{{"resourceSpans": {value}, "task_id": 1, "score": 1}}\n')
    assert not otlp_reader.recognises(Probe(place))
