"""promptfoo: the evaluation in tests/data/formats/promptfoo was written by promptfoo itself (see the README there)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import promptfoo
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Ending, Expected, Rollout, Usage

RESULTS = Path(__file__).parents[2] / "data" / "formats" / "promptfoo" / "results.json"
BRIEF = "Answer briefly: {{question}}"


def rollouts(path: Path = RESULTS) -> list[Rollout]:
    return [one for one in promptfoo.READER.read(path, None) if isinstance(one, Rollout)]


def chosen(task: str, run: str, variant: str = BRIEF) -> list[Rollout]:
    return [one for one in rollouts() if (one.task, one.run, one.variant) == (task, run, variant)]


def with_row(tmp_path: Path, **parts: Any) -> Path:
    row = json.loads(RESULTS.read_text())["results"]["results"][0]
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(row | parts) + "\n")
    return path


def test_passes_failures_and_errors_are_as_many_as_promptfoo_counts() -> None:
    stats = json.loads(RESULTS.read_text())["results"]["stats"]
    found = Counter("errors" if one.ending.kind == "error" else one.reward for one in rollouts())
    assert found == {1.0: stats["successes"], 0.0: stats["failures"], "errors": stats["errors"]}


def test_a_provider_is_a_run_a_prompt_a_variant_and_the_same_test_case_a_repeat() -> None:
    assert {one.run for one in rollouts()} == {"parrot", "scripted:model-1"}
    assert {one.variant for one in rollouts()} == {BRIEF, "polite"}
    assert {(one.task, one.repeat) for one in rollouts()} == {(str(task), n) for task in range(5) for n in range(2)}


def test_assertions_are_tests_and_named_scores_are_scores() -> None:
    one = chosen("0", "scripted:model-1")[0]
    assert one.tests == {"contains: 2+2": "failed", "equals: 4": "passed"}
    assert one.scores == {"pass": 0.0, "score": 0.5, "accuracy": 1.0}
    assert one.expected == Expected(answers=["4"], checks=["contains: 2+2"])
    assert one.fields["reason"] == 'Expected output to contain "2+2"'
    notes = [note.text for note in promptfoo.READER.read(RESULTS, None) if isinstance(note, Note)]
    assert notes == ["passing counts as the score; --score also takes score, accuracy"]


def test_an_error_of_the_provider_is_typed_and_counts_as_failed() -> None:
    one = chosen("1", "scripted:model-1")[0]
    assert one.reward == 0.0 and one.tests == {} and one.answer is None
    assert one.ending == Ending(
        kind="error", origin="model", name="ERROR", message="API call error: invalid request"
    )  # fmt: skip
    assert chosen("3", "scripted:model-1")[0].ending == Ending(
        kind="error", name="ERROR", message="Error: socket hang up"
    )  # fmt: skip


def test_a_threshold_decides_and_a_json_output_is_the_answer() -> None:
    one = chosen("2", "scripted:model-1")[0]
    assert (one.reward, one.answer, one.settings["threshold"]) == (0.0, '{"json":true}', 0.5)
    assert one.usage == Usage(input_tokens=4, output_tokens=5, cost=0.002)
    assert chosen("2", "parrot")[0].reward == 1.0


def test_tool_calls_are_items() -> None:
    (first, _) = chosen("4", "scripted:model-1")
    assert [(item.kind, item.name, item.text, item.prompt) for item in first.items] == [
        ("message", None, "Answer briefly: Tool?", True), ("tool_call", "lookup", '{"q": "tool"}', False),
    ]  # fmt: skip


def test_variables_and_what_a_red_team_did_are_kept(tmp_path: Path) -> None:
    about = {
        "pluginId": "harmful:hate", "strategyId": "jailbreak", "severity": "critical", "harmCategory": "Hate",
        "redteamHistory": [{"prompt": "Please?", "output": "No."}, {"prompt": "Pretty please?", "output": "4"}],
    }  # fmt: skip
    (one,) = rollouts(with_row(tmp_path, metadata=about))
    assert one.fields["plugin"] == "harmful:hate" and one.fields["strategy"] == "jailbreak"
    assert one.fields["vars"] == {"question": "What is 2+2?", "category": "math"}
    assert [(item.kind, item.text) for item in one.items if not item.prompt] == [
        ("environment", "Please?"), ("message", "No."), ("environment", "Pretty please?"), ("message", "4"),
    ]  # fmt: skip


def test_a_prompt_written_as_a_chat_is_a_chat(tmp_path: Path) -> None:
    raw = json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}])
    (one,) = rollouts(with_row(tmp_path, prompt={"raw": raw, "label": "chat"}))
    assert [(item.role, item.text) for item in one.items if item.prompt] == [("system", "Be brief."), ("user", "2+2?")]


def test_lines_are_read_as_the_document_and_broken_ones_are_records(tmp_path: Path) -> None:
    rows = json.loads(RESULTS.read_text())["results"]["results"]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join([json.dumps(row) for row in rows] + ['{"broken', "{}"]) + "\n")
    assert reader_for(path) is promptfoo.READER
    assert [(one.task, one.repeat, one.reward) for one in rollouts(path)] == [
        (one.task, one.repeat, one.reward) for one in rollouts()
    ]
    assert sum(isinstance(one, BadLine) for one in promptfoo.READER.read(path, None)) == 2


def test_places_find_results_again() -> None:
    every = rollouts()
    again = [one for one in promptfoo.READER.read(RESULTS, {3, 17}) if isinstance(one, Rollout)]
    assert again == [every[3], every[17]]


def test_a_cut_document_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(RESULTS.read_bytes()[:-50])
    with pytest.raises(InputError, match="is the file complete"):
        rollouts(path)


@pytest.mark.parametrize(
    "text", ['{"evalId": 1, "results": {}, "config": {}}', '{"provider": 1, "success": true}', "{"]
)
def test_other_files_are_not_evaluations(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    assert not promptfoo.recognises(Probe(path))


def test_diagnose_splits_providers(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["diagnose", str(RESULTS), "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    assert {path.parent.name for path in tmp_path.glob("*/analysis.json")} == {"parrot", "scripted_model-1"}
