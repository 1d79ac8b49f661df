import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, rollout, without, write_rows

from blade.diagnosis import analyze
from blade.errors import ProblemsFound
from blade.evals.aggregate import AggregateOptions, write_aggregate, write_profile

AGENT: Row = {"agent_ref": {"name": "desk"}}
ROWS = [
    rollout(7, 0, 0.0, steps=4, **AGENT),
    rollout(0, 1, 1.0, steps=2, **AGENT),
    rollout(0, 0, 0.0, steps=3, **AGENT),
]
ASKED = [rollout(task, repeat, level="easy", **AGENT) for task in (0, 7, 9) for repeat in (0, 1)]
INPUTS = [without(row, "reward", "response") for row in ASKED]


def profiled(folder: Path, **options: Any) -> tuple[list[Row], list[Row]]:
    """The lines of the profile and the records of the agents."""
    path = write_rows(folder / "run.jsonl", ROWS)
    found = write_profile(path, AggregateOptions(**options))
    return [json.loads(line) for line in found.profile.read_text().splitlines()], json.loads(
        found.agent_metrics.read_text()
    )


def test_a_line_per_task_has_what_was_asked_and_true_counts(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", INPUTS)
    first, second = profiled(tmp_path)[0]
    assert first["sample"] == without(INPUTS[0], "_ng_task_index", "_ng_rollout_index")
    counts = ("_ng_task_index", "num_rollouts", "expected_num_rollouts", "missing_num_rollouts")
    assert [[line[key] for key in counts] for line in (first, second)] == [[0, 2, 2, 0], [7, 1, 2, 1]]
    assert (second["reward_profile_completion_pct"], second["mean/steps"]) == (50.0, 4.0)


def test_pass_at_k_is_in_the_profile_and_in_the_agents_record(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", INPUTS)
    lines, [agent] = profiled(tmp_path)
    assert [(line["pass@1/accuracy"], line.get("pass@2/accuracy")) for line in lines] == [(50.0, 100.0), (0.0, None)]
    assert (agent["agent_ref"], agent["pass@1/accuracy"], agent["mean/steps"]) == ({"name": "desk"}, 25.0, 3.0)


def test_a_task_without_rollouts_has_no_line_and_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", INPUTS)
    lines, [agent] = profiled(tmp_path)
    assert 9 not in [line["_ng_task_index"] for line in lines]
    assert agent["blade"]["coverage"]["tasks_without_rollouts"] == [9]
    assert agent["blade"]["coverage"]["missing"] == 3


def test_inputs_may_be_elsewhere_and_compressed(tmp_path: Path) -> None:
    place = tmp_path / "asked.jsonl.gz"
    place.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in INPUTS)))
    lines = profiled(tmp_path, inputs=place)[0]
    assert [line["sample"]["level"] for line in lines] == ["easy", "easy"]


def test_without_inputs_a_stub_stands_for_what_was_asked(tmp_path: Path) -> None:
    assert [line["sample"] for line in profiled(tmp_path)[0]] == [{"agent_ref": {"name": "agent"}}] * 2


def test_inputs_that_ask_twice_are_refused(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_materialized_inputs.jsonl", [*INPUTS, INPUTS[0]])
    with pytest.raises(ProblemsFound, match=r"run_materialized_inputs.jsonl:7: rollout 0:0 is asked for twice"):
        profiled(tmp_path)


def test_the_diagnosis_finds_every_value_we_publish_true(tmp_path: Path) -> None:
    from blade.api import read

    write_rows(tmp_path / "run_materialized_inputs.jsonl", INPUTS)
    profiled(tmp_path, slices=("level",))
    write_aggregate(tmp_path / "run.jsonl", AggregateOptions(slices=("level",)))
    checks = analyze(read(tmp_path / "run.jsonl")).inputs.published
    assert [(check.file, check.different) for check in checks] == [
        ("run_aggregate_metrics.json", []),
        ("run_reward_profiling.jsonl", []),
        ("run_agent_metrics.json", []),
    ]
    assert [check.not_recomputed for check in checks] == [[], [], []]
    assert all(check.compared > 10 for check in checks)
