"""`blade golden …` as a user calls it."""

import json
from pathlib import Path

import pytest
from blade_command import blade, document
from loopback import Call, Loopback, Say
from small_packages import write_package


def test_a_package_is_built_and_then_holds(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    report = folder / "golden_reports" / "model-a_golden_report.md"
    before = report.read_bytes()
    report.unlink()

    built = blade("golden", "build", folder, "--model", "model-a")

    assert built.exit_code == 0
    assert built.stdout.splitlines()[0] == f"Wrote {report}"
    assert report.read_bytes() == before
    assert blade("golden", "check", folder).stdout == "small_sums  model-a: holds\nsmall_sums  model-b: holds\n"


def test_drift_exits_with_one_and_names_the_command_that_mends_it(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    (folder / "golden_reports" / "model-b_shallow.md").write_text("# Something else\n")

    found = blade("golden", "check", folder)

    assert found.exit_code == 1
    assert "  model-b_shallow.md:1: says '# Something else', the sources give '# Shallow control'" in found.stdout
    assert "    blade golden build small_sums --model model-b" in found.stdout


def test_a_folder_without_golden_reports_does_not_hold(tmp_path: Path) -> None:
    found = blade("golden", "check", tmp_path)

    assert (found.exit_code, "has no golden reports" in found.stderr) == (2, True)


def test_both_commands_print_json(tmp_path: Path) -> None:
    folder = write_package(tmp_path)

    assert len(document(blade("golden", "build", folder, "--json"))["written"]) == 6
    found = document(blade("golden", "check", folder, "--json"))
    assert [one["model"] for one in found["packages"]] == ["model-a", "model-b"]


def test_a_number_in_the_prose_is_one_sentence_on_stderr(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    narrative = folder / "golden_reports" / "model-a.narrative.md"
    narrative.write_text(narrative.read_text().replace("The model solves", "The model solves 55 %, that is"))

    found = blade("golden", "build", folder)

    assert found.exit_code == 2
    assert "says '55 %': " in found.stderr
    assert json.dumps(found.stdout) == '""'


def test_the_judge_is_calibrated_with_its_targets_printed(tmp_path: Path) -> None:
    folder = write_package(tmp_path)

    found = blade("golden", "calibrate", folder)

    assert found.exit_code == 0
    assert "model-a: calibrated, AUC 1.00 (target 1.00)" in " ".join(found.stdout.split())
    assert "  1.00  >= 0.90  golden report" in found.stdout


def test_a_judge_that_is_fooled_exits_with_one(tmp_path: Path) -> None:
    golden = write_package(tmp_path) / "golden_reports"
    (golden / "model-a_shallow.md").write_bytes((golden / "model-a_golden_report.md").read_bytes())

    found = blade("golden", "calibrate", tmp_path / "small_sums", "--json")

    assert found.exit_code == 1
    fooled_by = {s["name"]: s["target"] for s in json.loads(found.stdout)["packages"][0]["scores"] if not s["holds"]}
    # Adversaries that are the control with something added to it fool the judge with it.
    assert fooled_by["shallow control"] == "<= 0.40"
    assert not fooled_by.keys() & {"golden report", "paraphrase by rule", "numbers scrambled", "quotes altered"}


def test_a_report_is_judged_with_what_it_lacks(tmp_path: Path) -> None:
    golden = write_package(tmp_path) / "golden_reports"

    found = blade("judge", golden / "model-a_shallow.md", "--golden", golden, "--model", "model-a", "--at-least", "0.5")

    assert found.exit_code == 1
    assert found.stdout.startswith(("Score 0.0", "Score 0.1", "Score 0.2"))
    assert "not said: " in found.stdout


def test_a_judgement_is_printed_as_json(tmp_path: Path) -> None:
    golden = write_package(tmp_path) / "golden_reports"

    found = document(blade("judge", golden / "model-a_golden_report.md", "--golden", golden, "--json"))

    assert (found["score"], found["caps"], found["claims"]["contradicted"]) == (1.0, [], [])
    assert {"id", "met", "line", "by"} <= set(found["facts"][0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("of 10 tasks", "of 11 tasks", id="a_digit"),
        pytest.param("(`5:3#1`)", "(`5:2#1`)", id="an_id"),
        pytest.param("`dropping the carry`", "`dropping a carry`", id="a_quoted_word"),
        pytest.param("The word is misread", "Only the word is misread", id="an_only"),
        pytest.param("The word is misread", "The word is not misread", id="a_not"),
    ],
)
def test_one_change_in_a_golden_report_is_contradicted_where_it_lies_and_elsewhere(
    tmp_path: Path, old: str, new: str
) -> None:
    golden = write_package(tmp_path) / "golden_reports"
    report, copy = golden / "model-a_golden_report.md", tmp_path / "copy.md"
    text = report.read_text(encoding="utf-8")
    assert old in text
    assert blade("check", report).exit_code == 0
    report.write_text(text.replace(old, new, 1), encoding="utf-8")
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")

    for found in (blade("check", report), blade("check", copy, "--analysis", golden)):
        assert found.exit_code == 1
        assert "Contradicted" in found.stdout or "Unbound" in found.stdout


def test_a_model_that_judges_is_paid_once_for_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    golden = write_package(tmp_path) / "golden_reports"
    report = golden / "model-a_golden_report.md"
    said = {"id": "P1", "verdict": "asserted", "quote": "The mistake on `carry` tasks is in the first step"}
    calls: list[Call] = []

    def answer(call: Call) -> Say:
        calls.append(call)
        return Say(json.dumps({"facts": [said]}))

    with Loopback(answer) as server:
        asked = ("--judge", "judge-1", "--base-url", server.base_url, "--price-in", "1", "--price-out", "2")
        first, again = (blade("judge", report, "--golden", golden, *asked) for _ in range(2))

    assert (first.exit_code, again.exit_code, len(calls)) == (0, 0, 3)
    assert "3 votes, 100% agree, 0 without a true quote" in " ".join(first.stdout.split())
    assert "spent: 3 requests" in first.stderr and "cost " in first.stderr
    assert "0 tokens in, 0 out, 3 from the cache" in again.stderr
    assert again.stdout == first.stdout
