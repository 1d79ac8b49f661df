"""A report held against itself. `reports/harbor.md` was made up for these tests and is consistent in itself; each plant
breaks one thing in it, of the kinds found in reports that people publish."""

import subprocess
import sys
from pathlib import Path

import pytest

from blade.audit.arithmetic import check_arithmetic
from blade.audit.check import check_report
from blade.audit.told import read_report

ROOT = Path(__file__).resolve().parents[2]
HARBOR = (Path(__file__).parent / "reports" / "harbor.md").read_text(encoding="utf-8")

PLANTS = [
    pytest.param("**138** |", "**128** |", id="a_total_that_is_not_the_sum_of_its_cells"),
    pytest.param("| Sum | 41 |", "| Sum | 46 |", id="another_total"),
    pytest.param("| Tool misuse | 33 |", "| Tool misuse | 38 |", id="a_cell_that_its_total_refutes"),
    pytest.param("found in 16 of 102 failures", "found in 16 of 98 failures", id="another_denominator"),
    pytest.param("The 41 planning errors", "The 43 planning errors", id="parts_that_are_not_the_whole"),
    pytest.param("15 missing steps", "17 missing steps", id="a_count_stated_otherwise_in_a_table"),
    pytest.param("**60 tasks**", "**64 tasks**", id="the_same_count_stated_twice"),
    pytest.param("pass@1 is **57.5 %**", "pass@1 is **59.5 %**", id="a_metric_stated_otherwise_in_a_table"),
    pytest.param("41 of 102 failures (40.2 %)", "41 of 102 failures (44.2 %)", id="a_share_that_does_not_follow"),
    pytest.param("| 16 | 15.7 %", "| 16 | 17.5 %", id="a_share_in_a_table"),
    pytest.param("| 20 | 45.5 %", "| 20 | 54.5 %", id="a_rate_of_two_columns"),
    pytest.param("**57.5 %** | **21**", "**59.5 %** | **21**", id="the_rate_of_a_total"),
    pytest.param("at least 11 tasks", "at least 12 tasks", id="an_each_that_a_table_refutes"),
    pytest.param("Customs has the lowest", "Tariffs has the lowest", id="another_is_lowest"),
    pytest.param("Fleet has the highest pass rate", "only Fleet has sometimes tasks", id="an_only_that_is_refuted"),
    pytest.param("Planning errors are the most frequent", "Tool misuse is the most frequent", id="not_most_frequent"),
    pytest.param("nearly double as reliable", "three times as reliable", id="not_three_times"),
    pytest.param("twice as many as", "four times as many as", id="not_four_times"),
    pytest.param("Roughly a third", "Roughly half", id="not_half"),
    pytest.param("use 1.5x", "use 2.5x", id="a_factor"),
    pytest.param("27 sometimes", "29 sometimes", id="buckets_that_are_more_than_all"),
    pytest.param("3 | 7 | 5 |", "3 | 9 | 5 |", id="buckets_of_a_row"),
    pytest.param("138 of 240", "248 of 240", id="more_than_the_whole"),
    pytest.param("| pass@3 | 76.9 %", "| pass@3 | 66.9 %", id="pass_at_k_that_falls"),
    pytest.param("| 57.5 % | 46.9 %", "| 57.5 % | 58.9 %", id="an_interval_without_its_value"),
    pytest.param("CI 46.9 %–67.4 %", "CI 58.9 %–67.4 %", id="an_interval_in_prose"),
    pytest.param("+22.5 pp", "+25.2 pp", id="a_gain"),
    pytest.param("77.5 % | 18 |", "77.5 % | 28 |", id="what_a_stage_lost"),
]


def planted(old: str, new: str) -> tuple[str, int]:
    """The report with one thing changed, and the line of the change."""
    assert HARBOR.count(old) == 1
    return HARBOR.replace(old, new), HARBOR[: HARBOR.index(old)].count("\n") + 1


def test_a_consistent_report_of_a_stranger_raises_no_alarm() -> None:
    audit = check_report(HARBOR)

    assert audit.contradicted == []
    assert len(audit.supported) > 40


