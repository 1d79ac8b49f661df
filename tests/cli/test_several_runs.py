"""Several runs at once: a folder for each, whatever the runs are called."""

import json
from pathlib import Path

import pytest
from blade_command import airline, blade, document
from hypothesis import given
from hypothesis import strategies as st
from rollout_rows import rollout, write_rows

from blade.cli.folders import folder_names, run_folders
from blade.cli.view import what_to_view


def grouped(folder: Path, *models: str) -> Path:
    """A file in which each model has passed one task and failed another."""
    rows = [rollout(t, 0, float(t), variant=model) for model in models for t in (0, 1)]
    return write_rows(folder / "runs.jsonl", rows)


def test_every_group_gets_a_folder_and_a_line_in_the_list(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = blade("diagnose", grouped(tmp_path, "small", "large"), "--group-by", "variant", "--out", out)

    assert "2 runs" in found.stdout
    assert sorted(path.parent.name for path in out.glob("*/analysis.json")) == ["large", "small"]
    listed = json.loads((out / "runs.json").read_bytes())["runs"]
    assert [(run["name"], run["folder"], run["headline"]["value"]) for run in listed] == [
        ("large", "large", 0.5),
        ("small", "small", 0.5),
    ]


def test_a_run_on_some_of_the_tasks_of_another_is_told(tmp_path: Path) -> None:
    rows = [rollout(task, 0, 1.0, variant=model) for model, tasks in (("all", 10), ("few", 3)) for task in range(tasks)]
    found = blade(
        "diagnose", write_rows(tmp_path / "runs.jsonl", rows), "--group-by", "variant", "--out", tmp_path / "out"
    )

    assert "few has 3 of the 10 tasks of all: the two scores are of different tasks" in found.stdout
    assert "all has" not in found.stdout


def test_the_json_of_several_runs_holds_every_analysis(tmp_path: Path) -> None:
    words = ("--group-by", "variant", "--out", tmp_path / "out", "--json")
    runs = document(blade("diagnose", grouped(tmp_path, "a", "b"), *words))["runs"]

    assert [(run["name"], run["out"]) for run in runs] == [(n, str(tmp_path / "out" / n)) for n in ("a", "b")]
    assert runs[0]["analysis"] == json.loads((tmp_path / "out" / "a" / "analysis.json").read_bytes())


def test_files_with_the_same_rollouts_are_runs_of_their_own(tmp_path: Path) -> None:
    for name in ("base", "new"):
        write_rows(tmp_path / f"{name}.jsonl", [rollout(t, 0, float(name == "new")) for t in (0, 1)])

    found = blade("diagnose", tmp_path / "*.jsonl", "--out", tmp_path / "out")

    assert found.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["base", "new", "report.html", "runs.json"]


def test_a_group_of_one_gets_its_folder_too(tmp_path: Path) -> None:
    blade("diagnose", grouped(tmp_path, "only"), "--group-by", "variant", "--out", tmp_path / "out")

    assert (tmp_path / "out" / "only" / "report.md").exists()


def test_show_on_a_folder_of_several_runs_names_their_folders(tmp_path: Path) -> None:
    out = tmp_path / "out"
    blade("diagnose", grouped(tmp_path, "a", "b"), "--group-by", "variant", "--out", out)

    found = blade("show", out, "0:0")

    assert found.exit_code == 2
    assert found.stderr == f"blade: {out}: holds several runs; name one of {out / 'a'}, {out / 'b'}.\n"
    assert blade("show", out / "b", "0:0").exit_code == 0


def test_one_run_and_several_are_not_mixed_in_a_folder(tmp_path: Path) -> None:
    single, several = airline(tmp_path), grouped(tmp_path, "a", "b")
    blade("diagnose", single, "--out", tmp_path / "one")
    blade("diagnose", several, "--group-by", "variant", "--out", tmp_path / "many")

    into_one = blade("diagnose", several, "--group-by", "variant", "--out", tmp_path / "one")
    into_many = blade("diagnose", single, "--out", tmp_path / "many")

    assert (into_one.exit_code, into_many.exit_code) == (2, 2)
    assert "a single run; choose another folder with --out" in into_one.stderr
    assert "several runs; choose another folder with --out" in into_many.stderr


def test_hostile_run_names_stay_inside_the_folder(tmp_path: Path) -> None:
    names = ["../x", "a/b", "", " ", ".blade", "A", "a", "x" * 300, "con", "runs.json", "\x1b[31mred", "日本語", "é"]
    out = tmp_path / "deep" / "out"

    found = blade("diagnose", grouped(tmp_path, *names), "--group-by", "variant", "--out", out)

    assert found.exit_code == 0, found.stderr
    folders = [path.parent for path in out.rglob("analysis.json")]
    assert len(folders) == len({path.name.casefold() for path in folders}) == len(names)
    assert {path.parent for path in folders} == {out}
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["out"]
    assert "\x1b" not in found.output


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param(["gpt-4o, airline"], ["gpt-4o_airline"], id="readable"),
        pytest.param(["../../etc/passwd"], ["etc_passwd"], id="climbing"),
        pytest.param(["A", "a", "a"], ["A", "a-2", "a-3"], id="case"),
        pytest.param(["", "run"], ["run-", "run"], id="empty"),
        pytest.param(["a", "a-2", "a"], ["a", "a-2", "a-3"], id="taken_number"),
        pytest.param(["nul", "COM1.txt"], ["run-nul", "run-COM1.txt"], id="reserved"),
        pytest.param(
            ["runs.json", "stdin.jsonl", "report.html"],
            ["runs.json-2", "stdin.jsonl-2", "report.html-2"],
            id="our_own_files",
        ),
    ],
)
def test_folder_names_are_readable_and_different(runs: list[str], expected: list[str]) -> None:
    assert folder_names(runs) == expected


