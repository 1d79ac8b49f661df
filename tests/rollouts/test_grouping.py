from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, keys, read_files, rollout, unindexed, write_rows

import blade
from blade.errors import UsageError
from blade.rollouts import Run
from blade.rollouts.grouping import run_names


def grouped(folder: Path, rows: list[Row], *fields: str) -> dict[str, list[str]]:
    runs = blade.read_all(write_rows(folder / "run.jsonl", rows), group_by=fields)
    return {run.name: keys(run) for run in runs}


def names(runs: list[Run]) -> list[str]:
    return [run.name for run in runs]


def test_one_field_tells_runs_apart(tmp_path: Path) -> None:
    rows = [rollout(task, 0, variant=name) for name in ("b", "a") for task in (0, 1)]
    assert grouped(tmp_path, rows, "variant") == {"a": ["0:0", "1:0"], "b": ["0:0", "1:0"]}


def test_two_fields_make_a_run_of_each_combination(tmp_path: Path) -> None:
    rows = [rollout(n, 0, model=model, effort=n) for model in ("m", "k") for n in (10, 2)]
    assert grouped(tmp_path, rows, "model", "effort") == {
        "k, 2": ["2:0"],
        "k, 10": ["10:0"],
        "m, 2": ["2:0"],
        "m, 10": ["10:0"],
    }


def test_runs_are_told_apart_by_model_wherever_rows_say_it(tmp_path: Path) -> None:
    rows = [rollout(0, 0), rollout(0, 0)]
    for row, model in zip(rows, ("m", "k"), strict=True):
        row["response"] = {**row["response"], "model": model}

    assert grouped(tmp_path, rows, "model") == {"k": ["0:0"], "m": ["0:0"]}


def test_a_nested_field_tells_runs_apart(tmp_path: Path) -> None:
    rows = [rollout(n, 0, config={"sampling": {"temperature": n / 2}}) for n in range(2)]
    assert grouped(tmp_path, rows, "config.sampling.temperature") == {"0": ["0:0"], "0.5": ["1:0"]}


def test_rows_without_the_field_are_a_run_of_their_own(tmp_path: Path) -> None:
    rows = [rollout(0, 0, variant="a"), rollout(1, 0), rollout(2, 0, variant=None), rollout(3, 0, variant="none")]
    assert grouped(tmp_path, rows, "variant") == {"a": ["0:0"], "none": ["3:0"], "none (2)": ["1:0", "2:0"]}


def test_values_that_look_alike_when_joined_stay_apart(tmp_path: Path) -> None:
    rows = [rollout(0, 0, a="x, y", b="z"), rollout(1, 0, a="x", b="y, z")]
    assert grouped(tmp_path, rows, "a", "b") == {"x, y, z": ["1:0"], "x, y, z (2)": ["0:0"]}


@pytest.mark.parametrize("value", ["../../etc", "a/b", "\x1b[31mred", "日本語", "", " ", "x" * 200, "a\nb"])
def test_a_run_is_called_by_its_value_whatever_it_is(tmp_path: Path, value: str) -> None:
    rows = [rollout(0, 0, variant=value), rollout(1, 0, variant="plain")]
    assert set(grouped(tmp_path, rows, "variant")) == {value, "plain"}


def test_an_unknown_field_names_close_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has a field 'varaint'; did you mean variant"):
        grouped(tmp_path, [rollout(0, 0, variant="a")], "varaint")


def test_a_field_with_thousands_of_values_is_refused(tmp_path: Path) -> None:
    rows = [{"task_id": n, "score": 1} for n in range(1001)]
    with pytest.raises(UsageError, match="--group-by task_id: 1001 different values; pick a field with fewer"):
        grouped(tmp_path, rows, "task_id")


def test_repeats_without_numbers_are_counted_within_their_run(tmp_path: Path) -> None:
    rows = [{"task_id": "t", "variant": variant, "score": 1} for variant in "abab"]
    assert grouped(tmp_path, rows, "variant") == {"a": ["t:0", "t:1"], "b": ["t:0", "t:1"]}


def test_a_group_knows_its_own_tasks_only(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{n}", "variant": "ab"[n % 2], "score": 1} for n in range(4)]
    runs = blade.read_all(write_rows(tmp_path / "run.jsonl", rows), group_by=("variant",))
    assert [run.table.tasks for run in runs] == [["t0", "t2"], ["t1", "t3"]]


def test_sidecars_are_not_split_and_that_is_said(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(5, 0, _ng_failure_class="transient")])
    path = write_rows(tmp_path / "run.jsonl", [rollout(n, 0, variant=n) for n in range(2)])
    for run in blade.read_all(path, group_by=("variant",)):
        assert run.notes == ["materialized inputs and failures files are not used when rows are grouped into runs"]