@pytest.mark.parametrize(("old", "new"), PLANTS)
def test_each_planted_contradiction_is_found(old: str, new: str) -> None:
    text, line = planted(old, new)
    found = check_report(text).contradicted

    assert found, f"nothing is said about line {line}"
    assert all(check.true and check.why for check in found)


def test_a_wrong_cell_is_told_at_its_line_with_what_is_true() -> None:
    text, line = planted("| Sum | 41 |", "| Sum | 46 |")
    (found,) = check_report(text).contradicted

    assert (found.claim.line, found.claim.said, found.true) == (line, "46", "41")
    assert found.why == "the rows above add up to 41"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "In 3 of 5 rollouts, and in 4 of 6 rollouts of task `7`, it failed.", id="wholes_of_different_things"
        ),
        pytest.param("There are 36 tasks with 5 rollouts each, 180 rollouts in all.", id="each"),
        pytest.param("Twice the repeats would make it 5.6 pp, twice the tasks 4.2 pp.", id="supposed"),
        pytest.param("It works 24/7 and costs 3–5 cents.", id="no_fraction"),
        pytest.param("Of 36 tasks, 12 use mail and 5 use search.", id="parts_need_not_be_all"),
        pytest.param("pass@1 fell from 62 % to 58 %.", id="from_to_is_no_interval"),
        pytest.param("12 tasks fail (`3`, `5`).", id="examples_need_not_be_all"),
        pytest.param(
            "The second lowest rate is that of `mail`.\n\n| level | rate |\n|---|---|\n| `mail` | 3 % |\n| `x` | 1 % |",
            id="second_lowest",
        ),
        pytest.param(
            "| mode | rollouts |\n|---|---|\n| a b | 5 |\n| c d | 6 |\n| Overall | 8 |", id="overall_is_no_sum"
        ),
        pytest.param(
            "Modes overlap:\n\n| mode | rollouts |\n|---|---|\n| a b | 5 |\n| c d | 6 |\n| Total | 8 |",
            id="overlapping_rows",
        ),
        pytest.param("| k | pass@k | tasks |\n|---|---|---|\n| 1 | 60 % | 36 |\n| 5 | 55 % | 20 |", id="fewer_tasks"),
        pytest.param("### `a`\n\n41 plan errors occurred.\n\n### `b`\n\n43 plan errors occurred.", id="two_models"),
        pytest.param("About 170 rollouts ran.\n\nIn all 172 rollouts ran.", id="hedged"),
    ],
)
def test_what_may_well_be_true_is_left_alone(text: str) -> None:
    assert check_report(text).contradicted == []


@pytest.mark.parametrize(
    ("text", "said", "true"),
    [
        pytest.param("It failed in 7 of 5 rollouts.", "7 of 5", "at most 5", id="part_above_whole"),
        pytest.param("It failed in 3 of 5 (70 %).", "70 %", "60 %", id="share"),
        pytest.param("Of 50 failures, 10 (25 %) are silent.", "25 %", "20 %", id="share_of_a_whole"),
        pytest.param("It went from 62.0 % to 58.0 %, -5.0 pp.", "-5.0 pp", "-4.0 pp", id="change"),
        pytest.param("3 tasks fail: `a`, `b`, `c` and `d`.", "3", "4", id="listed"),
        pytest.param("6 rollouts (`a`, `b` and 3 more) fail.", "6", "5", id="listed_in_part"),
        pytest.param(
            "The rate of 70 % (95 % interval 40 % to 60 %) is high.",
            "40 % to 60 %",
            "an interval around 70 %",
            id="interval",
        ),
        pytest.param("Failures halved from 40 to 35.", "halved", "0.88 times", id="halved"),
    ],
)
def test_a_sentence_that_contradicts_itself_is_found(text: str, said: str, true: str) -> None:
    (found,) = check_report(text).contradicted

    assert (found.claim.said, found.true) == (said, true)


def test_what_most_places_say_is_believed() -> None:
    found = check_report("41 plan errors.\n\n41 plan errors.\n\nWe saw 43 plan errors.\n").contradicted

    assert [(check.claim.line, check.true) for check in found] == [(5, "41")]