@given(st.lists(st.text(max_size=100), max_size=6))
def test_any_names_make_different_single_parts_of_a_path(runs: list[str]) -> None:
    names = folder_names(runs)

    assert len({name.casefold() for name in names}) == len(runs)
    assert all(Path(name).parts == (name,) and name not in (".", "..") and len(name.encode()) < 100 for name in names)


def test_grouped_runs_are_compared(tmp_path: Path) -> None:
    rows = [rollout(task, 0, float(model == "b"), model=model) for task in range(12) for model in ("a", "b")]
    done = blade("diagnose", write_rows(tmp_path / "r.jsonl", rows), "--group-by", "model", "--out", tmp_path / "o")

    assert "b against a: improved" in " ".join(done.stdout.split())
    assert json.loads((tmp_path / "o" / "comparison.json").read_bytes())["verdict"] == "improved"


def test_groups_without_a_common_task_are_not_compared(tmp_path: Path) -> None:
    rows = [rollout(task, 0, 1.0, model="ab"[task % 2]) for task in range(6)]
    done = blade("diagnose", write_rows(tmp_path / "r.jsonl", rows), "--group-by", "model", "--out", tmp_path / "o")

    assert (done.exit_code, "not compared" in done.stdout) == (0, True)
    assert not (tmp_path / "o" / "comparison.json").exists()


def test_view_leads_from_the_table_of_several_runs_to_each(tmp_path: Path) -> None:
    out = tmp_path / "out"
    blade("diagnose", grouped(tmp_path, "a", "b"), "--group-by", "variant", "--out", out)
    blade("compare", tmp_path / "runs.jsonl", "--group-by", "variant", "--out", tmp_path / "diff")
    table, comparison = out / "report.html", out / "comparison.html"

    assert what_to_view(out) == (
        {"a": out / "a", "b": out / "b"},
        {"": table, "report.html": table, "comparison.html": comparison},
    )
    assert what_to_view(out / "a") == ({"": out / "a"}, {})
    assert what_to_view(tmp_path / "diff") == ({}, {"": tmp_path / "diff" / "comparison.html"})


def test_a_list_of_runs_leads_nowhere_else(tmp_path: Path) -> None:
    blade("diagnose", grouped(tmp_path, "a", "b"), "--group-by", "variant", "--out", tmp_path)
    listed = (tmp_path / "runs.json").read_text()
    (tmp_path / "runs.json").write_text(listed.replace('"folder": "a"', '"folder": "../a"'))

    assert run_folders(tmp_path) == [tmp_path / "b"]