def test_bad_lines_are_listed_with_every_group_and_that_is_said(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", [*(rollout(n, 0, variant=n) for n in range(2)), "oops"])
    for run in blade.read_all(path, group_by=("variant",)):
        assert (len(run.bad), run.notes) == (
            1,
            ["bad lines belong to no group: every run lists those of all its files"],
        )


def test_files_that_claim_the_same_rollouts_are_runs_of_their_own(tmp_path: Path) -> None:
    rows = [rollout(n, 0) for n in range(4)]
    runs = read_files(tmp_path, {"base.jsonl": rows, "new.jsonl": rows[1:]})
    assert [(run.name, len(run.table)) for run in runs] == [("base", 4), ("new", 3)]


def test_runs_are_called_by_as_many_folders_as_it_takes_and_by_none_that_tell_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / place for place in ("a/run.jsonl", "a/run.jsonl.gz", "b/run.jsonl", "b/other.jsonl")]
    assert run_names(paths) == ["a-run", "a-run (2)", "b-run", "other"]
    assert run_names(paths[:2]) == ["run", "run (2)"]


def test_files_with_different_rollouts_are_shards_of_one_run(tmp_path: Path) -> None:
    files: dict[str, Any] = {f"shard-{n}.jsonl": [rollout(n, repeat) for repeat in range(2)] for n in range(3)}
    [run] = read_files(tmp_path, files)
    assert (run.name, keys(run)) == ("shard", ["0:0", "0:1", "1:0", "1:1", "2:0", "2:1"])


def test_named_fields_decide_whether_files_are_shards(tmp_path: Path) -> None:
    files: dict[str, Any] = {f"{n}.jsonl": [{"case": f"{n}-{i}", "score": 1} for i in range(3)] for n in range(2)}
    assert len(read_files(tmp_path, files)) == 2
    [run] = read_files(tmp_path, files, task_field="case")
    assert keys(run) == ["0-0:0", "0-1:0", "0-2:0", "1-0:0", "1-1:0", "1-2:0"]


def test_files_that_identify_rows_in_different_ways_are_no_shards(tmp_path: Path) -> None:
    files: dict[str, Any] = {"a.jsonl": [rollout(0, 0), rollout(1, 0)], "b.jsonl": [unindexed("q0"), unindexed("q1")]}
    runs = read_files(tmp_path, files)
    assert [(run.name, run.identity.scheme, len(run.table)) for run in runs] == [
        ("a", "indices", 2),
        ("b", "input_hash", 2),
    ]


def test_the_file_itself_can_tell_runs_apart(tmp_path: Path) -> None:
    runs = read_files(tmp_path, {"a.jsonl": [rollout(0, 0)], "b.jsonl": [rollout(1, 0)]}, group_by=("file",))
    assert [(run.name, keys(run)) for run in runs] == [("a", ["0:0"]), ("b", ["1:0"])]


def test_the_file_can_be_combined_with_a_field(tmp_path: Path) -> None:
    files: dict[str, Any] = {f"{name}/r.jsonl": [rollout(n, 0, seed=n) for n in (0, 1)] for name in ("x", "y")}
    runs = read_files(tmp_path, files, group_by=("file", "seed"))
    assert names(runs) == ["x-r, 0", "x-r, 1", "y-r, 0", "y-r, 1"]


def test_files_of_the_same_name_are_called_by_their_folders(tmp_path: Path) -> None:
    places = ["one/eval/r.jsonl", "two/eval/r.jsonl", "one/s.jsonl.gz"]
    runs = read_files(tmp_path, {place: [rollout(0, 0)] for place in places})
    assert names(runs) == ["one-eval-r", "two-eval-r", "s"]


def test_a_file_given_under_two_names_is_two_runs_with_names_of_their_own(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "x" / "r.jsonl", [rollout(0, 0)])
    runs = blade.read_all([path, tmp_path / "x" / ".." / "x" / "r.jsonl"])
    assert len(set(names(runs))) == 2


def test_files_of_different_models_are_no_shards(tmp_path: Path) -> None:
    first, second = ([{"task_id": task, "model": name, "score": 1}] for task, name in enumerate("mn"))
    assert [run.name for run in read_files(tmp_path, {"m.jsonl": first, "n.jsonl": second})] == ["m", "n"]