def test_a_long_and_messy_report_is_read_to_its_end() -> None:
    body = HARBOR.split("\n", 1)[1]
    long = "# Many\n" + "\n".join(f"# Part `{n}`\n{body}" for n in range(12))

    assert len(long.splitlines()) > 1000
    assert [check for check in check_arithmetic(read_report(long)) if check.holds is False] == []


def test_a_report_is_held_against_itself_where_nothing_is_installed() -> None:
    code = (
        "from blade.audit.arithmetic import check_arithmetic; from blade.audit.told import read_report; "
        "print([check.true for check in check_arithmetic(read_report('7 of 5 tasks'))])"
    )
    found = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert (found.stdout, found.stderr) == ("['at most 5']\n", "")


HELPDESK = (Path(__file__).parent / "reports" / "helpdesk.md").read_text(encoding="utf-8")


def test_a_messy_report_that_is_right_raises_no_alarm() -> None:
    audit = check_report(HELPDESK)

    assert audit.contradicted == []
    assert len(audit.supported) > 20


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("solved 150, i.e. 62.5%", "solved 150, i.e. 65.5%", id="a_share_that_is_said_behind"),
        pytest.param("33.3% of v2 (80/240)", "38.3% of v2 (80/240)", id="a_share_of_a_fraction"),
        pytest.param("60 tasks x 4 seeds", "50 tasks x 4 seeds", id="a_product"),
        pytest.param("remaining 15 are", "remaining 25 are", id="what_remains"),
        pytest.param("| Failed | 160 | 90 | -70 |", "| Failed | 160 | 90 | -60 |", id="a_difference"),
        pytest.param("| hard | 15 | 60 | 15 | 25% |", "| hard | 15 | 60 | 25 | 25% |", id="a_cell"),
        pytest.param("41 s to 29 s (-29%)", "41 s to 29 s (-49%)", id="a_relative_change"),
        pytest.param("(31; 34%)", "(31; 44%)", id="a_share_in_a_list"),
        pytest.param("| early stop | 3 | 10", "| early stop | 5 | 10", id="a_part_of_a_sum"),
    ],
)
def test_a_plant_in_a_messy_report_is_found(old: str, new: str) -> None:
    assert HELPDESK.count(old) == 1

    assert check_report(HELPDESK.replace(old, new)).contradicted


RATES = "| who | right | rate |\n|---|---|---|\n| A | 180/250 | 0.72 |\n| B | 120/250 | 0.48 |\n| C | 60/250 | 0.24 |\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        pytest.param("Failures fell from 32 to 18, a reduction of 44 %.", "44 %", "64 %", id="relative_change"),
        pytest.param("By week: W1 12, W2 9, W3 7, W4 4 = 32 failures.", "W3 7", "W3 8", id="equation"),
        pytest.param("It cost 12.4 in total, 4.1 for A, 3.3 for B and 5.0 for C.", "12.4", "14.4", id="total"),
        pytest.param("Two thirds of the 120 answers we read (80) were slips.", "Two thirds", "A quarter", id="part"),
        pytest.param(RATES, "0.72", "0.82", id="rate_of_a_fraction"),
    ],
)
def test_arithmetic_that_is_written_out_is_held_to_itself(text: str, old: str, new: str) -> None:
    assert check_report(text).contradicted == []
    assert check_report(text.replace(old, new)).contradicted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Mean 0.71 over 120 documents (0.69 to 0.73, clustered).", id="a_count_before_an_interval"),
        pytest.param("There are 16 hard tasks (three to five steps).", id="an_interval_in_words"),
        pytest.param("Safe: 88 % (84 to 92, 250 tasks); unsafe: 97 % (93 to 99, 200 tasks).", id="two_of_a_kind"),
        pytest.param("Few problems, many repeats (30 × 32): the interval is over 30 tasks.", id="a_product"),
        pytest.param("It is about half as good there (40% vs 72%).", id="two_shares_in_brackets"),
        pytest.param("Of 48 tasks it always solves 21, sometimes 11 and never 16.", id="bucket_before_its_count"),
        pytest.param("It gives '18' where '102' is wanted.\n\nIt gives '9' where '10' is wanted.", id="single_quotes"),
    ],
)
def test_what_only_looks_wrong_raises_no_alarm(text: str) -> None:
    assert [(check.claim.said, check.why) for check in check_report(text).contradicted] == []
