"""The fault-injection benchmark in small, and the rules it showed to be wrong, each by itself."""

from pathlib import Path

import pytest
from accuracy.faults import FAULTS, NO_FAULT, Fault
from accuracy.scores import Tally, wilson
from accuracy.trials import make_clean, run_trial
from rollout_rows import Row, analyze_rows, call, message, read_files, result, rollout

from blade.diagnosis import analyze
from blade.diagnosis.answers import same_answer

IN_WORDS = {"leaked answer", "refusal", "provider errors", "sandbox crash", "ignored tool error", "early stop"}
"""Faults that only words tell: they become modes where they go with failing, and decide nothing."""


@pytest.mark.parametrize("fault", [pytest.param(f, id=f.name) for f in FAULTS if f.name not in IN_WORDS])
def test_a_fault_is_found_where_it_was_put_and_nowhere_else(fault: Fault, tmp_path: Path) -> None:
    trial = run_trial(fault, fault.families[-1], 3, share=0.05, folder=tmp_path)
    assert trial.struck
    assert trial.found == trial.struck


def test_the_cause_of_a_task_that_a_fault_explains_is_the_cause_of_the_fault(tmp_path: Path) -> None:
    flips = next(fault for fault in FAULTS if fault.name == "verifier flip")
    trial = run_trial(flips, "qa", 3, share=0.05, folder=tmp_path)
    assert trial.truths
    assert {trial.labels[task] for task in trial.truths} == {"TI"}


def test_the_same_seed_makes_the_same_run() -> None:
    assert make_clean("coding", 5) == make_clean("coding", 5)


def test_a_clean_run_has_tasks_that_pass_always_sometimes_and_never(tmp_path: Path) -> None:
    trial = run_trial(NO_FAULT, "qa", 4, share=0.05, folder=tmp_path)
    assert set(trial.truths.values()) == {"UK", "KG"}
    assert len(trial.truths) < len(make_clean("qa", 4).tasks)


def test_precision_and_recall_are_unknown_where_there_is_nothing_to_count() -> None:
    assert (Tally(0, 0, 0).precision, Tally(0, 0, 3).recall, Tally(3, 1, 0).f1) == (None, 0.0, 6 / 7)


def test_the_interval_of_eight_in_ten_is_wilsons() -> None:
    # (0.8 + 0.19207) / 1.38415 ± 1.95996 / 1.38415 * sqrt(0.016 + 0.009604)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("(B)", "B", id="option_in_brackets"),
        pytest.param("b)", "B", id="option_before_a_bracket"),
        pytest.param("Option C", "C", id="label"),
        pytest.param("x = 12", "12", id="equation"),
        pytest.param("€1,250.00", "1250", id="currency"),
        pytest.param("3 / 14", "3/14", id="spaces_round_a_slash"),
        pytest.param("July 4th, 1976", "4 July 1976", id="date_in_words"),
    ],
)
def test_a_format_does_not_change_an_answer(given: str, expected: str) -> None:
    assert same_answer(given, expected)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("(1, 3)", "[1, 3]", id="interval"),
        pytest.param("2 million", "2", id="magnitude"),
        pytest.param("3 and a half", "3", id="half"),
        pytest.param("12 or 13", "12", id="two_answers"),
        pytest.param("5 March 2020", "5 May 2020", id="another_month"),
        pytest.param("Option A", "B", id="another_option"),
    ],
)
def test_a_difference_in_meaning_changes_an_answer(given: str, expected: str) -> None:
    assert not same_answer(given, expected)


def answered(repeat: int, answer: str, reward: float, *, task: int = 0, expected: str | None = None) -> Row:
    return rollout(task, repeat, reward, output=[message(answer)], extracted_answer=answer, expected_answer=expected)


