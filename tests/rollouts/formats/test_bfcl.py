"""BFCL: the project in tests/data/formats/bfcl was written after bfcl-eval's own code (see the README there)."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import bfcl
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import Ending, Expected, ExpectedCall, Rollout, Usage

PROJECT = Path(__file__).parents[2] / "data" / "formats" / "bfcl"
SIMPLE = "acme-fc/non_live/BFCL_v4_simple_python"


def rollouts(path: Path) -> list[Rollout]:
    return [one for one in bfcl.READER.read(path, None) if isinstance(one, Rollout)]


def by_task() -> dict[str, Rollout]:
    return {one.task: one for one in rollouts(PROJECT)}


def test_accuracy_is_the_one_in_the_score_file() -> None:
    for category in ("simple_python", "multi_turn_base"):
        (scores,) = PROJECT.rglob(f"*_{category}_score.json")
        rewards = [one.reward for one in rollouts(PROJECT) if one.fields["category"] == category]
        assert sum(filter(None, rewards)) / len(rewards) == json.loads(scores.read_text().splitlines()[0])["accuracy"]


def test_a_model_is_a_run_and_what_was_not_scored_has_no_score() -> None:
    assert {(one.run, one.model) for one in rollouts(PROJECT)} == {
        ("acme-fc", "acme-fc"), ("other-prompting", "other-prompting"),
    }  # fmt: skip
    assert by_task()["live_irrelevance_0-0-0"].reward is None
    notes = [one.text for one in bfcl.READER.read(PROJECT, None) if isinstance(one, Note)]
    assert notes == ["live_irrelevance has not been scored: run `bfcl evaluate`"]


def test_a_failure_says_what_was_wrong_and_which_calls_were_right() -> None:
    one = by_task()["simple_python_1"]
    assert one.fields["error_type"] == "value_error:others"
    assert one.expected == Expected(
        calls=[
            ExpectedCall(
                name="area", arguments={"base": 10, "height": 5, "unit": "units"}, compared=["base", "height"],
            )
        ]
    )  # fmt: skip
    assert [(item.kind, item.name, item.text, item.prompt) for item in one.items] == [
        ("message", None, "Area of base 10, height 5?", True),
        ("tool_call", "area", '{"base": 11, "height": 5}', False),
    ]
    assert one.usage == Usage(input_tokens=121, output_tokens=15) and one.seconds == 0.6


def test_endings_are_typed() -> None:
    assert by_task()["simple_python_2"].ending == Ending(
        kind="error", origin="model", name="inference_error", message="Error during inference: Error code: 500"
    )
    assert by_task()["multi_turn_base_1"].ending == Ending(kind="limit", origin="agent", name="force_terminated")


def test_turns_are_read_from_the_log() -> None:
    one = by_task()["multi_turn_base_0"]
    assert [(item.kind, item.name, item.prompt, item.error) for item in one.items] == [
        ("message", None, True, None), ("reasoning", None, False, None), ("tool_call", "mv", False, None),
        ("tool_result", "mv", False, '{"error": "mv: no such directory"}'), ("message", None, False, None),
        ("environment", None, False, None), ("tool_call", "ls", False, None), ("tool_result", "ls", False, None),
    ]  # fmt: skip
    assert one.usage == Usage(input_tokens=330, output_tokens=33) and one.seconds == 1.0
    assert one.expected is not None and one.expected.checks is not None
    assert one.expected.checks[0] == "mv(source='report.txt', destination='temp')"


@pytest.mark.parametrize("name", [f"result/{SIMPLE}_result.json", f"score/{SIMPLE}_score.json"])
def test_one_category_is_read_from_either_of_its_files(name: str) -> None:
    assert reader_for(PROJECT / name) is bfcl.READER
    assert [one.reward for one in rollouts(PROJECT / name)] == [1.0, 0.0, 0.0]


def test_scores_without_results_are_refused_and_broken_scores_score_nothing(tmp_path: Path) -> None:
    shutil.copytree(PROJECT, tmp_path / "p")
    scores = tmp_path / "p" / f"score/{SIMPLE}_score.json"
    scores.write_text(scores.read_text()[:-20])
    assert {one.reward for one in rollouts(tmp_path / "p" / f"result/{SIMPLE}_result.json")} == {None}
    shutil.rmtree(tmp_path / "p" / "result")
    with pytest.raises(InputError, match="lists failures only"):
        rollouts(scores)


def test_places_find_entries_again() -> None:
    every = rollouts(PROJECT)
    wanted = {one.source.offset for one in every[1::2] if one.source}
    assert [one for one in bfcl.READER.read(PROJECT, wanted) if isinstance(one, Rollout)] == every[1::2]


def test_other_folders_are_not_projects(tmp_path: Path) -> None:
    for name in ("result", "score"):
        (tmp_path / name).mkdir()
    assert not bfcl.recognises(Probe(tmp_path))


def test_diagnose_reads_a_project(tmp_path: Path) -> None:
    assert reader_for(PROJECT) is bfcl.READER
    run = CliRunner().invoke(app, ["diagnose", str(PROJECT / f"result/{SIMPLE}_result.json"), "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output


def test_results_beyond_those_that_were_scored_have_no_score(tmp_path: Path) -> None:
    project = Path(shutil.copytree(PROJECT, tmp_path / "project"))
    results = project / "result" / f"{SIMPLE}_result.json"
    added = json.loads(results.read_text().splitlines()[0]) | {"id": "simple_python_99"}
    results.write_text(results.read_text().rstrip("\n") + "\n" + json.dumps(added) + "\n")
    found = list(bfcl.READER.read(results, None))
    assert {one.reward for one in found if isinstance(one, Rollout)} == {0.0, None}
    (note,) = [one.text for one in found if isinstance(one, Note)]
    assert note.endswith("results, and nobody knows which passed: run `bfcl evaluate` again")


def test_a_score_file_that_lacks_failures_scores_nothing(tmp_path: Path) -> None:
    project = Path(shutil.copytree(PROJECT, tmp_path / "project"))
    scores = project / "score" / f"{SIMPLE}_score.json"
    head, *failed = scores.read_text().splitlines()
    assert failed
    scores.write_text("\n".join([head, *failed[:-1]]) + "\n")
    assert {one.reward for one in rollouts(project / "result" / f"{SIMPLE}_result.json")} == {None}
