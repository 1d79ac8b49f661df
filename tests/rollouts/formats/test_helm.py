import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import blade
from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import helm
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import BadLine, Rollout


def request_state(name: str, said: str | None, *, trial: int = 0, typos: bool = False, **more: Any) -> dict[str, Any]:
    """A request as HELM 0.5.16 writes its dataclasses, without what is `None`."""
    result = {"success": True, "embedding": [], "completions": [{"text": said, "logprob": 0, "tokens": []}]}
    return {
        "instance": {
            "input": {"text": f"Question {name}?"},
            "references": [
                {"output": {"text": "Paris"}, "tags": ["correct"]},
                {"output": {"text": "Rome"}, "tags": []},
            ],
            "split": "test",
            "id": name,
            **({"perturbation": {"name": "typos", "robustness": True}} if typos else {}),
        },
        "train_trial_index": trial,
        "output_mapping": {"A": "Paris", "B": "Rome"},
        "request": {"model": "m", "prompt": f"Question {name}? A. Paris B. Rome\nAnswer:"},
        "result": {**result, "cached": False, "request_time": 0.5, "request_datetime": 1} if said is not None else {
            "success": False, "embedding": [], "completions": [], "cached": False, "error": "503 overloaded",
        },
        "num_train_instances": 5,
        "prompt_truncated": False,
        **more,
    }  # fmt: skip


def write_run(folder: Path, states: list[dict[str, Any]], scores: dict[tuple[str, int, str | None], float]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    adapter = {"method": "multiple_choice_joint", "model": "m", "temperature": 0.0, "max_tokens": 5}
    metrics = [{"class_name": "helm.BasicGenerationMetric", "args": {"names": ["exact_match", "quasi_exact_match"]}}]
    spec = {"name": "mmlu:model=m", "adapter_spec": adapter, "metric_specs": metrics, "groups": ["mmlu"]}
    stats = [
        {
            "instance_id": instance, "train_trial_index": trial,
            **({"perturbation": {"name": how, "robustness": True}} if how else {}),
            "stats": [
                {"name": {"name": "num_prompt_tokens", "split": "test"}, "count": 1, "sum": 20, "mean": 20},
                {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": value, "mean": value},
            ],
        }
        for (instance, trial, how), value in scores.items()
    ]  # fmt: skip
    files = {"run_spec": spec, "scenario_state": {"adapter_spec": adapter, "request_states": states}, "stats": []}
    for name, value in {**files, "per_instance_stats": stats}.items():
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2))
    return folder


def rollouts(path: Path) -> list[Rollout]:
    return [found for found in helm.READER.read(path, None) if isinstance(found, Rollout)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    states = [
        request_state("id1", " A"),
        request_state("id1", " B", typos=True),
        request_state("id2", None),
        request_state("id1", " A", trial=1),
    ]
    scores = {("id1", 0, None): 1.0, ("id1", 0, "typos"): 0.0, ("id2", 0, None): 0.0, ("id1", 1, None): 1.0}
    return write_run(tmp_path / "runs/mmlu", states, scores)


def test_instances_trials_and_perturbations_are_tasks_repeats_and_variants(run: Path) -> None:
    found = [(each.task, each.repeat, each.variant, each.reward) for each in rollouts(run)]
    plain = "original"
    assert found == [("id1", 0, plain, 1.0), ("id2", 0, plain, 0.0), ("id1", 1, plain, 1.0), ("id1", 0, "typos", 0.0)]


def test_inputs_without_a_perturbation_count_even_where_others_stand_first(tmp_path: Path) -> None:
    states = [request_state("id1", " B", typos=True), request_state("id1", " A"), request_state("id2", " A")]
    scores = {("id1", 0, "typos"): 0.0, ("id1", 0, None): 1.0, ("id2", 0, None): 1.0}
    folder = write_run(tmp_path / "run", states, scores)
    run = blade.read(folder)
    assert (run.name, run.table.reward.tolist(), run.duplicates) == ("mmlu", [1.0, 1.0], [])
    assert "original is counted of 2 variants" in run.notes[0]
    assert blade.read(folder, variant="typos").table.reward.tolist() == [0.0]


def test_a_request_says_what_was_asked_answered_and_used(run: Path) -> None:
    first = rollouts(run)[0]
    assert [(item.kind, item.role, item.text) for item in first.items] == [
        ("message", "user", "Question id1? A. Paris B. Rome\nAnswer:"),
        ("message", "assistant", " A"),
    ]
    assert (first.answer, first.model, first.seconds, first.usage.input_tokens) == ("Paris", "m", 0.5, 20)
    assert first.expected is not None
    assert first.expected.answers == ["Paris"]
    assert first.fields == {"split": "test"}
    assert first.settings == {
        "method": "multiple_choice_joint", "temperature": 0.0, "max_tokens": 5, "run": "mmlu:model=m",
    }  # fmt: skip


def test_a_request_that_failed_is_the_providers_error(run: Path) -> None:
    ending = rollouts(run)[1].ending
    assert (ending.kind, ending.origin, ending.message) == ("error", "model", "503 overloaded")


def test_the_first_metric_the_run_names_counts_and_a_note_says_so(run: Path) -> None:
    said = [found.text for found in helm.READER.read(run, None) if isinstance(found, Note)]
    assert said == ["there are 2 scores: exact_match counts; --score NAME takes another"]
    assert rollouts(run)[0].scores == {"num_prompt_tokens": 20.0, "exact_match": 1.0}


def test_requests_about_each_reference_are_one_rollout(tmp_path: Path) -> None:
    states = [request_state("id1", said, reference_index=index) for index, said in enumerate((" yes", " no"))]
    (found,) = rollouts(write_run(tmp_path / "run", states, {("id1", 0, None): 1.0}))
    assert [item.kind for item in found.items] == ["message", "message", "environment", "message"]


def test_a_broken_request_costs_only_itself_and_a_broken_file_is_refused(run: Path) -> None:
    state = json.loads((run / "scenario_state.json").read_text())
    state["request_states"][1]["instance"] = []
    (run / "scenario_state.json").write_text(json.dumps(state))
    assert sum(isinstance(found, BadLine) for found in helm.READER.read(run, None)) == 1
    assert len(rollouts(run)) == 3
    (run / "scenario_state.json").write_text("{")
    with pytest.raises(InputError, match=r"scenario_state\.json"):
        rollouts(run)


def test_a_run_is_found_in_its_folder_and_by_its_state(run: Path) -> None:
    assert reader_for(run) is helm.READER
    assert helm.recognises(Probe(run / "scenario_state.json"))
    assert not helm.recognises(Probe(run.parent))
    found = rollouts(run)[2]
    assert found.source is not None
    assert list(helm.READER.read(run, {found.source.offset})) == [found]


def test_a_run_is_diagnosed(run: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(
        app, ["diagnose", str(run.parent), "--out", str(tmp_path / "out")], catch_exceptions=False
    )
    assert found.exit_code == 0, found.output
    analysis = json.loads((tmp_path / "out/analysis.json").read_text())
    assert analysis["metrics"]["pass_at_1"]["value"] == 0.5
