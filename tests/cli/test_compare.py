"""`blade compare` through its real entry point: files, folders, groups, exit codes, and what hostile text may do."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from blade_command import blade, blade_process, document
from rollout_rows import Row, rollout, write_rows

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202egnp.exe\u200b[bold]x[/] | `y` :skull:"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def rows(passes: Sequence[float | str], *, model: str = "m", **fields: Any) -> list[Row]:
    """One rollout of each task with these rewards."""
    return [
        rollout(task, 0, reward, level="odd" if task % 2 else "even", response={"model": model}, **fields)
        for task, reward in enumerate(passes)
    ]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A base that solves 11 of 12 tasks, and a candidate that solves 4 of them."""
    base = write_rows(tmp_path / "base.jsonl", rows([1.0] * 11 + [0.0]))
    return base, write_rows(tmp_path / "after.jsonl", rows([0.0] * 8 + [1.0] * 4, model="n"))


def test_two_files_are_compared_and_written(tmp_path: Path, files: tuple[Path, Path]) -> None:
    found = blade("compare", *files, "--out", tmp_path / "out")
    written = json.loads((tmp_path / "out" / "comparison.json").read_bytes())

    # Eight tasks lost, one won: −7/12, p = 2 · (C(9,0) + C(9,1)) / 2^9 = 20/512
    assert found.exit_code == 0
    assert (written["delta"]["value"], written["delta"]["p_value"]) == (pytest.approx(-7 / 12), 20 / 512)
    assert (written["verdict"], written["base"]["run"], written["candidate"]["run"]) == ("regressed", "base", "after")
    assert "REGRESSED: -58.3 pp" in found.stdout
    assert (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8").startswith("# Comparison of `base`")


def test_the_screen_shows_losses_before_gains(tmp_path: Path, files: tuple[Path, Path]) -> None:
    shown = blade("compare", *files, "--out", tmp_path / "out").stdout

    places = [
        shown.index(title) for title in ("91.7 %", "REGRESSED", "made of", "did worse", "did better", "in a browser")
    ]
    assert places == sorted(places)
    assert "\n8 tasks did worse\n" in shown


def test_the_top_level_is_what_the_design_promises(tmp_path: Path, files: tuple[Path, Path]) -> None:
    found = document(blade("compare", *files, "--out", tmp_path / "out", "--json"))

    promised = ["schema_version", "base", "candidate", "paired_tasks", "delta", "verdict", "mde", "decomposition"]
    promised += ["transitions", "slices", "drivers", "config_changes"]
    assert [key for key in promised if key not in found] == []
    assert {"value", "se", "ci95", "p_value"} <= found["delta"].keys()
    assert {"part", "value", "ci95"} <= found["decomposition"][0].keys()
    assert "pairs" not in found and "ranking" not in found


def test_a_regression_exits_with_1_only_when_asked(tmp_path: Path, files: tuple[Path, Path]) -> None:
    base, after = files
    out = tmp_path / "out"

    assert blade("compare", base, after, "--out", out, "-q").exit_code == 0
    failed = blade("compare", base, after, "--out", out, "-q", "--fail-on-regression")
    assert (failed.exit_code, failed.stdout, failed.stderr) == (1, "", "blade: after regressed from base.\n")
    assert blade("compare", after, base, "--out", out, "-q", "--fail-on-regression").exit_code == 0


def test_any_candidate_that_regressed_fails(tmp_path: Path) -> None:
    # The last run has fewer tasks, so the base it is compared with looks different.
    for name, solved, tasks in (("base", 12, 12), ("same", 12, 12), ("worse", 0, 10)):
        write_rows(tmp_path / f"{name}.jsonl", rows([float(t < solved) for t in range(tasks)], model=name))
    names = [tmp_path / f"{name}.jsonl" for name in ("base", "same", "worse")]
    found = blade("compare", *names, "--out", tmp_path / "out", "--fail-on-regression")

    assert (found.exit_code, found.stderr) == (1, "blade: worse regressed from base.\n")
    assert "Ranking" in found.stdout
    assert "2 of 3 pairs told apart after Holm" in found.stdout


def test_folders_of_diagnoses_are_read_again_as_they_were_diagnosed(tmp_path: Path) -> None:
    for name, reward in (("a", 0.4), ("b", 0.6)):
        source = write_rows(tmp_path / f"{name}.jsonl", rows([reward] * 6 + [0.0, 1.0]))
        blade("diagnose", source, "--out", tmp_path / name, "-q", "--success", "reward >= 0.5")
    found = document(blade("compare", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out", "--json"))

    # The rule of the folders is in force: six of eight tasks pass in b alone.
    assert (found["success"]["rule"], found["delta"]["value"]) == ("reward >= 0.5", 0.75)


def test_folders_diagnosed_by_different_rules_need_one_rule(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", rows([0.4, 0.6, 1.0]))
    for name, rule in (("a", "reward >= 0.5"), ("b", "reward >= 0.3")):
        blade("diagnose", source, "--out", tmp_path / name, "-q", "--success", rule)
    words = ("compare", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out", "-q")

    found = blade(*words)
    assert found.exit_code == 2
    assert "diagnosed with --success reward >= 0.3 and reward >= 0.5; give one with --success" in found.stderr
    assert blade(*words, "--success", "reward >= 1").exit_code == 0


def test_folders_in_which_the_score_means_different_things_need_one_meaning(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", rows([0.4, 0.6, 0.9], wer=0.2))
    for name, field in (("a", "wer"), ("b", "-wer")):
        blade("diagnose", source, "--out", tmp_path / name, "-q", "--reward-field", field)
    words = ("compare", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")

    found = blade(*words, "-q")
    assert found.exit_code == 2
    assert "less of the score is better in b/r (`-wer`) and not in the other run" in found.stderr
    assert document(blade(*words, "--reward-field", "-wer", "--json"))["delta"]["value"] == 0.0


def test_folders_diagnosed_with_other_words_for_success_need_the_same(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", rows(["PASS", "FAIL", "PASS"]))
    for name, word in (("a", "PASS"), ("b", "FAIL")):
        blade("diagnose", source, "--out", tmp_path / name, "-q", "--true-words", word)
    words = ("compare", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out")

    found = blade(*words, "-q")
    assert (found.exit_code, "diagnosed with --true-words FAIL and PASS; give one" in found.stderr) == (2, True)
    assert document(blade(*words, "--true-words", "PASS", "--json"))["delta"]["value"] == 0.0


def test_scores_on_different_scales_are_not_compared(tmp_path: Path) -> None:
    small = write_rows(tmp_path / "small.jsonl", rows([0.3, 0.5, 1.0]))
    large = write_rows(tmp_path / "large.jsonl", rows([30, 50, 100]))

    found = blade("compare", small, large, "--out", tmp_path / "out", "-q")
    assert found.exit_code == 2
    assert "scores run from 0.3 to 1 in small and from 30 to 100 in large, which are different scales" in found.stderr
    assert blade("compare", small, large, "--out", tmp_path / "out", "-q", "--success", "reward >= 1").exit_code == 0


def test_groups_of_one_file_are_runs_to_compare(tmp_path: Path) -> None:
    both = rows([1.0] * 7, model="good", who="x") + rows([0.0] * 7, model="bad", who="y")
    words = ("--out", tmp_path / "out", "--group-by", "who", "--json")
    found = document(blade("compare", write_rows(tmp_path / "all.jsonl", both), *words))

    assert (found["base"]["run"], found["candidate"]["run"], found["verdict"]) == ("x", "y", "regressed")


def test_a_folder_of_several_runs_stands_for_all_of_them(tmp_path: Path) -> None:
    both = rows([1.0] * 7, who="x") + rows([0.0] * 7, who="y")
    source = write_rows(tmp_path / "all.jsonl", both)
    blade("diagnose", source, "--out", tmp_path / "runs", "--group-by", "who", "-q")

    found = document(blade("compare", tmp_path / "runs", "--out", tmp_path / "out", "--json"))
    assert (found["base"]["run"], found["candidate"]["run"]) == ("x", "y")


def test_namesakes_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    places = [write_rows(tmp_path / day / "r.jsonl", rows([1.0, float(day == "new")])) for day in ("old", "new")]
    found = document(blade("compare", *places, "--out", tmp_path / "out", "--json"))

    assert (found["base"]["run"], found["candidate"]["run"]) == ("old/r", "new/r")


def test_a_file_compared_with_itself_is_a_copy(tmp_path: Path, files: tuple[Path, Path]) -> None:
    found = blade("compare", files[0], files[0], "--out", tmp_path / "out")

    assert found.exit_code == 0
    assert "TIED: the candidate holds the base's own rollouts." in found.stdout
    assert "a copy is not a second measurement" in found.stdout


def test_slices_and_clusters_can_be_asked_for(tmp_path: Path, files: tuple[Path, Path]) -> None:
    words = ("--out", tmp_path / "out", "--json", "--slice", "level", "--cluster-field", "level")
    found = document(blade("compare", *files, *words))

    assert found["clusters"] == 2
    assert (found["slices"][0]["field"], found["slices"][0]["asked"]) == ("level", True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["{base}"], 2, "at least two runs; name a second file", id="one_run"),
        pytest.param(["{base}", "{folder}/none.jsonl"], 3, "none.jsonl", id="missing_file"),
        pytest.param(["{base}", "{other}"], 2, "no scored task in common", id="no_common_task"),
        pytest.param(["{base}", "{base}", "--slice", "levle"], 2, "no row has a field 'levle'", id="unknown_slice"),
        pytest.param(["{base}", "{base}", "--success", "reward"], 2, "is malformed", id="malformed_rule"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_written(
    tmp_path: Path, files: tuple[Path, Path], words: list[str], code: int, said: str
) -> None:
    other = write_rows(tmp_path / "other.jsonl", [rollout(99, 0, 1.0)])
    given = [word.format(base=files[0], folder=tmp_path, other=other) for word in words]
    found = blade("compare", *given, "--out", tmp_path / "out")

    assert (found.exit_code, found.stdout) == (code, "")
    assert said in found.stderr
    assert not (tmp_path / "out").exists()


def test_the_same_files_give_the_same_bytes(tmp_path: Path, files: tuple[Path, Path]) -> None:
    for name in ("one", "two"):
        assert blade("compare", *files, "--out", tmp_path / name, "-q").exit_code == 0

    for file in ("comparison.json", "comparison.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_neither_paths_nor_time_are_in_the_files(tmp_path: Path, files: tuple[Path, Path]) -> None:
    blade("compare", *files, "--out", tmp_path / "out", "-q")

    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert str(tmp_path).encode() not in written


def hostile_run(reward: float) -> list[Row]:
    fields: dict[str, Any] = {"task_id": HOSTILE, "level": HOSTILE, "response": {"model": f"{HOSTILE}{reward}"}}
    return [rollout(0, 0, reward, **fields), *(rollout(0, 0, reward, task_id=f"{n}{HOSTILE}") for n in range(7))]


@pytest.mark.parametrize("flag", [(), ("--json",)])
def test_nothing_a_rollout_says_reaches_the_terminal_as_more_than_text(tmp_path: Path, flag: tuple[str, ...]) -> None:
    places = [write_rows(tmp_path / f"{name}.jsonl", hostile_run(r)) for name, r in (("a", 0.0), ("b", 1.0))]
    words = ("--task-field", "task_id", "--repeat-field", "_ng_rollout_index", "--slice", "level")
    found = blade("compare", *places, "--out", tmp_path / "out", *words, *flag)

    assert found.exit_code == 0, found.stderr
    assert UNSAFE.findall(found.stdout) == []
    assert UNSAFE.findall((tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")) == []


def test_an_ascii_terminal_gets_stand_ins(tmp_path: Path, files: tuple[Path, Path]) -> None:
    found = blade_process("compare", *files, "--out", tmp_path / "out", env={"PYTHONIOENCODING": "ascii"})

    assert (found.returncode, found.stderr) == (0, b"")
    assert b"############|" in found.stdout


def two_tasks(folder: Path, easy: Sequence[float], hard: Sequence[float]) -> Path:
    """A folder that holds two runs, as a harness leaves one per task."""
    folder.mkdir()
    write_rows(folder / "easy.jsonl", rows(easy))
    write_rows(folder / "hard.jsonl", rows(hard))
    return folder


def test_inputs_that_hold_several_runs_are_compared_name_by_name(tmp_path: Path) -> None:
    base = two_tasks(tmp_path / "base", [1.0] * 12, [0.0] * 12)
    after = two_tasks(tmp_path / "after", [0.0] * 12, [0.0] * 12)
    write_rows(after / "new.jsonl", rows([1.0] * 12))

    found = document(blade("compare", base, after, "--out", tmp_path / "out", "--json"))
    shown = blade("compare", base, after, "--out", tmp_path / "out", "--fail-on-regression")

    sides = [
        (one["name"], one["comparison"]["base"]["run"], one["comparison"]["candidate"]["run"])
        for one in found["comparisons"]
    ]
    assert sides == [("easy", "base/easy", "after/easy"), ("hard", "base/hard", "after/hard")]
    assert found["notes"] == ["after/new is not compared: no other input has a run of this name"]
    assert [one["comparison"]["verdict"] for one in found["comparisons"]] == ["regressed", "tied"]
    assert (tmp_path / "out" / "easy" / "comparison.md").is_file()
    assert (shown.exit_code, "after/easy regressed from base/easy" in shown.stderr) == (1, True)
    assert "2 comparisons, paired by name" in shown.stdout


def test_a_named_base_is_compared_with_every_run_of_all_inputs(tmp_path: Path) -> None:
    base = two_tasks(tmp_path / "base", [1.0] * 12, [0.0] * 12)
    after = two_tasks(tmp_path / "after", [0.0] * 12, [0.0] * 12)

    found = document(blade("compare", base, after, "--base", "base/easy", "--out", tmp_path / "out", "--json"))

    assert found["base"]["run"] == "base/easy" and len(found["pairs"]) == 6


def test_runs_of_other_names_are_paired_by_their_tasks(tmp_path: Path) -> None:
    for folder, names in (("base", ("p1", "p2")), ("after", ("q1", "q2"))):
        (tmp_path / folder).mkdir()
        for name, kind in zip(names, ("sum", "sort"), strict=True):
            shown = [{**row, "task": f"{kind}-{number}"} for number, row in enumerate(rows([1.0, 0.0], model=kind))]
            own = [{name: value for name, value in row.items() if not name.startswith("_ng_")} for row in shown]
            write_rows(tmp_path / folder / f"{name}.jsonl", own)

    inputs = (tmp_path / "base", tmp_path / "after")
    found = document(blade("compare", *inputs, "--task-field", "task", "--out", tmp_path / "out", "--json"))

    sides = [(one["comparison"]["base"]["run"], one["comparison"]["candidate"]["run"]) for one in found["comparisons"]]
    assert sides == [("p1", "q1"), ("p2", "q2")]
