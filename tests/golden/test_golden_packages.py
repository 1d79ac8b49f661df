"""Golden packages are what their sources give, byte for byte, and drift is told with its line."""

import re
from pathlib import Path

import pytest
from small_packages import write_package, write_text

from blade.errors import UsageError
from blade.golden.build import build
from blade.golden.guard import check_source, find_golden_benchmarks
from blade.golden.sources import find_source
from blade.report.narrative import NarrativeError

ROOT = Path(__file__).resolve().parents[2]
REPORT = "golden_reports/model-a_golden_report.md"


@pytest.mark.parametrize("benchmark", find_golden_benchmarks(ROOT) or [None])
def test_the_golden_packages_of_this_repository_hold(benchmark: str | None) -> None:
    if benchmark is None:
        return
    found = check_source(find_source(benchmark, ROOT))

    assert found
    assert {one.model: one.problems for one in found if one.problems} == {}


def problems(folder: Path) -> list[str]:
    found = check_source(find_source(str(folder)))
    return [f"{problem.where}: {problem.message}" for one in found for problem in one.problems]


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    write_text(folder / name, text.replace(old, new, 1))


def test_a_package_as_built_holds(tmp_path: Path) -> None:
    assert problems(write_package(tmp_path, versus=True)) == []


def test_the_report_is_one_document_with_the_prose_before_the_tables(tmp_path: Path) -> None:
    report = (write_package(tmp_path) / REPORT).read_text(encoding="utf-8")

    headings = [line for line in report.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings)) == 13
    assert report.index("### Dropped carries") < report.index("Labels in force, by task:")
    assert "**nobody has read" not in report.lower()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("of 10 tasks", "of 11 tasks", id="a_digit"),
        pytest.param("(`5:3#1`)", "(`5:2#1`)", id="an_id"),
        pytest.param("`dropping the carry`", "`dropping a carry`", id="a_quoted_word"),
        pytest.param("The word is misread", "Only the word is misread", id="an_only"),
    ],
)
def test_one_change_by_hand_is_told_with_its_line(tmp_path: Path, old: str, new: str) -> None:
    folder = write_package(tmp_path)
    change(folder, REPORT, old, new)
    lines = (folder / REPORT).read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, start=1) if new.strip() in line)

    (found,) = problems(folder)
    assert found.startswith(f"model-a_golden_report.md:{number}: says ")


def test_a_rollout_that_changes_shows_in_every_file_made_from_it(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    change(folder, "rollouts/model-b.jsonl", '"reward": 1.0', '"reward": 0.0')

    assert {re.split("[:,]", found)[0] for found in problems(folder)} == {
        "model-b_golden_report.md",
        "model-b_golden_report_metrics.json",
        "model-b_shallow.md",
        "model-b_anchor_facts.json",
    }


def test_a_missing_file_and_a_report_without_a_narrative_are_told(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    (folder / "golden_reports" / "model-a_shallow.md").unlink()
    (folder / "golden_reports" / "model-b.narrative.md").unlink()

    first, second = problems(folder)
    assert first == "model-a_shallow.md: is missing"
    assert "model-b.narrative.md: cannot be read" in second


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param('"value": 0.55', '"value": 0.56', "B6: pass_at_1 is 0.55, not 0.56: is not so", id="false_metric"),
        pytest.param(
            "The mistake on `carry` tasks is in the first step.",
            "Zebras juggle quietly underwater forever.",
            "P1: the report does not say it",
            id="not_said",
        ),
        pytest.param('"kind": "metric"', '"kind": "magic"', "its check has no kind of", id="malformed"),
    ],
)
def test_a_fact_that_does_not_hold_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = write_package(tmp_path)
    change(folder, "golden_reports/model-a_anchor_facts.json", old, new)

    assert [found for found in problems(folder) if message in found], problems(folder)


def test_a_label_whose_proof_does_not_hold_is_told(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    change(folder, "golden_reports/model-a.labels.jsonl", "dropping the carry", "keeping the carry")

    with pytest.raises(UsageError, match=r"model-a.labels.jsonl: label of task 2: .* does not occur there verbatim"):
        build(find_source(str(folder)), "model-a")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("## Recommendations", "## Advice", "lacks Recommendations", id="lacking"),
        pytest.param("## Recommendations", "## Hm\n\nA.\n\n## Recommendations", "unknown sections", id="unknown"),
        pytest.param('### Task {{ task("6") }}', 'Task {{ task("6") }}', "has 2 sub-sections", id="few_examples"),
        pytest.param("model: model-a", "model: model-c", "says it is about 'model-c'", id="other_model"),
    ],
)
def test_a_narrative_that_lacks_something_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = write_package(tmp_path)
    change(folder, "golden_reports/model-a.narrative.md", old, new)

    with pytest.raises(NarrativeError, match=message):
        build(find_source(str(folder)), "model-a")


def test_a_comparison_speaks_of_both_runs(tmp_path: Path) -> None:
    folder = write_package(tmp_path, versus=True)

    report = (folder / "golden_reports" / "model-a_vs_model-b_golden_report.md").read_text(encoding="utf-8")
    assert "the base passed task `5` 0 of 4, the\ncandidate 2 of 4." in report
    assert report.index("## Executive Summary") < report.index("## Verdict") < report.index("## Recommendations")


def test_a_model_without_rollouts_is_told(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    text = (folder / "golden_reports" / "model-a.narrative.md").read_text(encoding="utf-8")
    write_text(folder / "golden_reports" / "model-c.narrative.md", text.replace("model-a", "model-c"))

    with pytest.raises(UsageError, match=r"no rollouts/model-c.jsonl; models with rollouts: model-a, model-b"):
        build(find_source(str(folder)), "model-c")
