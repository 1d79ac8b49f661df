"""The judge without a model: what a report of prose facts earns, and what it loses, one thing at a time."""

import re
from pathlib import Path

import pytest

from blade.golden.facts import read_facts
from blade.golden.judge import judge

GARDEN = Path(__file__).resolve().parents[1] / "data" / "judge" / "garden"
GOLDEN = (GARDEN / "golden.md").read_text(encoding="utf-8")
FACTS = read_facts(GARDEN / "facts.json").anchor_facts
TERSE = """\
# Planner, in short

41.3% of 180 layouts are solved. Slopes are by far the hardest, 18% against 57% on flat ground. 61% of the loss is on layouts that no attempt solves.

- Most failed attempts, 402, have plants in the wrong place: the geometry fails, the format is valid.
- Overlap: beds are checked against beds and never against paths.
- No layout: only on the two layouts with a pond, which is described in words before it stops.
- Timeout: a single layout with a maze, where visited corners are forgotten.
- Failing attempts take 4,100 tokens and passing ones 2,300.
- On the terrace those pass that convert the slope to steps first; placing plants first and bending rows afterwards moves shade plants into the sun.
"""  # noqa: E501


def score(report: str) -> float:
    return judge(report, GOLDEN, FACTS).score


def test_a_terse_report_in_other_words_scores_high() -> None:
    assert score(TERSE) >= 0.7


def test_what_a_report_leaves_out_it_does_not_earn() -> None:
    half = "\n".join(TERSE.splitlines()[:6])

    # of the facts' weight of 21 it states slopes (2), geometry (2) and the never solved (2)
    assert score(half) == pytest.approx(6 / 21, abs=0.1)


@pytest.mark.parametrize(
    "frame",
    [
        *("{}", "- {}", "> {}", "<!-- {} -->", "Is it so that {}?", "Perhaps {}"),
        *(
            "It is not true that {}",
            "There is no evidence that {}",
            "In the previous run, {}",
            "The report found this: {}",
        ),
    ],
)
def test_the_facts_themselves_earn_nothing_whatever_stands_around_them(frame: str) -> None:
    pasted = "\n\n".join(frame.format(fact.fact) for fact in FACTS)

    assert judge(f"# Findings\n\n{pasted}\n", GOLDEN, FACTS).detail <= 0.2
    assert score(f"# Findings\n\n{pasted}\n") <= 0.2


def test_words_in_no_order_say_nothing() -> None:
    assert score(" ".join(sorted(GOLDEN.split()))) == 0.0


def test_a_value_counts_as_it_is_rounded() -> None:
    assert score(TERSE.replace("41.3%", "41%")) == score(TERSE)


def test_one_slip_costs_a_little_and_wrong_numbers_throughout_cost_everything() -> None:
    slip = GOLDEN.replace("4,100", "4,700")
    wrong = re.sub(r"\d(?=\d)", lambda digit: str((int(digit[0]) + 3) % 10), GOLDEN)

    assert 0.7 <= score(slip) < 1.0
    assert score(wrong) <= 0.1