def verdict_codes(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    analysis = analyze_rows(folder, rows)
    return {finding.code: finding.citations for finding in analysis.health if finding.cause == "TI"}


def test_of_three_equal_answers_the_one_with_another_verdict_is_odd(tmp_path: Path) -> None:
    rows = [answered(0, "7", 1.0), answered(1, "7", 0.0), answered(2, "7.0", 1.0)]
    assert verdict_codes(tmp_path, rows) == {"verdict_flips": ["0:1"]}


def test_the_same_last_word_after_other_deeds_is_no_flip(tmp_path: Path) -> None:
    steps = [call("update", "{}", "c1"), result("ok", "c1"), message("Done.")]
    rows = [
        rollout(0, 0, 1.0, output=steps, extracted_answer="Done."),
        rollout(0, 1, 0.0, output=[message("Done.")], extracted_answer="Done."),
    ]
    assert verdict_codes(tmp_path, rows) == {}


def test_a_plainly_wrong_answer_should_have_passed_in_no_attempt(tmp_path: Path) -> None:
    rows = [answered(n, "7", float(n > 0), expected="8") for n in range(3)]
    assert verdict_codes(tmp_path, rows) == {"wrong_answer_passed": ["0:1", "0:2"]}


def test_an_answer_that_fails_elsewhere_should_not_have_passed(tmp_path: Path) -> None:
    rows = [answered(0, "7", 0.0), answered(1, "7", 0.0), answered(2, "7", 1.0)]
    assert verdict_codes(tmp_path, rows) == {"wrong_answer_passed": ["0:2"]}


def test_the_expected_answer_overrules_the_majority(tmp_path: Path) -> None:
    rows = [
        answered(0, "7", 0.0, expected="7"),
        answered(1, "7", 0.0, expected="7"),
        answered(2, "7", 1.0, expected="7"),
    ]
    found = verdict_codes(tmp_path, rows)
    assert found == {"verdict_flips": ["0:0", "0:1"], "right_answer_failed": ["0:0", "0:1"]}


def suspects(folder: Path, mine: list[Row], theirs: list[Row]) -> list[str]:
    runs = read_files(folder, {"mine.jsonl": mine, "theirs.jsonl": theirs})
    health = analyze(runs[0], others=runs).health
    return [citation for finding in health if finding.code == "suspect_gold" for citation in finding.citations]


def attempts(*answers: str, passed: int = 0) -> list[Row]:
    failing = [answered(repeat, answer, 0.0) for repeat, answer in enumerate(answers)]
    return failing + [answered(len(answers) + n, f"right {n}", 1.0) for n in range(passed)]


def test_an_answer_most_attempts_of_both_runs_agree_on_puts_the_expected_one_in_doubt(tmp_path: Path) -> None:
    mine, theirs = attempts("Rome", "Rome", "Bern"), attempts("Rome", "Oslo", "Rome")
    assert suspects(tmp_path, mine, theirs) == ["0:0", "0:1"]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        pytest.param(attempts("Rome", "Rome", "Bern"), attempts("Oslo", "Oslo", "Rome"), id="other_favourite"),
        pytest.param(attempts("Rome", "Bern", "Oslo"), attempts("Rome", "Rome", "Rome"), id="none_leads"),
        pytest.param(attempts("Rome", "Rome", passed=1), attempts("Rome", "Rome", passed=1), id="passes_now_and_then"),
        pytest.param(attempts("Rome"), attempts("Rome"), id="two_attempts_in_all"),
    ],
)
def test_the_expected_answer_is_not_doubted_for_less(mine: list[Row], theirs: list[Row], tmp_path: Path) -> None:
    assert suspects(tmp_path, mine, theirs) == []


def signals(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    return {signal.code: signal.citations for signal in analyze_rows(folder, rows).signals}


def test_a_rollout_that_used_up_its_tokens_was_cut_off_even_if_the_response_does_not_say_so(tmp_path: Path) -> None:
    limit = {"max_output_tokens": 512}
    rows = [
        rollout(0, 0, 0.0, params=limit, response={"usage": {"input_tokens": 9, "output_tokens": 512}}),
        rollout(0, 1, 0.0, params=limit, response={"usage": {"input_tokens": 9, "output_tokens": 511}}),
    ]
    assert signals(tmp_path, rows) == {"truncated": ["0:0#1"]}


def test_a_failure_that_was_written_twice_did_not_fail_because_of_that(tmp_path: Path) -> None:
    rows = [rollout(0, 0, 1.0), rollout(0, 1, 0.0), rollout(0, 2, 1.0), rollout(0, 1, 0.0)]
    analysis = analyze_rows(tmp_path, rows)
    assert [finding.code for finding in analysis.health] == ["identical_duplicates"]
    assert [cause.label for cause in analysis.causes] == ["?"]
