"""Reports without rows: what disagrees with itself is told, what does not is left alone."""

import pytest

from blade.audit.check import check_report

CROSS = """
| Failure | Alpha | Beta | Total |
|---|---|---|---|
| TIME_OUT | 4 | 6 | 10 |
| Syntax error | 0 | 29 | 29 |
| Lint check failure (Beta only) | 0 | 64 | 64 |
| **Total** | **4** | **99** | **103** |
"""
SHARES = """
| Kind | Count | % of {whole} bad runs |
|---|---|---|
| x | 600 | 60.0% |
| y | 300 | 30.0% |
| z | 100 | 10.0% |
"""
FRACTIONS = "| Level | Passed |\n|---|---|\n| easy | 30/50 (60%) |\n| hard | 5/50 (10%) |\n| Total | {total} |\n"
DELTAS = """
| Metric | Ours | Theirs | Delta |
|---|---|---|---|
| pass@1 | 0.0% | 44.4% | -44.4% |
| pass@3 | 0.0% | 66.7% | -66.7% |
| wrote files | 50.0% | 88.9% | -38.9% |
| compiled | 38.9% | 94.4% | -55.5% |
"""
AREAS = """
| Area | Runs | Passed |
|---|---|---|
| x | 231 | 121 (52.4%) |
| y | 75 | 34 ({share}) |
| z | 44 | 18 (40.9%) |
| v | 32 | 21 (65.6%) |
"""


@pytest.mark.parametrize(
    ("report", "false", "said"),
    [
        pytest.param(CROSS, CROSS.replace("| **99**", "| **98**"), ["**98**", "**103**"], id="column_total"),
        pytest.param(CROSS, CROSS.replace("| 10 |", "| 12 |"), ["12", "**103**"], id="row_total"),
        pytest.param(
            FRACTIONS.format(total="35/100 (35%)"),
            FRACTIONS.format(total="33/100 (33%)"),
            ["33/100 (33%)"],
            id="total_of_fractions",
        ),
        pytest.param(SHARES.format(whole=1000), SHARES.format(whole=1050), ["% of 1050 bad runs"], id="base_of_shares"),
        pytest.param(
            "It drops from easy (37.65%) to hard (16.43%) — a 21 pp cliff.",
            "It drops from easy (37.65%) to hard (16.43%) — a 24 pp cliff.",
            ["24 pp"],
            id="difference",
        ),
        pytest.param(DELTAS, DELTAS.replace("| 44.4% |", "| 51.4% |"), ["-44.4%"], id="difference_from_nothing"),
        pytest.param(
            f"{SHARES.format(whole=1000)}| v | 0 | 0.0% |\n",
            f"{SHARES.format(whole=1000)}| v | 0 | 20.0% |\n",
            ["20.0%"],
            id="share_of_none",
        ),
        pytest.param(AREAS.format(share="45.3%"), AREAS.format(share="49.3%"), ["34 (49.3%)"], id="shares_of_the_row"),
    ],
)
def test_what_disagrees_is_told_and_nothing_else(report: str, false: str, said: list[str]) -> None:
    assert check_report(report).contradicted == []
    assert [check.said for check in check_report(false).contradicted] == [one.replace("**", "") for one in said]


UNRELATED = """
| Model | Bias | Agreement | p |
|---|---|---|---|
| a | 28.1 | 69.2 | 0.40 |
| b | 31.9 | 65.1 | 0.49 |
| c | 30.0 | 66.0 | 0.46 |
| d | 2.0 | 60.0 | 0.52 |
"""
TWO_MODELS = """
| Kind | Yes | No |
|---|---|---|
| a | 0.0 | 1.0 |
| b | 0.95 | 0.05 |
| c | 0.1 | 0.9 |

Another model:

| Kind | Yes | No |
|---|---|---|
| a | 0.0 | 1.0 |
| b | 1.0 | 0.0 |
| c | 0.1 | 0.8 |
"""


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(
            f"In Alpha, 2 of the 10 time outs are early; 12 syntax errors are new.\n{CROSS}", id="a_part_of_it"
        ),
        pytest.param(UNRELATED, id="columns_that_have_nothing_to_do_with_each_other"),
        pytest.param(TWO_MODELS, id="the_same_table_of_another_model"),
        pytest.param(
            "Of 487 failures, 203 (41.7 %) hang and 104 (21.4 %) refuse. Half of the refusals (52) are new.\n"
            "First half of the tasks (0-57): 64.2 %. Second half (58-114): 52.3 %.",
            id="halves_of_something_else",
        ),
    ],
)
def test_what_only_looks_alike_is_left_alone(report: str) -> None:
    assert check_report(report).contradicted == []


def test_a_number_too_large_to_be_one_is_read_like_any_other() -> None:
    assert check_report("All 1e999 rollouts passed, 5 of 1e999.").contradicted == []
