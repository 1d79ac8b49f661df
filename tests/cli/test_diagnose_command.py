"""`blade diagnose`: every shape of input, what it writes, and what it prints where."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from blade_command import airline, blade, blade_process, document
from own_benchmark import sum_rollout, write_sums
from rollout_rows import Row, rollout, write_rows

from blade.diagnosis import AnalyzeOptions, with_named_fields
from blade.rollouts import ReadOptions

FILES = ["analysis.json", "appendix.md", "claims.json", "labels.jsonl", "reading_list.md", "report.html", "report.md"]


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_a_run_is_written_into_the_folder_and_summarised(tmp_path: Path) -> None:
    found = blade("diagnose", airline(tmp_path), "--out", tmp_path / "out")

    # tasks 0, 1 and 2 pass in 2/2, 1/2 and 0/2 rollouts: (1 + 0.5 + 0) / 3
    assert "pass@1  50.0 %" in found.stdout
    assert (found.exit_code, found.stderr) == (0, "")
    assert visible(tmp_path / "out") == FILES


def test_the_json_of_one_run_is_the_analysis_and_nothing_else(tmp_path: Path) -> None:
    found = blade("diagnose", airline(tmp_path), "--out", tmp_path / "out", "--json")

    assert document(found) == json.loads((tmp_path / "out" / "analysis.json").read_bytes())


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    found = blade("diagnose", airline(tmp_path), "--out", tmp_path / "out", "--quiet")

    assert (found.exit_code, found.output) == (0, "")


def test_the_default_folder_is_blade_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert blade("diagnose", airline(tmp_path)).exit_code == 0
    assert visible(tmp_path / "blade-out") == FILES


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(lambda data: data, id="plain"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: zstandard.ZstdCompressor().compress(data), id="zstd"),
    ],
)
def test_standard_input_is_kept_so_that_it_can_be_shown(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = pack(airline(tmp_path).read_bytes())

    analysis = document(blade("diagnose", "-", "--out", tmp_path / "out", "--json", input=data))
    shown = document(blade("show", tmp_path / "out", "1:1", "--json"))

    assert analysis["coverage"]["rollouts"] == 6
    assert (tmp_path / "out" / "stdin.jsonl").read_bytes() == data
    assert shown["items"][-1]["text"] == "Booked SK2."


@pytest.mark.parametrize("given", [b"", b"no rollouts at all\n"], ids=["empty", "unreadable"])
def test_what_was_read_before_survives_a_standard_input_without_rollouts(tmp_path: Path, given: bytes) -> None:
    data = airline(tmp_path).read_bytes()
    blade("diagnose", "-", "--out", tmp_path / "out", input=data)

    assert blade("diagnose", "-", "--out", tmp_path / "out", input=given).exit_code == 3
    assert (tmp_path / "out" / "stdin.jsonl").read_bytes() == data
    assert [path.name for path in (tmp_path / "out").glob(".*.*")] == []


def test_a_score_in_words_counts_by_the_rule_that_names_the_word(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "run.jsonl", [{"id": n, "reward": "good" if n else "poor"} for n in range(4)])
    told = json.loads(blade("diagnose", rows, "--success", "reward == good", "--out", tmp_path, "--json").stdout)
    refused = blade("diagnose", rows, "--out", tmp_path)

    assert (told["metrics"]["pass_at_1"]["value"], told["coverage"]["unscored"]) == (0.75, 0)
    assert (refused.exit_code, "--true-words good" in refused.stderr) == (2, True)


def test_every_field_the_analysis_will_ask_for_is_read() -> None:
    options = AnalyzeOptions(success="verdict == pass", slices=("level",), cluster_field="document")

    assert with_named_fields(ReadOptions(fields=("own",)), options).fields == ("document", "level", "own", "verdict")


def test_a_field_that_is_named_is_read_however_deep_it_is(tmp_path: Path) -> None:
    rows = [rollout(t, 0, float(t % 2), a={"b": {"c": {"d": {"e": f"group {t // 2}"}}}}) for t in range(6)]
    words = ("--out", tmp_path / "o", "--slice", "a.b.c.d.e", "--json")

    analysis = document(blade("diagnose", write_rows(tmp_path / "r.jsonl", rows), *words))

    assert [level["level"] for level in analysis["slices"][0]["levels"]] == ["group 0", "group 1", "group 2"]


def test_flat_records_are_read_by_the_fields_the_user_names(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        {"q": "a", "try": 1, "points": 0.9, "said": "Paris"},
        {"q": "a", "try": 2, "points": 0.2, "said": "Rome"},
    ]
    options = ["--task-field", "q", "--repeat-field", "try", "--reward-field", "points", "--output-field", "said"]
    source = write_rows(tmp_path / "flat.jsonl", rows)

    found = blade(
        "diagnose", source, "--out", tmp_path / "o", *options, "--success", "points >= 0.5", "--json"
    )  # fmt: skip
    shown = document(blade("show", tmp_path / "o", "a:2", "--json"))

    assert document(found)["metrics"]["pass_at_1"]["value"] == 0.5
    assert (shown["reward"], shown["passed"], shown["items"][0]["text"]) == (0.2, False, "Rome")


def test_an_array_of_tau_trials_is_read(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    trials = [{"task_id": t, "trial": k, "reward": float(t), "traj": chat} for t in (0, 1) for k in (0, 1)]
    (tmp_path / "tau.json").write_text(json.dumps(trials))

    analysis = document(blade("diagnose", tmp_path / "tau.json", "--out", tmp_path / "o", "--json"))

    assert analysis["buckets"] == {"always": ["1"], "sometimes": [], "never": ["0"], "missing": []}


def test_graded_rewards_ask_for_a_rule_and_show_the_mean(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", [rollout(0, 0, 0.25), rollout(1, 0, 0.75)])

    found = blade("diagnose", source, "--out", tmp_path / "o")

    assert "mean reward  0.500" in found.stdout
    assert "--success 'reward >= 0.5'" in found.stdout


def test_slices_clusters_and_expected_repeats_reach_the_analysis(tmp_path: Path) -> None:
    words = ("--slice", "level", "--cluster-field", "level", "--expected-repeats", "3")

    analysis = document(blade("diagnose", airline(tmp_path), "--out", tmp_path / "o", *words, "--json"))

    asked = [table["field"] for table in analysis["slices"] if table["asked"]]
    assert (asked, analysis["coverage"]["expected_rollouts"]) == (["level"], 9)


def test_conflicting_rows_exit_with_1_when_that_was_asked_for(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", [rollout(0, 0, 1.0), rollout(0, 0, 0.0)])

    found = blade("diagnose", source, "--out", tmp_path / "o", "--duplicates", "error")

    assert found.exit_code == 1
    assert "0:0" in found.stderr


def test_the_cache_is_left_alone_when_that_was_asked_for(tmp_path: Path, own_cache: Path) -> None:
    blade("diagnose", airline(tmp_path), "--out", tmp_path / "o", "--no-cache")

    assert list(own_cache.rglob("*")) == []


def test_a_process_of_its_own_prints_the_same_json(tmp_path: Path) -> None:
    source = airline(tmp_path)
    done = blade_process("diagnose", source, "--out", tmp_path / "a", "--json", "--jobs", "2")

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == document(blade("diagnose", source, "--out", tmp_path / "b", "--json"))


def test_a_benchmark_brings_its_success_rule_and_slices_which_the_user_may_override(tmp_path: Path) -> None:
    write_sums(tmp_path)
    rows = [sum_rollout(n, repeat, "2", 0.5 + 0.5 * repeat) for n in (0, 1) for repeat in (0, 1)]
    path = write_rows(tmp_path / "run.jsonl", rows)
    words = ("diagnose", path, "--benchmark", "sums", "--root", tmp_path, "--out", tmp_path / "out", "--json")
    found = document(blade(*words))
    assert (found["success"]["rule"], found["metrics"]["pass_at_1"]["value"]) == ("reward >= 1.0", 0.5)
    assert found["success"]["source"] == "stated by the benchmark sums"
    assert found["slices"][0]["field"] == "difficulty"
    assert document(blade(*words, "--success", "reward >= 0.5"))["success"]["source"] == "given with --success"


def test_an_unknown_benchmark_is_wrong_usage(tmp_path: Path) -> None:
    write_sums(tmp_path)
    found = blade("diagnose", airline(tmp_path), "--benchmark", "sum", "--root", tmp_path, "--out", tmp_path / "out")
    assert (found.exit_code, "did you mean 'sums'?" in found.stderr) == (2, True)
