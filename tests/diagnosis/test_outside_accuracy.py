"""The arithmetic of `make accuracy ARGS="--data …"`, without its data."""

from pathlib import Path

from accuracy.labelled_rows import Case, trivial_hits
from accuracy.outside import cause_lines, goals, share
from accuracy.public_words import WORDINGS
from accuracy.real_rows import Injected, inject_all

from blade.diagnosis.steps import Step


def case(step: int, said: str = "BI", claimed: int | None = None) -> Case:
    claim = None if claimed is None else Step(item=claimed, kind="error", why="", probability=0.5)
    return Case("s", "t", frozenset({"BI"}), said, None, step, None, claim, claimed, 5)


def test_the_most_common_step_is_that_of_the_other_cases() -> None:
    hits = trivial_hits([case(1), case(1), case(2), case(4)])

    # Without itself a 1 still meets another 1; without themselves 2 and 4 meet the two ones.
    assert hits["most common"] == 2
    assert (hits["second"], hits["middle"], hits["last"], hits["random"]) == (2, 1, 1, 4 / 5)


def test_only_what_is_decided_can_be_wrong() -> None:
    assert cause_lines([case(1), case(1, "KG?"), case(1, "IR")]) == [
        "s                    decided 2/3 = 67% [21%, 94%]   right 1/2 = 50% [9%, 91%]",
        "all                  decided 2/3 = 67% [21%, 94%]   right 1/2 = 50% [9%, 91%]",
        "  s t: said IR, is BI",
    ]


def test_goals_hold_claims_against_the_best_guess() -> None:
    good = [case(step, claimed=step) for step in range(5)] * 4
    bad = [case(1, claimed=1)] * 4
    mistaken = Injected("tool result", WORDINGS[0], ["KG"], is_mode=False, failing=1, alarms=0)

    assert [met for *_, met in goals(good, [])] == [True] * 5
    assert [met for *_, met in goals(bad, [mistaken])] == [True, True, False, True, False]


def test_data_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    assert list(inject_all(tmp_path, tmp_path)) == []
    assert share(0, 0) == "0/0"
