"""The judge tells good reports from those that only look good, on every golden package there is."""

from pathlib import Path

import pytest
from small_packages import write_package, write_text

from blade.golden.calibration import (
    Calibration,
    adversaries,
    calibrate,
    calibrate_folder,
    calibrate_package,
    deny,
    paraphrase,
)
from blade.golden.facts import read_facts
from blade.golden.guard import find_golden_benchmarks
from blade.golden.judged import judge_report
from blade.golden.package.layout import find_reports
from blade.golden.shallow import make_shallow
from blade.golden.sources import choose_golden

ROOT = Path(__file__).resolve().parents[2]


def wrong(found: Calibration) -> dict[str, float]:
    return {one.name: one.score for one in found.scored if not one.is_right}


@pytest.mark.parametrize("benchmark", find_golden_benchmarks(ROOT) or [None])
def test_the_judge_is_calibrated_on_the_golden_packages_of_this_repository(benchmark: str | None) -> None:
    if benchmark is None:
        return
    found = calibrate_folder(ROOT / "golden_reports" / benchmark)

    assert {one.model: wrong(one) for one in found if not one.holds} == {}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("package"), versus=True) / "golden_reports"


def test_the_judge_is_calibrated_on_a_small_package(package: Path) -> None:
    for found in calibrate_folder(package):
        assert (wrong(found), found.auc, found.holds) == ({}, 1.0, True)
        assert {one.role for one in found.scored} == {"golden", "paraphrase", "shallow", "adversary"}


def test_a_paraphrase_by_hand_is_scored_too(package: Path, tmp_path: Path) -> None:
    golden = write_package(tmp_path) / "golden_reports"
    write_text(golden / "model-a_paraphrase.md", "# Nothing of the sort\n")
    reports = find_reports(golden)

    found = calibrate_package(reports[0], reports)

    assert list(wrong(found)) == ["paraphrase by hand"]
    assert not found.holds


def test_a_report_that_somebody_else_wrote_scores_high(package: Path) -> None:
    report = (ROOT / "tests" / "data" / "judge" / "small_sums_by_hand.md").read_text(encoding="utf-8")

    found = judge_report(report, choose_golden(package, report)).judgement

    assert [(one.line, one.said, one.true) for one in found.statements if not one.holds] == []
    assert found.score >= 0.70


def test_the_judge_is_calibrated_on_a_package_with_facts_in_prose_and_neither_ids_nor_quotes() -> None:
    folder = ROOT / "tests" / "data" / "judge" / "garden"
    golden, by_hand = ((folder / name).read_text(encoding="utf-8") for name in ("golden.md", "paraphrase.md"))
    facts = read_facts(folder / "facts.json").anchor_facts

    found = Calibration(
        model="planner",
        scored=calibrate(golden, facts, make_shallow(golden), rewritten=by_hand),
    )

    assert (wrong(found), found.auc) == ({}, 1.0)
    assert not {"ids replaced", "quotes altered", "labels permuted"} & {one.name for one in found.scored}


def test_every_adversary_differs_from_the_golden_report_and_is_the_same_every_time(package: Path) -> None:
    golden = (package / "model-a_golden_report.md").read_text(encoding="utf-8")
    facts = read_facts(package / "model-a_anchor_facts.json").anchor_facts

    made = adversaries(golden, facts, "", other="other")

    assert made == adversaries(golden, facts, "", other="other")
    assert len(made) == 15 and golden not in made.values()


def test_the_paraphrase_has_no_table_and_no_heading_of_the_original(package: Path) -> None:
    golden = (package / "model-a_golden_report.md").read_text(encoding="utf-8")

    lines = [line for line in golden.splitlines() if line.startswith(("| ", "## "))]
    assert [line for line in paraphrase(golden).splitlines() if line in lines] == []


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        pytest.param("Task `5` is labelled BI.", "Task `5` is not labelled BI.", id="is"),
        pytest.param("It did pass.", "It did not pass.", id="did"),
        pytest.param("`is` shows it.", "It is not the case that `is` shows it.", id="no_verb_it_knows"),
    ],
)
def test_a_sentence_is_turned_into_its_opposite(sentence: str, denied: str) -> None:
    assert deny(sentence) == denied
