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
SPLIT = """
| Kind | Count |
|---|---|
| time out | {count} |
| crash | 20 |
| All | 90 |

| Kind | Old (of 50) | New (of 40) |
|---|---|---|
| Time out (hard) | 40 (80.0%) | 30 (75.0%) |
| Crash | 10 (20.0%) | 10 (25.0%) |
"""
DELTAS = """
| Metric | Ours | Theirs | Delta |
|---|---|---|---|
| pass@1 | 0.0% | 44.4% | -44.4% |
| pass@3 | 0.0% | 66.7% | -66.7% |
| wrote files | 50.0% | 88.9% | -38.9% |
| compiled | 38.9% | 94.4% | -55.5% |
"""
KINDS = "\n| Error | n |\n|---|---|\n| path not found | 53 |\n| time out | 20 |\n| crash | 14 |\n| refusal | 7 |\n"
CASES = (
    "| Task | Time outs | Area |\n|---|---|---|\n| t1 | 3/5 | Alpha |\n| t2 | {count}/5 | Alpha |\n"
    "| t3 | 5/5 | Beta |\n" + CROSS
)
AREAS = """
| Area | Runs | Passed |
|---|---|---|
| x | 231 | 121 (52.4%) |
| y | 75 | 34 ({share}) |
| z | 44 | 18 (40.9%) |
| v | 32 | 21 (65.6%) |
"""
CHANGES = """
| Part | Old | New | Change |
|---|---|---|---|
| search | 200 | 250 | +25.0% |
| plan | 160 | 120 | -25.0% |
| write | 90 | 99 | {change} |
| check | 40 | 62 | +55.0% |
"""
ABLATED = """
| Variant | Score | Gap |
|---|---|---|
| full | 71.0 | – |
| no plan | 63.5 | -7.5 |
| no tools | 40.2 | {gap} |
| no notes | 68.8 | -2.2 |
| none | 30.1 | -40.9 |
"""
SPANS = """
<table>
<tr><th rowspan="2">Area</th><th rowspan="2">Runs</th><th colspan="2">New</th></tr>
<tr><th>passed</th><th>rate</th></tr>
<tr><td>x</td><td>80</td><td>60</td><td>75.0%</td></tr>
<tr><td>y</td><td>50</td><td>21</td><td>{rate}</td></tr>
<tr><td>z</td><td>64</td><td>16</td><td>25.0%</td></tr>
</table>
"""
COMMAS = """
| Art | Zahl | Quote | Preis |
|---|---|---|---|
| a | 1.200 | 40,0 % | 1,25 |
| b | 900 | {share} | 2,50 |
| c | 600 | 20,0 % | 3,75 |
| d | 300 | 10,0 % | 0,10 |
"""
MEANS = """
| Set | a | b | c |
|---|---|---|---|
| x | 61.2 | 66.9 | 40.0 |
| y | 28.0 | 31.1 | 22.0 |
| z | 46.8 | 49.0 | 31.0 |
| mean | 45.3 | 49.0 | {mean} |
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
        pytest.param(
            "By kind, the 1,000 bad runs:\n\n" + SHARES.format(whole="1,000"),
            "By kind, the 1,020 bad runs:\n\n" + SHARES.format(whole="1,000"),
            ["% of 1,000 bad runs", "1,020"],
            id="base_of_a_column",
        ),
        pytest.param(SHARES.format(whole=1000), SHARES.format(whole=1050), ["% of 1050 bad runs"], id="base_of_shares"),
        pytest.param(SPLIT.format(count=70), SPLIT.format(count=64), ["64", "90"], id="parts_of_a_known_whole"),
        pytest.param(CASES.format(count=1), CASES.format(count=4), ["4"], id="cases_by_kind"),
        pytest.param(
            f"All 64 lint-check failures are in Beta.\n{CROSS}",
            f"All 75 lint-check failures are in Beta.\n{CROSS}",
            ["75"],
            id="all_of_a_kind",
        ),
        pytest.param(
            f"Syntax errors occur only in Beta.\n{CROSS}",
            f"Syntax errors occur only in Alpha.\n{CROSS}",
            ["only in Alpha."],
            id="only_in",
        ),
        pytest.param(
            "It is 2.5x more common in new runs (6.6% vs. 2.6%).",
            "It is 3.5x more common in new runs (6.6% vs. 2.6%).",
            ["3.5x"],
            id="ratio",
        ),
        pytest.param(
            "It drops from easy (37.65%) to hard (16.43%) — a 21 pp cliff.",
            "It drops from easy (37.65%) to hard (16.43%) — a 24 pp cliff.",
            ["24 pp"],
            id="difference",
        ),
        pytest.param(
            "Spread across two tasks:\n\n| Task | n |\n|---|---|\n| a | 1 |\n| b | 4 |\n",
            "Spread across 12 tasks:\n\n| Task | n |\n|---|---|\n| a | 1 |\n| b | 4 |\n",
            ["12 tasks"],
            id="rows_of_a_table",
        ),
        pytest.param(DELTAS, DELTAS.replace("| 44.4% |", "| 51.4% |"), ["-44.4%"], id="difference_from_nothing"),
        pytest.param(
            f"{SHARES.format(whole=1000)}| v | 0 | 0.0% |\n",
            f"{SHARES.format(whole=1000)}| v | 0 | 20.0% |\n",
            ["20.0%"],
            id="share_of_none",
        ),
        pytest.param(
            "8,480 runs.\n\n- Good: 74.6% (6,329/8,480)\n- Bad: 24.2% (2,055 runs)\n- Broken: 1.4% (122 runs)",
            "8,480 runs.\n\n- Good: 74.6% (6,329/8,480)\n- Bad: 24.2% (2,055 runs)\n- Broken: 1.5% (122 runs)",
            ["1.5%"],
            id="shares_of_a_stated_whole",
        ),
        pytest.param(AREAS.format(share="45.3%"), AREAS.format(share="49.3%"), ["34 (49.3%)"], id="shares_of_the_row"),
        pytest.param(MEANS.format(mean="31.0"), MEANS.format(mean="33.0"), ["33.0"], id="means_of_columns"),
        pytest.param(
            "Of the 256 failures, 41 (16.0 %) had no patch; the remaining 215 had one.",
            "Of the 256 failures, 41 (19.0 %) had no patch; the remaining 205 had one.",
            ["19.0 %", "205"],
            id="of_a_base",
        ),
        pytest.param(
            "Errors fell from 35 to 9, a 74 % drop, and waits from 2.1 s to 3.4 s, 62 % slower.",
            "Errors fell from 35 to 9, a 64 % drop, and waits from 2.1 s to 3.4 s, 72 % slower.",
            ["64 %", "72 %"],
            id="relative_changes",
        ),
        pytest.param(
            "115 tasks x 4 trials = 460 attempts; 22*3 + 17*2 + 16 = 116 passed, 48.8 % (45.2 %, 226/500) before.",
            "115 tasks x 4 trials = 440 attempts; 22*3 + 17*2 + 16 = 126 passed, 48.8 % (48.2 %, 226/500) before.",
            ["48.2 %", "115 tasks x 4 trials = 440", "22*3 + 17*2 + 16 = 126"],
            id="products",
        ),
        pytest.param(
            "150 runs (15 tests × 10 seeds) and 29 tests, 20 passed, 5 failed, 4 skipped.",
            "160 runs (15 tests × 10 seeds) and 29 tests, 20 passed, 5 failed, 4 skipped.",
            ["160"],
            id="product_in_brackets",
        ),
        pytest.param(
            "1,315 tests, 1,292 passed, 19 failed, 4 skipped.",
            "1,315 tests, 1,272 passed, 19 failed, 4 skipped.",
            ["1,315"],
            id="parts_behind_commas",
        ),
        pytest.param(
            "## Agent (19 failures)\n\n#### Tools (10 failures)\n\n#### Goals (7 failures)\n\n#### Rest (2 failures)\n",
            "## Agent (18 failures)\n\n#### Tools (10 failures)\n\n#### Goals (7 failures)\n\n#### Rest (2 failures)\n",
            ["18"],
            id="headings_below",
        ),
        pytest.param(
            f"{KINDS}\n## Later\n{KINDS}", f"{KINDS}\n## Later\n{KINDS.replace('53', '54')}", ["54"], id="twice"
        ),
        pytest.param(CHANGES.format(change="+10.0%"), CHANGES.format(change="+14.0%"), ["+14.0%"], id="changes"),
        pytest.param(ABLATED.format(gap="-30.8"), ABLATED.format(gap="-36.8"), ["-36.8"], id="gaps_to_the_first_row"),
        pytest.param(SPANS.format(rate="42.0%"), SPANS.format(rate="52.0%"), ["52.0%"], id="merged_cells"),
        pytest.param(COMMAS.format(share="30,0 %"), COMMAS.format(share="36,0 %"), ["36.0 %"], id="decimal_commas"),
        pytest.param(
            "Of the 60 failures\n\n- 30 hang\n- 20 crash\n- 10 lie",
            "Of the 60 failures\n\n- 30 hang\n- 26 crash\n- 10 lie",
            ["60"],
            id="a_list_under_its_total",
        ),
        pytest.param(
            "The 228 runs fall into four groups: 96 hang, 71 crash, 38 lie, and 23 of other kinds.",
            "The 228 runs fall into four groups: 96 hang, 71 crash, 38 lie, and 33 of other kinds.",
            ["228"],
            id="parts_behind_a_colon",
        ),
        pytest.param(
            "In 26 of these 41 runs it asked. The other 15 guessed.",
            "In 26 of these 41 runs it asked. The other 18 guessed.",
            ["18"],
            id="what_is_left",
        ),
        pytest.param(
            "We gave 120 tasks to three agents each (360 runs).",
            "We gave 120 tasks to three agents each (300 runs).",
            ["300"],
            id="so_many_each",
        ),
        pytest.param(
            "### Wrong file (14 cases)\n\n| Cause | n |\n|---|---|\n| wrong file | 14 |\n| too slow | 5 |",
            "### Wrong file (16 cases)\n\n| Cause | n |\n|---|---|\n| wrong file | 14 |\n| too slow | 5 |",
            ["16"],
            id="a_heading_and_its_row",
        ),
        pytest.param(
            "We ran 80 tasks.\n\n## End\n\n- Time: 31 (38.8%)\n- Parsing: 8 tasks (10%)\n- Passed: 23 (28.7%)",
            "We ran 80 tasks.\n\n## End\n\n- Time: 31 (38.8%)\n- Parsing: 8 tasks (8.8%)\n- Passed: 23 (28.7%)",
            ["8.8%"],
            id="shares_of_a_whole_under_another_heading",
        ),
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
        pytest.param(
            "| M | Good | Bad | All |\n|---|---|---|---|\n| a | 29 (74.4%) | 10 (25.6%) | 39 |\n"
            "| b | 18 (46.2%) | 21 (53.8%) | 39 |\n| c | 17 (53.1%) | 15 (46.9%) | 32 |\n"
            "| d | 16 (41.0%) | 23 (59.0%) | 39 |",
            id="shares_of_each_row",
        ),
        pytest.param("Later: ~85-90% of them (127-135/150).", id="ranges"),
    ],
)
def test_what_only_looks_alike_is_left_alone(report: str) -> None:
    assert check_report(report).contradicted == []


def test_a_number_too_large_to_be_one_is_read_like_any_other() -> None:
    assert check_report("All 1e999 rollouts passed, 5 of 1e999.").contradicted == []
