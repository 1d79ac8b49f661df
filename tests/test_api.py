import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rollout_rows import message, read_rows, rollout, without, write_rows

import blade
from blade.api import frame_columns
from blade.errors import UsageError
from blade.rollouts import Run


def test_all_names_what_there_is_and_nothing_else() -> None:
    assert blade.__all__ == sorted(set(blade.__all__))
    assert dir(blade) == blade.__all__
    assert {name for name in blade.__all__ if getattr(blade, name) is None} == set()


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'blade' has no attribute 'diagnos'"):
        _ = blade.diagnos


def test_importing_the_package_loads_no_heavy_library() -> None:
    heavy = ("numpy", "msgspec", "scipy", "polars", "pandas", "typer", "rich")
    script = f"import blade, sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert found == "[]\n"


def test_every_public_name_can_be_imported_from_the_package() -> None:
    script = f"from blade import {', '.join(blade.__all__)}; print('ok')"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert found == "ok\n"


def test_a_file_is_read_by_its_path_or_its_name(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", [rollout(0, 0)])
    for given in (path, str(path), [path], (str(path),), tmp_path, str(tmp_path / "*.jsonl")):
        assert len(blade.read(given).table) == 1


def test_reading_one_run_refuses_several(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_rows(tmp_path / f"{name}.jsonl", [rollout(0, 0)])
    with pytest.raises(UsageError, match=r"these files hold 2 runs \(a, b\); use blade.read_all, or read one file"):
        blade.read(tmp_path)
    assert [run.name for run in blade.read_all(tmp_path)] == ["a", "b"]


def test_a_single_text_stands_for_a_list_of_one(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", [rollout(n, 0, n % 2, variant="ab"[n // 2]) for n in range(4)])
    runs = blade.read_all(path, group_by="variant")
    assert [run.name for run in runs] == ["a", "b"]
    assert [table.field for table in blade.analyze(runs[0], slices="variant").slices] == ["variant"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"taskfield": "x"}, "unknown option 'taskfield'; options are: task_field", id="unknown_name"),
        pytest.param({"jobs": "two"}, "wrong option: Expected `int`, got `str` - at `\\$.jobs`", id="wrong_type"),
        pytest.param({"duplicates": "some"}, "wrong option: Invalid enum value 'some'", id="wrong_word"),
    ],
)
def test_a_wrong_option_is_told(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    path = write_rows(tmp_path / "run.jsonl", [rollout(0, 0)])
    with pytest.raises(UsageError, match=said):
        blade.read(path, **options)


def test_a_wrong_option_of_the_analysis_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown option 'slice'; options are: slices"):
        blade.analyze(read_rows(tmp_path, [rollout(0, 0)]), slice="x")


def test_copies_among_other_runs_are_reported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_rows(tmp_path / f"{name}.jsonl", [rollout(0, 0), rollout(1, 0, 0.0)])
    runs = blade.read_all(tmp_path)
    assert [blade.analyze(run, others=runs).inputs.copies for run in runs] == [["b"], ["a"]]


@pytest.fixture
def small_run(tmp_path: Path) -> Run:
    rows = [
        rollout(0, 1, 0.5, tags=["x", "y"], mixed=1, deep={"n": 1}, response={"usage": {"input_tokens": 3}}),
        rollout(0, 0, None, tags=[], mixed="one", big=2**60),
        without(rollout(2, 0, 1.0, output=[message("hi")], flag=True), "response"),
    ]
    return read_rows(tmp_path, rows)


def test_a_polars_frame_has_a_row_per_rollout_and_nulls_for_what_is_unknown(small_run: Run) -> None:
    frame = blade.to_polars(small_run)
    assert frame.height == 3
    shown = frame.select("task", "repeat", "reward", "status", "model", "input_tokens", "field.deep.n", "field.flag")
    assert shown.rows() == [
        ("0", 0, None, "completed", "model-a", None, None, None),
        ("0", 1, 0.5, "completed", "model-a", 3.0, 1, None),
        ("2", 0, 1.0, "completed", None, None, None, True),
    ]
    assert frame["field.tags"].to_list() == [[], ["x", "y"], None]
    assert frame["field.big"].to_list() == [2**60, None, None]
    assert frame["fact.items"].dtype == pl.Int64


def test_a_pandas_frame_has_the_same_columns(small_run: Run) -> None:
    frame = blade.to_pandas(small_run)
    assert list(frame.columns) == blade.to_polars(small_run).columns
    assert frame["task"].tolist() == ["0", "0", "2"]
    assert math.isnan(frame["reward"][0])
    assert frame["field.mixed"].tolist()[:2] == ["one", 1]
    assert pd.isna(frame["model"][2])


def test_frames_leave_out_facts_nobody_looked_at(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0)], features=False)
    assert [name for name in frame_columns(run) if name.startswith("fact.")] == []


@pytest.mark.parametrize("name", ["polars", "pandas"])
def test_a_library_that_is_not_installed_is_told_with_the_command_that_mends_it(
    small_run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    convert = {"polars": blade.to_polars, "pandas": blade.to_pandas}[name]
    with pytest.raises(UsageError, match=f"{name} is not installed; run: pip install {name}"):
        convert(small_run)


def test_the_docstring_tells_the_truth(tmp_path: Path) -> None:
    run = blade.read(write_rows(tmp_path / "rollouts.jsonl", [rollout(0, 0), rollout(0, 1, 0.0)]))
    analysis = blade.analyze(run)
    assert (analysis.metrics.pass_at_1.value, analysis.buckets.sometimes) == (0.5, ["0"])
    assert np.array_equal(blade.to_polars(run)["reward"].to_numpy(), [1.0, 0.0])


def test_two_runs_are_compared_by_the_tasks_they_share(tmp_path: Path) -> None:
    base = read_rows(tmp_path / "base", [rollout(task, 0, 0.0) for task in range(12)])
    better = read_rows(tmp_path / "better", [rollout(task, 0, float(task > 1)) for task in range(12)])

    found = blade.compare(base, better)
    assert (found.verdict, found.paired_tasks) == ("improved", 12)
