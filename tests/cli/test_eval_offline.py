"""`blade eval prepare`, `profile`, `aggregate` and `reverify`, as a user calls them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from blade_command import blade, blade_process, document
from own_benchmark import sum_rollout, write_sums
from rollout_rows import Row, rollout, without, write_rows

ROWS = [sum_rollout(0, 0, "2", 1.0), sum_rollout(0, 1, "3", 0.0), sum_rollout(1, 0, "40", 1.0)]


def run_file(folder: Path, *, rows: list[Row] = ROWS) -> Path:
    """Three of four rollouts that were asked for."""
    asked = [without(row, "reward", "response") for row in [*ROWS, sum_rollout(1, 1, "40", 1.0)]]
    write_rows(folder / "run_materialized_inputs.jsonl", asked)
    return write_rows(folder / "run.jsonl", rows)


def test_prepare_says_how_many_tasks_and_that_they_are_as_frozen(tmp_path: Path) -> None:
    made = write_sums(tmp_path)
    done = blade_process("eval", "prepare", "sums", "--root", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"chatter\n")
    assert done.stdout.decode() == f"sums: 2 tasks, as frozen, sha256 {made.sha256}\n"


def test_prepare_exits_with_one_when_tasks_differ_and_json_says_why(tmp_path: Path) -> None:
    write_sums(tmp_path).tasks.write_text("{}\n")
    found = blade("eval", "prepare", "sums", "--root", tmp_path, "--json")
    assert (found.exit_code, json.loads(found.stdout)["first_difference"]) == (1, "line 1 (task sum-1)")
    assert "the frozen tasks are not those the script makes, from line 1" in found.stderr
    assert blade("eval", "prepare", "sums", "--root", tmp_path, "--write").exit_code == 0


def test_profile_prints_the_headline_and_what_it_wrote(tmp_path: Path) -> None:
    write_sums(tmp_path)
    found = blade("eval", "profile", run_file(tmp_path), "--benchmark", "sums", "--root", tmp_path)
    assert found.exit_code == 0, found.stderr
    headline, *files = found.stdout.splitlines()
    assert re.fullmatch(
        r"sums_agent: pass@1 75\.0 % \([\d.]+ % to [\d.]+ %\), 2 tasks, 3 rollouts of 4 .*, 1 missing", headline
    )
    assert files == [
        f"{tmp_path / 'run_reward_profiling.jsonl'}: 2 tasks",
        f"{tmp_path / 'run_agent_metrics.json'}: 1 agent",
    ]


def test_profile_and_aggregate_give_one_json_document(tmp_path: Path) -> None:
    path = run_file(tmp_path)
    profile = document(blade("eval", "profile", path, "--json"))
    assert (profile["tasks"], profile["profile"]) == (2, str(tmp_path / "run_reward_profiling.jsonl"))
    aggregate = document(blade("eval", "aggregate", path, "--json"))
    assert aggregate["agents"][0]["coverage"]["missing"] == 1 and aggregate["merged"] is None


def test_missing_rollouts_exit_with_one_when_asked_about(tmp_path: Path) -> None:
    for command in ("profile", "aggregate"):
        found = blade("eval", command, run_file(tmp_path), "--fail-on-missing")
        assert (found.exit_code, "1 expected rollouts are missing" in found.stderr) == (1, True)


def test_aggregate_merges_globs_and_passes_over_its_own_output(tmp_path: Path) -> None:
    for n in range(2):
        write_rows(tmp_path / f"part-{n}.jsonl", [rollout(n, 0, 1.0)])
    words = ("eval", "aggregate", tmp_path / "part-*.jsonl", "--output", tmp_path / "part-all.jsonl")
    for extra in ((), ("--overwrite",)):
        found = blade(*words, *extra)
        assert found.exit_code == 0, found.stderr
        assert f"{tmp_path / 'part-all.jsonl'}: 2 rollouts of 2 shards" in found.stdout
    assert blade(*words).exit_code == 2


def test_aggregate_takes_comma_lists_and_seeds(tmp_path: Path) -> None:
    paths = [write_rows(tmp_path / f"s{n}.jsonl", [rollout(0, 0, float(n))]) for n in range(2)]
    out = tmp_path / "all.jsonl"
    found = blade("eval", "aggregate", f"{paths[0]}, {paths[1]}", "--seed-shards", "--output", out, "--json")
    assert document(found)["merged"]["rollouts"] == 2
    assert [json.loads(line)["_ng_rollout_index"] for line in out.read_text().splitlines()] == [0, 1]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        pytest.param(["a.jsonl", "b.jsonl"], 2, "2 shards were named; say with --output", id="no_output"),
        pytest.param(["a.jsonl", "--seed-shards"], 2, "--seed-shards needs --output", id="seeds_in_place"),
        pytest.param(["nope.jsonl"], 3, "nope.jsonl: no such file", id="no_file"),
        pytest.param(["nope-*.jsonl"], 3, "no file matches this pattern", id="no_match"),
        pytest.param(["a.jsonl", "--recipe", "mcq"], 2, "did you mean 'mcqa'?", id="recipe"),
        pytest.param(["a.jsonl", "--success", "reward"], 2, "success rule 'reward' is malformed", id="rule"),
        pytest.param(["a.jsonl", "--inputs", "gone.jsonl"], 3, "gone.jsonl: cannot be read", id="inputs"),
        pytest.param(["a.jsonl", "b.jsonl", "-o", "c.jsonl"], 1, "0:0 is there twice and differs", id="collision"),
    ],
)
def test_aggregate_says_what_is_wrong_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for n, name in enumerate("ab"):
        write_rows(tmp_path / f"{name}.jsonl", [rollout(0, 0, float(n))])
    found = blade("eval", "aggregate", *words)
    assert (found.exit_code, found.stdout, told in found.stderr) == (code, "", True)


def reverified(folder: Path, *words: Any, rows: list[Row] = ROWS) -> Any:
    write_sums(folder)
    path = run_file(folder, rows=rows)
    return blade("eval", "reverify", path, "--benchmark", "sums", "--root", folder, *words)


def test_reverify_says_that_nothing_changed(tmp_path: Path) -> None:
    assert reverified(tmp_path).stdout == (
        "3 of 3 rollouts judged again: 0 rewards changed, mean 0.6667 before, 0.6667 now\n"
    )


def test_reverify_names_changes_which_are_no_error_unless_asked_about(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], "reward": 1.0}]
    found = reverified(tmp_path, rows=rows)
    assert (found.exit_code, found.stdout.splitlines()[1][:13]) == (0, "  0:1 1 -> 0 ")
    assert document(reverified(tmp_path, "--json", rows=rows))["changed"][0]["rollout"] == "0:1"
    gate = reverified(tmp_path, "--fail-on-change", rows=rows)
    assert (gate.exit_code, "1 rewards changed, the first that of 0:1" in gate.stderr) == (1, True)


def test_reverify_writes_where_told_and_refuses_to_overwrite(tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl"
    assert f"{out}: 3 rollouts" in reverified(tmp_path, "--output", out).stdout
    assert reverified(tmp_path, "--output", out).exit_code == 2
    assert reverified(tmp_path, "--output", out, "--overwrite").exit_code == 0


def test_reverify_exits_with_one_when_rows_cannot_be_judged(tmp_path: Path) -> None:
    write_sums(tmp_path)
    path = write_rows(tmp_path / "run.jsonl", [without(ROWS[0], "response")])
    found = blade("eval", "reverify", path, "--benchmark", "sums", "--root", tmp_path)
    assert found.exit_code == 1
    assert "1 rollouts could not be judged; 0:0: has no response with output items." in found.stderr


def test_reverify_needs_an_environment_of_ours(tmp_path: Path) -> None:
    config = write_sums(tmp_path).config
    config.write_text(config.read_text().replace("resources_server: {name: sums_numeric}", "resources_server: null"))
    found = blade("eval", "reverify", run_file(tmp_path), "--benchmark", "sums", "--root", tmp_path)
    assert (found.exit_code, "is judged by its agent 'tool_loop'" in found.stderr) == (2, True)
